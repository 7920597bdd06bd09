//! URLs whose last request failed in a way that may pass. What became of them is open: they are tried again in this round or in the next one.

use std::collections::BTreeMap;

use model::{Outcome, Purpose, Queued, says_what_is_there};
use serde::{Deserialize, Serialize};
use store::{CrawlView, Entry, StoreError, Totals, with_current_visit};
use weburl::SiteKey;

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 1_000;
/// URLs that are read for it, at most. Where more are in queues or have failed, it is not told.
const READ_MAX: u64 = 200_000;

/// What is open of URLs that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passing {
    /// URLs that were requested without success, and wait for another request. They were never visited to the end. Sitemaps and requisites
    /// count too, as they do among the URLs in the frontier.
    pub tried: u64,
    /// Pages that were visited before, by the outcome of the last visit.
    pub outcomes: BTreeMap<String, Open>,
}

/// URLs with an outcome that is not final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Those that wait in the queue to be visited again.
    pub waiting: u64,
    /// Those whose content is known from an earlier visit, which still counts.
    pub known: u64,
}

impl Passing {
    /// Those of a crawl; `None` where too many would have to be read.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of(view: &dyn CrawlView, totals: &Totals) -> Result<Option<Self>, StoreError> {
        let failures = || Outcome::ALL.iter().copied().filter(|outcome| outcome.is_failure());
        let is_first = totals.round.number <= 1;
        let failed: u64 = if is_first { 0 } else { failures().map(|outcome| totals.count(outcome)).sum() };
        if totals.pending.saturating_add(failed) > READ_MAX {
            return Ok(None);
        }
        let mut passing = Passing::default();
        if totals.pending > 0 {
            passing.read_queues(view)?;
        }
        for outcome in failures().filter(|outcome| !is_first && totals.count(*outcome) > 0) {
            passing.read_failed(view, outcome)?;
        }
        Ok(Some(passing))
    }

    fn read_queues(&mut self, view: &dyn CrawlView) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let sites = view.sites(after, ENTRIES_AT_ONCE)?;
            let Some(last) = sites.last() else { return Ok(()) };
            after = Some(last.site.key());
            let keys: Vec<SiteKey> = sites.iter().map(|site| site.site.key()).collect();
            for site in view.with_queue(&keys)? {
                let mut position = None;
                loop {
                    let queue = view.pending(site, position, ENTRIES_AT_ONCE)?;
                    let Some(last) = queue.last() else { break };
                    position = Some(last.candidate.position());
                    queue.iter().for_each(|queued| self.read(queued));
                }
            }
        }
    }

    fn read(&mut self, queued: &Queued) {
        let is_page = queued.candidate.purpose == Purpose::Page;
        match queued.again.as_deref() {
            Some(last) if is_page && last.outcome.is_failure() && !says_what_is_there(last) => {
                self.outcomes.entry(last.outcome.to_string()).or_default().waiting += 1;
            }
            None if queued.visited.is_none() => self.tried += u64::from(queued.attempts > 0),
            Some(_) | None => {}
        }
    }

    fn read_failed(&mut self, view: &dyn CrawlView, outcome: Outcome) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let entries = match view.in_state(Some(outcome), after, ENTRIES_AT_ONCE)? {
                Some(entries) => entries,
                None => view.scan(after, ENTRIES_AT_ONCE)?,
            };
            let Some(last) = entries.last() else { return Ok(()) };
            after = Some(last.candidate.url.key());
            for entry in entries {
                if is_known(view, entry, outcome)? {
                    self.outcomes.entry(outcome.to_string()).or_default().known += 1;
                }
            }
        }
    }
}

/// Whether the content of a page is known from before its last visit, which failed with this outcome in a way that may pass.
fn is_known(view: &dyn CrawlView, entry: Entry, outcome: Outcome) -> Result<bool, StoreError> {
    let is_page = entry.candidate.purpose == Purpose::Page;
    let passes = |entry: &Entry| {
        let last = entry.visit.as_ref();
        last.is_some_and(|last| last.outcome == outcome && last.past.visits > 0 && !says_what_is_there(last))
    };
    if !is_page || !passes(&entry) {
        return Ok(false);
    }
    let current = with_current_visit(view, entry)?.visit;
    Ok(current.is_some_and(|current| says_what_is_there(&current)))
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Round, SiteRecord, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn what_failed_is_told_apart_from_what_is_over() {
        let store = MemoryStore::new();
        let url = |path: &str| CanonicalUrl::from_canonical(&format!("http://a.test/{path}")).expect("a URL");
        let commit = |batch: Batch| store.commit(&batch).expect("a commit");
        let paths = ["there", "late", "twice", "gone", "new"];
        let mut found = paths.map(|path| Candidate::seed(url(path))).to_vec();
        found.push(Candidate { purpose: Purpose::Sitemap, ..Candidate::seed(url("sitemap.xml")) });
        commit(Batch { found, sites: vec![SiteRecord::new(url("").site())], ..Batch::default() });
        let of = |totals: &Totals| Passing::of(&store, totals).expect("a state");
        let told = || of(&store.totals().expect("totals"));
        assert_eq!(told(), Some(Passing::default()), "all were counted, and none has failed");
        assert_eq!(of(&Totals { pending: READ_MAX + 1, ..Totals::default() }), None, "they are too many");
        commit(Batch { attempts: vec![(url("new").key(), Purpose::Page, 2)], ..Batch::default() });
        assert_eq!(told(), Some(Passing { tried: 1, ..Passing::default() }));
        commit(Batch { attempts: vec![(url("sitemap.xml").key(), Purpose::Sitemap, 3)], ..Batch::default() });
        assert_eq!(told(), Some(Passing { tried: 2, ..Passing::default() }), "the frontier has sitemaps too");

        let visit = |path: &str, round: u32, (outcome, status): (Outcome, u16)| {
            let visit = Visit::without_fetch(url(path).key(), outcome, String::new(), Timestamp(u64::from(round)));
            let past = model::Past { visits: round - 1, ..Default::default() };
            Visit { status, attempts: 1, round, past, ..visit }
        };
        let (html, late, missing) = ((Outcome::Html, 200), (Outcome::Timeout, 0), (Outcome::HttpError, 404));
        let first = [("there", html), ("late", html), ("twice", late), ("gone", html)];
        commit(Batch { visits: first.map(|(path, answer)| visit(path, 1, answer)).to_vec(), ..Batch::default() });
        let again = first.map(|(path, _)| url(path).key()).to_vec();
        let round = Some(Round { number: 2, began_at: Timestamp(2), is_choosing: false });
        commit(Batch { again, round, ..Batch::default() });
        let timeouts = |waiting, known| BTreeMap::from([(Outcome::Timeout.to_string(), Open { waiting, known })]);
        assert_eq!(told(), Some(Passing { tried: 2, outcomes: timeouts(1, 0) }), "one of the first round");

        let second = [("there", html), ("late", late), ("twice", late), ("gone", missing)];
        commit(Batch { visits: second.map(|(path, answer)| visit(path, 2, answer)).to_vec(), ..Batch::default() });
        assert_eq!(told(), Some(Passing { tried: 2, outcomes: timeouts(0, 1) }), "404 is an answer");
    }
}
