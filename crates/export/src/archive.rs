//! The records of the archive in the order in which they lie there, and which of them a filter admits.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use dataset::Rows;
use model::{Made, Purpose};
use store::{Entry, Segment};
use warc::{ReadError, Reader};
use weburl::CanonicalUrl;

use crate::needed::Needed;
use crate::{Crawl, ExportError, Filter};

/// Says of each URL that has a record whether the filter admits it, or a page needs it that the filter admits.
pub(crate) struct Admission<'a, 's> {
    crawl: &'a Crawl<'s>,
    filter: &'a Filter,
    rows: Rows<'s>,
    needed: Needed,
    /// The URL that was requested last: the records of a visit lie together.
    last: Option<(String, RecordUrl)>,
}

/// What is known of the URL of a record.
#[derive(Clone, Default)]
pub(crate) struct RecordUrl {
    /// Its entry; a site's robots.txt has none.
    pub(crate) entry: Option<Entry>,
    /// The filter chooses it.
    pub(crate) is_chosen: bool,
    /// It is chosen, or what is chosen needs it.
    pub(crate) is_admitted: bool,
}

impl<'a, 's> Admission<'a, 's> {
    pub(crate) fn new(crawl: &'a Crawl<'s>, filter: &'a Filter) -> Result<Self, ExportError> {
        let needed = Needed::by_pages(crawl, filter)?;
        Ok(Admission { crawl, filter, rows: Rows::new(crawl.store, false)?, needed, last: None })
    }

    /// Documents that could not be read for what they need.
    pub(crate) fn unread(&self) -> u64 {
        self.needed.unread
    }

    /// What is known of a URL. Without a filter all are admitted, robots.txt and sitemaps too; a filter chooses pages, and those bring what
    /// they need.
    pub(crate) fn of(&mut self, url: &str) -> Result<&RecordUrl, ExportError> {
        let is_last = self.last.as_ref().is_some_and(|(last, _)| last == url);
        if !is_last {
            let known = self.look_up(url)?;
            self.last = Some((url.to_owned(), known));
        }
        Ok(self
            .last
            .as_ref()
            .map_or(const { &RecordUrl { entry: None, is_chosen: false, is_admitted: false } }, |(_, known)| known))
    }

    /// The same, without remembering it.
    pub(crate) fn look_up(&mut self, url: &str) -> Result<RecordUrl, ExportError> {
        // What was made of a page goes with it.
        let pages = Made::of(url).map_or_else(|| vec![url.into()], |(_, pages)| pages);
        let mut entry = None;
        for url in pages.iter().filter_map(|page| CanonicalUrl::from_canonical(page)) {
            entry = self.crawl.current(url.key())?;
            if entry.is_some() {
                break;
            }
        }
        if self.filter.is_everything() {
            return Ok(RecordUrl { entry, is_chosen: true, is_admitted: true });
        }
        let Some(known) = &entry else { return Ok(RecordUrl::default()) };
        let is_chosen = self.chooses(known)?;
        let is_admitted =
            is_chosen || self.needed.urls.contains(&known.candidate.url.key()) || self.chooses_page_of(known)?;
        Ok(RecordUrl { entry, is_chosen, is_admitted })
    }

    fn chooses(&mut self, entry: &Entry) -> Result<bool, ExportError> {
        Ok(entry.candidate.purpose == Purpose::Page && self.filter.admits(&self.rows.row(entry)?))
    }

    /// Whether this is a requisite that was found on a page that is chosen: scripts may have asked for it, which nobody reads in the page.
    fn chooses_page_of(&mut self, entry: &Entry) -> Result<bool, ExportError> {
        let page = entry.candidate.found_on.filter(|_| entry.candidate.purpose == Purpose::Requisite);
        match page.map(|page| self.crawl.current(page)).transpose()?.flatten() {
            Some(page) => self.chooses(&page),
            None => Ok(false),
        }
    }
}

/// A segment of the archive, as far as it is committed.
pub(crate) struct OpenSegment {
    pub(crate) path: PathBuf,
    pub(crate) segment: Segment,
    pub(crate) reader: Reader<BufReader<File>>,
    /// Bytes of it that were read: where the next record begins.
    pub(crate) read: u64,
}

impl Crawl<'_> {
    /// The segments of the archive.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn segments(&self) -> Result<Vec<Segment>, ExportError> {
        let segments = self.store.segments()?;
        if segments.is_empty() {
            let archive = self.archive.display();
            return Err(ExportError::Other(format!(
                "{archive}: there is no archive: the crawl keeps none (--no-archive), or has fetched nothing"
            )));
        }
        Ok(segments)
    }

    /// Opens a segment.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn open_segment(&self, segment: Segment) -> Result<OpenSegment, ExportError> {
        let path = self.archive.join(&segment.name);
        let reader = Reader::open(&path, 0).map_err(|error| damaged(&path, &error))?;
        Ok(OpenSegment { path, segment, reader, read: 0 })
    }
}

/// The error of a segment that cannot be read to its end.
pub(crate) fn damaged(path: &Path, error: &ReadError) -> ExportError {
    let advice = if matches!(error, ReadError::Damaged { .. }) { " (`argiope check --repair` mends it)" } else { "" };
    ExportError::Other(format!("{}: {error}{advice}", path.display()))
}
