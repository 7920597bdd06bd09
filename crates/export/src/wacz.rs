//! WACZ 1.1.1: the archive, its index and its pages in one ZIP file, as replay tools take it
//! (<https://specs.webrecorder.net/wacz/1.1.1/>).
//!
//! ```text
//! archive/*.warc.gz          the copy that stands alone, as `warc` writes it
//! indexes/index.cdx.gz       the sorted CDXJ index in gzip members of some thousand lines
//! indexes/index.idx          the first key of each member, and where it lies (ZipNum)
//! pages/pages.jsonl          a line for each HTML page: URL, date, title, text
//! datapackage.json           what there is, each part with its SHA-256
//! datapackage-digest.json    the SHA-256 of that
//! ```
//!
//! The archive goes straight into the ZIP file; lines of the index and of the pages wait in files without a name.

mod package;
mod pages;
mod zipnum;

use std::io::{BufReader, BufWriter, Seek};
use std::path::Path;

use sort::Sorter;
use store::Entry;
use warc::CdxLine;

use crate::copy::{Copied, CopySettings, Target, copy};
use crate::pending::unnamed_file;
use crate::{Crawl, ExportError, Filter, PendingFile, Progress};
use package::Package;
use pages::Pages;

/// Writes a WACZ file.
///
/// # Errors
/// There is no archive, it or the state cannot be read, or `target` cannot be written.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    settings: CopySettings,
    target: &Path,
    progress: Progress<'_>,
) -> Result<Copied, ExportError> {
    crawl.segments()?;
    let failed = |error| ExportError::io(target, error);
    let mut parts = Parts {
        package: Package::new(PendingFile::create(target)?, target),
        lines: Sorter::beside(target),
        pages: Pages::new(crawl, target)?,
    };
    let copied = copy(crawl, filter, settings, &mut parts, progress)?;
    let Parts { mut package, lines, pages } = parts;

    let mut idx = BufWriter::new(unnamed_file(target)?);
    package.begin("indexes/index.cdx.gz")?;
    zipnum::write(lines.sorted()?, &mut package, &mut idx, target)?;
    package.end();
    let mut idx = idx.into_inner().map_err(|error| failed(error.into_error()))?;
    idx.rewind().map_err(failed)?;
    package.add("indexes/index.idx", &mut BufReader::new(idx))?;

    let (mut lines, about) = pages.finish()?;
    package.add("pages/pages.jsonl", &mut lines)?;
    package.finish(&about, settings.now)?;
    Ok(copied)
}

/// What the copy is taken apart into.
struct Parts<'c, 's> {
    package: Package,
    lines: Sorter,
    pages: Pages<'c, 's>,
}

impl Target for Parts<'_, '_> {
    fn begin(&mut self, serial: u32) -> Result<String, ExportError> {
        let name = format!("data-{serial:05}.warc.gz");
        self.package.begin(&format!("archive/{name}"))?;
        Ok(name)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.package.write(bytes)
    }

    fn end(&mut self) -> Result<(), ExportError> {
        self.package.end();
        Ok(())
    }

    fn index(&mut self, line: &CdxLine) -> Result<(), ExportError> {
        Ok(self.lines.push(&[line.to_string().as_bytes()])?)
    }

    fn wants_answers(&self) -> bool {
        true
    }

    fn answered(&mut self, entry: &Entry, date: &str) -> Result<(), ExportError> {
        self.pages.add(entry, date)
    }
}
