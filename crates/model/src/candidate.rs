//! A URL that may be fetched.

use serde::{Deserialize, Serialize};
use weburl::{CanonicalUrl, UrlKey};

use crate::{Distance, Outcome, Visit};

/// How a URL came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Via {
    /// Given by the user.
    Seed,
    /// A link of a page.
    Link,
    /// The target of a redirect.
    Redirect,
    /// Listed in a sitemap or feed, or named as a sitemap by robots.txt.
    Sitemap,
    /// Shown in a page as a document of its own, in a frame or an object; or the target of its redirect.
    Frame,
    /// Named as a style sheet; or the target of its redirect.
    StyleSheet,
}

impl Via {
    /// The word used in exports and explanations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Via::Seed => "seed",
            Via::Link => "link",
            Via::Redirect => "redirect",
            Via::Sitemap => "sitemap",
            Via::Frame => "frame",
            Via::StyleSheet => "style-sheet",
        }
    }

    /// How the target of its redirect came to be known. What a page needs in a certain way it needs so wherever that lies.
    #[must_use]
    pub const fn of_redirect(self) -> Self {
        match self {
            Via::Frame | Via::StyleSheet => self,
            Via::Seed | Via::Link | Via::Redirect | Via::Sitemap => Via::Redirect,
        }
    }
}

/// What a URL is fetched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Purpose {
    /// To be recorded as a page of the crawl.
    Page,
    /// To read URLs from it; it has no page row.
    Sitemap,
    /// To show a page as it was: a style sheet, a script, an image. It has no page row, and no link in it is followed.
    Requisite,
    /// To learn what a site allows. It is never queued: the frontier requests it when a site's turn comes.
    Robots,
}

/// A URL that was found and admitted, on its way to the frontier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The URL.
    pub url: CanonicalUrl,
    /// The number of links on the path by which it was found, from the nearest seed. For a sitemap: the number of indexes above it. For a
    /// requisite: that of its page.
    pub depth: u32,
    /// The number of redirects in a row that led here.
    pub redirects: u8,
    /// How it was found.
    pub via: Via,
    /// The purpose of the fetch.
    pub purpose: Purpose,
    /// Where it was found. For a requisite: the page that needs it, also if a style sheet of that page names it.
    pub found_on: Option<UrlKey>,
}

impl Candidate {
    /// A seed.
    #[must_use]
    pub fn seed(url: CanonicalUrl) -> Self {
        Candidate { url, depth: 0, redirects: 0, via: Via::Seed, purpose: Purpose::Page, found_on: None }
    }

    /// Its distance from a seed on the path by which it was found.
    #[must_use]
    pub fn distance(&self) -> Distance {
        Distance { depth: self.depth, redirects: self.redirects }
    }

    /// From where links are judged that a visit of it finds.
    #[must_use]
    pub fn judges_from(&self) -> Distance {
        if self.purpose == Purpose::Requisite { Distance::OF_REQUISITE } else { self.distance() }
    }

    /// Whether a page needs it as a file: no document of its own, which may be a page too.
    #[must_use]
    pub fn is_file_of_page(&self) -> bool {
        self.purpose == Purpose::Requisite && self.via != Via::Frame
    }

    /// Whether a visit was made for its purpose: what a page needs is not looked into as a page is.
    #[must_use]
    pub fn is_purpose_of(&self, visit: &Visit) -> bool {
        (visit.judged_at == Distance::OF_REQUISITE) == (self.purpose == Purpose::Requisite)
    }

    /// Its place in the queue of its site.
    #[must_use]
    pub fn position(&self) -> Position {
        Position::of(self.purpose, self.depth, self.url.key().url)
    }
}

/// The place of a URL in the queue of its site: sitemaps and requisites first, then breadth-first by depth, then by key, so that the
/// order does not depend on the order of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// 0 for sitemaps and requisites; depth + 1 for pages.
    pub rank: u32,
    /// The URL's part of its key.
    pub url: u64,
}

impl Position {
    /// The position of a URL with the given purpose, depth and key.
    #[must_use]
    pub fn of(purpose: Purpose, depth: u32, url: u64) -> Self {
        let rank = match purpose {
            Purpose::Sitemap | Purpose::Requisite => 0,
            Purpose::Page | Purpose::Robots => depth.saturating_add(1),
        };
        Position { rank, url }
    }
}

/// An entry of a site's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    /// The URL and how it was found.
    pub candidate: Candidate,
    /// The number of requests so far.
    pub attempts: u8,
    /// Set if the URL was visited already, and only its links must be judged again, without another visit.
    pub visited: Option<Visited>,
    /// Set if the URL is to be visited again: its last visit.
    pub again: Option<Box<Visit>>,
}

impl Queued {
    /// A URL that was never requested.
    #[must_use]
    pub fn first(candidate: Candidate) -> Self {
        Queued { candidate, attempts: 0, visited: None, again: None }
    }

    /// The same URL after this visit: to be visited again, or else to have its links judged again.
    #[must_use]
    pub fn after(self, last: Visit, is_again: bool) -> Self {
        if is_again {
            Queued { again: Some(Box::new(last)), visited: None, ..self }
        } else {
            let visited = Visited { outcome: last.outcome, outlinks: last.outlinks };
            Queued { visited: Some(visited), again: None, ..self }
        }
    }
}

/// The remaining work for a URL that was visited at too great a depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visited {
    /// Its outcome.
    pub outcome: Outcome,
    /// The targets of its links: canonical URLs.
    pub outlinks: Vec<String>,
}
