//! Near duplicates: pages whose text is almost that of an earlier one.

use std::collections::{BTreeMap, HashSet};

use dataset::near::nearest_earlier;
use dataset::schema::Table;
use dataset::{Column, Layout};
use store::Store;
use weburl::{SiteKey, UrlKey};

use crate::content::named;
use crate::statistics::NearDuplicates;
use crate::top::{ROWS_MAX, Top};
use crate::{Both, ReportError};

/// Counts them, and the pages that have most. Memory is about 60 bytes a page.
pub(crate) fn near(
    dataset: &Layout,
    store: &dyn Store,
    seed_sites: &HashSet<SiteKey>,
) -> Result<NearDuplicates, ReportError> {
    let mut pages: Vec<(i64, UrlKey, u64)> = Vec::new();
    for batch in dataset.batches(Table::Pages, &["url_key", "fetched_at", "simhash"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if let (Some(key), Some(simhash)) = (batch.key("url_key", row), batch.number("simhash", row)) {
                pages.push((batch.number("fetched_at", row).unwrap_or_default(), key, simhash.cast_unsigned()));
            }
        }
    }
    pages.sort_unstable();
    let fingerprints: Vec<u64> = pages.iter().map(|(_, _, simhash)| *simhash).collect();
    let mut firsts: Vec<usize> = (0..pages.len()).collect();
    // In order, so that the same crawl gives the same report.
    let mut copies: BTreeMap<usize, u64> = BTreeMap::new();
    let mut count = Both::default();
    for (at, near) in nearest_earlier(&fingerprints).into_iter().enumerate() {
        let Some(near) = near else { continue };
        // The earlier one may itself be like one before it: all count for the first.
        firsts[at] = firsts[near.index];
        *copies.entry(firsts[at]).or_default() += 1;
        count.add(seed_sites.contains(&pages[at].1.site), 1);
    }
    let mut top = Top::new(ROWS_MAX);
    for (first, copies) in copies {
        top.offer(copies, || pages[first].1);
    }
    Ok(NearDuplicates { near: count, most_resembled: named(store, top)? })
}
