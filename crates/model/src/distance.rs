//! How far a URL is from a seed.

use serde::{Deserialize, Serialize};

/// The distance of a URL from the nearest seed; nearer ones are smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Distance {
    /// Links.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub redirects: u8,
}

impl Distance {
    /// From where the links of a requisite are judged: from nowhere. By this a visit tells what it was for.
    pub const OF_REQUISITE: Distance = Distance { depth: u32::MAX, redirects: u8::MAX };
}
