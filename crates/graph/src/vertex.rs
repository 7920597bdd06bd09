//! What is known of the vertices of a graph.

use std::collections::HashSet;

use model::Outcome;
use weburl::UrlKey;

/// The number of a vertex: its place in the order of the keys.
pub type Vertex = u32;

/// What is known of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageKind {
    /// A URL that pages link to, of which the crawl has no row.
    Linked,
    /// A URL that the crawl did not ask for: excluded, forbidden by robots.txt, or a trap.
    Refused,
    /// A URL that the crawl visited without success: there is no content of it.
    Failed,
    /// A redirect; its edge leads to its target.
    Redirect,
    /// A page or document that was fetched.
    Fetched,
}

impl PageKind {
    pub(crate) const ALL: [PageKind; 5] =
        [PageKind::Linked, PageKind::Refused, PageKind::Failed, PageKind::Redirect, PageKind::Fetched];

    /// By the outcome of a page's row.
    #[must_use]
    pub fn of(outcome: &str) -> Self {
        match Outcome::ALL.iter().copied().find(|known| known.as_str() == outcome) {
            Some(outcome) if outcome.is_fetched() => PageKind::Fetched,
            Some(Outcome::Redirect) => PageKind::Redirect,
            Some(outcome) if outcome.is_refused() => PageKind::Refused,
            Some(_) | None => PageKind::Failed,
        }
    }

    /// Whether the crawl visited it, successfully or not.
    #[must_use]
    pub fn is_visited(self) -> bool {
        self >= PageKind::Failed
    }

    /// Whether the crawl has it.
    #[must_use]
    pub fn is_crawled(self) -> bool {
        self >= PageKind::Redirect
    }

    pub(crate) fn to_byte(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        PageKind::ALL.get(usize::from(byte)).copied()
    }
}

/// What the graph of visited pages is made by, besides the datasets.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    /// The depth from which no link is followed; without it all are.
    pub bottom: Option<u32>,
    /// Pages that have come above the depth limit, though their rows say that they are at it.
    pub followed: HashSet<UrlKey>,
    /// URLs that were visited without success and may have no row.
    pub in_vain: Vec<UrlKey>,
}

impl Visits {
    /// Whether the links of a page were followed. A redirect is followed at any depth.
    pub(crate) fn are_followed(&self, key: UrlKey, kind: PageKind, depth: u32) -> bool {
        let is_above = self.bottom.is_none_or(|bottom| depth < bottom);
        is_above || kind == PageKind::Redirect || self.followed.contains(&key)
    }
}
