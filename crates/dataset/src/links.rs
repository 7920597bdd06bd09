//! The table of links as it is written: a hundred rows for each page, most of which lead where those of its neighbours do.
//!
//! A URL is looked up by its key, once for a page, and stands at the same place in the dictionaries of two columns. Rows go into
//! pages as they come, with no columns of values between.

use std::hint::black_box;
use std::io::Write;

use compact_str::CompactString;
use foldhash::HashMap;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use weburl::{CanonicalUrl, UrlKey};

use crate::Links;
use crate::encode::{Places, Values, Zstd};

/// Rows of a page of data.
const PAGE_ROWS: usize = 20_000;
/// Rows of a group, at most.
const GROUP_ROWS_MAX: usize = 1 << 20;

/// A group of rows on its way: the values of its columns, each once, and which of them each row has.
pub(crate) struct LinkGroup {
    sources: Urls,
    targets: Urls,
    texts: Texts,
    kinds: Texts,
    rels: Texts,
    rows: usize,
    zstd: Zstd,
}

impl LinkGroup {
    /// Without a row.
    pub(crate) fn new() -> Result<Self, ParquetError> {
        Ok(LinkGroup {
            sources: Urls::default(),
            targets: Urls::default(),
            texts: Texts::default(),
            kinds: Texts::default(),
            rels: Texts::default(),
            rows: 0,
            zstd: Zstd::new()?,
        })
    }

    /// Adds the links of a page.
    pub(crate) fn push(&mut self, links: &Links) -> Result<(), ParquetError> {
        if links.rows.is_empty() {
            return Ok(());
        }
        let source = self.sources.place_of(links.source.key(), &links.source);
        self.sources.rows.push(source, links.rows.len());
        // What the threads that found the URLs have written, and then where each is known: the processor fetches the memory of all at
        // once so, for which every look-up by itself waits.
        let keys: Vec<UrlKey> = links.targets.iter().map(CanonicalUrl::key).collect();
        black_box(keys.iter().filter(|key| self.targets.known.contains_key(key)).count());
        // Not every target of a page is that of a link.
        let mut known: Vec<Option<u32>> = vec![None; links.targets.len()];
        // Most links of a page are of one kind.
        let mut kind = None;
        for row in &links.rows {
            let target = *known[row.target]
                .get_or_insert_with(|| self.targets.place_of(keys[row.target], &links.targets[row.target]));
            self.targets.rows.push(target, 1);
            let text = Some(&*row.text).filter(|text| !text.is_empty());
            self.texts.push_option(text);
            let (_, place) = match kind.filter(|(kind, _)| *kind == row.kind) {
                Some(kind) => kind,
                None => *kind.insert((row.kind, self.kinds.place_of(row.kind))),
            };
            self.kinds.rows.push(place, 1);
            self.rels.push_option(row.rel);
        }
        self.rows += links.rows.len();
        if self.sources.rows.waiting() >= PAGE_ROWS { self.end_pages() } else { Ok(()) }
    }

    fn end_pages(&mut self) -> Result<(), ParquetError> {
        for Urls { rows, texts, .. } in [&mut self.sources, &mut self.targets] {
            rows.end_page(texts, &mut self.zstd)?;
        }
        for Texts { rows, values, .. } in [&mut self.texts, &mut self.kinds, &mut self.rels] {
            rows.end_page(values, &mut self.zstd)?;
        }
        Ok(())
    }

    /// How large it will be, in bytes; the values are counted as they are before they are compressed.
    pub(crate) fn size(&self) -> usize {
        self.sources.size() + self.targets.size() + self.texts.size() + self.kinds.size() + self.rels.size()
    }

    /// True if it is full.
    pub(crate) fn is_long(&self) -> bool {
        self.rows >= GROUP_ROWS_MAX
    }

    /// Writes the group, if it has a row.
    pub(crate) fn write<W: Write + Send>(mut self, file: &mut SerializedFileWriter<W>) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.end_pages()?;
        let LinkGroup { sources, targets, texts, kinds, rels, mut zstd, .. } = self;
        let schema = file.schema_descr().columns().to_vec();
        let mut group = file.next_row_group()?;
        for column in schema {
            let (values, rows, statistics) = match column.name() {
                "source_key" => (&sources.keys, &sources.rows, None),
                "source" => (&sources.texts, &sources.rows, None),
                "target_key" => (&targets.keys, &targets.rows, None),
                "target" => (&targets.texts, &targets.rows, None),
                "text" => (&texts.values, &texts.rows, None),
                "kind" => (&kinds.values, &kinds.rows, Some(kinds.statistics())),
                "rel" => (&rels.values, &rels.rows, Some(rels.statistics())),
                name => return Err(ParquetError::General(format!("links have no column {name}"))),
            };
            let (bytes, close) = rows.chunk(column, values, statistics, &mut zstd)?;
            group.append_column(&bytes, close)?;
        }
        group.close()?;
        Ok(())
    }
}

/// The URLs of a column, each once: one is known by its key, as everywhere.
#[derive(Default)]
struct Urls {
    known: HashMap<UrlKey, u32>,
    keys: Values,
    texts: Values,
    rows: Places,
}

impl Urls {
    fn place_of(&mut self, key: UrlKey, url: &CanonicalUrl) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            self.keys.add(&key.to_bytes());
            self.texts.add_text(url.as_str())
        })
    }

    fn size(&self) -> usize {
        self.keys.size() + self.texts.size() + 2 * self.rows.size()
    }
}

/// The texts of a column, each once.
#[derive(Default)]
struct Texts {
    known: HashMap<CompactString, u32>,
    values: Values,
    rows: Places,
}

impl Texts {
    fn place_of(&mut self, text: &str) -> u32 {
        if let Some(place) = self.known.get(text) {
            return *place;
        }
        let place = self.values.add_text(text);
        self.known.insert(text.into(), place);
        place
    }

    /// Adds a row, in a column in which some have no value.
    fn push_option(&mut self, text: Option<&str>) {
        let place = text.map(|text| self.place_of(text));
        self.rows.push_option(place);
    }

    fn size(&self) -> usize {
        self.values.size() + self.rows.size()
    }

    fn statistics(&self) -> Statistics {
        let bytes = |text: Option<&CompactString>| text.map(|text| text.as_str().into());
        let (least, greatest) = (bytes(self.known.keys().min()), bytes(self.known.keys().max()));
        Statistics::byte_array(least, greatest, None, Some(self.rows.nulls()), false)
    }
}
