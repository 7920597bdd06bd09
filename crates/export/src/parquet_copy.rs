//! Parquet: the dataset, or the rows of it that a filter admits.

use std::path::Path;

use dataset::schema::Table;
use dataset::{Layout, copy_items, copy_superseded, copy_table};
use weburl::UrlKey;

use crate::{Crawl, ExportError, Filter, PendingDir, Progress};

/// Fills the directory `target` with the tables (`pages/`, `links/`, `images/`, `structured/`, `items/`) and the lists of superseded rows, laid out as in the
/// crawl's own dataset. Links, images, what pages say for machines, and items are those of admitted pages.
///
/// # Errors
/// There is no dataset, or it does not reach to the end of the archive; it cannot be read, or `target` cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, target: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    crawl.require_dataset()?;
    let dir = PendingDir::create(target)?;
    let copy = Layout::at(dir.path());
    let mut admission = crawl.admission(filter)?;
    let mut admits = |key: UrlKey| admission.admits(key);
    for table in Table::ALL {
        copy_table(&crawl.dataset, &copy, table, &mut admits, progress)?;
    }
    copy_items(&crawl.dataset, &copy, &mut admits, progress)?;
    copy_superseded(&crawl.dataset, &copy, &mut admits)?;
    dir.finish()
}
