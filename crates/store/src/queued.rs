//! What is in the queues of sites.

use std::collections::BTreeSet;

use model::{Candidate, Position, Queued, SiteRecord};
use weburl::SiteKey;

use crate::{CrawlView, StoreError};

/// A URL in the queue of its site, at its place, which comes right behind the one before; `None` if it is not there.
///
/// # Errors
/// The store cannot be read.
pub fn queued(view: &dyn CrawlView, candidate: &Candidate) -> Result<Option<Queued>, StoreError> {
    let key = candidate.url.key();
    let place = candidate.position();
    let before = match place.url.checked_sub(1) {
        Some(url) => Some(Position { url, ..place }),
        None => place.rank.checked_sub(1).map(|rank| Position { rank, url: u64::MAX }),
    };
    let first = view.pending(key.site, before, 1)?.into_iter().next();
    Ok(first.filter(|queued| queued.candidate.url.key() == key))
}

/// Those of some sites that are in trouble and have a queue: that of others may have ended, or been removed.
///
/// # Errors
/// The store cannot be read.
pub fn aside_with_queue(view: &dyn CrawlView, records: &[SiteRecord]) -> Result<BTreeSet<SiteKey>, StoreError> {
    let aside = records.iter().filter(|record| record.aside.is_some()).map(|record| record.site.key());
    let aside: Vec<SiteKey> = aside.collect();
    if aside.is_empty() { Ok(BTreeSet::new()) } else { view.with_queue(&aside) }
}

/// Those of some sites whose queue has a first entry.
pub(crate) fn sites_with_queue(
    sites: &[SiteKey],
    first: impl Fn(SiteKey) -> Result<Vec<Queued>, StoreError>,
) -> Result<BTreeSet<SiteKey>, StoreError> {
    let mut found = BTreeSet::new();
    for site in sites {
        if !first(*site)?.is_empty() {
            found.insert(*site);
        }
    }
    Ok(found)
}
