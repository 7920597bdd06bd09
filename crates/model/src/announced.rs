//! What a site says of changes of its pages.

use serde::{Deserialize, Serialize};
use weburl::UrlKey;

use crate::Timestamp;

/// Where a site says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Announcer {
    /// In a sitemap: `lastmod`.
    Sitemap,
    /// In a feed: the date of an entry.
    Feed,
}

/// A page has changed, its site says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The page.
    pub key: UrlKey,
    /// Where it was announced.
    pub by: Announcer,
    /// When it changed.
    pub at: Timestamp,
}

/// The first change of a page that each announcer announces after a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// In a sitemap.
    pub sitemap: Option<Timestamp>,
    /// In a feed.
    pub feed: Option<Timestamp>,
}

impl Announced {
    /// True without an announcement.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Announced::default()
    }

    /// What an announcer says.
    #[must_use]
    pub fn by(&self, announcer: Announcer) -> Option<Timestamp> {
        match announcer {
            Announcer::Sitemap => self.sitemap,
            Announcer::Feed => self.feed,
        }
    }

    /// Takes in the first word of an announcer. False where it spoke before.
    pub fn take_in(&mut self, announcer: Announcer, at: Timestamp) -> bool {
        let word = match announcer {
            Announcer::Sitemap => &mut self.sitemap,
            Announcer::Feed => &mut self.feed,
        };
        let is_first = word.is_none();
        word.get_or_insert(at);
        is_first
    }
}
