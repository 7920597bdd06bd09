//! Which seeds a crawl does not have yet.

use std::collections::HashSet;

use model::Via;
use store::{Store, StoreError};
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
