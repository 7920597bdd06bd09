//! Copying a dataset, or some rows of it.

use std::path::Path;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use weburl::UrlKey;

use crate::items::{self, RULE_KEY};
use crate::read::{Column, covered, metadata_of, schema_of};
use crate::schema::{ITEM_KEY, Table};
use crate::target::Target;
use crate::write::TableFile;
use crate::{Batches, DatasetError, Layout};

/// Copies the rows of a table that `admits` lets through into `to`, file by file; each file is there whole or not at all. A
/// page is asked for by its key, a link or an image by that of the page that has it; and by the segment of the row. `progress` receives how many
/// rows were read of the table.
///
/// # Errors
/// A file cannot be read or written, or `admits` fails.
pub fn copy_table<E: From<DatasetError>>(
    from: &Layout,
    to: &Layout,
    table: Table,
    admits: &mut dyn FnMut(&str, UrlKey) -> Result<bool, E>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), E> {
    let mut done = 0;
    for file in from.files(table)? {
        let name = file.file_name().map(Path::new).unwrap_or(Path::new(""));
        let segment = segment_of(&file);
        let mut copy = TableFile::begin(table, to.root().join(table.as_str()).join(name))?;
        for batch in Batches::of_file(&file, &[]) {
            let batch = batch?;
            copy.write(some_rows(&batch, table.key_column(), &mut |key| admits(&segment, key))?)?;
            done += batch.num_rows() as u64;
            progress(done);
        }
        copy.end(covered(&file)?.unwrap_or_default())?.publish()?;
    }
    Ok(())
}

/// The same for each table of items: a row is there if `admits` lets its page through.
///
/// # Errors
/// As [`copy_table`].
pub fn copy_items<E: From<DatasetError>>(
    from: &Layout,
    to: &Layout,
    admits: &mut dyn FnMut(&str, UrlKey) -> Result<bool, E>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), E> {
    for name in from.item_tables()? {
        let mut done = 0;
        for file in from.item_files(&name)? {
            let segment = segment_of(&file);
            let rule = metadata_of(&file, RULE_KEY)?.unwrap_or_default();
            let file_name = file.file_name().map(Path::new).unwrap_or(Path::new(""));
            let target = Target::of(to.items_dir(&name).join(file_name))?;
            let mut writer = items::begin(&target, schema_of(&file)?, &rule)?;
            for batch in Batches::of_file(&file, &[]) {
                let batch = batch?;
                let chosen = some_rows(&batch, ITEM_KEY, &mut |key| admits(&segment, key))?;
                let chosen = chosen.map_err(|error| DatasetError::format(target.unfinished(), error))?;
                writer.write(&chosen).map_err(|error| target.failed(error))?;
                done += batch.num_rows() as u64;
                progress(done);
            }
            items::end(writer, target, covered(&file)?.unwrap_or_default())?.publish()?;
        }
    }
    Ok(())
}

/// The segment of a file, without the end of its name.
fn segment_of(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The rows that `admits` lets through by the key that they have in a column.
fn some_rows<E>(
    batch: &RecordBatch,
    column: &str,
    admits: &mut dyn FnMut(UrlKey) -> Result<bool, E>,
) -> Result<Result<RecordBatch, ArrowError>, E> {
    let mut chosen = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        chosen.push(batch.key(column, row).map_or(Ok(false), &mut *admits)?);
    }
    if chosen.iter().all(|chosen| *chosen) {
        return Ok(Ok(batch.clone()));
    }
    Ok(filter_record_batch(batch, &BooleanArray::from(chosen)))
}
