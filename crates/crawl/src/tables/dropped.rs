//! Drops the files of a segment, so that they are derived again.

use std::io::ErrorKind;

use anyhow::Context;
use dataset::Layout;
use dataset::schema::Table;

use crate::CrawlDir;

/// Removes the files of a segment (`NAME.warc.gz`) whose records are not any more where its rows say. The next who completes the dataset derives
/// them from the archive.
///
/// # Errors
/// A file cannot be removed.
pub fn drop_segment(dir: &CrawlDir, segment: &str) -> anyhow::Result<()> {
    let layout = Layout::at(dir.dataset());
    let mut files: Vec<_> = Table::ALL.map(|table| layout.file(table, segment)).into();
    files.extend(layout.item_tables()?.iter().map(|rule| layout.items(rule, segment)));
    for path in files {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => removed.with_context(|| path.display().to_string())?,
        }
    }
    Ok(())
}
