//! What can only be said at the end: the rows of URLs without a record, and of those whose shortest way was found later.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context;
use dataset::{
    Layout, PageRow, Place, Rows, Superseded, UNRECORDED, UnrecordedPages, replace_places, write_superseded,
};
use model::Purpose;
use store::{CrawlView, StoreError, current_visit};
use weburl::UrlKey;

/// The mark in a dataset's directory.
pub const UNSETTLED: &str = "unsettled";

/// Entries read from the store at once.
const ENTRIES_AT_ONCE: usize = 4_096;
/// URLs remembered one by one; with more, all rows are looked at.
const STALE_MAX: usize = 100_000;

/// A dataset whose files are being written. A mark in its directory says so: who finds the mark knows that a process was cut
/// off before it settled the dataset.
pub(super) struct Unsettled<'a> {
    layout: &'a Layout,
    stale: Stale,
}

/// Rows that may not say any more how their URL is found by the shortest way.
enum Stale {
    /// Those of these URLs.
    Some(BTreeSet<UrlKey>),
    /// Any.
    All,
}

impl<'a> Unsettled<'a> {
    /// Whether a process was cut off.
    pub(super) fn is_marked(layout: &Layout) -> bool {
        mark_of(layout).exists()
    }

    /// Sets the mark. Rows are stale if it was set before.
    ///
    /// # Errors
    /// The directory cannot be written to.
    pub(super) fn begin(layout: &'a Layout) -> anyhow::Result<Self> {
        let stale = if Self::is_marked(layout) { Stale::All } else { Stale::Some(BTreeSet::new()) };
        fresh::directory(layout.root()).with_context(|| layout.root().display().to_string())?;
        let mark = mark_of(layout);
        fresh::open_or_create(&mark).with_context(|| mark.display().to_string())?;
        Ok(Unsettled { layout, stale })
    }

    /// Says that rows of these URLs are stale.
    pub(super) fn add_stale(&mut self, keys: Vec<UrlKey>) {
        if let Stale::Some(stale) = &mut self.stale {
            stale.extend(keys);
            if stale.len() > STALE_MAX {
                self.stale = Stale::All;
            }
        }
    }

    /// Brings the dataset in line with the state, and removes the mark.
    ///
    /// # Errors
    /// The state cannot be read, or the dataset cannot be written.
    pub(super) fn settle(self, store: &dyn CrawlView) -> anyhow::Result<()> {
        correct(self.layout, store, &self.stale)?;
        write_unrecorded(self.layout, store)?;
        supersede(self.layout, store)?;
        let mark = mark_of(self.layout);
        std::fs::remove_file(&mark).with_context(|| mark.display().to_string())
    }
}

fn mark_of(layout: &Layout) -> PathBuf {
    layout.root().join(UNSETTLED)
}

/// Corrects how URLs are found in the rows that are stale.
fn correct(layout: &Layout, store: &dyn CrawlView, stale: &Stale) -> anyhow::Result<()> {
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
                let Some(visit) = store.get(*key)?.and_then(|entry| entry.visit) else { continue };
                let earlier = if visit.past.visits > 0 { store.earlier(*key)? } else { Vec::new() };
                let Some(place) = place_of(*key)? else { continue };
                for location in earlier.iter().chain([&visit]).filter_map(|visit| visit.location) {
                    by_segment.entry(location.segment).or_default().insert(*key, place.clone());
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

/// Writes down which rows say no more what is at their URL, since it was visited again.
///
/// # Errors
/// The state cannot be read, or the lists cannot be written.
pub(super) fn supersede(layout: &Layout, store: &dyn CrawlView) -> anyhow::Result<()> {
    if store.totals()?.round.number == 1 {
        return Ok(());
    }
    let names: BTreeMap<u32, String> =
        store.segments()?.into_iter().map(|segment| (segment.serial, segment.name)).collect();
    let mut superseded = Superseded::new();
    let mut after = None;
    loop {
        let entries = store.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { break };
        after = Some(last.candidate.url.key());
        for visit in entries.into_iter().filter_map(|entry| entry.visit).filter(|visit| visit.past.visits > 0) {
            let earlier = store.earlier(visit.key)?;
            let current = current_visit(&visit, &earlier);
            for other in earlier.iter().chain([&visit]).filter(|other| other.at != current.at) {
                let segment = match other.location {
                    Some(location) => names.get(&location.segment).map(String::as_str),
                    // Only the last one has a row without a record.
                    None => (other.at == visit.at).then_some(UNRECORDED),
                };
                if let Some(segment) = segment {
                    superseded.entry(segment.to_owned()).or_default().insert(visit.key);
                }
            }
        }
    }
    Ok(write_superseded(layout, &superseded)?)
}

/// Writes the rows of URLs that ended without a record in the archive.
fn write_unrecorded(layout: &Layout, store: &dyn CrawlView) -> anyhow::Result<()> {
    let mut rows = Rows::new(store, false)?;
    let mut pages = UnrecordedPages::begin(layout)?;
    let mut after = None;
    loop {
        let entries = store.unrecorded(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { break };
        after = Some(last.candidate.url.key());
        for entry in entries.iter().filter(|entry| entry.candidate.purpose == Purpose::Page) {
            pages.push(PageRow { key: entry.candidate.url.key(), row: rows.row(entry)?, content: None })?;
        }
    }
    Ok(pages.finish()?)
}
