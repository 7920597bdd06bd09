//! The sites in front as values.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontier::{Group, LeftBehind, Reason, SiteState};
use model::{Renewal, RobotsRecord, Timestamp, Validators};
use weburl::{CanonicalUrl, SiteKey};

use super::robots_txt::FetchedRobots;

/// A site in front.
pub(super) enum Slot {
    /// Its record and the head of its queue are being read.
    Loading(Loading),
    /// It is here.
    Here(Box<Front>),
}

/// What became known of a site while it was being read.
#[derive(Default)]
pub(super) struct Loading {
    /// Its queue may have changed.
    pub(super) changed: bool,
    /// It is to be let go of.
    pub(super) leaving: bool,
    /// What is known of its URLs that failed.
    pub(super) left_behind: Option<Box<LeftBehind>>,
    /// It is in trouble, and asked once more since patience ends.
    pub(super) is_last_probe: bool,
}

/// A site in front, with what the engine has under way for it.
pub(super) struct Front {
    pub(super) state: SiteState,
    /// Set where an earlier run, or another worker, may have visited it just before this time.
    pub(super) visited_before: Option<Timestamp>,
    pub(super) leaving: Leaving,
    pub(super) loading: bool,
    pub(super) resolving: bool,
    /// How long the last request to it took.
    pub(super) visit_took: Duration,
    pub(super) reading: Reading,
    /// The robots.txt that a request for a new one refers to.
    pub(super) earlier_robots: Earlier,
    /// The step records the sitemaps of its robots.txt as soon as the rules are there.
    pub(super) names_sitemaps: bool,
    /// When its name was resolved last.
    pub(super) resolved_at: Timestamp,
    /// When that must be done again.
    pub(super) resolve_at: Timestamp,
    /// The address that could not be reached when it was asked last: it is looked for elsewhere when its turn comes. Only where
    /// others crawl too, since each of its addresses may be another's.
    pub(super) unreachable: Option<IpAddr>,
    /// Its budget is spent, as far as is known while visits are under way: nothing more is asked of it.
    pub(super) held: bool,
    /// The share of its domain or of its address is used up: it is not on the workbench.
    pub(super) waits_for_share: bool,
    pub(super) domain: SiteKey,
    /// What it is counted for among the bytes of the front.
    pub(super) weight: Weight,
    /// Visits since it is in front.
    pub(super) turns: u32,
    /// A known page of it was requested without validators, to test whether it is right about changes.
    pub(super) is_probed: bool,
    /// The state of the test whether it is right about a change.
    pub(super) truth: Truth,
    /// It leaves its place to others as soon as its record is committed.
    pub(super) yields: bool,
    /// Its place among those with nothing left to do.
    pub(super) parked: Option<u64>,
    /// The sitemaps that its robots.txt names are recorded.
    pub(super) sitemaps_named: bool,
}

/// Whether a site in front is let go of as soon as nothing of it is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It stays.
    No,
    /// As ordered; the order may be taken back.
    Ordered,
    /// Since it may not be asked where it is ([`Event::Elsewhere`]).
    Elsewhere(Option<IpAddr>),
}

impl Leaving {
    pub(super) fn for_address(self) -> Option<IpAddr> {
        match self {
            Leaving::Elsewhere(address) => address,
            Leaving::No | Leaving::Ordered => None,
        }
    }
}

impl Front {
    /// True while a visit, a load, a lookup or a read is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.state.is_under_way() || self.loading || self.resolving || self.reading.is_under_way()
    }

    /// The page for which the site is tested next, whether it is right about its change.
    pub(super) fn truth_wanted(&self) -> Option<(&CanonicalUrl, &Validators)> {
        match &self.truth {
            Truth::Wanted(url, validators) if !self.state.needs_no_network() => Some((url, validators)),
            Truth::Unknown | Truth::Wanted(..) | Truth::Asked => None,
        }
    }

    /// True if it has a turn to take: a URL waits in memory, or a test whether the site is right about a change.
    pub(super) fn has_turn(&self) -> bool {
        self.state.has_waiting() || self.truth_wanted().is_some()
    }

    /// True if URLs wait in memory that are requested from this group, and no failure, no budget and nobody keeps them.
    pub(super) fn wants_visits_of(&self, group: Group) -> bool {
        let is_of = self.state.address().map(Group::of_address) == Some(group) && !self.state.needs_no_network();
        let is_kept = self.held || self.leaving != Leaving::No || self.state.waits_for() == Reason::BackOff;
        is_of && self.state.has_waiting() && !is_kept
    }

    /// True if URLs wait in memory, and none of them is a requisite, which no budget of pages holds up.
    pub(super) fn waits_with_pages_alone(&self) -> bool {
        self.state.has_waiting() && !self.state.has_requisite_waiting()
    }

    /// True if nothing is left to do, in memory or in the store, and nothing is under way.
    pub(super) fn is_finished(&self) -> bool {
        self.state.is_finished() && !self.has_turn()
    }

    /// True if its name must be resolved before anything else.
    pub(super) fn wants_name(&self, now: Timestamp) -> bool {
        let is_stale = now >= self.resolve_at || self.unreachable.is_some();
        !self.state.needs_no_network() && (self.state.addresses.is_none() || is_stale)
    }
}

/// The read of a site's large robots.txt that is under way.
#[derive(Default)]
pub(super) enum Reading {
    #[default]
    Nothing,
    /// The stored file. The turn of the site's group waits for it, if there is one.
    Stored(Option<Group>),
    /// The stored file, whose validators a request is to send.
    Earlier,
    /// A new file. The step records it when its rules are there.
    Fresh(Box<FetchedRobots>),
    /// The rules are there, and the turn that waited for them waits for room.
    Done,
}

impl Reading {
    pub(super) fn is_under_way(&self) -> bool {
        !matches!(self, Reading::Nothing)
    }

    /// True if the rules are there, and only room is waited for.
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Reading::Done)
    }

    pub(super) fn is_awaited(&self) -> bool {
        matches!(self, Reading::Stored(_) | Reading::Fresh(_))
    }
}

/// A file that a request refers to.
pub(super) struct EarlierFile {
    pub(super) record: RobotsRecord,
    /// A large one has a place among those in memory.
    pub(super) _place: Option<LargeFile>,
}

/// The robots.txt that a site had before.
#[derive(Default)]
pub(super) enum Earlier {
    /// It was not looked for.
    #[default]
    Unread,
    /// It was, and may be referred to if it is there.
    Read(Option<Box<EarlierFile>>),
}

impl Earlier {
    /// The file. The next request looks for it again.
    pub(super) fn take(&mut self) -> Option<Box<EarlierFile>> {
        match std::mem::take(self) {
            Earlier::Unread => None,
            Earlier::Read(earlier) => earlier,
        }
    }

    /// What a request for it may send.
    pub(super) fn renewal(&self) -> Option<&Renewal> {
        let Earlier::Read(earlier) = self else { return None };
        earlier.as_ref()?.record.renewal.as_deref()
    }
}

/// Whether a site was asked in this run if it tells the truth about what has changed.
pub(super) enum Truth {
    /// There was no reason.
    Unknown,
    /// This page has changed, and had these validators before: it is to be asked for with them.
    Wanted(CanonicalUrl, Box<Validators>),
    /// It was.
    Asked,
}

/// The weight of a site in front.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    pub(super) bytes: usize,
    pub(super) window: usize,
    pub(super) leaves: bool,
}

/// Large files that are in memory until the answer to a request for a new one, at most; each has up to `Limits::robots_bytes_max` bytes.
const LARGE_FILES_MAX: usize = 16;

/// Counts the large files that are in memory for the sake of requests. Each holds one.
#[derive(Default)]
pub(super) struct LargeFiles(Arc<()>);

/// The place of a large file among them.
pub(super) struct LargeFile(#[expect(dead_code, reason = "it counts while it is there")] Arc<()>);

impl LargeFiles {
    /// A place for one more, if there is one.
    pub(super) fn place(&self) -> Option<LargeFile> {
        (Arc::strong_count(&self.0) <= LARGE_FILES_MAX).then(|| LargeFile(Arc::clone(&self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_large_files_are_in_memory_at_once() {
        let files = LargeFiles::default();
        let mut places: Vec<LargeFile> = std::iter::from_fn(|| files.place()).collect();
        assert_eq!(places.len(), LARGE_FILES_MAX);
        places.pop();
        assert!(files.place().is_some(), "one has left");
    }
}
