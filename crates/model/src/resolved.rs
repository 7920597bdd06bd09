//! The result of a name lookup.

use std::net::IpAddr;
use std::time::Duration;

/// Addresses, and how long they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The addresses, the preferred one first; none behind a proxy, which resolves by itself.
    pub addresses: Vec<IpAddr>,
    /// After this they must be looked up again.
    pub holds: Duration,
}

impl Resolved {
    /// How long an answer without TTL holds: it was given by hand, or comes from a file that people may change.
    pub const BY_HAND_HOLDS: Duration = Duration::from_secs(3600);

    /// Addresses that were given by hand.
    #[must_use]
    pub fn by_hand(addresses: Vec<IpAddr>) -> Self {
        Resolved { addresses, holds: Resolved::BY_HAND_HOLDS }
    }
}
