//! Items out of the archives of other tools: WARC files, WACZ files, and directories of them.
//!
//! No state says what these records are. Each response with a page or JSON is read by itself, so a URL that was recorded twice
//! has rows for each time.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use dataset::{ItemRow, ItemTables, Layout};
use engine::{Settings, look_into};
use model::{Method, Purpose, Timestamp};
use printable::counted;
use replay::RecordedAnswer;
use rules::Items;
use warc::{Chunked, Header, LoadedRecord, Location, ReadError, Reader, RecordType, StoredRecord, Stretch, Walk};
use weburl::CanonicalUrl;
use zip::ZipArchive;

use super::derive::recorded_outcome;

/// How deep directories are searched for archives.
const DEPTH_MAX: usize = 4;
/// So many bytes show whether a payload is a text.
const TEXT_BYTES: usize = 1024;
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
    /// Files that are damaged or no archives, with what is wrong and what was read all the same.
    pub damaged: Vec<(PathBuf, String)>,
}

/// Applies the rules of the settings to all responses in these archives. A file of each table is written for each WARC file.
/// `progress` receives the number of rows.
///
/// # Errors
/// A file that was named is no archive, a directory has none, or the tables cannot be written.
pub fn items_of_archives(
    given: &[PathBuf],
    layout: &Layout,
    settings: &Settings,
    progress: &dyn Fn(u64),
) -> anyhow::Result<Foreign> {
    let settings = Settings { details: true, archive: false, ..settings.clone() };
    let layout = layout.clone().with_rules(settings.rules.clone());
    let mut reading = Reading { layout, settings, done: Foreign::default(), files: 0, progress };
    let found = archives(given)?;
    reading.done.damaged = found.others;
    for path in found.archives {
        reading.archive(&path).with_context(|| path.display().to_string())?;
        reading.done.archives += 1;
    }
    Ok(reading.done)
}

/// Files at the paths that are given.
#[derive(Default)]
struct Found {
    archives: Vec<PathBuf>,
    /// Files in directories with the name of an archive that are none, and why.
    others: Vec<(PathBuf, String)>,
}

/// The archives at these paths, before anything is written: files as they are given, and in directories those with the name of one.
fn archives(given: &[PathBuf]) -> anyhow::Result<Found> {
    let mut found = Found::default();
    for path in given {
        let mut files = Vec::new();
        search(path, 0, &mut files).with_context(|| path.display().to_string())?;
        if files.is_empty() {
            bail!("{}: there is no WARC or WACZ file in this directory", path.display());
        }
        for file in files {
            match check_beginning(&file) {
                Ok(()) => found.archives.push(file),
                Err(error) if file == *path => return Err(error.context(path.display().to_string())),
                Err(error) => found.others.push((file, format!("{error:#}"))),
            }
        }
    }
    Ok(found)
}

fn check_beginning(path: &Path) -> anyhow::Result<()> {
    let mut begin = [0; ZIP_MAGIC.len()];
    match fresh::open_to_read(path).and_then(|mut file| file.read_exact(&mut begin)) {
        Ok(()) if BEGINNINGS.iter().any(|magic| begin.starts_with(magic)) => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error.into()),
        _ => Err(anyhow!("is no WARC or WACZ file")),
    }
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

/// What a record is for the rules.
enum Seen {
    /// Nothing: no response, or of a page that no rule is about.
    Other,
    /// Its URL or body cannot be read.
    Unreadable,
    /// A response with its header and HTTP message, or a resource with its header and block.
    Response(CanonicalUrl, Header, Vec<u8>),
}

impl Reading<'_> {
    /// An archive. What is wrong with it is reported, and costs no more than that part of it.
    fn archive(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut input = BufReader::new(fresh::open_to_read(path)?);
        if !input.fill_buf()?.starts_with(ZIP_MAGIC) {
            return self.file(path);
        }
        let zip = ZipArchive::new(input);
        let mut zip = match zip {
            Ok(zip) => zip,
            Err(error) => {
                self.damage(path, format!("is no valid WACZ file: {error}"));
                return Ok(());
            }
        };
        for number in 0..zip.len() {
            match zip.by_index(number) {
                Ok(part) if part.name().is_ok_and(|name| name.starts_with("archive/") && !name.ends_with('/')) => {
                    self.part(path, BufReader::new(part))?;
                }
                Ok(_) => {}
                Err(error) => self.damage(path, format!("a part cannot be read: {error}")),
            }
        }
        Ok(())
    }

    fn damage(&mut self, path: &Path, what: String) {
        self.done.damaged.push((path.to_owned(), what));
    }

    /// The tables of one WARC file.
    fn tables(&mut self, path: &Path) -> anyhow::Result<ItemTables> {
        // Archives in several directories may have the same name.
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = [".gz", ".warc", ".wacz"].iter().fold(&*stem, |stem, ending| stem.trim_end_matches(ending));
        let tables = ItemTables::create(&self.layout, &format!("{:05}-{stem}", self.files))?;
        self.files += 1;
        Ok(tables)
    }

    /// The records of a WARC file. Behind a damaged one it goes on with the next.
    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let mut tables = self.tables(path)?;
        let mut walk = Walk::open(path)?;
        let mut damaged = 0_u64;
        let mut first = None;
        loop {
            match walk.next(|record| seen(record, &self.settings)) {
                Ok(None) => break,
                Ok(Some(Stretch::Whole(location, seen))) => self.take(location, seen, &mut tables)?,
                Ok(Some(Stretch::Damaged(location, damage))) => {
                    damaged += 1;
                    first.get_or_insert_with(|| ReadError::Damaged { offset: location.offset, damage }.to_string());
                }
                Err(error) => {
                    self.damage(path, format!("{error}; what lies before was read"));
                    break;
                }
            }
        }
        if let Some(first) = first {
            let places = counted(damaged, "place");
            self.damage(path, format!("is damaged at {places}, first: {first}; the other records were read"));
        }
        Ok(tables.finish(0)?)
    }

    /// The records of a WARC file in a WACZ file, up to a damaged one.
    fn part(&mut self, path: &Path, input: impl BufRead) -> anyhow::Result<()> {
        let mut tables = self.tables(path)?;
        let mut reader = Reader::new(input, 0);
        loop {
            let read = reader.next_record().and_then(|record| {
                let Some(mut record) = record else { return Ok(None) };
                let seen = seen(&mut record, &self.settings)?;
                Ok(Some((record.finish()?, seen)))
            });
            match read {
                Ok(None) => break,
                Ok(Some((location, seen))) => self.take(location, seen, &mut tables)?,
                Err(damage) => {
                    self.damage(path, format!("{damage}; what lies before was read"));
                    break;
                }
            }
        }
        Ok(tables.finish(0)?)
    }

    fn take(&mut self, location: Location, seen: Seen, tables: &mut ItemTables) -> anyhow::Result<()> {
        match seen {
            Seen::Other => Ok(()),
            Seen::Unreadable => {
                self.done.passed_over += 1;
                Ok(())
            }
            Seen::Response(url, header, block) => {
                let record = LoadedRecord { location, header, block }.into_response();
                let mut answer = RecordedAnswer::new(record, None);
                if !fetch::is_coded(answer.headers().all("content-encoding"), answer.payload()) {
                    if !is_text(answer.payload()) {
                        self.done.passed_over += 1;
                        return Ok(());
                    }
                    answer = RecordedAnswer::new(answer.record.without_coding(), None);
                }
                self.page(&url, &answer, tables)
            }
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

/// Whether a payload begins as a text does.
fn is_text(payload: &[u8]) -> bool {
    let begin = &payload[..payload.len().min(TEXT_BYTES)];
    !begin.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
}

/// Reads a record, as far as rules want it.
fn seen(record: &mut StoredRecord<'_, impl BufRead>, settings: &Settings) -> Result<Seen, ReadError> {
    let header = record.header().clone();
    let is_response = match header.record_type() {
        Some(RecordType::Response) if header.holds_http() => true,
        Some(RecordType::Resource) => false,
        _ => return Ok(Seen::Other),
    };
    // Some tools put the URL in angle brackets, as WARC 1.0 has it.
    let uri = header.target_uri().unwrap_or_default().trim_start_matches('<').trim_end_matches('>');
    let Ok(url) = CanonicalUrl::parse(uri, &settings.canonical) else {
        // Tools keep resources of their own under names that are no addresses.
        return Ok(if is_response { Seen::Unreadable } else { Seen::Other });
    };
    if !settings.rules.is_about(url.as_str()) {
        return Ok(Seen::Other);
    }
    let (mut block, mut is_chunked) = (Vec::new(), false);
    if is_response {
        let head = record.read_http_head()?;
        block.extend_from_slice(head.bytes());
        is_chunked = record.fill_buf().is_ok_and(|begin| warc::is_chunked(&head, begin));
    }
    let bytes_max = settings.limits.body_bytes_max;
    let read = match is_chunked {
        true => Chunked::new(&mut *record).take(bytes_max).read_to_end(&mut block),
        false => record.by_ref().take(bytes_max).read_to_end(&mut block),
    };
    Ok(if read.is_ok() { Seen::Response(url, header, block) } else { Seen::Unreadable })
}
