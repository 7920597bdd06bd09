//! The values that go into a store and come out of it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use model::{
    Candidate, ContentDigest, Distance, Limit, LimitSet, Outcome, Position, Purpose, Queued, Round, SiteRecord, Visit,
};
use weburl::{CanonicalUrl, UrlKey};

/// Everything one commit changes.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// URLs whose outcome is taken back, before all else. It must be one that may be ([`Outcome::may_be_reopened`]): of others, which may
    /// hold a content for their duplicates, the outcome stays. So it does where the URL is in the queue anyway. In a later round
    /// it stays too, and the URL is to be visited again.
    pub reopened: Vec<UrlKey>,
    /// The round that begins, or goes on with choosing its URLs.
    pub round: Option<Round>,
    /// URLs that are to be visited again. They keep their visit until then. URLs without one, and those in the queue, stay as they are.
    pub again: Vec<UrlKey>,
    /// URLs found and judged worth fetching.
    pub found: Vec<Candidate>,
    /// URLs found and settled at once, without a fetch (excluded, trap).
    pub settled: Vec<(Candidate, Visit)>,
    /// URLs whose outcome is known now.
    pub visits: Vec<Visit>,
    /// Contents seen for the first time, and by whom. The first holder stays.
    pub holders: Vec<(ContentDigest, UrlKey)>,
    /// URLs asked for without a final outcome, and how often so far.
    pub attempts: Vec<(UrlKey, u8)>,
    /// Relaxed URLs whose links were judged again, from this distance: they leave the queue, unless they are known to
    /// be nearer still by now.
    pub judged_again: Vec<(UrlKey, Distance)>,
    /// Sites whose record changed. Where `robots` is `None`, what is stored of robots.txt stays. So do the counters of shapes that
    /// `shapes` does not have.
    pub sites: Vec<SiteRecord>,
    /// URLs that count as seeds from now on.
    pub seeds: Vec<CanonicalUrl>,
    /// Segments of the archive that grew.
    pub segments: Vec<Segment>,
}

/// What a commit found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// The found URLs that were unknown: queued now.
    pub fresh: Vec<Candidate>,
    /// The found URLs that were known by a longer way, and visited URLs whose links were judged from too far away.
    pub relaxed: Vec<Relaxed>,
    /// Visits that are recorded as duplicates, though they were given as the first with their payload, each with the one that was:
    /// of another worker, who committed just before. What was given as a duplicate of them is one of that other too.
    pub duplicates: Vec<(UrlKey, UrlKey)>,
    /// Visits of URLs that are known to be nearer by now than they were when they were taken from the queue.
    pub outrun: Vec<UrlKey>,
}

/// A URL that turned out to be nearer to a seed than was known.
#[derive(Clone, Debug, PartialEq)]
pub struct Relaxed {
    /// The URL.
    pub key: UrlKey,
    /// Its place in the queue before: the same as now where only its links are to be judged again.
    pub was: Position,
    /// Its entry in the queue now; `None` where it was visited and has no links to judge again.
    pub queued: Option<Queued>,
}

/// All that is known of a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The URL and how it was found.
    pub candidate: Candidate,
    /// How often it was asked for so far.
    pub attempts: u8,
    /// Its outcome; `None` while it is in the frontier.
    pub visit: Option<Visit>,
}

/// A segment of the archive, as far as the state points into it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Segment {
    /// The serial number.
    pub serial: u32,
    /// The file's name.
    pub name: String,
    /// Its committed length in bytes. What lies beyond was not committed and is cut off on start.
    pub length: u64,
}

/// How much there is of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// URLs known.
    pub urls: u64,
    /// URLs in queues.
    pub pending: u64,
    /// URLs by outcome. Sitemaps are not among them.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Payload bytes of the visits.
    pub bytes: u64,
    /// Sites known.
    pub sites: u64,
    /// Sitemaps read.
    pub sitemaps: u64,
    /// How many visits, and of [`Limit::RobotsTxt`] sites, reached each limit or trap rule.
    pub limits: BTreeMap<Limit, u64>,
    /// The round under way, or the last.
    #[serde(default)]
    pub round: Round,
    /// URLs in queues that are to be visited again.
    #[serde(default)]
    pub again: u64,
    /// Pages and documents visited with success in this round, where it is not the first.
    #[serde(default)]
    pub pages_of_round: u64,
}

impl Totals {
    /// URLs fetched with success: pages and other documents, duplicates among them.
    #[must_use]
    pub fn fetched(&self) -> u64 {
        Outcome::ALL.iter().filter(|outcome| outcome.is_fetched()).map(|outcome| self.count(*outcome)).sum()
    }

    /// Pages and documents visited with success in the round under way.
    #[must_use]
    pub fn pages_in_round(&self) -> u64 {
        if self.round.number > 1 { self.pages_of_round } else { self.fetched() }
    }

    /// Payload bytes that count for the round under way. Those of a later round count for a run at a time.
    #[must_use]
    pub fn bytes_in_round(&self) -> u64 {
        if self.round.number > 1 { 0 } else { self.bytes }
    }

    /// Counts the limits that one more visit reached, and those that one less did.
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

/// True where the way of `candidate` is shorter than the one given. Pages and sitemaps differ in what their depth means,
/// so neither relaxes the other.
#[must_use]
pub fn is_nearer(candidate: &Candidate, purpose: Purpose, distance: Distance) -> bool {
    candidate.purpose == purpose && candidate.distance() < distance
}
