//! What has changed on the web between visits: pages that are new, changed, gone, moved or back.

mod difference;
mod feed;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{Change, Purpose, Timestamp, Visit};
use replay::Replay;
use serde::{Serialize, Serializer};
use store::{CrawlView, Entry, StoreError, current_visit};
use weburl::{CanonicalRules, SiteKey, UrlKey};

pub use difference::{Block, Difference};
pub use feed::{FEED_ENTRIES_MAX, Feed};

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 1_000;

/// Which changes are asked for.
#[derive(Clone, Debug)]
pub struct Question {
    /// What there was before this time is compared with what there is now.
    pub since: Timestamp,
    /// Only of these sites; of all where none is given.
    pub sites: Vec<SiteKey>,
    /// Where to read pages for their differences; `None` leaves them out.
    pub pages: Option<Pages>,
}

/// Where the pages of a crawl are read.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The directory of its archive.
    pub archive: PathBuf,
    /// The greatest body of the crawl, in bytes.
    pub body_bytes_max: u64,
    /// How the crawl brings URLs into canonical form.
    pub canonical: CanonicalRules,
}

/// A page that is not as it was.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// How.
    pub change: Change,
    /// The URL.
    pub url: String,
    /// The visit that found it so.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
    /// The visit that it is compared with; `None` where there was none.
    #[serde(serialize_with = "optional_rfc3339")]
    pub before_at: Option<Timestamp>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Where it has moved to.
    pub target: Option<String>,
    /// The title of the page.
    pub title: Option<String>,
    /// The title before, where it was another.
    pub title_before: Option<String>,
    /// What is different in a changed page, where both could be read.
    pub difference: Option<Difference>,
}

/// The number of pages by kind of change, unchanged and failed ones included.
pub type Counts = BTreeMap<Change, u64>;

/// Why a question cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// The state cannot be read.
    #[error("state: {0}")]
    Store(#[from] StoreError),
    /// The receiver of the answer failed.
    #[error(transparent)]
    Told(#[from] std::io::Error),
}

/// Since when changes are meant unless told otherwise: since the last round began. `None` where there is only the first.
///
/// # Errors
/// The state cannot be read.
pub fn last_round(view: &dyn CrawlView) -> Result<Option<Timestamp>, StoreError> {
    let round = view.totals()?.round;
    Ok((round.number > 1).then_some(round.began_at))
}

/// Calls `each` for every page that has changed, in the order of the keys: the pages of a site lie together. A page whose server cannot
/// be reached is only counted: that says nothing of what is there.
///
/// # Errors
/// The state cannot be read, or `each` fails. A page that cannot be read from the archive is no error: its difference is left out.
pub fn changes(
    view: &dyn CrawlView,
    question: &Question,
    each: &mut dyn FnMut(Changed) -> std::io::Result<()>,
) -> Result<Counts, ChangesError> {
    let mut replay = question.pages.as_ref().map(|pages| Replay::new(view, &pages.archive, pages.body_bytes_max));
    let mut counts = Counts::new();
    let mut after: Option<UrlKey> = None;
    loop {
        let entries = view.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { return Ok(counts) };
        after = Some(last.candidate.url.key());
        for entry in entries {
            if entry.candidate.purpose != Purpose::Page || !question.is_about(&entry) {
                continue;
            }
            let Some((change, before, now)) = compare(view, &entry, question.since)? else { continue };
            *counts.entry(change).or_default() += 1;
            if matches!(change, Change::Unchanged | Change::Failed) {
                continue;
            }
            let mut changed = Changed::new(&entry, change, before.as_ref(), &now);
            if let (Change::Changed, Some(before), Some(pages), Some(replay)) =
                (change, before, &question.pages, &mut replay)
            {
                let [before, now] = [before, now].map(|visit| Entry { visit: Some(visit), ..entry.clone() });
                changed.difference = difference::between(&before, &now, pages, replay);
            }
            each(changed)?;
        }
    }
}

impl Question {
    fn is_about(&self, entry: &Entry) -> bool {
        self.sites.is_empty() || self.sites.contains(&entry.candidate.url.key().site)
    }
}

/// How a URL has changed, with the visits that say so; `None` where it was not asked for since then.
fn compare(
    view: &dyn CrawlView,
    entry: &Entry,
    since: Timestamp,
) -> Result<Option<(Change, Option<Visit>, Visit)>, StoreError> {
    let Some(last) = entry.visit.as_ref().filter(|last| last.at >= since) else { return Ok(None) };
    if last.attempts == 0 && last.content_at.is_none() {
        return Ok(None);
    }
    let earlier = if last.past.visits > 0 { view.earlier(last.key)? } else { Vec::new() };
    let (before, since) = earlier.split_at(earlier.partition_point(|visit| visit.at < since));
    let before = before.split_last().map(|(last, earlier)| current_visit(last, earlier));
    let now = current_visit(last, since);
    Ok(Some((Change::between(before, now), before.cloned(), now.clone())))
}

impl Changed {
    fn new(entry: &Entry, change: Change, before: Option<&Visit>, now: &Visit) -> Self {
        let title_before = before.and_then(|before| before.title.clone());
        Changed {
            change,
            url: entry.candidate.url.to_string(),
            at: now.at,
            before_at: before.map(|before| before.at),
            status: Some(now.status).filter(|status| *status > 0),
            target: now.target.clone().filter(|_| change == Change::Moved),
            title: now.title.clone(),
            title_before: title_before.filter(|title| Some(title) != now.title.as_ref()),
            difference: None,
        }
    }
}

fn rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    at.to_rfc3339().serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn optional_rfc3339<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::to_rfc3339).serialize(serializer)
}
