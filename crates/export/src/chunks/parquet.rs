//! The pieces as columns of a Parquet file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, UInt32Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::Chunk;
use crate::ExportError;

/// Rows that are turned into columns at once, and bytes of their texts.
const ROWS_AT_ONCE: usize = 4_096;
const TEXT_BYTES_AT_ONCE: usize = 8 << 20;
/// Bytes of a row group.
const ROW_GROUP_BYTES: usize = 64 << 20;

pub(super) struct ParquetFile<W: Write + Send> {
    writer: ArrowWriter<W>,
    columns: Columns,
    target: PathBuf,
}

#[derive(Default)]
struct Columns {
    url: StringBuilder,
    title: StringBuilder,
    language: StringBuilder,
    kind: StringBuilder,
    position: UInt32Builder,
    chunks: UInt32Builder,
    headings: ListBuilder<StringBuilder>,
    text: StringBuilder,
    characters: UInt32Builder,
    tokens: UInt32Builder,
    near_duplicate_of: StringBuilder,
    near_duplicate_position: UInt32Builder,
    rows: usize,
    text_bytes: usize,
}

fn schema() -> Arc<Schema> {
    let text = |name| Field::new(name, DataType::Utf8, true);
    let number = |name| Field::new(name, DataType::UInt32, true);
    let item = Arc::new(Field::new("item", DataType::Utf8, true));
    Arc::new(Schema::new(vec![
        text("url"),
        text("title"),
        text("language"),
        text("kind"),
        number("position"),
        number("chunks"),
        Field::new("headings", DataType::List(item), true),
        text("text"),
        number("characters"),
        number("tokens"),
        text("near_duplicate_of"),
        number("near_duplicate_position"),
    ]))
}

impl<W: Write + Send> ParquetFile<W> {
    pub(super) fn begin(out: W, target: &Path) -> Result<Self, ExportError> {
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = ArrowWriter::try_new(out, schema(), Some(properties));
        let writer = writer.map_err(|error| ExportError::Other(format!("{}: {error}", target.display())))?;
        Ok(ParquetFile { writer, columns: Columns::default(), target: target.to_owned() })
    }

    pub(super) fn push(&mut self, chunk: &Chunk<'_>) -> Result<(), ExportError> {
        self.columns.push(chunk);
        if self.columns.rows >= ROWS_AT_ONCE || self.columns.text_bytes >= TEXT_BYTES_AT_ONCE {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ExportError> {
        let batch = RecordBatch::try_new(schema(), self.columns.take());
        let batch = batch.map_err(|error| ExportError::Other(format!("{}: {error}", self.target.display())))?;
        let mut written = self.writer.write(&batch);
        if self.writer.in_progress_size() >= ROW_GROUP_BYTES {
            written = written.and_then(|()| self.writer.flush());
        }
        written.map_err(|error| ExportError::Other(format!("{}: {error}", self.target.display())))
    }

    pub(super) fn finish(mut self) -> Result<(), ExportError> {
        self.flush()?;
        let closed = self.writer.close();
        closed.map(drop).map_err(|error| ExportError::Other(format!("{}: {error}", self.target.display())))
    }
}

impl Columns {
    fn push(&mut self, chunk: &Chunk<'_>) {
        self.url.append_value(chunk.url);
        self.title.append_option(chunk.title);
        self.language.append_option(chunk.language);
        self.kind.append_value(chunk.kind);
        self.position.append_value(chunk.position);
        self.chunks.append_value(chunk.chunks);
        chunk.headings.iter().for_each(|heading| self.headings.values().append_value(heading));
        self.headings.append(true);
        self.text.append_value(chunk.text);
        self.characters.append_value(chunk.characters);
        self.tokens.append_value(chunk.tokens);
        let near = chunk.near_duplicate_of.as_ref();
        self.near_duplicate_of.append_option(near.map(|place| place.url.as_str()));
        self.near_duplicate_position.append_option(near.map(|place| place.position));
        self.rows += 1;
        self.text_bytes += chunk.text.len();
    }

    fn take(&mut self) -> Vec<ArrayRef> {
        (self.rows, self.text_bytes) = (0, 0);
        vec![
            Arc::new(self.url.finish()),
            Arc::new(self.title.finish()),
            Arc::new(self.language.finish()),
            Arc::new(self.kind.finish()),
            Arc::new(self.position.finish()),
            Arc::new(self.chunks.finish()),
            Arc::new(self.headings.finish()),
            Arc::new(self.text.finish()),
            Arc::new(self.characters.finish()),
            Arc::new(self.tokens.finish()),
            Arc::new(self.near_duplicate_of.finish()),
            Arc::new(self.near_duplicate_position.finish()),
        ]
    }
}
