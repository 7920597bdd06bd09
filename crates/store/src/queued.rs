//! What is in the queues of sites.

use std::collections::BTreeSet;

use model::{Queued, SiteRecord};
use weburl::SiteKey;

use crate::{CrawlView, StoreError};

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
