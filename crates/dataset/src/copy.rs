//! Copying a dataset, or some rows of it.

use std::path::Path;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use weburl::UrlKey;

use crate::read::{Column, covered};
use crate::schema::Table;
use crate::write::TableFile;
use crate::{Batches, DatasetError, Layout};

/// Copies the rows of a table that `admits` lets through into `to`, file by file; each file is there whole or not at all. A
/// page is asked for by its key, a link or an image by that of the page that has it. `progress` receives how many rows were
/// read of the table.
///
/// # Errors
/// A file cannot be read or written, or `admits` fails.
pub fn copy_table<E: From<DatasetError>>(
    from: &Layout,
    to: &Layout,
    table: Table,
    admits: &mut dyn FnMut(UrlKey) -> Result<bool, E>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), E> {
    let mut done = 0;
    for file in from.files(table)? {
        let name = file.file_name().map(Path::new).unwrap_or(Path::new(""));
        let mut copy = TableFile::begin(table, to.root().join(table.as_str()).join(name))?;
        for batch in Batches::of_file(&file, &[]) {
            let batch = batch?;
            let mut chosen = Vec::with_capacity(batch.num_rows());
            for row in 0..batch.num_rows() {
                let key = batch.key(table.key_column(), row);
                chosen.push(key.map_or(Ok(false), &mut *admits)?);
            }
            copy.write(some_rows(&batch, chosen))?;
            done += batch.num_rows() as u64;
            progress(done);
        }
        copy.end(covered(&file)?.unwrap_or_default())?.publish()?;
    }
    Ok(())
}

fn some_rows(batch: &RecordBatch, chosen: Vec<bool>) -> Result<RecordBatch, arrow_schema::ArrowError> {
    if chosen.iter().all(|chosen| *chosen) {
        return Ok(batch.clone());
    }
    filter_record_batch(batch, &BooleanArray::from(chosen))
}
