//! Markdown: a directory with a file for each HTML page, its content without the furniture of the site, and for each document
//! with text, as CommonMark with a block of YAML at its head (`docs/exports.md`).

mod front_matter;
mod names;

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::readable::readable_of;
use crate::{Crawl, ExportError, Filter, PendingDir, Progress};

pub use crate::readable::{Readable, page};

/// Fills the directory `target` with the pages that the filter admits.
///
/// # Errors
/// There is no archive, it or the state cannot be read, or `target` cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, target: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    crawl.segments()?;
    let dir = PendingDir::create(target)?;
    let mut replay = crawl.replay();
    crawl.select(filter, false, progress, |selected| {
        let Some(page) = readable_of(crawl, &selected, &mut replay)? else { return Ok(()) };
        let mut text = front_matter::front_matter(&selected.row, &page);
        if !page.markdown.is_empty() {
            text.push('\n');
            text.push_str(&page.markdown);
            text.push('\n');
        }
        for name in names::candidates(&selected.entry.candidate.url) {
            let path = dir.path().join(name);
            if try_write(&path, &text).map_err(|error| ExportError::io(&path, error))? {
                return Ok(());
            }
        }
        Err(ExportError::Other(format!("there is no file name for {}", selected.row.url)))
    })?;
    dir.finish()
}

/// Writes a file; false where there is one of that name.
fn try_write(path: &Path, text: &str) -> std::io::Result<bool> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
    }
}
