//! Items out of the archives of other tools: WARC files, WACZ files, and directories of them.
//!
//! No state says what these records are. Each response with a page or JSON is read by itself, so a URL that was recorded twice
//! has rows for each time.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dataset::{ItemRow, ItemTables, Layout};
use engine::{Settings, look_into};
use model::{Method, Purpose, Timestamp};
use replay::RecordedAnswer;
use rules::Items;
use warc::{Chunked, LoadedRecord, ReadError, Reader, RecordType, is_chunked};
use weburl::CanonicalUrl;
use zip::ZipArchive;

use super::derive::recorded_outcome;

/// How deep directories are searched for archives.
const DEPTH_MAX: usize = 4;
/// The first bytes of a ZIP file.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// The first bytes of files that can be read: ZIP, gzip, plain WARC.
const BEGINNINGS: [&[u8]; 3] = [ZIP_MAGIC, &[0x1f, 0x8b], b"WARC"];

/// What the archives of other tools gave.
#[derive(Debug, Default)]
pub struct Foreign {
    /// Archives read.
    pub archives: u64,
    /// Responses that rules are about.
    pub pages: u64,
    /// Rows written.
    pub rows: u64,
    /// Responses without a usable URL, or whose body cannot be read: they were passed over.
    pub passed_over: u64,
    /// Archives that are damaged, and how: what lies before the damage was read.
    pub damaged: Vec<(PathBuf, String)>,
}

/// Applies the rules of the settings to all responses in these archives. A file of each table is written for each WARC file.
/// `progress` receives the number of rows.
///
/// # Errors
/// There is no archive, one cannot be read, or the tables cannot be written.
pub fn items_of_archives(
    given: &[PathBuf],
    layout: &Layout,
    settings: &Settings,
    progress: &dyn Fn(u64),
) -> anyhow::Result<Foreign> {
    let settings = Settings { details: true, archive: false, ..settings.clone() };
    let layout = layout.clone().with_rules(settings.rules.clone());
    let mut reading = Reading { layout, settings, done: Foreign::default(), files: 0, progress };
    for path in archives(given)? {
        reading.archive(&path).with_context(|| path.display().to_string())?;
        reading.done.archives += 1;
    }
    Ok(reading.done)
}

/// The archives at these paths: files as they are given, and in directories those with the name of one.
fn archives(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in given {
        let before = found.len();
        search(path, 0, &mut found).with_context(|| path.display().to_string())?;
        if found.len() == before {
            bail!("{}: there is no WARC or WACZ file in this directory", path.display());
        }
    }
    // Before anything is written.
    for path in &found {
        let mut begin = [0; ZIP_MAGIC.len()];
        let read = fresh::open_to_read(path).and_then(|mut file| file.read_exact(&mut begin));
        match read {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(error).with_context(|| path.display().to_string());
            }
            Ok(()) if BEGINNINGS.iter().any(|magic| begin.starts_with(magic)) => {}
            _ => bail!("{}: is no WARC or WACZ file", path.display()),
        }
    }
    Ok(found)
}

fn search(path: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let mut inner = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    inner.sort();
    for path in inner {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = std::fs::symlink_metadata(&path)?.file_type();
        let is_archive = [".warc", ".warc.gz", ".wacz"].iter().any(|ending| name.ends_with(ending));
        if kind.is_file() && is_archive || kind.is_dir() && depth < DEPTH_MAX {
            search(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

struct Reading<'p> {
    layout: Layout,
    settings: Settings,
    done: Foreign,
    /// WARC files read.
    files: usize,
    progress: &'p dyn Fn(u64),
}

impl Reading<'_> {
    fn archive(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut input = BufReader::new(fresh::open_to_read(path)?);
        if !input.fill_buf()?.starts_with(ZIP_MAGIC) {
            return self.warc(path, input);
        }
        let mut zip = ZipArchive::new(input).context("is no valid WACZ file")?;
        for number in 0..zip.len() {
            let part = zip.by_index(number).context("is no valid WACZ file")?;
            let is_warc = part.name().is_ok_and(|name| name.starts_with("archive/") && !name.ends_with('/'));
            if is_warc {
                self.warc(path, BufReader::new(part))?;
            }
        }
        Ok(())
    }

    /// The records of a WARC file.
    fn warc(&mut self, path: &Path, input: impl BufRead) -> anyhow::Result<()> {
        // Archives in several directories may have the same name.
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = [".gz", ".warc", ".wacz"].iter().fold(&*stem, |stem, ending| stem.trim_end_matches(ending));
        let mut tables = ItemTables::create(&self.layout, &format!("{:05}-{stem}", self.files))?;
        self.files += 1;
        let mut reader = Reader::new(input, 0);
        let read = self.records(&mut reader, &mut tables)?;
        if let Err(damage) = read {
            self.done.damaged.push((path.to_owned(), damage.to_string()));
        }
        Ok(tables.finish(0)?)
    }

    /// Takes rows out of all responses. The inner error is damage, after which nothing can be read.
    fn records(
        &mut self,
        reader: &mut Reader<impl BufRead>,
        tables: &mut ItemTables,
    ) -> anyhow::Result<Result<(), ReadError>> {
        loop {
            let mut record = match reader.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(Ok(())),
                Err(damage) => return Ok(Err(damage)),
            };
            let header = record.header().clone();
            if header.record_type() != Some(RecordType::Response) || !header.holds_http() {
                continue;
            }
            // Some tools put the URL in angle brackets, as WARC 1.0 has it.
            let uri = header.target_uri().unwrap_or_default().trim_start_matches('<').trim_end_matches('>');
            let Ok(url) = CanonicalUrl::parse(uri, &self.settings.canonical) else {
                self.done.passed_over += 1;
                continue;
            };
            if !self.settings.rules.is_about(url.as_str()) {
                continue;
            }
            let head = match record.read_http_head() {
                Ok(head) => head,
                Err(damage) => return Ok(Err(damage)),
            };
            let mut block = head.bytes().to_vec();
            let bytes_max = self.settings.limits.body_bytes_max;
            let is_chunked = record.fill_buf().is_ok_and(|begin| is_chunked(&head, begin));
            let read = match is_chunked {
                true => Chunked::new(&mut record).take(bytes_max).read_to_end(&mut block),
                false => record.by_ref().take(bytes_max).read_to_end(&mut block),
            };
            let is_read = read.is_ok();
            let location = match record.finish() {
                Ok(location) => location,
                Err(damage) => return Ok(Err(damage)),
            };
            if !is_read {
                self.done.passed_over += 1;
                continue;
            }
            let answer = RecordedAnswer::new(LoadedRecord { location, header, block }, None);
            self.page(&url, &answer, tables)?;
        }
    }

    fn page(&mut self, url: &CanonicalUrl, answer: &RecordedAnswer, tables: &mut ItemTables) -> anyhow::Result<()> {
        let at = answer.record.header.date().and_then(Timestamp::from_rfc3339);
        let bytes_max = self.settings.limits.body_bytes_max;
        let outcome = recorded_outcome(url, at.unwrap_or_default(), Method::Get, answer, None, bytes_max);
        let content = look_into(&outcome, Purpose::Page, &self.settings);
        let items = content.details.map(|details| details.items).unwrap_or_default();
        self.done.pages += 1;
        for Items { table, rows, .. } in items {
            for (values, row) in rows.into_iter().zip(0..) {
                let row = ItemRow { key: url.key(), url: url.to_string(), round: None, visit: None, at, row, values };
                tables.push(&table, row)?;
                self.done.rows += 1;
                (self.progress)(self.done.rows);
            }
        }
        Ok(())
    }
}
