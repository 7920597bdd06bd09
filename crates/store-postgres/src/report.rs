//! What a commit found out: the batch played through on the few URLs there is something to tell of.
//!
//! The server names the URLs that were unknown, and gives those that turned out to be nearer as they stood before. Of all
//! others a batch has nothing to tell.

use std::collections::{BTreeMap, BTreeSet};

use model::{Candidate, Distance, Queued, Visit, Visited};
use store::{Batch, Committed, Relaxed, is_nearer};
use weburl::UrlKey;

/// A URL as it stands.
pub(crate) struct UrlStatus {
    pub(crate) url: Queued,
    pub(crate) is_queued: bool,
}

/// The answer of [`store::Store::commit`].
pub(crate) fn report(batch: &Batch, fresh: BTreeSet<UrlKey>, nearer: BTreeMap<UrlKey, UrlStatus>) -> Committed {
    let mut report = Report { fresh, urls: nearer, committed: Committed::default() };
    for visit in &batch.visits {
        report.visit(visit);
    }
    for (key, attempts) in &batch.attempts {
        if let Some(standing) = report.urls.get_mut(key) {
            standing.url.attempts = *attempts;
        }
    }
    for (key, judged_at) in &batch.judged_again {
        if report.urls.get(key).is_none_or(|standing| standing.url.again.is_none()) {
            report.leave_queue(*key, *judged_at);
        }
    }
    for candidate in &batch.found {
        report.find(candidate);
    }
    report.committed
}

struct Report {
    fresh: BTreeSet<UrlKey>,
    urls: BTreeMap<UrlKey, UrlStatus>,
    committed: Committed,
}

impl Report {
    fn visit(&mut self, visit: &Visit) {
        if let Some(standing) = self.urls.get_mut(&visit.key) {
            standing.url.attempts = visit.attempts;
            standing.url.visited = Some(Visited { outcome: visit.outcome, outlinks: visit.outlinks.clone() });
            standing.url.again = None;
            self.leave_queue(visit.key, visit.judged_at);
        }
    }

    fn leave_queue(&mut self, key: UrlKey, judged_at: Distance) {
        let Some(standing) = self.urls.get_mut(&key).filter(|standing| standing.is_queued) else { return };
        let is_nearer = standing.url.candidate.distance() < judged_at;
        if is_nearer {
            self.committed.outrun.push(key);
        }
        if is_nearer && has_links(&standing.url) {
            let (was, queued) = (standing.url.candidate.position(), Some(standing.url.clone()));
            self.committed.relaxed.push(Relaxed { key, was, queued });
        } else {
            standing.is_queued = false;
        }
    }

    fn find(&mut self, candidate: &Candidate) {
        let key = candidate.url.key();
        let Some(standing) = self.urls.get_mut(&key) else {
            if self.fresh.remove(&key) {
                let url = Queued::first(candidate.clone());
                self.urls.insert(key, UrlStatus { url, is_queued: true });
                self.committed.fresh.push(candidate.clone());
            }
            return;
        };
        let known = &mut standing.url.candidate;
        if !is_nearer(candidate, known.purpose, known.distance()) {
            return;
        }
        let was = known.position();
        *known = candidate.clone();
        standing.is_queued = standing.url.visited.is_none() || has_links(&standing.url);
        let queued = standing.is_queued.then(|| standing.url.clone());
        self.committed.relaxed.push(Relaxed { key, was, queued });
    }
}

fn has_links(url: &Queued) -> bool {
    url.visited.as_ref().is_some_and(|visited| !visited.outlinks.is_empty())
}
