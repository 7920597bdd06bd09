//! The crawl's Parquet tables, which some formats need, and which of their rows a filter admits.

use std::path::Path;

use dataset::schema::Table;
use dataset::{Batches, Rows, first_uncovered};
use model::Purpose;
use weburl::UrlKey;

use crate::{Crawl, ExportError, Filter};

/// Says by the keys of pages whether a filter admits them.
pub(crate) struct Admission<'a> {
    crawl: &'a Crawl<'a>,
    filter: &'a Filter,
    rows: Rows<'a>,
    /// The rows of a page lie together.
    last: Option<(UrlKey, bool)>,
}

impl Admission<'_> {
    /// True for a page that the filter admits.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn admits(&mut self, key: UrlKey) -> Result<bool, ExportError> {
        if self.filter.is_everything() {
            return Ok(true);
        }
        match self.last {
            Some((known, is_admitted)) if known == key => return Ok(is_admitted),
            _ => {}
        }
        let entry = self.crawl.current(key)?.filter(|entry| entry.candidate.purpose == Purpose::Page);
        let is_admitted = match entry {
            Some(entry) => self.filter.admits(&self.rows.row(&entry)?),
            None => false,
        };
        self.last = Some((key, is_admitted));
        Ok(is_admitted)
    }
}

impl Crawl<'_> {
    /// What tells rows of admitted pages from others.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn admission<'a>(&'a self, filter: &'a Filter) -> Result<Admission<'a>, ExportError> {
        Ok(Admission { crawl: self, filter, rows: Rows::new(self.store, false)?, last: None })
    }

    /// Sees to it that the dataset is there and reaches as far as the archive.
    ///
    /// # Errors
    /// It does not; the message names the command that mends it.
    pub(crate) fn require_dataset(&self) -> Result<(), ExportError> {
        let root = self.dataset.root().display();
        let crawl_dir = self.dataset.root().parent().unwrap_or(Path::new("DIR")).display();
        let segments = self.store.segments()?;
        if !self.dataset.exists() {
            let why = if segments.is_empty() { " (it needs an archive, and there is none)" } else { "" };
            return Err(ExportError::Other(format!(
                "{root}: there is no dataset: run `argiope derive {crawl_dir}`{why}"
            )));
        }
        let segments = segments.iter().map(|segment| (&*segment.name, segment.length));
        match first_uncovered(&self.dataset, segments, self.is_running)? {
            None => Ok(()),
            Some(name) => Err(ExportError::Other(format!(
                "{root}: the dataset does not reach to the end of {name}: run `argiope derive {crawl_dir}`"
            ))),
        }
    }

    /// Reads these columns of a table of the dataset, batch by batch.
    ///
    /// # Errors
    /// There is no dataset, it does not reach as far as the archive, or it cannot be read.
    pub fn table(&self, table: Table, columns: &[&str]) -> Result<Batches, ExportError> {
        self.require_dataset()?;
        Ok(self.dataset.batches(table, columns)?)
    }
}
