//! What has changed on the web between visits: pages that are new, changed, gone, moved or back.

mod clock;
mod difference;
mod feed;
mod html;
mod moves;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crawl::opened::Opened;
use model::{Change, Purpose, Round, Timestamp, Visit, says_gone};
use printable::counted;
use replay::Replay;
use serde::{Serialize, Serializer};
use settings::plan::Plan;
use store::{CrawlView, Entry, StoreError, Totals, current_visit};
use weburl::{CanonicalRules, SiteKey, UrlKey};

use clock::Calendar;
pub use difference::{Block, Difference};
pub use feed::{FEED_ENTRIES_MAX, Feed};
pub use html::HtmlPage;
use moves::Moves;

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 1_000;

/// What a page has moved to whose redirect has no target: `Location` is missing, or no URL of the web.
pub const NO_PLACE: &str = "its redirect leads to no URL that can be requested";

/// Which changes are asked for.
#[derive(Clone, Debug)]
pub struct Question {
    /// What there was before is compared with what there is now.
    pub since: Since,
    /// What there is "now" is as of the end of this round; later visits are left out.
    pub through: Option<u32>,
    /// Only of these sites; of all where none is given.
    pub sites: Vec<SiteKey>,
    /// Where to read pages for their differences; `None` leaves them out.
    pub pages: Option<Pages>,
}

/// From where on visits count as later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From this round on.
    Round(u32),
    /// From this time on. Rounds are in the order of their numbers, whatever the clock said ([`clock`]).
    Time {
        /// The time.
        from: Timestamp,
        /// What the clock says now: no visit was made later.
        now: Timestamp,
    },
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

impl Pages {
    /// Those of a crawl.
    ///
    /// # Errors
    /// Its settings cannot be read.
    pub fn of(opened: &Opened) -> anyhow::Result<Self> {
        let settings = Plan::new(&opened.options()?)?.settings;
        Ok(Pages {
            archive: opened.dir.archive(),
            body_bytes_max: settings.limits.body_bytes_max,
            canonical: settings.canonical,
        })
    }
}

/// A page that is not as it was.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// Names the visit among all of the crawl: the same change has the same id each time.
    pub id: String,
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
    /// Where it has moved to: the end of the redirects. `None` where they lead to no URL that can be requested ([`NO_PLACE`]).
    pub target: Option<String>,
    /// No redirect leads there: a new page has the content of this one, which is gone.
    pub probable: bool,
    /// The title of the page.
    pub title: Option<String>,
    /// The title before, where it was another.
    pub title_before: Option<String>,
    /// What is different in a changed page, where both could be read.
    pub difference: Option<Difference>,
}

/// The number of pages by kind of change, unchanged and failed ones included.
pub type Counts = BTreeMap<Change, u64>;

/// The counts in words: `1 changed, 5 unchanged`; empty if nothing was visited.
#[must_use]
pub fn words(counts: &Counts) -> String {
    counts.iter().map(|(change, count)| format!("{count} {change}")).collect::<Vec<_>>().join(", ")
}

/// The counts as a sentence: `6 URLs visited: 1 changed, 5 unchanged`.
#[must_use]
pub fn sentence(counts: &Counts) -> String {
    let (visited, words) = (counted(counts.values().sum(), "URL"), words(counts));
    if words.is_empty() { format!("{visited} visited") } else { format!("{visited} visited: {words}") }
}

/// Why a question cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// The state cannot be read.
    #[error("state: {0}")]
    Store(#[from] StoreError),
    /// The receiver of the answer failed.
    #[error("the changes cannot be written")]
    Told(#[from] std::io::Error),
}

/// The last round of a crawl; `None` where there is only the first.
///
/// # Errors
/// The state cannot be read.
pub fn last_round(view: &dyn CrawlView) -> Result<Option<Round>, StoreError> {
    Ok(Some(view.totals()?.round).filter(|round| round.number > 1))
}

/// The last round that has ended: none of its URLs is left in the queue, or a later one has begun. 0 if the first goes on.
#[must_use]
pub fn last_ended_round(totals: &Totals) -> u32 {
    let has_ended = totals.pending == 0 && !totals.round.is_choosing;
    if has_ended { totals.round.number } else { totals.round.number - 1 }
}

/// Calls `each` for every page that has changed, in the order of the keys: the pages of a site lie together. A page whose server cannot
/// be reached is only counted: that says nothing of what is there. So is a URL whose first visit found no page. A page to which another has moved
/// is not counted: the move is the change. Neither is a redirect that is visited for the first time.
///
/// # Errors
/// The state cannot be read, or `each` fails. A page that cannot be read from the archive is no error: its difference is left out.
pub fn changes(
    view: &dyn CrawlView,
    question: &Question,
    each: &mut dyn FnMut(Changed) -> std::io::Result<()>,
) -> Result<Counts, ChangesError> {
    let mut replay = question.pages.as_ref().map(|pages| Replay::new(view, &pages.archive, pages.body_bytes_max));
    let line = Line::of(view, question)?;
    let moves = Moves::find(view, &line)?;
    let mut counts = Counts::new();
    each_page(view, &mut |entry| {
        let key = entry.candidate.url.key();
        if !question.is_about(&entry) {
            return Ok(());
        }
        let Some((change, before, now)) = compare(view, &entry, &line)? else { return Ok(()) };
        if change == Change::New && moves.is_place(key) {
            return Ok(());
        }
        let place = moves.place_of(key).filter(|_| change == Change::Gone).map(|place| view.get(place)).transpose()?;
        let place = place.flatten().map(|place| place.candidate.url.to_string());
        let change = if place.is_some() { Change::Moved } else { change };
        *counts.entry(change).or_default() += 1;
        if matches!(change, Change::Unchanged | Change::Failed) {
            return Ok(());
        }
        let mut changed = Changed::new(&entry, change, before.as_ref(), &now);
        if place.is_some() {
            (changed.target, changed.probable) = (place, true);
        } else if change == Change::Moved
            && let Some(end) = moves::end_of(view, &now, &line)?
        {
            changed.target = Some(end.to_string());
        }
        if let (Change::Changed, Some(before), Some(pages), Some(replay)) =
            (change, before, &question.pages, &mut replay)
        {
            let [before, now] = [before, now].map(|visit| Entry { visit: Some(visit), ..entry.clone() });
            changed.difference = difference::between(&before, &now, pages, replay);
        }
        Ok(each(changed)?)
    })?;
    Ok(counts)
}

/// Calls `each` for every page of a crawl, in the order of the keys.
fn each_page(
    view: &dyn CrawlView,
    each: &mut dyn FnMut(Entry) -> Result<(), ChangesError>,
) -> Result<(), ChangesError> {
    let mut after: Option<UrlKey> = None;
    loop {
        let entries = view.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = Some(last.candidate.url.key());
        entries.into_iter().filter(|entry| entry.candidate.purpose == Purpose::Page).try_for_each(&mut *each)?;
    }
}

impl Question {
    fn is_about(&self, entry: &Entry) -> bool {
        self.sites.is_empty() || self.sites.contains(&entry.candidate.url.key().site)
    }
}

/// The line between the visits before and those since then, and where the last of these are.
struct Line {
    since: Since,
    through: Option<u32>,
    /// When visits were made, where dates say which are before.
    calendar: Calendar,
}

impl Line {
    fn of(view: &dyn CrawlView, question: &Question) -> Result<Self, StoreError> {
        let calendar = match question.since {
            Since::Time { from, now } => Calendar::of(view, from.max(now))?,
            Since::Round(_) => Calendar::default(),
        };
        Ok(Line { since: question.since, through: question.through, calendar })
    }

    /// The visits of a URL in their order, up to the end of what is asked for.
    fn visits(&self, view: &dyn CrawlView, last: &Visit) -> Result<Vec<Visit>, StoreError> {
        let mut visits = if last.past.visits > 0 { view.earlier(last.key)? } else { Vec::new() };
        visits.push(last.clone());
        visits.retain(|visit| self.through.is_none_or(|round| visit.round <= round));
        Ok(visits)
    }

    /// How many of a URL's visits, in their order, were made before.
    fn before(&self, visits: &[Visit]) -> usize {
        visits.iter().rposition(|visit| self.is_after(visit)).map_or(0, |last| last + 1)
    }

    fn is_after(&self, visit: &Visit) -> bool {
        match self.since {
            Since::Round(number) => visit.round < number,
            Since::Time { from, .. } => self.calendar.latest(visit) < from,
        }
    }
}

/// How a URL has changed, with the visits that say so; `None` where it was not asked for since then.
fn compare(
    view: &dyn CrawlView,
    entry: &Entry,
    line: &Line,
) -> Result<Option<(Change, Option<Visit>, Visit)>, StoreError> {
    let Some(last) = entry.visit.as_ref().filter(|last| !line.is_after(last)) else { return Ok(None) };
    let visits = line.visits(view, last)?;
    let (before, later) = visits.split_at(line.before(&visits));
    let Some((last, later)) = later.split_last().filter(|(last, _)| last.attempts > 0 || last.content_at.is_some())
    else {
        return Ok(None);
    };
    let before = before.split_last().map(|(last, earlier)| current_visit(last, earlier));
    let now = current_visit(last, later);
    let change = match Change::between(before, now) {
        // A redirect to nothing says no more than that the page is gone.
        Change::Moved if moves::leads_to_nothing(view, now, line)? => {
            if before.is_some_and(says_gone) {
                Change::Unchanged
            } else {
                Change::Gone
            }
        }
        change => change,
    };
    // A redirect that was not known before: nothing is as it was.
    let is_known = before.is_some() || change != Change::Unchanged;
    Ok(is_known.then(|| (change, before.cloned(), now.clone())))
}

impl Changed {
    fn new(entry: &Entry, change: Change, before: Option<&Visit>, now: &Visit) -> Self {
        let title_before = before.and_then(|before| before.title.clone());
        Changed {
            // The number of the visit is not enough: it comes again with other visits, where a crawl goes on from a backup.
            id: format!("{:016x}{:016x}-{:x}", now.key.site.0, now.key.url, now.at.0),
            change,
            url: entry.candidate.url.to_string(),
            at: now.at,
            before_at: before.map(|before| before.at),
            status: Some(now.status).filter(|status| *status > 0),
            target: now.target.clone().filter(|_| change == Change::Moved),
            probable: false,
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
