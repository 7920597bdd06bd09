//! What can only be said at the end: the rows of URLs without a record, and of those whose shortest way was found later.

use std::collections::{BTreeMap, BTreeSet};

use dataset::{Layout, PageRow, Place, Rows, UnrecordedPages, replace_places};
use model::Purpose;
use store::{Store, StoreError};
use weburl::UrlKey;

/// Entries read from the store at once.
const ENTRIES_AT_ONCE: usize = 4_096;
/// URLs remembered one by one; with more, all rows are looked at.
const STALE_MAX: usize = 100_000;

/// Rows that may not say any more how their URL is found by the shortest way.
pub(super) enum Stale {
    /// Those of these URLs.
    Some(BTreeSet<UrlKey>),
    /// Any.
    All,
}

impl Stale {
    pub(super) fn extend(&mut self, keys: Vec<UrlKey>) {
        if let Stale::Some(stale) = self {
            stale.extend(keys);
            if stale.len() > STALE_MAX {
                *self = Stale::All;
            }
        }
    }
}

/// Brings the dataset in line with the state.
pub(super) fn settle(layout: &Layout, store: &dyn Store, stale: &Stale) -> anyhow::Result<()> {
    correct(layout, store, stale)?;
    write_unrecorded(layout, store)
}

/// Corrects how URLs are found in the rows that are stale.
fn correct(layout: &Layout, store: &dyn Store, stale: &Stale) -> anyhow::Result<()> {
    let mut rows = Rows::new(store, false)?;
    let mut place_of = |key: UrlKey| -> Result<Option<Place>, StoreError> {
        let Some(entry) = store.get(key)? else { return Ok(None) };
        let row = rows.row(&entry)?;
        Ok(Some(Place { depth: row.depth, via: row.via, found_on: row.found_on }))
    };
    let segments = store.segments()?;
    match stale {
        Stale::All => {
            for segment in &segments {
                replace_places(layout, &segment.name, &mut place_of)?;
            }
        }
        Stale::Some(keys) => {
            let mut by_segment: BTreeMap<u32, BTreeMap<UrlKey, Place>> = BTreeMap::new();
            for key in keys {
                let location = store.get(*key)?.and_then(|entry| entry.visit?.location);
                if let (Some(location), Some(place)) = (location, place_of(*key)?) {
                    by_segment.entry(location.segment).or_default().insert(*key, place);
                }
            }
            for segment in &segments {
                if let Some(places) = by_segment.get(&segment.serial) {
                    replace_places(layout, &segment.name, &mut |key| Ok(places.get(&key).cloned()))?;
                }
            }
        }
    }
    Ok(())
}

/// Writes the rows of URLs that ended without a record in the archive.
fn write_unrecorded(layout: &Layout, store: &dyn Store) -> anyhow::Result<()> {
    let mut rows = Rows::new(store, false)?;
    let mut pages = UnrecordedPages::begin(layout)?;
    let mut after = None;
    loop {
        let entries = store.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { break };
        after = Some(last.candidate.url.key());
        for entry in entries {
            let is_recorded = entry.visit.as_ref().is_none_or(|visit| visit.location.is_some());
            if !is_recorded && entry.candidate.purpose == Purpose::Page {
                pages.push(PageRow { key: entry.candidate.url.key(), row: rows.row(&entry)?, content: None })?;
            }
        }
    }
    Ok(pages.finish()?)
}
