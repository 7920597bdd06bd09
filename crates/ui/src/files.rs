//! The table of URLs as files: CSV, JSON lines, Parquet. A file is made while it is sent, so that none is held whole.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::builder::{StringBuilder, TimestampMicrosecondBuilder, UInt16Builder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use model::Timestamp;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use printable::{write_csv_line, write_json_line};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;

use crate::rows::Row;

/// Pieces of a file that wait for a slow reader.
const PIECES_MAX: usize = 4;
/// Bytes of a row group of a Parquet file, before they are sent: what a download keeps in memory.
const ROW_GROUP_BYTES: usize = 8 << 20;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// RFC 4180.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

/// Where the rows of a file go. Without rows left, or where its reader has gone, it is dropped.
pub(crate) struct File {
    format: Format,
    pieces: mpsc::Sender<anyhow::Result<Bytes>>,
    out: Vec<u8>,
    parquet: Option<ArrowWriter<Vec<u8>>>,
}

impl Format {
    fn content_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv; charset=utf-8",
            Format::Jsonl => "application/x-ndjson",
            Format::Parquet => "application/vnd.apache.parquet",
        }
    }
}

impl File {
    /// A file, and the answer that sends it.
    ///
    /// # Errors
    /// Never in practice: the columns have a form in Parquet.
    pub(crate) fn begin(format: Format) -> anyhow::Result<(Self, Response)> {
        let (pieces, sent) = mpsc::channel(PIECES_MAX);
        let mut file = File { format, pieces, out: Vec::new(), parquet: None };
        match format {
            Format::Csv => {
                // Writing to a vector cannot fail.
                let _ = write_csv_line(&mut file.out, COLUMNS.map(Into::into));
            }
            Format::Jsonl => {}
            Format::Parquet => {
                let zstd = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(zstd).build();
                file.parquet = Some(ArrowWriter::try_new(Vec::new(), schema(), Some(properties))?);
            }
        }
        let content_type = HeaderValue::from_static(format.content_type());
        let head: [(HeaderName, HeaderValue); 1] = [(header::CONTENT_TYPE, content_type)];
        Ok((file, (head, Body::from_stream(ReceiverStream::new(sent))).into_response()))
    }

    /// Takes rows in, the last ones or others before them. Gives the piece that is to be sent.
    ///
    /// # Errors
    /// Never in practice: the rows have a form in Parquet.
    fn piece(&mut self, rows: &[Row], is_last: bool) -> anyhow::Result<Bytes> {
        match self.format {
            // Writing to a vector cannot fail, and a row has a form in JSON.
            Format::Csv => rows.iter().for_each(|row| drop(write_csv_line(&mut self.out, cells(row)))),
            Format::Jsonl => rows.iter().for_each(|row| drop(write_json_line(&mut self.out, &Line::of(row)))),
            Format::Parquet => {
                if let Some(writer) = &mut self.parquet {
                    writer.write(&batch(rows)?)?;
                    if writer.in_progress_size() >= ROW_GROUP_BYTES {
                        writer.flush()?;
                    }
                    self.out.append(writer.inner_mut());
                }
                if let Some(writer) = self.parquet.take_if(|_| is_last) {
                    self.out.append(&mut writer.into_inner()?);
                }
            }
        }
        Ok(std::mem::take(&mut self.out).into())
    }

    /// Whether its reader takes a piece more within this time, or has gone.
    pub(crate) async fn is_read_within(&self, time_max: Duration) -> bool {
        timeout(time_max, self.pieces.reserve()).await.is_ok()
    }

    /// Sends rows. False if the reader has gone and wants no more.
    pub(crate) async fn send(&mut self, rows: &[Row], is_last: bool) -> bool {
        let piece = self.piece(rows, is_last);
        self.pieces.send(piece).await.is_ok()
    }

    /// The same from a thread that may block.
    pub(crate) fn send_blocking(&mut self, rows: &[Row], is_last: bool) -> bool {
        let piece = self.piece(rows, is_last);
        self.pieces.blocking_send(piece).is_ok()
    }

    /// Breaks the file off: its reader learns that it is not whole.
    pub(crate) async fn fail(self, error: anyhow::Error) {
        // The reader may have gone.
        let _ = self.pieces.send(Err(error)).await;
    }

    /// The same from a thread that may block.
    pub(crate) fn fail_blocking(self, error: anyhow::Error) {
        let _ = self.pieces.blocking_send(Err(error));
    }
}

/// The columns of a file, by name.
const COLUMNS: [&str; 9] = ["url", "state", "status", "content_type", "length", "depth", "visited", "title", "reason"];

/// A row as JSON.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    state: &'a str,
    status: Option<u16>,
    content_type: Option<&'a str>,
    length: Option<u64>,
    depth: u32,
    visited: Option<String>,
    title: Option<&'a str>,
    reason: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(row: &'a Row) -> Self {
        Line {
            url: &row.url,
            state: &row.state,
            status: row.status,
            content_type: row.content_type.as_deref(),
            length: row.length,
            depth: row.depth,
            visited: row.visited.map(Timestamp::to_rfc3339),
            title: row.title.as_deref(),
            reason: row.reason.as_deref(),
        }
    }
}

fn cells(row: &Row) -> [std::borrow::Cow<'_, str>; 9] {
    let Line { url, state, status, content_type, length, depth, visited, title, reason } = Line::of(row);
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    [
        url.into(),
        state.into(),
        number(status.map(u64::from)).into(),
        content_type.unwrap_or_default().into(),
        number(length).into(),
        depth.to_string().into(),
        visited.unwrap_or_default().into(),
        title.unwrap_or_default().into(),
        reason.unwrap_or_default().into(),
    ]
}

fn schema() -> Arc<Schema> {
    let types = [
        DataType::Utf8,
        DataType::Utf8,
        DataType::UInt16,
        DataType::Utf8,
        DataType::UInt64,
        DataType::UInt32,
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::Utf8,
        DataType::Utf8,
    ];
    let fields: Vec<Field> = COLUMNS.iter().zip(types).map(|(name, of)| Field::new(*name, of, true)).collect();
    Arc::new(Schema::new(fields))
}

/// Rows as columns.
fn batch(rows: &[Row]) -> anyhow::Result<RecordBatch> {
    let mut texts: [StringBuilder; 5] = Default::default();
    let (mut status, mut length, mut depth) = (UInt16Builder::new(), UInt64Builder::new(), UInt32Builder::new());
    let mut visited = TimestampMicrosecondBuilder::new().with_timezone("UTC");
    for row in rows {
        let [url, state, content_type, title, reason] = &mut texts;
        url.append_value(&row.url);
        state.append_value(&row.state);
        status.append_option(row.status);
        content_type.append_option(row.content_type.as_deref());
        length.append_option(row.length);
        depth.append_value(row.depth);
        visited.append_option(row.visited.and_then(|at| i64::try_from(at.0).ok()));
        title.append_option(row.title.as_deref());
        reason.append_option(row.reason.as_deref());
    }
    let [url, state, content_type, title, reason] = texts.map(|mut text| Arc::new(text.finish()) as ArrayRef);
    let columns = vec![
        url,
        state,
        Arc::new(status.finish()),
        content_type,
        Arc::new(length.finish()),
        Arc::new(depth.finish()),
        Arc::new(visited.finish()),
        title,
        reason,
    ];
    Ok(RecordBatch::try_new(schema(), columns)?)
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    fn rows() -> [Row; 2] {
        let waiting = Row { url: "http://a.test/".to_owned(), state: "waiting".into(), ..Row::default() };
        let visited = Row {
            url: "http://a.test/=1".to_owned(),
            state: "html".into(),
            status: Some(200),
            length: Some(7),
            depth: 1,
            visited: Some(Timestamp(1_795_680_796_841_000)),
            title: Some("=a, \"b\"".to_owned()),
            ..Row::default()
        };
        [waiting, visited]
    }

    /// A file of the rows, made in two pieces and an empty one.
    fn made(format: Format) -> Vec<u8> {
        let (mut file, _answer) = File::begin(format).expect("a file");
        let [one, other] = rows();
        let pieces = [file.piece(&[one], false), file.piece(&[other], false), file.piece(&[], true)];
        pieces.into_iter().flat_map(|piece| piece.expect("a piece")).collect()
    }

    #[test]
    fn a_file_has_all_rows_in_each_format() {
        let csv = String::from_utf8(made(Format::Csv)).expect("UTF-8");
        let lines: Vec<&str> = csv.split("\r\n").collect();
        assert_eq!(lines[0], "url,state,status,content_type,length,depth,visited,title,reason");
        assert_eq!(lines[1], "http://a.test/,waiting,,,,0,,,");
        assert!(lines[2].starts_with("http://a.test/=1,html,200,,7,1,2026-11-26T08:13:16.841"), "{csv}");
        // No spreadsheet takes it for a formula.
        assert!(!lines[2].contains(",=a") && !lines[2].contains(",\"=a"), "{csv}");
        let json = String::from_utf8(made(Format::Jsonl)).expect("UTF-8");
        let lines: Vec<serde_json::Value> =
            json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!((lines.len(), &lines[1]["title"]), (2, &serde_json::json!("=a, \"b\"")));

        let parquet = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(made(Format::Parquet))).expect("Parquet");
        let read: Vec<RecordBatch> = parquet.build().expect("a reader").map(|batch| batch.expect("rows")).collect();
        let all = arrow_select::concat::concat_batches(&schema(), &read).expect("one batch");
        assert_eq!(all.num_rows(), 2);
        let text = |name: &str| all.column_by_name(name).expect(name).as_string::<i32>().clone();
        assert_eq!((text("url").value(1), text("state").value(0)), ("http://a.test/=1", "waiting"));
        assert!(text("title").is_null(0) && text("title").value(1) == "=a, \"b\"");
    }
}
