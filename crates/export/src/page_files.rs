//! The page directory of a course on search engines: files named 0, 1, 2, …, each with the URL of a page on the first line,
//! its depth on the second, and its HTML from the third on. Page n is the n-th HTML page in the archive.

use std::io::Write;
use std::path::Path;

use model::{ArchiveLocation, Candidate};
use sort::Sorter;
use store::Entry;
use weburl::UrlKey;

use crate::{Crawl, ExportError, Filter, PendingDir, Progress, html_of, may_be_html};

/// Files between two reports of progress.
const REPORT_FILES: u64 = 1_000;

/// Fills the directory `target` with the pages that the filter admits, as `argiope pages` would have saved them.
///
/// # Errors
/// There is no archive, it or the state cannot be read, or `target` cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, target: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    crawl.segments()?;
    let dir = PendingDir::create(target)?;
    let mut replay = crawl.replay();
    let mut keys = Sorter::beside(dir.path());
    crawl.select(filter, false, &mut |_| {}, |selected| match place(&selected.entry) {
        Some(place) => Ok(keys.push(&[&in_order(place), &selected.entry.candidate.url.key().to_bytes()])?),
        None => Ok(()),
    })?;
    let mut id = 0;
    for record in keys.sorted()? {
        let record = record?;
        let Some(key) = record.last_chunk().map(|bytes| UrlKey::from_bytes(*bytes)) else { continue };
        let Some(entry) = crawl.current(key)? else { continue };
        let Some(html) = html_of(&entry, &mut replay, crawl.body_bytes_max())? else { continue };
        let path = dir.path().join(id.to_string());
        let written = std::fs::File::create_new(&path).and_then(|mut file| {
            file.write_all(head(&entry.candidate).as_bytes())?;
            file.write_all(&html.body)
        });
        written.map_err(|error| ExportError::io(&path, error))?;
        id += 1;
        if id % REPORT_FILES == 0 {
            progress(id);
        }
    }
    dir.finish()
}

/// The first two lines of a page's file.
#[must_use]
pub fn head(candidate: &Candidate) -> String {
    format!("{}\n{}\n", candidate.url, candidate.depth)
}

/// Where the record of a URL lies, if that may be a page.
fn place(entry: &Entry) -> Option<ArchiveLocation> {
    entry.visit.as_ref().filter(|_| may_be_html(entry))?.location
}

/// A place as bytes in the order of places.
fn in_order(place: ArchiveLocation) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&place.segment.to_be_bytes());
    bytes[4..].copy_from_slice(&place.offset.to_be_bytes());
    bytes
}
