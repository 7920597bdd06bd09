//! A column chunk as Parquet has it whose values lie in a dictionary: each once, and for every row where its value is.
//!
//! The writer of the `parquet` crate looks up every value of every row by its bytes. Who knows the place of a value already, as
//! that of a link's target, writes the chunk with this instead.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
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
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.add(text.as_bytes())
    }

    /// Adds a value of a fixed length, and gives its place.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> u32 {
        self.bytes.extend_from_slice(bytes);
        self.count += 1;
        self.count - 1
    }

    /// How large they are, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
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

struct DataPage {
    compressed: Bytes,
    size: usize,
    rows: usize,
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
    pub(crate) fn end_page(&mut self, values: &Values, zstd: &mut Compressor<'_>) -> Result<(), ParquetError> {
        let mut page = Vec::new();
        let rows = match self.levels.is_empty() {
            true => self.waiting.len(),
            false => {
                page.extend_from_slice(&[0; 4]);
                put_hybrid(&self.levels, 1, &mut page);
                let length = u32::try_from(page.len() - 4).unwrap_or(u32::MAX);
                page[..4].copy_from_slice(&length.to_le_bytes());
                self.levels.len()
            }
        };
        if rows == 0 {
            return Ok(());
        }
        let width = u32::BITS - values.count.saturating_sub(1).leading_zeros();
        page.extend_from_slice(&width.to_le_bytes()[..1]);
        put_hybrid(&self.waiting, width, &mut page);
        self.pages.push(DataPage { compressed: zstd.compress(&page)?.into(), size: page.len(), rows });
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
}

/// The bytes of a column's chunk, and what is to be said of it. All rows must be in pages.
pub(crate) fn chunk(
    column: ColumnDescPtr,
    values: &Values,
    places: &Places,
    statistics: Option<Statistics>,
    zstd: &mut Compressor<'_>,
) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut writer = SerializedPageWriter::new(&mut sink);
    let dictionary = Page::DictionaryPage {
        buf: zstd.compress(&values.bytes)?.into(),
        num_values: values.count,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    };
    let PageWriteSpec { mut uncompressed_size, bytes_written: data_offset, .. } =
        writer.write_page(CompressedPage::new(dictionary, values.size()))?;
    let mut index = OffsetIndexBuilder::new();
    let mut rows = 0;
    for page in &places.pages {
        let data = Page::DataPage {
            buf: page.compressed.clone(),
            num_values: u32::try_from(page.rows).unwrap_or(u32::MAX),
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let spec = writer.write_page(CompressedPage::new(data, page.size))?;
        index.append_row_count(signed(page.rows as u64));
        index.append_offset_and_size(signed(spec.offset), i32::try_from(spec.compressed_size).unwrap_or(i32::MAX));
        uncompressed_size += spec.uncompressed_size;
        rows += page.rows as u64;
    }
    let bytes_written = sink.bytes_written() as u64;
    let data_pages = i32::try_from(places.pages.len()).unwrap_or(i32::MAX);
    let encodings = [Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY];
    let pages = |page_type, encoding, count| PageEncodingStats { page_type, encoding, count };
    let mut metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
        .set_page_encoding_stats(vec![
            pages(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
            pages(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, data_pages),
        ])
        .set_total_compressed_size(signed(bytes_written))
        .set_total_uncompressed_size(signed(uncompressed_size as u64))
        .set_num_values(signed(rows))
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(signed(data_offset));
    if let Some(statistics) = statistics {
        metadata = metadata.set_statistics(statistics);
    }
    let close = ColumnCloseResult {
        bytes_written,
        rows_written: rows,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index: None,
        offset_index: Some(index.build()),
    };
    Ok((sink.into_inner()?.into(), close))
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
