//! Parquet: the dataset, or the rows of it that a filter admits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dataset::schema::Table;
use dataset::{Layout, copy_items, copy_superseded, copy_table};
use store::{CrawlView, Segment, StoreError};
use weburl::UrlKey;

use crate::{Crawl, ExportError, Filter, PendingDir, Progress};

/// Fills the directory `target` with the tables (`pages/`, `links/`, `images/`, `structured/`, `items/`) and the lists of superseded rows, laid out as in the
/// crawl's own dataset; without rows of visits that were taken back, which are no history. Links, images, what pages say for machines, and items are those of admitted pages.
///
/// # Errors
/// There is no dataset, or it does not reach to the end of the archive; it cannot be read, or `target` cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, target: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    crawl.require_dataset()?;
    let dir = PendingDir::create(target)?;
    let copy = Layout::at(dir.path());
    let mut admission = crawl.admission(filter)?;
    let taken_back = taken_back(crawl.store)?;
    let mut admits_row = |segment: &str, key: UrlKey| match taken_back.get(segment) {
        Some(keys) if keys.contains(&key) => Ok(false),
        _ => admission.admits(key),
    };
    for table in Table::ALL {
        copy_table(&crawl.dataset, &copy, table, &mut admits_row, progress)?;
    }
    copy_items(&crawl.dataset, &copy, &mut admits_row, progress)?;
    copy_superseded(&crawl.dataset, &copy, &mut |key| admission.admits(key))?;
    dir.finish()
}

/// The URLs whose rows in a segment are of visits that were taken back, by the segment's name without its end.
fn taken_back(store: &dyn CrawlView) -> Result<BTreeMap<String, BTreeSet<UrlKey>>, StoreError> {
    let mut taken_back = store.urls_taken_back()?;
    let segments = store.segments()?.into_iter();
    let named = |Segment { serial, name, .. }: Segment| {
        Some((name.trim_end_matches(".warc.gz").to_owned(), taken_back.remove(&serial)?))
    };
    Ok(segments.filter_map(named).collect())
}
