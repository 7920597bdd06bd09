//! The crawl that is exported: its state, its archive, its dataset.

use std::path::PathBuf;

use dataset::originals::Originals;
use dataset::{Layout, Row, Rows};
use engine::Settings;
use model::Purpose;
use replay::{Lost, RecordedAnswer, Replay};
use store::{CrawlView, Entry, StoreError, with_current_visit};
use weburl::UrlKey;

use crate::{ExportError, Filter};

/// Entries read from the store at once.
const ENTRIES_AT_ONCE: usize = 1_000;

/// A crawl opened to be read.
#[derive(Clone)]
pub struct Crawl<'s> {
    /// Its state.
    pub store: &'s dyn CrawlView,
    /// The directory of its WARC segments.
    pub archive: PathBuf,
    /// It goes on meanwhile, and completes its dataset: its tables may reach less far than its state.
    pub is_running: bool,
    /// Its Parquet tables; there may be none.
    pub dataset: Layout,
    /// Its settings: how its pages are read.
    pub settings: &'s Settings,
    /// Counts what is left out since its content is lost.
    pub lost: Lost,
}

/// A URL that the filter admits.
#[derive(Debug)]
pub struct Selected {
    /// What the state knows, as it is now ([`Originals::now`]): a duplicate whose original has another content by now is a page of its own.
    pub entry: Entry,
    /// Its row, which says what its visit found: that it is a duplicate.
    pub row: Row,
}

/// Receives, now and then, how many rows are done.
pub type Progress<'p> = &'p mut dyn FnMut(u64);

impl<'s> Crawl<'s> {
    /// Calls `each` for every URL that the filter admits, in the order of the keys: the URLs of a site lie together. Each comes with the
    /// visit that says what is there now ([`store::current_visit`]).
    /// Sitemaps are left out unless `sitemaps` is set; rows then have a column `purpose`.
    ///
    /// # Errors
    /// The state cannot be read, or `each` fails.
    pub fn select(
        &self,
        filter: &Filter,
        sitemaps: bool,
        progress: Progress<'_>,
        mut each: impl FnMut(Selected) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut rows = Rows::new(self.store, sitemaps)?;
        let mut originals = Originals::new(self.store)?;
        let mut after: Option<UrlKey> = None;
        let mut done = 0;
        loop {
            let entries = self.store.scan(after, ENTRIES_AT_ONCE)?;
            let Some(last) = entries.last() else { return Ok(()) };
            after = Some(last.candidate.url.key());
            for entry in entries {
                if entry.candidate.purpose != Purpose::Page && !sitemaps {
                    continue;
                }
                let entry = with_current_visit(self.store, entry)?;
                let row = rows.row(&entry)?;
                if filter.admits(&row) {
                    let entry = originals.now(entry)?;
                    each(Selected { entry, row })?;
                    done += 1;
                }
            }
            progress(done);
        }
    }

    /// A URL with the visit that describes its present content.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn current(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.store.get(key)?.map(|entry| with_current_visit(self.store, entry)).transpose()
    }

    /// What reads answers back from the archive.
    #[must_use]
    pub fn replay(&self) -> Replay<'s> {
        Replay::new(self.store, &self.archive, self.body_bytes_max()).counting(self.lost.clone())
    }

    /// The greatest body of the crawl, in bytes: what was fetched is cut there.
    #[must_use]
    pub fn body_bytes_max(&self) -> u64 {
        self.settings.limits.body_bytes_max
    }
}

impl Selected {
    /// The recorded answer; `None` if there is no record, or its payload is lost.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn answer(&self, replay: &mut Replay<'_>) -> Result<Option<RecordedAnswer>, ExportError> {
        let Some(visit) = &self.entry.visit else { return Ok(None) };
        replay.answer(visit).map_err(|source| ExportError::Replay { url: self.row.url.clone(), source })
    }
}
