//! Which seeds a crawl does not have yet, and how they come into one that rests.

use std::collections::HashSet;

use engine::Settings;
use model::{Candidate, Outcome, Timestamp, Via, Visit};
use store::{Batch, Store, StoreError};
use weburl::CanonicalUrl;

/// The seeds that the store does not know as such. The redirect target of a seed is none before the user names it.
pub(crate) fn fresh_seeds(
    seeds: Vec<CanonicalUrl>,
    known: &HashSet<CanonicalUrl>,
    store: &dyn Store,
) -> Result<Vec<CanonicalUrl>, StoreError> {
    let is_fresh = |seed: &CanonicalUrl| {
        Ok(!known.contains(seed) || store.get(seed.key())?.is_some_and(|entry| entry.candidate.via == Via::Redirect))
    };
    let mut fresh = Vec::new();
    for seed in seeds {
        if is_fresh(&seed)? {
            fresh.push(seed);
        }
    }
    Ok(fresh)
}

/// Puts seeds into a state that no run uses, as a run does.
///
/// # Errors
/// The store cannot be read or written.
pub(crate) fn add_seeds(
    store: &dyn Store,
    settings: &Settings,
    seeds: Vec<CanonicalUrl>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let known = store.seeds()?.into_iter().collect();
    let fresh = fresh_seeds(seeds, &known, store)?;
    if fresh.is_empty() {
        return Ok(());
    }
    let mut filter = settings.filter.clone();
    for seed in known.iter().chain(&fresh) {
        filter.scope.add_seed(seed);
    }
    let round = store.totals()?.round.number;
    let mut batch = Batch::default();
    for seed in &fresh {
        let candidate = Candidate::seed(seed.clone());
        match filter.judge_seed(seed) {
            Ok(()) => batch.found.push(candidate),
            Err(rule) => {
                let visit = Visit::without_fetch(seed.key(), Outcome::Excluded, rule.to_string(), now);
                batch.settled.push((candidate, Visit { round, ..visit }));
            }
        }
    }
    batch.seeds = fresh;
    store.commit(&batch).map(drop)
}
