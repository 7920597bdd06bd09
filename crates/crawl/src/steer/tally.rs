//! Affected URLs, in all and by site.

use std::collections::HashMap;
use std::fmt;
use std::ops::AddAssign;

use printable::counted;
use serde::Serialize;
use store::Outline;
use weburl::{CanonicalUrl, SiteKey};

/// Sites that are counted one by one; URLs of others only count for all. At some hundred bytes each, a few megabytes.
const SITES_MAX: usize = 50_000;

/// What a change affects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Affected {
    /// The affected URLs in the queue.
    pub queued: u64,
    /// Matching URLs that were fetched already, and stay.
    pub fetched: u64,
    /// URLs that would be visited again.
    pub again: u64,
    /// URLs that the crawl does not know yet, and that the queue would get.
    pub added: u64,
}

impl fmt::Display for Affected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fetched = match self.fetched {
            0 => String::new(),
            fetched => format!(
                "; {} that {} fetched already would stay",
                counted(fetched, "URL"),
                if fetched == 1 { "was" } else { "were" }
            ),
        };
        match (self.again, self.added) {
            (0, 0) => write!(f, "it would concern {} in the queue{fetched}", counted(self.queued, "URL")),
            (0, added) => write!(f, "it would add {} to the queue", counted(added, "URL")),
            (again, _) => write!(f, "it would visit {} again", counted(again, "URL")),
        }
    }
}

impl AddAssign for Affected {
    fn add_assign(&mut self, Affected { queued, fetched, again, added }: Affected) {
        self.queued += queued;
        self.fetched += fetched;
        self.again += again;
        self.added += added;
    }
}

impl Affected {
    const NONE: Affected = Affected { queued: 0, fetched: 0, again: 0, added: 0 };
    /// One URL of the queue.
    pub(super) const QUEUED: Affected = Affected { queued: 1, ..Affected::NONE };
    /// One URL that was fetched.
    pub(super) const FETCHED: Affected = Affected { fetched: 1, ..Affected::NONE };
    /// One URL to be visited again.
    pub(super) const AGAIN: Affected = Affected { again: 1, ..Affected::NONE };

    /// All of them.
    #[must_use]
    pub fn urls(&self) -> u64 {
        self.queued + self.fetched + self.again + self.added
    }
}

/// Affected URLs, in all and by site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) affected: Affected,
    by_site: HashMap<SiteKey, (String, Affected)>,
}

impl Tally {
    /// Counts a URL as what it is, if it is affected.
    pub(super) fn count(&mut self, outline: &Outline, affected: Affected) {
        if affected == Affected::default() {
            return;
        }
        self.affected += affected;
        if let Some((_, of_site)) = self.by_site.get_mut(&outline.key.site) {
            *of_site += affected;
        } else if self.by_site.len() < SITES_MAX
            && let Some(url) = CanonicalUrl::from_canonical(&outline.url)
        {
            self.by_site.insert(outline.key.site, (url.site().to_string(), affected));
        }
    }

    /// The `max` sites with the most affected URLs, the most first.
    pub(super) fn by_site(&self, max: usize) -> Vec<(String, Affected)> {
        let mut sites: Vec<_> = self.by_site.values().collect();
        sites.sort_by_key(|(site, affected)| (std::cmp::Reverse(affected.urls()), site));
        sites.into_iter().take(max).cloned().collect()
    }
}
