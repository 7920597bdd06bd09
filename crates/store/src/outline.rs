//! URLs in short, for those who look at all of them: their texts and outcomes, without the rest of their records.

use model::{Outcome, Purpose};
use serde::{Deserialize, Serialize};
use weburl::UrlKey;

/// A URL in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Its key.
    pub key: UrlKey,
    /// Its canonical text.
    pub url: String,
    /// What it is requested for.
    pub purpose: Purpose,
    /// The outcome of its last visit; `None` if it waits for its first.
    pub outcome: Option<Outcome>,
    /// It waits for another visit.
    pub again: bool,
}

/// Some URLs in short, and where the next ones are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlines {
    /// The URLs.
    pub urls: Vec<Outline>,
    /// Where to read on; `None` at the end.
    pub next: Option<Mark>,
}

/// A place between two URLs, which only the view that gave it can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark(pub Vec<u8>);

/// The URLs of all sites whose own part of the key lies in a range. Since that part is a hash, they are a random sample of the URLs of each
/// site: in its size, and in all that a URL's text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The last number of the range, which begins with 0.
    pub last: u64,
}

impl Slice {
    /// One of so many equal parts of all URLs.
    #[must_use]
    pub fn one_of(parts: u64) -> Self {
        Slice { last: u64::MAX / parts.max(1) }
    }

    /// True for a URL that belongs to it.
    #[must_use]
    pub fn has(self, key: UrlKey) -> bool {
        key.url <= self.last
    }
}
