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
