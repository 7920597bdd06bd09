//! What can only be said at the end: the rows of URLs without a record, and of those whose shortest way was found later.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context;
use dataset::schema::Table;
use dataset::{
    Layout, PageRow, Place, Rows, Settled, Superseded, UNRECORDED, UnrecordedPages, mark_settled, replace_places,
    settled, update_superseded, write_superseded,
};
use model::{Purpose, Visit};
use sha1::{Digest, Sha1};
use store::{CrawlView, StoreError, current_visit, shown_visit};
use weburl::UrlKey;

/// The mark in a dataset's directory.
pub const UNSETTLED: &str = "unsettled";

/// Entries read from the store at once.
const ENTRIES_AT_ONCE: usize = 4_096;
/// URLs remembered one by one; with more, all rows are looked at.
const STALE_MAX: usize = 100_000;

/// How what was settled last compares with the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing was settled yet.
    Fresh,
    /// An earlier version settled it. Of which state, it did not say.
    Unsaid,
    /// It is of another state, or files of it are gone: of the dataset, older files were restored or some were deleted, or visits were made
    /// without it.
    Other,
    /// It is of this state.
    Same,
}

impl Standing {
    /// Compares.
    ///
    /// # Errors
    /// The state or the dataset cannot be read.
    pub(super) fn of(layout: &Layout, store: &dyn CrawlView) -> anyhow::Result<Self> {
        Ok(match settled(layout)? {
            Settled::No => Standing::Fresh,
            Settled::Unsaid => Standing::Unsaid,
            Settled::As(state) if state == name_of(store)? => Standing::Same,
            Settled::As(_) | Settled::Changed => Standing::Other,
        })
    }

    /// Whether what was settled holds, as far as files show it. Of an earlier version it is believed.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(super) fn holds(self, store: &dyn CrawlView) -> Result<bool, StoreError> {
        Ok(match self {
            Standing::Same | Standing::Unsaid => true,
            Standing::Other => false,
            // Then there is nothing to settle.
            Standing::Fresh => store.totals()?.round.number == 1 && store.taken_back()?.is_empty(),
        })
    }
}

/// A name for how far the state has come: every visit with an answer makes a segment longer.
fn name_of(store: &dyn CrawlView) -> Result<String, StoreError> {
    let taken_back = store.taken_back()?;
    let mut digest = Sha1::new();
    for segment in store.segments()? {
        let count = taken_back.get(&segment.serial).map_or(0, Vec::len);
        digest.update(format!("{} {} {} {count}\n", segment.serial, segment.name, segment.length));
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A dataset whose files are being written. A mark in its directory says so: who finds the mark knows that a process was cut
/// off before it settled the dataset.
pub(super) struct Unsettled<'a> {
    layout: &'a Layout,
    stale: Stale,
    again: Again,
}

/// URLs that were visited again while the files were written.
enum Again {
    /// These.
    Some(BTreeSet<UrlKey>),
    /// They are not all known.
    All,
}

/// What a commit says of rows that were written before.
pub(super) struct Rewritten<'a> {
    /// URLs that turned out to be nearer to a seed.
    pub(super) relaxed: Vec<UrlKey>,
    /// Visits of URLs that were visited before.
    pub(super) again: Vec<&'a Visit>,
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

    /// Sets the mark. Rows are stale if it was set before, or if what was settled last is of another state. `standing` is that of before the first
    /// commit.
    ///
    /// # Errors
    /// The directory cannot be written to.
    pub(super) fn begin(layout: &'a Layout, standing: Standing) -> anyhow::Result<Self> {
        let is_stale = Self::is_marked(layout) || standing == Standing::Other;
        let stale = if is_stale { Stale::All } else { Stale::Some(BTreeSet::new()) };
        fresh::directory(layout.root()).with_context(|| layout.root().display().to_string())?;
        let mark = mark_of(layout);
        fresh::open_or_create(&mark).with_context(|| mark.display().to_string())?;
        // What was written by others, or is to be derived, is looked for in the state.
        let is_known = standing == Standing::Same && !is_stale;
        let again = if is_known { Again::Some(BTreeSet::new()) } else { Again::All };
        Ok(Unsettled { layout, stale, again })
    }

    /// The same where rows were derived that earlier runs did not write.
    pub(super) fn with_derived(self, rows: bool) -> Self {
        if rows { Unsettled { again: Again::All, ..self } } else { self }
    }

    /// Notes what a commit says of rows that were written before.
    pub(super) fn add(&mut self, rewritten: Rewritten<'_>) {
        self.add_stale(rewritten.relaxed);
        rewritten.again.into_iter().for_each(|visit| self.add_again(visit));
    }

    /// Notes a visit of a URL that was visited before.
    fn add_again(&mut self, visit: &Visit) {
        let Again::Some(keys) = &mut self.again else { return };
        keys.insert(visit.key);
        if keys.len() > STALE_MAX {
            self.again = Again::All;
        }
    }

    /// Says that rows of these URLs are stale.
    fn add_stale(&mut self, keys: Vec<UrlKey>) {
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
        match self.again {
            Again::All => supersede(self.layout, store)?,
            Again::Some(keys) => supersede_some(self.layout, store, &keys)?,
        }
        mark_settled(self.layout, &name_of(store)?)?;
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

/// Whether a repair found the record of a visit lost. Its row may be in the file of any segment: only the record said in which.
fn is_lost(visit: &Visit) -> bool {
    visit.location.is_none() && visit.status > 0
}

/// The same for the URLs that this run has visited again.
fn supersede_some(layout: &Layout, store: &dyn CrawlView, keys: &BTreeSet<UrlKey>) -> anyhow::Result<()> {
    let files = Files::of(layout, store)?;
    let (mut superseded, mut present) = (Superseded::new(), Superseded::new());
    for key in keys {
        let Some(visit) = store.get(*key)?.and_then(|entry| entry.visit) else { continue };
        if let Some(file) = files.supersede(visit, store, &mut superseded)? {
            present.entry(file.to_owned()).or_default().insert(*key);
        }
    }
    Ok(update_superseded(layout, &superseded, &present)?)
}

/// The files of pages that are there.
struct Files {
    /// By the serial numbers of their segments.
    names: BTreeMap<u32, String>,
    has_unrecorded: bool,
}

impl Files {
    fn of(layout: &Layout, store: &dyn CrawlView) -> Result<Self, StoreError> {
        let is_here = |name: &str| layout.file(Table::Pages, name).exists();
        let segments = store.segments()?.into_iter().filter(|segment| is_here(&segment.name));
        let names = segments.map(|segment| (segment.serial, segment.name)).collect();
        Ok(Files { names, has_unrecorded: is_here(UNRECORDED) })
    }

    /// The file with the row of a visit, if it is there.
    fn of_visit(&self, visit: &Visit) -> Option<&str> {
        match visit.location {
            Some(location) => self.names.get(&location.segment).map(String::as_str),
            None => self.has_unrecorded.then_some(UNRECORDED),
        }
    }

    /// Adds the rows of a URL that say no more what is there, by its last visit. Returns the file with the row that does.
    fn supersede(
        &self,
        last: Visit,
        store: &dyn CrawlView,
        superseded: &mut Superseded,
    ) -> Result<Option<&str>, StoreError> {
        let key = last.key;
        let mut visits = store.earlier(key)?;
        let has_lost = visits.iter().chain([&last]).any(is_lost);
        let shown = shown_visit(&last, &visits).clone();
        // Only the last one has a row without a record.
        visits.retain(|visit| visit.location.is_some());
        visits.push(last);
        visits.retain(|visit| self.of_visit(visit).is_some());
        let Some((last, earlier)) = visits.split_last() else { return Ok(None) };
        // Its row may be lost, or not be here yet.
        let current = visits.iter().find(|visit| visit.at == shown.at).unwrap_or_else(|| current_visit(last, earlier));
        let mut add = |file: &str| superseded.entry(file.to_owned()).or_default().insert(key);
        for file in visits.iter().filter(|other| other.at != current.at).filter_map(|visit| self.of_visit(visit)) {
            add(file);
        }
        if let Some(current) = current.location.filter(|_| has_lost) {
            for (_, file) in self.names.iter().filter(|(serial, _)| **serial != current.segment) {
                add(file);
            }
        }
        Ok(self.of_visit(current))
    }
}

/// The same of a dataset that nobody has settled, since the crawl goes on elsewhere or was killed, or whose lists are of another state. Does
/// nothing where it is settled.
///
/// # Errors
/// As [`supersede`].
pub fn supersede_unsettled(layout: &Layout, store: &dyn CrawlView) -> anyhow::Result<()> {
    let is_settled = !Unsettled::is_marked(layout) && Standing::of(layout, store)? != Standing::Other;
    if is_settled { Ok(()) } else { supersede(layout, store) }
}

/// Writes down which rows say no more what is at their URL, since it was visited again or the visit was taken back. The rows of a later visit may
/// not be here yet; until they are, those before it count. In round 1 the lists have only what was taken back; that they are there spares round 2 a
/// look at the whole state.
///
/// # Errors
/// The state cannot be read, or the lists cannot be written.
pub(super) fn supersede(layout: &Layout, store: &dyn CrawlView) -> anyhow::Result<()> {
    let files = Files::of(layout, store)?;
    // Until these rows are derived again, they are there.
    let taken_back = store.urls_taken_back()?.into_iter();
    let taken_back = taken_back.filter_map(|(serial, keys)| Some((files.names.get(&serial)?.clone(), keys)));
    let mut superseded: Superseded = taken_back.collect();
    if store.totals()?.round.number == 1 {
        return Ok(write_superseded(layout, &superseded)?);
    }
    let mut after = None;
    loop {
        let entries = store.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { break };
        after = Some(last.candidate.url.key());
        for visit in entries.into_iter().filter_map(|entry| entry.visit).filter(|visit| visit.past.visits > 0) {
            files.supersede(visit, store, &mut superseded)?;
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
