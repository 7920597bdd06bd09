//! How URLs are found, corrected in files that are finished: a shorter way may turn up later.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use store::StoreError;
use weburl::UrlKey;

use crate::read::covered;
use crate::schema::Table;
use crate::write::TableFile;
use crate::{Batches, Column, DatasetError, Layout};

/// How a URL is found by the shortest way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Links from the nearest seed.
    pub depth: u32,
    /// `seed`, `link`, `redirect` or `sitemap`.
    pub via: &'static str,
    /// The URL on which it was found.
    pub found_on: Option<String>,
}

/// Why places could not be replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The state cannot be read.
    #[error("state: {0}")]
    Store(#[from] StoreError),
}

/// Rewrites the page rows of a segment where `place_of` says something else than they do. A file in which nothing changes
/// stays as it is.
///
/// # Errors
/// The old file stays.
pub fn replace_places(
    layout: &Layout,
    segment: &str,
    place_of: &mut dyn FnMut(UrlKey) -> Result<Option<Place>, StoreError>,
) -> Result<(), ReplaceError> {
    let path = layout.file(Table::Pages, segment);
    let Some(covered_bytes) = covered(&path)? else { return Ok(()) };
    let mut is_stale = false;
    for batch in Batches::of_file(&path, &["url_key", "depth", "via", "found_on"]) {
        is_stale |= corrected(&batch?, place_of)?.is_some();
        if is_stale {
            break;
        }
    }
    if !is_stale {
        return Ok(());
    }
    let mut file = TableFile::begin(Table::Pages, path.clone())?;
    for batch in Batches::of_file(&path, &[]) {
        let batch = batch?;
        let batch = corrected(&batch, place_of)?.unwrap_or(batch);
        file.write(Ok(batch))?;
    }
    Ok(file.end(covered_bytes)?.publish()?)
}

/// The batch with other places; `None` where they are right.
fn corrected(
    batch: &RecordBatch,
    place_of: &mut dyn FnMut(UrlKey) -> Result<Option<Place>, StoreError>,
) -> Result<Option<RecordBatch>, ReplaceError> {
    let (mut depths, mut vias, mut founds) = (Int32Builder::new(), StringBuilder::new(), StringBuilder::new());
    let mut is_stale = false;
    for row in 0..batch.num_rows() {
        let depth = batch.number("depth", row).and_then(|depth| i32::try_from(depth).ok()).unwrap_or_default();
        let (via, found_on) = (batch.text("via", row).unwrap_or_default(), batch.text("found_on", row));
        match batch.key("url_key", row).map(&mut *place_of).transpose()?.flatten() {
            Some(place) => {
                let new_depth = i32::try_from(place.depth).unwrap_or(i32::MAX);
                is_stale |= (depth, via, found_on) != (new_depth, place.via, place.found_on.as_deref());
                depths.append_value(new_depth);
                vias.append_value(place.via);
                founds.append_option(place.found_on);
            }
            None => {
                depths.append_value(depth);
                vias.append_value(via);
                founds.append_option(found_on);
            }
        }
    }
    if !is_stale {
        return Ok(None);
    }
    let new: [(&str, ArrayRef); 3] = [
        ("depth", Arc::new(depths.finish())),
        ("via", Arc::new(vias.finish())),
        ("found_on", Arc::new(founds.finish())),
    ];
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, old)| {
        let found = new.iter().find(|(name, _)| name == field.name());
        found.map_or_else(|| old.clone(), |(_, column)| column.clone())
    });
    debug_assert!(new.iter().all(|(_, column)| column.len() == batch.num_rows()));
    let batch = RecordBatch::try_new(schema.clone(), columns.collect());
    Ok(Some(batch.map_err(|error| DatasetError::Format { path: "pages".to_owned(), detail: error.to_string() })?))
}
