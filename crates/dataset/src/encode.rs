//! Column chunks as Parquet has them, where we know more of the values than the writer of the `parquet` crate.
//!
//! That writer looks up every value of every row by its bytes: who knows already where a value lies in the dictionary, as that of a link's
//! target, writes [`Places`] instead. And it copies each value three times before it is compressed: long ones that are hardly ever the
//! same, the texts of pages, are copied less often on their way through [`Texts`], and into memory that is kept.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

/// Numbers that are equal and follow each other are written as one run if they are so many: a group of packed ones has as many.
const GROUP: usize = 8;

/// The values of a dictionary, each once, as the dictionary's page has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    bytes: Vec<u8>,
    count: u32,
}

impl Values {
    /// Adds a text, and gives its place.
    pub(crate) fn add_text(&mut self, text: &str) -> u32 {
        put_text(text, &mut self.bytes);
        self.place_of_last()
    }

    /// Adds a value of a fixed length, and gives its place.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> u32 {
        self.bytes.extend_from_slice(bytes);
        self.place_of_last()
    }

    fn place_of_last(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// How large they are, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// Compresses pages, in memory that it keeps.
pub(crate) struct Zstd {
    compressor: Compressor<'static>,
    room: Vec<u8>,
}

impl Zstd {
    /// At the level that the chunks say they have.
    pub(crate) fn new() -> Result<Self, ParquetError> {
        Ok(Zstd { compressor: Compressor::new(ZstdLevel::default().compression_level())?, room: Vec::new() })
    }

    fn compress(&mut self, page: &[u8]) -> Result<Bytes, ParquetError> {
        self.room.clear();
        self.room.reserve(zstd::zstd_safe::compress_bound(page.len()));
        self.compressor.compress_to_buffer(page, &mut self.room)?;
        Ok(Bytes::copy_from_slice(&self.room))
    }
}

/// A page of a column's chunk.
struct DataPage {
    compressed: Bytes,
    size: usize,
    rows: usize,
}

/// The rows of a column of texts, each in full.
#[derive(Default)]
pub(crate) struct Texts {
    /// Those in no page yet, as a page has them.
    waiting: Vec<u8>,
    /// Of each row that is in no page yet, whether it has a value (1 or 0).
    levels: Vec<u32>,
    page: Vec<u8>,
    chunk: Chunk,
}

impl Texts {
    /// Adds a row.
    pub(crate) fn push(&mut self, text: Option<&str>) {
        self.levels.push(text.is_some().into());
        if let Some(text) = text {
            put_text(text, &mut self.waiting);
        }
    }

    /// Makes a page of the rows that are in none yet.
    pub(crate) fn end_page(&mut self, zstd: &mut Zstd) -> Result<(), ParquetError> {
        if self.levels.is_empty() {
            return Ok(());
        }
        self.page.clear();
        put_levels(&self.levels, &mut self.page);
        self.page.extend_from_slice(&self.waiting);
        let page = DataPage { compressed: zstd.compress(&self.page)?, size: self.page.len(), rows: self.levels.len() };
        self.chunk.page(page, Encoding::PLAIN)?;
        self.waiting.clear();
        self.levels.clear();
        Ok(())
    }

    /// How large the values of the rows in no page are, in bytes.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting.len()
    }

    /// How large it will be at most, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.chunk.size() + self.waiting.len()
    }

    /// The bytes of the column's chunk, and what is to be said of it; after that there are no rows. All must be in pages.
    pub(crate) fn take_chunk(&mut self, column: ColumnDescPtr) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        std::mem::take(&mut self.chunk).close(column, Encoding::PLAIN, None)
    }
}

/// The rows of a column: where in a dictionary their values are.
#[derive(Default)]
pub(crate) struct Places {
    /// Those of rows that have a value, and are in no page yet.
    waiting: Vec<u32>,
    /// Of each row that is in no page yet, whether it has a value (1 or 0); empty where each has.
    levels: Vec<u32>,
    pages: Vec<DataPage>,
    nulls: u64,
}

impl Places {
    /// Adds rows that have the same value, in a column in which each has one.
    pub(crate) fn push(&mut self, place: u32, rows: usize) {
        self.waiting.extend(std::iter::repeat_n(place, rows));
    }

    /// Adds a row, in a column in which some have no value.
    pub(crate) fn push_option(&mut self, place: Option<u32>) {
        self.levels.push(place.is_some().into());
        self.waiting.extend(place);
        self.nulls += u64::from(place.is_none());
    }

    /// Makes a page of the rows that are in none yet. The dictionary has `values` so far.
    pub(crate) fn end_page(&mut self, values: &Values, zstd: &mut Zstd) -> Result<(), ParquetError> {
        let mut page = Vec::new();
        let rows = match self.levels.is_empty() {
            true => self.waiting.len(),
            false => {
                put_levels(&self.levels, &mut page);
                self.levels.len()
            }
        };
        if rows == 0 {
            return Ok(());
        }
        let width = u32::BITS - values.count.saturating_sub(1).leading_zeros();
        page.extend_from_slice(&width.to_le_bytes()[..1]);
        put_hybrid(&self.waiting, width, &mut page);
        self.pages.push(DataPage { compressed: zstd.compress(&page)?, size: page.len(), rows });
        self.waiting.clear();
        self.levels.clear();
        Ok(())
    }

    /// How many rows are in no page yet.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How large the pages are, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.pages.iter().map(|page| page.compressed.len()).sum()
    }

    /// How many rows have no value.
    pub(crate) fn nulls(&self) -> u64 {
        self.nulls
    }

    /// The bytes of the column's chunk, and what is to be said of it. All rows must be in pages.
    pub(crate) fn chunk(
        &self,
        column: ColumnDescPtr,
        values: &Values,
        statistics: Option<Statistics>,
        zstd: &mut Zstd,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let mut chunk = Chunk::default();
        chunk.dictionary(values, zstd)?;
        for DataPage { compressed, size, rows } in &self.pages {
            let page = DataPage { compressed: compressed.clone(), size: *size, rows: *rows };
            chunk.page(page, Encoding::RLE_DICTIONARY)?;
        }
        chunk.close(column, Encoding::RLE_DICTIONARY, statistics)
    }
}

/// A chunk on its way, as the file will have it.
struct Chunk {
    bytes: TrackedWrite<Vec<u8>>,
    index: OffsetIndexBuilder,
    /// Where the first page of data is, if there is a dictionary before it.
    data_offset: Option<u64>,
    uncompressed_bytes: usize,
    pages: i32,
    rows: u64,
}

impl Default for Chunk {
    fn default() -> Self {
        Chunk {
            bytes: TrackedWrite::new(Vec::new()),
            index: OffsetIndexBuilder::new(),
            data_offset: None,
            uncompressed_bytes: 0,
            pages: 0,
            rows: 0,
        }
    }
}

impl Chunk {
    fn size(&self) -> usize {
        self.bytes.bytes_written()
    }

    /// Writes the dictionary, which comes before all pages.
    fn dictionary(&mut self, values: &Values, zstd: &mut Zstd) -> Result<(), ParquetError> {
        let page = Page::DictionaryPage {
            buf: zstd.compress(&values.bytes)?,
            num_values: values.count,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let spec = SerializedPageWriter::new(&mut self.bytes).write_page(CompressedPage::new(page, values.size()))?;
        self.uncompressed_bytes += spec.uncompressed_size;
        self.data_offset = Some(spec.bytes_written);
        Ok(())
    }

    fn page(&mut self, page: DataPage, encoding: Encoding) -> Result<(), ParquetError> {
        let data = Page::DataPage {
            buf: page.compressed,
            num_values: u32::try_from(page.rows).unwrap_or(u32::MAX),
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let spec = SerializedPageWriter::new(&mut self.bytes).write_page(CompressedPage::new(data, page.size))?;
        self.index.append_row_count(signed(page.rows as u64));
        let compressed_bytes = i32::try_from(spec.compressed_size).unwrap_or(i32::MAX);
        self.index.append_offset_and_size(signed(spec.offset), compressed_bytes);
        self.uncompressed_bytes += spec.uncompressed_size;
        self.pages += 1;
        self.rows += page.rows as u64;
        Ok(())
    }

    /// The bytes, and what is to be said of them. The pages have this encoding.
    fn close(
        self,
        column: ColumnDescPtr,
        encoding: Encoding,
        statistics: Option<Statistics>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let bytes_written = self.bytes.bytes_written() as u64;
        let pages = |page_type, encoding, count| PageEncodingStats { page_type, encoding, count };
        let dictionary = self.data_offset.map(|_| pages(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1));
        let data = pages(PageType::DATA_PAGE, encoding, self.pages);
        let encodings = [Encoding::PLAIN, Encoding::RLE, encoding];
        let mut metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
            .set_page_encoding_stats(dictionary.into_iter().chain([data]).collect())
            .set_total_compressed_size(signed(bytes_written))
            .set_total_uncompressed_size(signed(self.uncompressed_bytes as u64))
            .set_num_values(signed(self.rows))
            .set_dictionary_page_offset(self.data_offset.map(|_| 0))
            .set_data_page_offset(signed(self.data_offset.unwrap_or_default()));
        if let Some(statistics) = statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written,
            rows_written: self.rows,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(self.index.build()),
        };
        Ok((self.bytes.into_inner()?.into(), close))
    }
}

/// Writes whether each row has a value, with the length of that before it.
fn put_levels(levels: &[u32], out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    put_hybrid(levels, 1, out);
    let length = u32::try_from(out.len() - begin - 4).unwrap_or(u32::MAX);
    out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
}

/// Writes a text with its length before it.
fn put_text(text: &str, out: &mut Vec<u8>) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Writes numbers of so many bits in Parquet's mixture of runs and groups: a run has a number that comes often one after the other
/// once, and groups have eight numbers each, bit by bit.
fn put_hybrid(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let is_run = |at: usize| numbers.get(at..at + GROUP).is_some_and(|next| next.iter().all(|n| *n == next[0]));
    let mut at = 0;
    while at < numbers.len() {
        let begin = at;
        if is_run(begin) {
            at += numbers[begin..].iter().take_while(|n| **n == numbers[begin]).count();
            put_header((at - begin) << 1, out);
            out.extend_from_slice(&numbers[begin].to_le_bytes()[..width.div_ceil(8) as usize]);
        } else {
            while at < numbers.len() && !is_run(at) {
                at += GROUP;
            }
            at = at.min(numbers.len());
            let groups = (at - begin).div_ceil(GROUP);
            put_header((groups << 1) | 1, out);
            let end = out.len() + groups * width as usize;
            put_packed(&numbers[begin..at], width, out);
            out.resize(end, 0);
        }
    }
}

fn put_packed(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut bits, mut count) = (0_u64, 0);
    for number in numbers {
        bits |= u64::from(*number) << count;
        count += width;
        if count >= u32::BITS {
            out.extend_from_slice(&bits.to_le_bytes()[..4]);
            bits >>= u32::BITS;
            count -= u32::BITS;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes()[..count.div_ceil(8) as usize]);
}

fn put_header(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}
