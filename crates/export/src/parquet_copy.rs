//! Parquet: the dataset, or the rows of it that a filter admits.

use std::path::Path;

use dataset::schema::Table;
use dataset::{Layout, Rows, copy_superseded, copy_table, covered_bytes};
use model::Purpose;
use weburl::UrlKey;

use crate::{Crawl, ExportError, Filter, PendingDir, Progress};

/// Fills the directory `target` with the tables (`pages/`, `links/`, `images/`) and the lists of superseded rows, laid out as in the crawl's
/// own dataset.
/// Links and images are those of admitted pages.
///
/// # Errors
/// There is no dataset, or it does not reach to the end of the archive; it cannot be read, or `target` cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, target: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    require_dataset(crawl)?;
    let dir = PendingDir::create(target)?;
    let copy = Layout::at(dir.path());
    let mut rows = Rows::new(crawl.store, false)?;
    // The links of a page lie together.
    let mut last: Option<(UrlKey, bool)> = None;
    let mut admits = |key: UrlKey| -> Result<bool, ExportError> {
        if filter.is_everything() {
            return Ok(true);
        }
        match last {
            Some((known, is_admitted)) if known == key => return Ok(is_admitted),
            _ => {}
        }
        let entry = crawl.current(key)?.filter(|entry| entry.candidate.purpose == Purpose::Page);
        let is_admitted = match entry {
            Some(entry) => filter.admits(&rows.row(&entry)?),
            None => false,
        };
        last = Some((key, is_admitted));
        Ok(is_admitted)
    };
    for table in Table::ALL {
        copy_table(&crawl.dataset, &copy, table, &mut admits, progress)?;
    }
    copy_superseded(&crawl.dataset, &copy, &mut admits)?;
    dir.finish()
}

/// Sees to it that the dataset is there and reaches as far as the archive.
fn require_dataset(crawl: &Crawl<'_>) -> Result<(), ExportError> {
    let root = crawl.dataset.root().display();
    let crawl_dir = crawl.dataset.root().parent().unwrap_or(Path::new("DIR")).display();
    if !crawl.dataset.exists() {
        let why = if crawl.store.segments()?.is_empty() { " (it needs an archive, and there is none)" } else { "" };
        return Err(ExportError::Other(format!("{root}: there is no dataset: run `argiope derive {crawl_dir}`{why}")));
    }
    for segment in crawl.store.segments()? {
        let covered = covered_bytes(&crawl.dataset, &segment.name)?;
        if covered != Some(segment.length) && !(crawl.is_running && covered <= Some(segment.length)) {
            return Err(ExportError::Other(format!(
                "{root}: the dataset does not reach to the end of {}: run `argiope derive {crawl_dir}`",
                segment.name
            )));
        }
    }
    Ok(())
}
