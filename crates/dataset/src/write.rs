//! Writing the tables of one segment.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::columns::{self, IMAGES, PAGES, STRUCTURED, Stored, TEXT_COLUMN};
use crate::encode::{Texts, Zstd};
use crate::items::{ItemTables, covered_by};
use crate::links::LinkGroup;
use crate::read::covered;
use crate::schema::{COVERED_KEY, Table, VERSION, VERSION_KEY};
use crate::target::Target;
use crate::{Batches, DatasetError, ImageRow, Layout, Links, PageRow, StructuredRow, UNRECORDED, Written};

/// Rows turned into columns at once: each time costs something for every column, so a table waits until it has enough.
const ROWS_AT_ONCE: usize = 1_024;
/// Text and images waiting to be turned into columns, in bytes.
const WAITING_BYTES_MAX: usize = 2 << 20;
/// A row group is closed when it takes this much memory, in bytes.
const ROW_GROUP_BYTES: usize = 8 << 20;
/// A dictionary that grows beyond this is given up, in bytes; those of links are written with their row group.
const DICTIONARY_BYTES: usize = 4 << 20;
/// The size of a data page, in bytes.
const PAGE_BYTES: usize = 128 << 10;
/// The files of one segment while they are written. What is dropped unfinished leaves no file that a reader takes
/// for one.
pub struct SegmentTables {
    segment: String,
    pages: PagesFile,
    links: LinksFile,
    images: TableFile,
    structured: TableFile,
    items: ItemTables,
    waiting: Waiting,
}

#[derive(Default)]
struct Waiting {
    pages: Vec<PageRow>,
    images: Vec<ImageRow>,
    structured: Vec<StructuredRow>,
    /// Text of those pages, which is in the table already, in bytes.
    text_bytes: usize,
    /// Images in pages among them, in bytes.
    image_bytes: usize,
    /// JSON among them, in bytes.
    json_bytes: usize,
}

impl SegmentTables {
    /// Begins the files of a segment. Rows that finished files of it hold already are taken over, so that writing goes on
    /// behind them.
    ///
    /// # Errors
    /// The files cannot be read or written.
    pub fn begin(layout: &Layout, segment: &str) -> Result<Self, DatasetError> {
        let goes_on = covered_bytes(layout, segment)?.is_some();
        SegmentTables::open(layout, segment, goes_on)
    }

    /// Begins the files of a segment; finished files of it are replaced.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn replace(layout: &Layout, segment: &str) -> Result<Self, DatasetError> {
        SegmentTables::open(layout, segment, false)
    }

    fn open(layout: &Layout, segment: &str, goes_on: bool) -> Result<Self, DatasetError> {
        let open = |table| {
            let mut file = TableFile::begin(table, layout.file(table, segment))?;
            if goes_on {
                file.take_over()?;
            }
            Ok::<_, DatasetError>(file)
        };
        Ok(SegmentTables {
            segment: segment.to_owned(),
            pages: PagesFile::behind(open(Table::Pages)?)?,
            links: LinksFile::behind(open(Table::Links)?)?,
            images: open(Table::Images)?,
            structured: open(Table::Structured)?,
            items: ItemTables::begin(layout, segment, goes_on)?,
            waiting: Waiting::default(),
        })
    }

    /// The segment.
    #[must_use]
    pub fn segment(&self) -> &str {
        &self.segment
    }

    /// Adds the rows of a visit.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn push(&mut self, written: Written) -> Result<(), DatasetError> {
        let Written { mut page, links, images, structured, items } = written;
        let waiting = &mut self.waiting;
        let text = page.content.as_mut().and_then(|content| content.text.take());
        let main_text = page.content.as_ref().and_then(|content| content.main_text.as_ref());
        waiting.text_bytes += text.as_ref().map_or(0, String::len) + main_text.map_or(0, String::len);
        self.pages.push_text(text.as_deref())?;
        waiting.image_bytes += images.iter().filter_map(|image| image.data.as_ref()).map(Vec::len).sum::<usize>();
        waiting.pages.push(page);
        waiting.images.extend(images);
        waiting.json_bytes += structured.iter().map(|item| item.json.len()).sum::<usize>();
        waiting.structured.extend(structured);
        if waiting.pages.len() >= ROWS_AT_ONCE || waiting.text_bytes >= WAITING_BYTES_MAX {
            self.flush_pages()?;
        }
        if self.waiting.images.len() >= ROWS_AT_ONCE || self.waiting.image_bytes >= WAITING_BYTES_MAX {
            self.flush_images()?;
        }
        if self.waiting.structured.len() >= ROWS_AT_ONCE || self.waiting.json_bytes >= WAITING_BYTES_MAX {
            self.flush_structured()?;
        }
        for (name, rows) in items {
            rows.into_iter().try_for_each(|row| self.items.push(&name, row))?;
        }
        self.links.push(&links)
    }

    fn flush_pages(&mut self) -> Result<(), DatasetError> {
        self.waiting.text_bytes = 0;
        self.pages.write(columns::batch(Table::Pages.schema(), PAGES, &std::mem::take(&mut self.waiting.pages)))
    }

    fn flush_images(&mut self) -> Result<(), DatasetError> {
        self.waiting.image_bytes = 0;
        self.images.write(columns::batch(Table::Images.schema(), IMAGES, &std::mem::take(&mut self.waiting.images)))
    }

    fn flush_structured(&mut self) -> Result<(), DatasetError> {
        self.waiting.json_bytes = 0;
        let rows = std::mem::take(&mut self.waiting.structured);
        self.structured.write(columns::batch(Table::Structured.schema(), STRUCTURED, &rows))
    }

    /// Ends the files, which hold everything up to `covered_bytes` of the segment, and gives them their names.
    ///
    /// # Errors
    /// The files cannot be written: then those that were there before stay.
    pub fn finish(mut self, covered_bytes: u64) -> Result<(), DatasetError> {
        self.flush_pages()?;
        self.flush_images()?;
        self.flush_structured()?;
        let SegmentTables { pages, links, images, structured, items, .. } = self;
        let items = items.end(covered_bytes)?;
        let ended = [
            structured.end(covered_bytes)?,
            images.end(covered_bytes)?,
            links.end(covered_bytes)?,
            pages.end(covered_bytes)?,
        ];
        items.into_iter().chain(ended).try_for_each(Target::publish)
    }
}

/// The file of pages without a record, while it is written.
pub struct UnrecordedPages {
    file: TableFile,
    waiting: Vec<PageRow>,
}

impl UnrecordedPages {
    /// Begins the file; one that is there is replaced.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(layout: &Layout) -> Result<Self, DatasetError> {
        let file = TableFile::begin(Table::Pages, layout.file(Table::Pages, UNRECORDED))?;
        Ok(UnrecordedPages { file, waiting: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, page: PageRow) -> Result<(), DatasetError> {
        self.waiting.push(page);
        if self.waiting.len() >= ROWS_AT_ONCE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), DatasetError> {
        let waiting = std::mem::take(&mut self.waiting);
        self.file.write(columns::batch(Table::Pages.schema(), PAGES, &waiting))
    }

    /// Ends the file, and gives it its name.
    ///
    /// # Errors
    /// It cannot be written: then one that was there before stays.
    pub fn finish(mut self) -> Result<(), DatasetError> {
        self.flush()?;
        self.file.end(0)?.publish()
    }

    /// True if the file exists, and is one of ours.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn are_written(layout: &Layout) -> Result<bool, DatasetError> {
        Ok(sound(&layout.file(Table::Pages, UNRECORDED))?.is_some())
    }
}

/// How much of its segment a file covers; `None` if there is none that can be read.
fn sound(path: &Path) -> Result<Option<u64>, DatasetError> {
    match covered(path) {
        Err(DatasetError::Format { .. } | DatasetError::Version { .. }) => Ok(None),
        covered => covered,
    }
}

/// How far into its segment all files of it reach, in bytes. `None` where one is missing, or where they do not agree:
/// then they must be derived again.
///
/// # Errors
/// A file cannot be read.
pub fn covered_bytes(layout: &Layout, segment: &str) -> Result<Option<u64>, DatasetError> {
    let mut all = Vec::new();
    for table in Table::ALL {
        all.push(sound(&layout.file(table, segment))?);
    }
    for rule in &layout.rules().rules {
        all.push(covered_by(layout, rule, segment)?);
    }
    Ok(all[0].filter(|_| all.iter().all(|bytes| *bytes == all[0])))
}

/// The first of these segments, each with its length in bytes, to whose end the files of a dataset do not reach. While the crawl that completes
/// them goes on (`is_running`), they may reach less far.
///
/// # Errors
/// A file cannot be read.
pub fn first_uncovered<'a>(
    layout: &Layout,
    segments: impl IntoIterator<Item = (&'a str, u64)>,
    is_running: bool,
) -> Result<Option<&'a str>, DatasetError> {
    for (name, length) in segments {
        let covered = covered_bytes(layout, name)?;
        if covered != Some(length) && !(is_running && covered <= Some(length)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// One file on its way.
pub(crate) struct TableFile {
    table: Table,
    writer: ArrowWriter<File>,
    target: Target,
}

impl TableFile {
    pub(crate) fn begin(table: Table, path: PathBuf) -> Result<Self, DatasetError> {
        let target = Target::of(path)?;
        let writer = ArrowWriter::try_new(target.create()?, table.schema(), Some(properties(table)))
            .map_err(|error| DatasetError::format(target.unfinished(), error))?;
        Ok(TableFile { table, writer, target })
    }

    /// Takes over the rows of the finished file that this one is to replace.
    fn take_over(&mut self) -> Result<(), DatasetError> {
        Batches::of_file(self.target.path(), &[]).try_for_each(|batch| self.write(Ok(batch?)))
    }

    pub(crate) fn write(&mut self, batch: Result<RecordBatch, ArrowError>) -> Result<(), DatasetError> {
        let batch = batch.map_err(|error| DatasetError::format(self.target.unfinished(), error))?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        debug_assert_eq!(batch.schema().fields(), self.table.schema().fields());
        let mut written = self.writer.write(&batch);
        if self.writer.in_progress_size() >= ROW_GROUP_BYTES {
            written = written.and_then(|()| self.writer.flush());
        }
        written.map_err(|error| self.target.failed(error))
    }

    pub(crate) fn end(mut self, covered_bytes: u64) -> Result<Target, DatasetError> {
        self.writer.append_key_value_metadata(covered_pair(covered_bytes));
        self.writer.finish().map_err(|error| self.target.failed(error))?;
        self.target.whole(self.writer.inner())
    }
}

/// The file of a segment's pages. Of each row the text comes first, by itself; what else it has comes later, with that of others.
struct PagesFile {
    writer: SerializedFileWriter<File>,
    factory: ArrowRowGroupWriterFactory,
    /// The columns of a group, of which that with the texts stays empty.
    columns: Vec<ArrowColumnWriter>,
    texts: Texts,
    zstd: Zstd,
    target: Target,
}

impl PagesFile {
    /// Goes on behind the rows that a file has already.
    fn behind(file: TableFile) -> Result<Self, DatasetError> {
        let TableFile { writer, target, .. } = file;
        let begun = writer.into_serialized_writer().and_then(|(writer, factory)| {
            let columns = factory.create_column_writers(writer.flushed_row_groups().len())?;
            Ok((writer, factory, columns, Zstd::new()?))
        });
        let (writer, factory, columns, zstd) = begun.map_err(|error| target.failed(error))?;
        Ok(PagesFile { writer, factory, columns, texts: Texts::default(), zstd, target })
    }

    fn push_text(&mut self, text: Option<&str>) -> Result<(), DatasetError> {
        self.texts.push(text);
        let ended = if self.texts.waiting_bytes() >= PAGE_BYTES { self.texts.end_page(&mut self.zstd) } else { Ok(()) };
        ended.map_err(|error| self.target.failed(error))
    }

    /// Writes what else the rows have whose texts came since the last time.
    fn write(&mut self, batch: Result<RecordBatch, ArrowError>) -> Result<(), DatasetError> {
        let batch = batch.map_err(|error| DatasetError::format(self.target.unfinished(), error))?;
        self.write_columns(&batch).map_err(|error| self.target.failed(error))
    }

    fn write_columns(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns()).zip(&mut self.columns);
        for ((field, values), column) in columns.filter(|((field, _), _)| field.name() != TEXT_COLUMN) {
            compute_leaves(field, values)?.iter().try_for_each(|leaf| column.write(leaf))?;
        }
        let size: usize = self.columns.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum();
        if size + self.texts.size() >= ROW_GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        self.texts.end_page(&mut self.zstd)?;
        if self.texts.size() == 0 {
            return Ok(());
        }
        let next = self.factory.create_column_writers(self.writer.flushed_row_groups().len() + 1)?;
        let written = std::mem::replace(&mut self.columns, next);
        let schema = self.writer.schema_descr().columns().to_vec();
        let mut group = self.writer.next_row_group()?;
        for (column, written) in schema.into_iter().zip(written) {
            if column.name() == TEXT_COLUMN {
                let (bytes, close) = self.texts.take_chunk(column)?;
                group.append_column(&bytes, close)?;
            } else {
                written.close()?.append_to_row_group(&mut group)?;
            }
        }
        group.close()?;
        Ok(())
    }

    fn end(mut self, covered_bytes: u64) -> Result<Target, DatasetError> {
        self.writer.append_key_value_metadata(covered_pair(covered_bytes));
        let finished = self.end_group().and_then(|()| self.writer.finish());
        finished.map_err(|error| self.target.failed(error))?;
        self.target.whole(self.writer.inner())
    }
}

/// The file of a segment's links, which are looked up by their keys.
struct LinksFile {
    writer: SerializedFileWriter<File>,
    group: LinkGroup,
    target: Target,
}

impl LinksFile {
    /// Goes on behind the rows that a file has already.
    fn behind(file: TableFile) -> Result<Self, DatasetError> {
        let TableFile { writer, target, .. } = file;
        let (writer, _) = writer.into_serialized_writer().map_err(|error| target.failed(error))?;
        let group = LinkGroup::new().map_err(|error| target.failed(error))?;
        Ok(LinksFile { writer, group, target })
    }

    fn push(&mut self, links: &Links) -> Result<(), DatasetError> {
        let mut written = self.group.push(links);
        if self.group.is_long() || self.group.size() >= ROW_GROUP_BYTES {
            written = written.and_then(|()| self.end_group());
        }
        written.map_err(|error| self.target.failed(error))
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        std::mem::replace(&mut self.group, LinkGroup::new()?).write(&mut self.writer)
    }

    fn end(mut self, covered_bytes: u64) -> Result<Target, DatasetError> {
        self.writer.append_key_value_metadata(covered_pair(covered_bytes));
        let finished = self.end_group().and_then(|()| self.writer.finish());
        finished.map_err(|error| self.target.failed(error))?;
        self.target.whole(self.writer.inner())
    }
}

fn covered_pair(covered_bytes: u64) -> KeyValue {
    KeyValue::new(COVERED_KEY.to_owned(), covered_bytes.to_string())
}

fn properties(table: Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("argiope {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_key_value_metadata(Some(vec![KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_string())]));
    for Stored { name, is_repetitive, is_without_bounds } in table.stored() {
        let path = ColumnPath::from(name);
        if is_without_bounds {
            properties = properties.set_column_statistics_enabled(path.clone(), EnabledStatistics::None);
        }
        if is_repetitive {
            properties = properties.set_column_dictionary_enabled(path, true);
        }
    }
    properties.build()
}
