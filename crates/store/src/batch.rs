//! The values that a store takes and returns.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use model::{
    Announcement, ArchiveLocation, Candidate, ContentDigest, Distance, Limit, LimitSet, Outcome, Position, Purpose,
    Queued, Round, SiteRecord, Timestamp, Visit,
};
use weburl::{CanonicalUrl, UrlKey};

/// The dates between which visits were made, as the clock said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dates {
    /// Of the earliest.
    pub first: Timestamp,
    /// Of the latest.
    pub last: Timestamp,
}

impl Dates {
    /// Of one visit.
    #[must_use]
    pub fn of(at: Timestamp) -> Self {
        Dates { first: at, last: at }
    }

    /// Adds a visit.
    pub fn add(&mut self, at: Timestamp) {
        (self.first, self.last) = (self.first.min(at), self.last.max(at));
    }
}

/// Everything one commit changes.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Visits whose record lies elsewhere now, or is lost. They come before all other changes, and change nothing else: a URL that waits in
    /// a queue stays there. Visits that are not known are left out. A URL whose present content is lost, be it recorded by its last visit or by
    /// one before, holds no content any more, and is asked for in any case ([`Past::LOST`](model::Past::LOST)).
    pub moved: Vec<Moved>,
    /// URLs to reopen, before all other changes. The outcome must allow it (not [`Outcome::is_final`]); others, which may hold a content
    /// for their duplicates, keep it. So do URLs that are in the queue anyway. In a later round the outcome stays too, and the URL is
    /// queued to be visited again.
    pub reopened: Vec<UrlKey>,
    /// The round that begins, or that continues to choose its URLs.
    pub round: Option<Round>,
    /// URLs to be visited again. They keep their visit until then. URLs without a visit, and those in the queue, stay as they are.
    pub again: Vec<UrlKey>,
    /// URLs that are not visited again after all for this purpose, since a rule forbids it now. They leave the queue, and keep their last visit.
    pub kept: Vec<(UrlKey, Purpose)>,
    /// URLs found and admitted.
    pub found: Vec<Candidate>,
    /// Pages are few: what a page needs as a file is none, even where links lead to it.
    pub pages_are_few: bool,
    /// URLs found and settled at once, without a fetch (excluded, trap).
    pub settled: Vec<(Candidate, Visit)>,
    /// The visits of URLs with a new outcome.
    pub visits: Vec<Visit>,
    /// Contents seen for the first time, with their URL. The first holder stays, unless its content is lost.
    pub holders: Vec<(ContentDigest, UrlKey)>,
    /// URLs requested without a final outcome, for which purpose, and the number of requests so far.
    pub attempts: Vec<(UrlKey, Purpose, u8)>,
    /// Relaxed URLs whose links were judged again, from this distance. They leave the queue, unless a still shorter path is
    /// known now.
    pub judged_again: Vec<(UrlKey, Distance)>,
    /// Announced changes of known pages. Each stays with the last visit of its page, if that was before and it is the first announcement
    /// since; pages that this batch visits take in nothing.
    pub announced: Vec<Announcement>,
    /// Sites whose record changed. If `robots` is `None`, the stored robots.txt stays. Counters of shapes that `shapes`
    /// does not have stay too.
    pub sites: Vec<SiteRecord>,
    /// URLs that count as seeds from now on.
    pub seeds: Vec<CanonicalUrl>,
    /// Segments of the archive that grew.
    pub segments: Vec<Segment>,
}

/// Where the record of a known visit lies from now on, be the visit the last of its URL or an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The URL.
    pub key: UrlKey,
    /// When the visit was: what tells it from the others of the URL. Or the date of the record in an earlier archive that has its content.
    pub at: Timestamp,
    /// The place; `None` if the record is lost.
    pub location: Option<ArchiveLocation>,
}

/// The result of a commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// The found URLs that were unknown: queued now.
    pub fresh: Vec<Candidate>,
    /// The found URLs that were known by a longer path, and visited URLs whose links were judged at too great a depth.
    pub relaxed: Vec<Relaxed>,
    /// Visits given as the first with their payload, but recorded as duplicates, each with its original: another worker committed it just
    /// before. Visits given as their duplicates become duplicates of that original too.
    pub duplicates: Vec<(UrlKey, UrlKey)>,
    /// Visits of URLs to which a shorter path was found after they were taken from the queue.
    pub outrun: Vec<UrlKey>,
    /// By how many the requisites in queues became more.
    pub more_requisites: i64,
}

/// A URL to which a shorter path was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Relaxed {
    /// The URL.
    pub key: UrlKey,
    /// Its place in the queue before: the same as now if only its links must be judged again.
    pub was: Position,
    /// Its entry in the queue now; `None` if it was visited and has no links to judge again.
    pub queued: Option<Queued>,
}

/// The state of a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The URL and how it was found.
    pub candidate: Candidate,
    /// The number of requests so far.
    pub attempts: u8,
    /// Its outcome; `None` while it is in the frontier.
    pub visit: Option<Visit>,
    /// It is in the queue to be visited again.
    pub again: bool,
}

/// A segment of the archive, as the state knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Segment {
    /// The serial number.
    pub serial: u32,
    /// The file's name.
    #[serde(deserialize_with = "file_name")]
    pub name: String,
    /// Its committed length in bytes. Bytes beyond it were not committed, and are cut off on start.
    pub length: u64,
}

impl Segment {
    /// Whether a name is that of a file in the archive's directory. A state may come from somebody else, and what lies at a path of their
    /// choice would be read, cut and written to: so each store refuses others.
    #[must_use]
    pub fn is_file_name(name: &str) -> bool {
        !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
    }
}

fn file_name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    let is_one = Segment::is_file_name(&name);
    is_one.then_some(name).ok_or_else(|| D::Error::custom("the name of a segment is not that of a file"))
}

/// Totals over the crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Known URLs.
    pub urls: u64,
    /// URLs in queues.
    pub pending: u64,
    /// URLs by outcome. Sitemaps and requisites are not among them.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Payload bytes of the visits, without those of sitemaps.
    pub bytes: u64,
    /// Known sites.
    pub sites: u64,
    /// Sitemaps read.
    pub sitemaps: u64,
    /// How many visits reached each limit or trap rule; for [`Limit::RobotsTxt`], how many sites.
    pub limits: BTreeMap<Limit, u64>,
    /// The round under way, or the last.
    #[serde(default)]
    pub round: Round,
    /// URLs in queues to be visited again.
    #[serde(default)]
    pub again: u64,
    /// Pages and documents visited successfully in this round, if it is not the first.
    #[serde(default)]
    pub pages_of_round: u64,
    /// Payload bytes of the visits of this round, also those of sitemaps. A visit that found a page unchanged has none.
    #[serde(default)]
    pub bytes_of_round: u64,
    /// Requisites by outcome.
    #[serde(default)]
    pub requisites: BTreeMap<Outcome, u64>,
    /// Requisites in queues.
    #[serde(default)]
    pub requisites_pending: u64,
}

impl Totals {
    /// URLs fetched successfully: pages and other documents, duplicates among them.
    #[must_use]
    pub fn fetched(&self) -> u64 {
        Outcome::ALL.iter().filter(|outcome| outcome.is_fetched()).map(|outcome| self.count(*outcome)).sum()
    }

    /// Pages and documents visited successfully in the current round.
    #[must_use]
    pub fn pages_in_round(&self) -> u64 {
        if self.round.number > 1 { self.pages_of_round } else { self.fetched() }
    }

    /// The counts by outcome that visits of a purpose belong to; `None` for sitemaps.
    pub fn outcomes_of(&mut self, purpose: Purpose) -> Option<&mut BTreeMap<Outcome, u64>> {
        match purpose {
            Purpose::Page | Purpose::Robots => Some(&mut self.outcomes),
            Purpose::Requisite => Some(&mut self.requisites),
            Purpose::Sitemap => None,
        }
    }

    /// Adds the limits of a new visit, and subtracts those of the visit that it replaces.
    pub fn shift_limits(&mut self, before: LimitSet, after: LimitSet) {
        if before == after {
            return;
        }
        for limit in before.iter() {
            if let Some(count) = self.limits.get_mut(&limit) {
                *count = count.saturating_sub(1);
            }
        }
        for limit in after.iter() {
            *self.limits.entry(limit).or_default() += 1;
        }
        self.limits.retain(|_, count| *count > 0);
    }

    /// URLs with this outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }
}
