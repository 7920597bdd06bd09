//! The tables of items: what rules take out of pages, a directory for each rule with a file for each segment.
//!
//! ```text
//! DIR/dataset/items/NAME/SEGMENT.parquet
//! ```
//!
//! A file says in its metadata which rule made it. If the rule is another by now, the file covers nothing, and is derived again.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, FixedSizeBinaryBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field as Column, Fields, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use rules::{Field, Kind, Rule, micros_of};
use serde_json::Value;

use crate::read::{covered, metadata_of};
use crate::schema::{COVERED_KEY, ITEM_KEY, VERSION, VERSION_KEY};
use crate::tables::ItemRow;
use crate::target::Target;
use crate::{Batches, DatasetError, Layout};

/// The columns that every table of items has.
pub(crate) const OF_EVERY_TABLE: [&str; 6] = [ITEM_KEY, "url", "round", "visit", "fetched_at", "row"];
/// The metadata key of the rule that made a file.
pub(crate) const RULE_KEY: &str = "argiope.rule";
/// Rows turned into columns at once.
const ROWS_AT_ONCE: usize = 1_024;
const UTC: &str = "UTC";
const KEY_BYTES: i32 = 16;

/// The files of all rules for a segment, while they are written.
pub struct ItemTables {
    files: Vec<ItemFile>,
}

impl ItemTables {
    /// Begins the files of the layout's rules.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn create(layout: &Layout, segment: &str) -> Result<Self, DatasetError> {
        ItemTables::begin(layout, segment, false)
    }

    pub(crate) fn begin(layout: &Layout, segment: &str, goes_on: bool) -> Result<Self, DatasetError> {
        let files = layout.rules().rules.iter().map(|rule| ItemFile::begin(layout, rule, segment, goes_on));
        Ok(ItemTables { files: files.collect::<Result<_, _>>()? })
    }

    /// Adds a row to the table of a rule.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, table: &str, row: ItemRow) -> Result<(), DatasetError> {
        let file = self.files.iter_mut().find(|file| file.rule.name == table);
        file.map_or(Ok(()), |file| file.push(row))
    }

    /// Ends the files, which hold everything up to `covered_bytes` of the segment, and gives them their names.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn finish(self, covered_bytes: u64) -> Result<(), DatasetError> {
        self.end(covered_bytes)?.into_iter().try_for_each(Target::publish)
    }

    pub(crate) fn end(self, covered_bytes: u64) -> Result<Vec<Target>, DatasetError> {
        self.files.into_iter().map(|file| file.end(covered_bytes)).collect()
    }
}

/// The file of a rule for a segment, while it is written.
struct ItemFile {
    rule: Rule,
    schema: SchemaRef,
    writer: ArrowWriter<File>,
    target: Target,
    waiting: Vec<ItemRow>,
}

impl ItemFile {
    fn begin(layout: &Layout, rule: &Rule, segment: &str, goes_on: bool) -> Result<Self, DatasetError> {
        let path = layout.items(&rule.name, segment);
        let target = Target::of(path.clone())?;
        let schema = schema_of(rule);
        let writer = begin(&target, schema.clone(), rule.text())?;
        let mut file = ItemFile { rule: rule.clone(), schema, writer, target, waiting: Vec::new() };
        if goes_on {
            Batches::of_file(&path, &[]).try_for_each(|batch| file.write(&batch?))?;
        }
        Ok(file)
    }

    fn push(&mut self, row: ItemRow) -> Result<(), DatasetError> {
        self.waiting.push(row);
        if self.waiting.len() >= ROWS_AT_ONCE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), DatasetError> {
        let rows = std::mem::take(&mut self.waiting);
        if rows.is_empty() {
            return Ok(());
        }
        let batch = batch(self.schema.clone(), &self.rule.fields, &rows)
            .map_err(|error| DatasetError::format(self.target.unfinished(), error))?;
        self.write(&batch)
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), DatasetError> {
        self.writer.write(batch).map_err(|error| self.target.failed(error))
    }

    fn end(mut self, covered_bytes: u64) -> Result<Target, DatasetError> {
        self.flush()?;
        end(self.writer, self.target, covered_bytes)
    }
}

/// How far into its segment the file of a rule reaches; `None` if there is none that this rule made.
pub(crate) fn covered_by(layout: &Layout, rule: &Rule, segment: &str) -> Result<Option<u64>, DatasetError> {
    let path: PathBuf = layout.items(&rule.name, segment);
    let made_by = match metadata_of(&path, RULE_KEY) {
        Err(DatasetError::Format { .. } | DatasetError::Version { .. }) => None,
        made_by => made_by?,
    };
    if made_by.as_deref() == Some(rule.text()) { covered(&path) } else { Ok(None) }
}

/// Begins a file of items that a rule with this text made.
pub(crate) fn begin(target: &Target, schema: SchemaRef, rule: &str) -> Result<ArrowWriter<File>, DatasetError> {
    ArrowWriter::try_new(target.create()?, schema, Some(properties(rule))).map_err(|error| target.failed(error))
}

/// Ends a file of items that covers so many bytes of its segment.
pub(crate) fn end(mut writer: ArrowWriter<File>, target: Target, covered_bytes: u64) -> Result<Target, DatasetError> {
    writer.append_key_value_metadata(KeyValue::new(COVERED_KEY.to_owned(), covered_bytes.to_string()));
    writer.finish().map_err(|error| target.failed(error))?;
    target.whole(writer.inner())
}

fn properties(rule: &str) -> WriterProperties {
    WriterProperties::builder()
        .set_created_by(format!("argiope {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![
            KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_string()),
            KeyValue::new(RULE_KEY.to_owned(), rule.to_owned()),
        ]))
        .build()
}

fn schema_of(rule: &Rule) -> SchemaRef {
    let mut columns = vec![
        Column::new(ITEM_KEY, DataType::FixedSizeBinary(KEY_BYTES), false),
        Column::new("url", DataType::Utf8, false),
        Column::new("round", DataType::Int32, true),
        Column::new("visit", DataType::Int32, true),
        Column::new("fetched_at", time_type(), true),
        Column::new("row", DataType::Int32, false),
    ];
    columns.extend(rule.fields.iter().map(column_of));
    Arc::new(Schema::new(columns))
}

fn column_of(field: &Field) -> Column {
    Column::new(&field.name, type_of(field), true)
}

fn type_of(field: &Field) -> DataType {
    let one = one_type(field);
    if field.is_list { DataType::List(list_column(one)) } else { one }
}

fn list_column(one: DataType) -> Arc<Column> {
    Arc::new(Column::new("item", one, true))
}

fn one_type(field: &Field) -> DataType {
    if !field.fields.is_empty() {
        return DataType::Struct(field.fields.iter().map(column_of).collect());
    }
    match field.kind {
        Kind::Text | Kind::Html | Kind::Url => DataType::Utf8,
        Kind::Integer => DataType::Int64,
        Kind::Number => DataType::Float64,
        Kind::Date => time_type(),
        Kind::Bool => DataType::Boolean,
    }
}

fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into()))
}

fn batch(schema: SchemaRef, fields: &[Field], rows: &[ItemRow]) -> Result<RecordBatch, ArrowError> {
    let mut keys = FixedSizeBinaryBuilder::with_capacity(rows.len(), KEY_BYTES);
    rows.iter().try_for_each(|row| keys.append_value(row.key.to_bytes()))?;
    let mut urls = StringBuilder::new();
    rows.iter().for_each(|row| urls.append_value(&row.url));
    let bounded = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let mut rounds = Int32Builder::new();
    rows.iter().for_each(|row| rounds.append_option(row.round.map(bounded)));
    let mut visits = Int32Builder::new();
    rows.iter().for_each(|row| visits.append_option(row.visit.map(bounded)));
    let mut times = TimestampMicrosecondBuilder::new().with_timezone(UTC);
    rows.iter().for_each(|row| times.append_option(row.at.and_then(|at| i64::try_from(at.0).ok())));
    let mut places = Int32Builder::new();
    rows.iter().for_each(|row| places.append_value(bounded(row.row)));
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(keys.finish()),
        Arc::new(urls.finish()),
        Arc::new(rounds.finish()),
        Arc::new(visits.finish()),
        Arc::new(times.finish()),
        Arc::new(places.finish()),
    ];
    for field in fields {
        let values: Vec<Option<&Value>> = rows.iter().map(|row| row.values.get(&field.name)).collect();
        columns.push(array(field, &values)?);
    }
    RecordBatch::try_new(schema, columns)
}

/// The column of a field with these values.
fn array(field: &Field, values: &[Option<&Value>]) -> Result<ArrayRef, ArrowError> {
    if !field.is_list {
        return one_array(field, values);
    }
    let lists: Vec<Option<&Vec<Value>>> = values.iter().map(|value| value.and_then(Value::as_array)).collect();
    let lengths = lists.iter().map(|list| list.map_or(0, Vec::len));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let valid = NullBuffer::from_iter(lists.iter().map(Option::is_some));
    let all: Vec<Option<&Value>> = lists.iter().flatten().flat_map(|list| list.iter().map(Some)).collect();
    let inner = one_array(field, &all)?;
    Ok(Arc::new(ListArray::try_new(list_column(one_type(field)), offsets, inner, Some(valid))?))
}

fn one_array(field: &Field, values: &[Option<&Value>]) -> Result<ArrayRef, ArrowError> {
    if !field.fields.is_empty() {
        let columns: Fields = field.fields.iter().map(column_of).collect();
        let inner = field.fields.iter().map(|inner| {
            let values: Vec<Option<&Value>> =
                values.iter().map(|value| value.and_then(|value| value.get(&inner.name))).collect();
            array(inner, &values)
        });
        let valid = NullBuffer::from_iter(values.iter().map(Option::is_some));
        return Ok(Arc::new(StructArray::try_new(columns, inner.collect::<Result<_, _>>()?, Some(valid))?));
    }
    Ok(match field.kind {
        Kind::Text | Kind::Html | Kind::Url => {
            let mut column = StringBuilder::new();
            values.iter().for_each(|value| column.append_option(value.and_then(Value::as_str)));
            Arc::new(column.finish())
        }
        Kind::Integer => {
            let mut column = Int64Builder::new();
            values.iter().for_each(|value| column.append_option(value.and_then(Value::as_i64)));
            Arc::new(column.finish())
        }
        Kind::Number => {
            let mut column = Float64Builder::new();
            values.iter().for_each(|value| column.append_option(value.and_then(Value::as_f64)));
            Arc::new(column.finish())
        }
        Kind::Date => {
            let mut column = TimestampMicrosecondBuilder::new().with_timezone(UTC);
            values.iter().for_each(|value| column.append_option(value.and_then(Value::as_str).and_then(micros_of)));
            Arc::new(column.finish())
        }
        Kind::Bool => {
            let mut column = BooleanBuilder::new();
            values.iter().for_each(|value| column.append_option(value.and_then(Value::as_bool)));
            Arc::new(column.finish())
        }
    })
}
