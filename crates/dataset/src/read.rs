//! Reads the tables: only the requested columns, one batch at a time.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowFilter,
};
use parquet::file::metadata::RowGroupMetaData;
use weburl::UrlKey;

use crate::schema::{COVERED_KEY, ITEM_KEY, Table, VERSION, VERSION_KEY};
use crate::{DatasetError, Layout, superseded};

/// Rows read at once.
const BATCH_ROWS: usize = 4_096;

/// The batches of a table, file by file.
pub struct Batches {
    files: VecDeque<PathBuf>,
    columns: Vec<String>,
    /// Superseded rows are left out, by the lists of this dataset and their keys in this column; `None` where they are read too.
    current_by: Option<(PathBuf, &'static str)>,
    /// A column, and the keys of which rows must have one in it.
    only: Option<(&'static str, Arc<BTreeSet<UrlKey>>)>,
    /// Of so many readers, which one this is: each reads its share of the groups of rows.
    share: Option<(usize, usize)>,
    current: Option<(PathBuf, ParquetRecordBatchReader)>,
}

impl Layout {
    /// Reads these columns of a table, of rows that no later visit has superseded; all columns where none is named.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn batches(&self, table: Table, columns: &[&str]) -> Result<Batches, DatasetError> {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        let files = self.files(table)?.into();
        Ok(Batches { columns, ..self.current(files, table.key_column()) })
    }

    /// Reads all columns of a table of items, of rows that no later visit has superseded.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn item_batches(&self, name: &str) -> Result<Batches, DatasetError> {
        Ok(self.current(self.item_files(name)?.into(), ITEM_KEY))
    }

    fn current(&self, files: VecDeque<PathBuf>, key: &'static str) -> Batches {
        let current_by = Some((self.root().to_owned(), key));
        Batches { files, columns: Vec::new(), current_by, only: None, share: None, current: None }
    }

    /// The same of one segment.
    #[must_use]
    pub fn batches_of(&self, table: Table, segment: &str, columns: &[&str]) -> Batches {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Batches { columns, ..self.current([self.file(table, segment)].into(), table.key_column()) }
    }
}

impl Batches {
    /// Reads one file, with rows that later visits have superseded.
    #[must_use]
    pub fn of_file(path: &Path, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        let files = VecDeque::from([path.to_owned()]);
        Batches { files, columns, current_by: None, only: None, share: None, current: None }
    }

    /// Leaves out rows that have another key in this column: groups of rows whose range does not include the key are passed
    /// over, and of the others the remaining columns are read only where the key is.
    #[must_use]
    pub fn only(self, column: &'static str, key: UrlKey) -> Self {
        self.only_among(column, BTreeSet::from([key]))
    }

    /// The same with any of several keys.
    #[must_use]
    pub fn only_among(self, column: &'static str, keys: BTreeSet<UrlKey>) -> Self {
        Batches { only: Some((column, Arc::new(keys))), ..self }
    }

    /// Reads rows that later visits have superseded, too.
    #[must_use]
    pub fn with_superseded(self) -> Self {
        Batches { current_by: None, ..self }
    }

    /// Reads one share of the rows: that of reader number `own`, where `readers` read a share each.
    #[must_use]
    pub fn share(self, own: usize, readers: usize) -> Self {
        Batches { share: Some((own, readers)), ..self }
    }

    fn open(&self, path: &Path) -> Result<ParquetRecordBatchReader, DatasetError> {
        let builder = builder(path)?;
        let mask = match self.columns.is_empty() {
            true => ProjectionMask::all(),
            false => ProjectionMask::columns(builder.parquet_schema(), self.columns.iter().map(String::as_str)),
        };
        let is_wanted = |(at, group): &(usize, &RowGroupMetaData)| {
            self.share.is_none_or(|(own, readers)| at % readers == own)
                && self.only.as_ref().is_none_or(|(column, keys)| may_have(group, column, keys))
        };
        let groups = builder.metadata().row_groups().iter().enumerate().filter(is_wanted).map(|(at, _)| at).collect();
        let builder = builder.with_row_groups(groups);
        let mut predicates: Vec<Box<dyn ArrowPredicate>> = Vec::new();
        if let Some((column, keys)) = &self.only {
            let keys = Arc::clone(keys);
            predicates.push(predicate(&builder, column, move |key| keys.contains(&key)));
        }
        if let Some((root, column)) = &self.current_by {
            let superseded = superseded::of_file(root, path)?;
            if !superseded.is_empty() {
                predicates.push(predicate(&builder, column, move |key| !superseded.contains(&key)));
            }
        }
        let builder = match predicates.is_empty() {
            true => builder,
            false => builder.with_row_filter(RowFilter::new(predicates)),
        };
        let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build();
        reader.map_err(|error| DatasetError::format(path, error))
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((path, reader)) = &mut self.current {
                if let Some(batch) = reader.next() {
                    return Some(batch.map_err(|error| DatasetError::format(path, error)));
                }
                self.current = None;
            }
            let path = self.files.pop_front()?;
            match self.open(&path) {
                Ok(reader) => self.current = Some((path, reader)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Lets rows through by the key that they have in a column.
fn predicate(
    builder: &ParquetRecordBatchReaderBuilder<File>,
    column: &'static str,
    is_wanted: impl Fn(UrlKey) -> bool + Send + 'static,
) -> Box<dyn ArrowPredicate> {
    let mask = ProjectionMask::columns(builder.parquet_schema(), [column]);
    Box::new(ArrowPredicateFn::new(mask, move |batch: RecordBatch| {
        let is_wanted = |row| batch.key(column, row).is_some_and(&is_wanted);
        Ok((0..batch.num_rows()).map(|row| Some(is_wanted(row))).collect::<BooleanArray>())
    }))
}

/// False where the least and the greatest value of a column show that no row has any of the keys.
fn may_have(group: &RowGroupMetaData, column: &str, keys: &BTreeSet<UrlKey>) -> bool {
    let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == column);
    let Some(statistics) = chunk.and_then(|chunk| chunk.statistics()) else { return true };
    let key_of = |bytes: Option<&[u8]>| Some(UrlKey::from_bytes(bytes?.try_into().ok()?));
    match (key_of(statistics.min_bytes_opt()), key_of(statistics.max_bytes_opt())) {
        (Some(min), Some(max)) if min <= max => keys.range(min..=max).next().is_some(),
        _ => true,
    }
}

fn builder(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, DatasetError> {
    let file = fresh::open_to_read(path).map_err(|error| DatasetError::io(path, error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| DatasetError::format(path, error))?;
    match metadata(&builder, VERSION_KEY) {
        Some(version) if version == VERSION.to_string() => Ok(builder),
        found => Err(DatasetError::Version {
            path: path.display().to_string(),
            found: found.unwrap_or_else(|| "none".to_owned()),
            expected: VERSION,
        }),
    }
}

/// The columns of a file.
///
/// # Errors
/// There is no such file, or it is not one of ours.
pub(crate) fn schema_of(path: &Path) -> Result<SchemaRef, DatasetError> {
    Ok(builder(path)?.schema().clone())
}

/// A value of the metadata of a file; `None` if there is no such file or value.
///
/// # Errors
/// The file is not one of ours.
pub(crate) fn metadata_of(path: &Path, key: &str) -> Result<Option<String>, DatasetError> {
    if path.exists() { Ok(metadata(&builder(path)?, key)) } else { Ok(None) }
}

fn metadata(builder: &ParquetRecordBatchReaderBuilder<File>, key: &str) -> Option<String> {
    let pairs = builder.metadata().file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.clone()
}

/// How much of its segment a file covers, in bytes; `None` if there is no such file.
///
/// # Errors
/// The file is not one of ours.
pub(crate) fn covered(path: &Path) -> Result<Option<u64>, DatasetError> {
    if !path.exists() {
        return Ok(None);
    }
    Ok(metadata(&builder(path)?, COVERED_KEY).and_then(|value| value.parse().ok()))
}

/// The values of a column by row; `None` is null, and so is every value of a column that was not asked for or has
/// another type.
pub trait Column {
    /// A text.
    fn text(&self, column: &str, row: usize) -> Option<&str>;
    /// Bytes.
    fn bytes(&self, column: &str, row: usize) -> Option<&[u8]>;
    /// A key.
    fn key(&self, column: &str, row: usize) -> Option<UrlKey>;
    /// A number.
    fn number(&self, column: &str, row: usize) -> Option<i64>;
    /// True or false.
    fn flag(&self, column: &str, row: usize) -> Option<bool>;
}

impl Column for RecordBatch {
    fn text(&self, column: &str, row: usize) -> Option<&str> {
        let values = self.column_by_name(column)?.as_string_opt::<i32>()?;
        values.is_valid(row).then(|| values.value(row))
    }

    fn bytes(&self, column: &str, row: usize) -> Option<&[u8]> {
        let values = self.column_by_name(column)?.as_binary_opt::<i32>()?;
        values.is_valid(row).then(|| values.value(row))
    }

    fn key(&self, column: &str, row: usize) -> Option<UrlKey> {
        let values = self.column_by_name(column)?.as_fixed_size_binary_opt()?;
        let bytes = values.is_valid(row).then(|| values.value(row))?;
        Some(UrlKey::from_bytes(bytes.try_into().ok()?))
    }

    fn number(&self, column: &str, row: usize) -> Option<i64> {
        let values = self.column_by_name(column)?;
        if values.is_null(row) {
            return None;
        }
        let narrow = values.as_primitive_opt::<Int32Type>().map(|values| i64::from(values.value(row)));
        let wide = || values.as_primitive_opt::<Int64Type>().map(|values| values.value(row));
        let time = || values.as_primitive_opt::<TimestampMicrosecondType>().map(|values| values.value(row));
        narrow.or_else(wide).or_else(time)
    }

    fn flag(&self, column: &str, row: usize) -> Option<bool> {
        let values = self.column_by_name(column)?.as_boolean_opt()?;
        values.is_valid(row).then(|| values.value(row))
    }
}
