//! Changes of the queue: URLs that failed are visited again, and URLs that wait are taken out.
//!
//! A retry begins a round, so each visit stays in archive and dataset. A URL that is taken out ends as `excluded`, or keeps its last visit.

use std::collections::BTreeSet;

use anyhow::bail;
use engine::clock::Clock;
use engine::{Control, Record, RecordError, Recorder, Settings};
use model::{Candidate, Outcome, Purpose, Timestamp, Visit};
use settings::plan;
use settings::usage;
use store::{Batch, CrawlView, Entry, Store, StoreError};
use weburl::{Pattern, SiteKey, UrlKey};

use crate::again::Beginning;
use crate::retry;

/// URLs read from the state at once, and at most changed in one commit.
const ENTRIES_AT_ONCE: usize = 2_048;
/// Entries of a queue read at once.
const QUEUED_AT_ONCE: usize = 1_024;
/// Sites read from the state at once.
const SITES_AT_ONCE: usize = 1_024;

/// The reason of a URL that was taken out of the queue, in front of the pattern.
pub(super) const REMOVED: &str = "remove ";

/// URLs that are visited again.
#[derive(Clone, Debug)]
pub struct Retried {
    /// Those with these outcomes.
    outcomes: BTreeSet<Outcome>,
    /// Those that match one of these patterns; all without patterns.
    patterns: Vec<Pattern>,
}

/// URLs that are taken out of the queue.
#[derive(Clone, Debug)]
pub struct Removed {
    /// Those that match one of these patterns.
    patterns: Vec<(String, Pattern)>,
}

impl Retried {
    /// Reads outcomes and patterns. Without outcomes all those count that may be visited again.
    ///
    /// # Errors
    /// A word is no outcome of a failure, and no pattern.
    pub fn read(words: &[String]) -> anyhow::Result<Self> {
        let mut retried = Retried { outcomes: BTreeSet::new(), patterns: Vec::new() };
        for word in words {
            match word.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                true => drop(retried.outcomes.insert(retry::outcome(word).map_err(usage)?)),
                false => retried.patterns.push(plan::pattern("retry", word)?),
            }
        }
        if retried.outcomes.is_empty() {
            retried.outcomes.extend(Outcome::ALL.iter().copied().filter(|outcome| !outcome.is_final()));
        }
        Ok(retried)
    }

    /// True for a URL that is visited again.
    #[must_use]
    pub fn names(&self, url: &str, purpose: Purpose, outcome: Option<Outcome>) -> bool {
        outcome.is_some_and(|outcome| self.outcomes.contains(&outcome))
            && purpose != Purpose::Robots
            && self.matches(url)
    }

    /// True for a URL that is visited again if its outcome is one of those.
    fn matches(&self, url: &str) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(url))
    }

    /// Begins a round with these URLs, also while another one goes on. Returns what a run has to learn of it, nothing if there are none, and
    /// the number of URLs.
    ///
    /// # Errors
    /// The state cannot be read or written. The same call goes on with the same round then.
    pub fn begin(&self, store: &dyn Store, settings: &Settings) -> Result<(Vec<Control>, u64), StoreError> {
        let Queued { round, sites, urls } = self.queue(store, settings)?;
        let controls = if sites.is_empty() { Vec::new() } else { vec![Control::RoundBegan(round), changed(sites)] };
        Ok((controls, urls))
    }

    /// The same in a state that no run uses. Returns the number of URLs.
    ///
    /// # Errors
    /// As [`Retried::begin`].
    pub fn commit(&self, store: &dyn Store, settings: &Settings) -> Result<u64, StoreError> {
        Ok(self.queue(store, settings)?.urls)
    }

    fn queue(&self, store: &dyn Store, settings: &Settings) -> Result<Queued, StoreError> {
        let mut beginning = Beginning::new(store, settings, Clock::start().date())?;
        let mut queued = Queued { round: beginning.round.number, sites: BTreeSet::new(), urls: 0 };
        each_part(store, &mut |entries| {
            let is_chosen = |entry: &&Entry| {
                let Entry { candidate, visit, .. } = entry;
                let outcome = visit.as_ref().map(|visit| visit.outcome);
                self.names(candidate.url.as_str(), candidate.purpose, outcome)
                    && visit.as_ref().is_some_and(|visit| visit.round < queued.round)
            };
            let chosen: Vec<UrlKey> = entries.iter().filter(is_chosen).map(|entry| entry.candidate.url.key()).collect();
            queued.urls += chosen.len() as u64;
            queued.sites.extend(chosen.iter().map(|key| key.site));
            beginning.choose(chosen)
        })?;
        beginning.end()?;
        Ok(queued)
    }
}

/// URLs that are in the queue again.
struct Queued {
    round: u32,
    sites: BTreeSet<SiteKey>,
    urls: u64,
}

impl Removed {
    /// Reads patterns.
    ///
    /// # Errors
    /// One is none.
    pub fn read(words: &[String]) -> anyhow::Result<Self> {
        if words.is_empty() {
            bail!(usage("remove: patterns are missing"));
        }
        let pattern = |word: &String| Ok((word.clone(), plan::pattern("remove", word)?));
        Ok(Removed { patterns: words.iter().map(pattern).collect::<anyhow::Result<_>>()? })
    }

    /// The pattern that a URL matches.
    #[must_use]
    pub fn pattern_of(&self, url: &str) -> Option<&str> {
        self.patterns.iter().find(|(_, pattern)| pattern.matches(url)).map(|(text, _)| text.as_str())
    }

    /// Takes the URLs out of the queue of a running crawl, through its recorder, so that its sinks receive them. Returns what the run has to
    /// learn of it, and the number of URLs.
    ///
    /// # Errors
    /// Recording failed.
    pub fn record(&self, recorder: &mut Recorder, now: Timestamp) -> Result<(Vec<Control>, u64), RecordError> {
        let store = recorder.store().clone();
        let mut urls = 0;
        let taken = self.each_taken(store.as_ref(), now, &mut |taken| {
            urls += taken.len() as u64;
            let records = taken.into_iter().map(|taken| match taken {
                Taken::Settled(settled) => {
                    let (visit, candidate) = *settled;
                    let site = visit.key.site;
                    Record { visited: Some(Box::new((candidate, None))), visit: Some(visit), ..Record::of(site) }
                }
                Taken::Kept(key, purpose) => Record { kept: Some((key, purpose)), ..Record::of(key.site) },
            });
            recorder.commit(records).map(drop)
        })?;
        Ok((if taken.is_empty() { Vec::new() } else { vec![changed(taken)] }, urls))
    }

    /// Takes the URLs out of the queues of a state that no run of this process uses. Returns their sites and their number.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub fn commit(&self, store: &dyn Store, now: Timestamp) -> Result<(BTreeSet<SiteKey>, u64), StoreError> {
        let mut urls = 0;
        let sites = self.each_taken(store, now, &mut |taken| {
            urls += taken.len() as u64;
            let mut batch = Batch::default();
            for taken in taken {
                match taken {
                    Taken::Settled(settled) => batch.visits.push(settled.0),
                    Taken::Kept(key, purpose) => batch.kept.push((key, purpose)),
                }
            }
            store.commit(&batch).map(drop)
        })?;
        Ok((sites, urls))
    }

    /// Calls `commit` with the URLs of each queue, and returns the sites of all.
    fn each_taken<E: From<StoreError>>(
        &self,
        store: &dyn Store,
        now: Timestamp,
        commit: &mut dyn FnMut(Vec<Taken>) -> Result<(), E>,
    ) -> Result<BTreeSet<SiteKey>, E> {
        let round = store.totals()?.round.number;
        let (mut sites, mut last) = (BTreeSet::new(), None);
        loop {
            let found = store.sites_with_pending(last, SITES_AT_ONCE)?;
            let Some(site) = found.last() else { return Ok(sites) };
            last = Some(*site);
            for site in found {
                let mut after = None;
                loop {
                    let queue = store.pending(site, after, QUEUED_AT_ONCE)?;
                    let Some(behind) = queue.last() else { break };
                    after = Some(behind.candidate.position());
                    let taken: Vec<Taken> =
                        queue.into_iter().filter_map(|queued| self.take(queued, round, now)).collect();
                    if !taken.is_empty() {
                        sites.insert(site);
                        commit(taken)?;
                    }
                }
            }
        }
    }

    fn take(&self, queued: store::Queued, round: u32, now: Timestamp) -> Option<Taken> {
        let pattern = self.pattern_of(queued.candidate.url.as_str())?;
        let key = queued.candidate.url.key();
        match (queued.visited, queued.again) {
            // It is there for its links only.
            (Some(_), _) => None,
            (None, Some(_)) => Some(Taken::Kept(key, queued.candidate.purpose)),
            (None, None) => {
                let visit = Visit::without_fetch(key, Outcome::Excluded, format!("{REMOVED}{pattern}"), now);
                let judged_at = queued.candidate.judges_from();
                Some(Taken::Settled(Box::new((Visit { round, judged_at, ..visit }, queued.candidate))))
            }
        }
    }
}

/// A URL that leaves the queue.
enum Taken {
    /// It was never visited, and ends with this.
    Settled(Box<(Visit, Candidate)>),
    /// It keeps its last visit.
    Kept(UrlKey, Purpose),
}

fn changed(sites: BTreeSet<SiteKey>) -> Control {
    Control::SitesChanged { sites: sites.into_iter().collect(), taken_over: false }
}

fn each_part(view: &dyn CrawlView, each: &mut dyn FnMut(&[Entry]) -> Result<(), StoreError>) -> Result<(), StoreError> {
    let mut last = None;
    loop {
        let entries = view.scan(last, ENTRIES_AT_ONCE)?;
        let Some(entry) = entries.last() else { return Ok(()) };
        last = Some(entry.candidate.url.key());
        each(&entries)?;
    }
}
