//! What came of looking a name up.

use std::net::IpAddr;
use std::time::Duration;

/// Addresses, and how long they are to be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The addresses, the one to be used first; none behind a proxy, which resolves by itself.
    pub addresses: Vec<IpAddr>,
    /// After this they must be looked up again.
    pub holds: Duration,
}

impl Resolved {
    /// How long an answer holds that has no time of its own: it is given by hand, or stands in a file, where people may change it.
    pub const BY_HAND_HOLDS: Duration = Duration::from_secs(3600);

    /// Addresses that were given by hand.
    #[must_use]
    pub fn by_hand(addresses: Vec<IpAddr>) -> Self {
        Resolved { addresses, holds: Resolved::BY_HAND_HOLDS }
    }
}
