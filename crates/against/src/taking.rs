//! Taking archives in.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use model::PayloadDigest;
use sha1::{Digest, Sha1};
use sort::Sorter;
use warc::{Chunked, Damage, ReadError, Reader, RecordType, StoredRecord, is_chunked};
use zip::{CompressionMethod, ZipArchive};

use crate::cdxj::{self, Line, digest_of};
use crate::entries::{self, Entries, Entry, Listing};
use crate::sources::{self, Form, Kind, Named, Seen, Source};
use crate::{Against, AgainstError};

/// What helps where a file is damaged.
const MENDED_BY_REPAIR: &str = "`argiope check DIR --repair` of its crawl mends it";
const LEAVE_IT_OUT: &str = "name the other archives without this file";

/// What was taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Payloads that can be looked up now, those of earlier calls included.
    pub payloads: u64,
    /// Files read just now; files that were taken in before and have not changed are not read again.
    pub files: u64,
    /// Payloads of them that cannot be verified, since the index that lists them has no WARC file beside it.
    pub unverifiable: u64,
    /// Symbolic links that seem to lead to an archive. They were not followed.
    pub links: u64,
    /// WARC files that end inside a record: what comes before it was taken in.
    pub cut: Vec<PathBuf>,
}

/// Whether there are archives at these paths. They are not read to their ends.
///
/// # Errors
/// There is none at one of them.
pub fn check(given: &[PathBuf]) -> Result<(), AgainstError> {
    given.iter().try_for_each(|path| sources::files_of(path).map(drop))
}

/// Takes in what the archives at these paths hold: WARC files, WACZ files, CDXJ indexes, and directories of them. It is added to what was
/// taken in at `dir` before.
///
/// # Errors
/// An archive cannot be read, or the file cannot be written. What was taken in before stays, and no new directory does.
pub fn take_in(dir: &Path, given: &[PathBuf]) -> Result<Taken, AgainstError> {
    let is_new = fs::symlink_metadata(dir).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let taken = add(dir, given);
    if taken.is_err() && is_new {
        // With nothing in it. If it cannot be removed, the error to tell is still that of the archive.
        let _ = fs::remove_dir(dir);
    }
    taken
}

fn add(dir: &Path, given: &[PathBuf]) -> Result<Taken, AgainstError> {
    let target = entries::path_in(dir);
    let before = Entries::open(&target)?;
    let mut listing = before.as_ref().map(|entries| entries.listing.clone()).unwrap_or_default();
    fresh::directory(dir).map_err(AgainstError::io(dir))?;
    let own = fs::canonicalize(dir).map_err(AgainstError::io(dir))?;
    let mut files: Vec<(Form, Seen)> = Vec::new();
    let mut links = HashSet::new();
    for path in given {
        let found = sources::files_of(path)?;
        links.extend(found.links);
        for (form, seen) in found.files {
            let is_new = !listing.seen.contains(&seen) && !files.iter().any(|(_, other)| *other == seen);
            if is_new && !seen.path.starts_with(&own) {
                files.push((form, seen));
            }
        }
    }
    listing.seen.retain(|old| !files.iter().any(|(_, new)| new.path == old.path));
    let numbers = (0..).zip(&listing.sources).map(|(number, source)| (source.clone(), number)).collect();
    let mut taking = Taking {
        sorter: Sorter::beside(&target),
        committed: HashMap::new(),
        numbers,
        listing,
        unverifiable: 0,
        links,
        cut: Vec::new(),
        archive: own.parent().map(Path::to_owned),
    };
    if let Some(mut before) = before {
        before.for_each(|entry| taking.push_bytes(entry))?;
    }
    let count = files.len() as u64;
    for (form, seen) in files {
        match form {
            Form::Warc => taking.warc(&seen.path)?,
            Form::Wacz => taking.wacz(&seen.path)?,
            Form::Cdxj => taking.cdxj(&seen.path)?,
            Form::TakenIn => taking.taken_in(&seen.path)?,
        }
        taking.listing.seen.push(seen);
    }
    let Taking { sorter, listing, unverifiable, links, cut, .. } = taking;
    let sorted = sorter.sorted().map_err(|error| AgainstError::io(&target)(error.into()))?;
    let payloads = entries::write(&target, sorted, &listing)?;
    Ok(Taken { payloads, files: count, unverifiable, links: links.len() as u64, cut })
}

impl Against {
    /// The files that were taken in.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.entries.listing.seen.iter().map(|seen| seen.path.as_path())
    }
}

/// Says, for a line and its place in the index, which source has the payload and where.
type PlaceOf<'p> = &'p mut dyn FnMut(&mut Taking, u64, &Line) -> Option<(u32, u64)>;

/// Archives being taken in.
struct Taking {
    sorter: Sorter,
    listing: Listing,
    /// The numbers of the sources.
    numbers: HashMap<Source, u32>,
    /// The committed lengths of the WARC files that indexes name, in bytes.
    committed: HashMap<PathBuf, u64>,
    unverifiable: u64,
    links: HashSet<PathBuf>,
    cut: Vec<PathBuf>,
    /// The archive that what is taken in is for.
    archive: Option<PathBuf>,
}

impl Taking {
    fn push_bytes(&mut self, entry: &[u8; entries::ENTRY_BYTES]) -> Result<(), AgainstError> {
        self.sorter.push(&[entry]).map_err(|error| AgainstError::io(Path::new("payloads"))(error.into()))
    }

    fn push(&mut self, digest: PayloadDigest, source: u32, offset: u64) -> Result<(), AgainstError> {
        self.push_bytes(&Entry { digest, source, offset }.to_bytes())
    }

    fn source(&mut self, path: &Path, kind: Kind, base: u64) -> u32 {
        let source = Source { path: path.to_owned(), kind, base };
        if let Some(number) = self.numbers.get(&source) {
            return *number;
        }
        let number = u32::try_from(self.listing.sources.len()).unwrap_or(u32::MAX);
        self.numbers.insert(source.clone(), number);
        self.listing.sources.push(source);
        number
    }

    /// What an earlier crawl took in: its records of these payloads refer to the archives that have them. They may be this crawl's own.
    fn taken_in(&mut self, path: &Path) -> Result<(), AgainstError> {
        let Some(mut earlier) = Entries::open(path)? else { return Ok(()) };
        let sources = std::mem::take(&mut earlier.listing.sources);
        let is_own = |path: &Path| self.archive.as_ref().is_some_and(|archive| path.starts_with(archive));
        let others: Vec<Option<&Source>> =
            sources.iter().map(|source| Some(source).filter(|source| !is_own(&source.path))).collect();
        let places: Vec<_> = others
            .into_iter()
            .map(|source| source.map(|of| (self.source(&of.path, of.kind, of.base), of.kind)))
            .collect();
        earlier.for_each(|bytes| {
            let entry = Entry::from_bytes(bytes);
            let Some(Some((source, kind))) = places.get(entry.source as usize) else { return Ok(()) };
            self.unverifiable += u64::from(*kind == Kind::Lines);
            self.push(entry.digest, *source, entry.offset)
        })
    }

    fn warc(&mut self, path: &Path) -> Result<(), AgainstError> {
        let source = self.source(path, Kind::Warc, 0);
        let file = fresh::open_to_read(path).map_err(AgainstError::io(path))?;
        let committed = archive::committed_bytes(path).map_err(AgainstError::io(path))?;
        self.records(path, source, BufReader::new(file.take(committed.unwrap_or(u64::MAX))))
    }

    /// The responses of a WARC file. Where it ends inside a record, as after a program that was killed or still writes, those before that
    /// count.
    fn records(&mut self, path: &Path, source: u32, input: impl BufRead) -> Result<(), AgainstError> {
        let mut reader = Reader::new(input, 0);
        loop {
            match next_payload(&mut reader) {
                Ok(None) => return Ok(()),
                Ok(Some((offset, digest))) => digest.map_or(Ok(()), |digest| self.push(digest, source, offset))?,
                Err(ReadError::Damaged { damage: Damage::Truncated, .. }) => {
                    self.cut.push(path.to_owned());
                    return Ok(());
                }
                Err(source) => {
                    let is_ours = archive::committed_bytes(path).is_ok_and(|committed| committed.is_some());
                    let hint = if is_ours { MENDED_BY_REPAIR } else { LEAVE_IT_OUT };
                    return Err(AgainstError::Warc { path: path.to_owned(), source, hint });
                }
            }
        }
    }

    fn cdxj(&mut self, path: &Path) -> Result<(), AgainstError> {
        let file = fresh::open_to_read(path).map_err(AgainstError::io(path))?;
        self.lines(path, &mut BufReader::new(file), &mut |taking, place, line| {
            let warc = match sources::named(path, &line.filename) {
                Named::File(warc) => warc,
                // It could be verified if the link were followed, so it is not believed unread.
                Named::Link(link) => {
                    taking.links.insert(link);
                    return None;
                }
                Named::Nothing => {
                    taking.unverifiable += 1;
                    return Some((taking.source(path, Kind::Lines, 0), place));
                }
            };
            // An index whose crawl cannot say what it has committed is believed: each record is read before it is referred to.
            let committed = || archive::committed_bytes(&warc).ok().flatten().unwrap_or(u64::MAX);
            let committed = *taking.committed.entry(warc.clone()).or_insert_with(committed);
            (line.offset < committed).then(|| (taking.source(&warc, Kind::Warc, 0), line.offset))
        })
    }

    /// The lines of an index, each with the source and the offset that `place_of` gives.
    fn lines(&mut self, path: &Path, input: &mut dyn BufRead, place_of: PlaceOf<'_>) -> Result<(), AgainstError> {
        let mut failed = None;
        cdxj::for_each_line::<io::Error>(input, |place, line| {
            if let Some((source, offset)) = place_of(self, place, &line)
                && failed.is_none()
            {
                failed = self.push(line.digest, source, offset).err();
            }
            Ok(())
        })
        .map_err(AgainstError::io(path))?;
        failed.map_or(Ok(()), Err)
    }

    /// A WACZ file: by its indexes, or record by record where it has none.
    fn wacz(&mut self, path: &Path) -> Result<(), AgainstError> {
        let broken = |detail: String| AgainstError::Form { path: path.to_owned(), detail };
        let wrong = |error: zip::result::ZipError| broken(format!("is no valid WACZ file: {error}"));
        let file = fresh::open_to_read(path).map_err(AgainstError::io(path))?;
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(wrong)?;
        let (mut indexes, mut warcs) = (Vec::new(), HashMap::new());
        for number in 0..zip.len() {
            let part = zip.by_index_raw(number).map_err(wrong)?;
            let name = part.name().map_err(wrong)?.into_owned();
            if let Some(name) = name.strip_prefix("archive/") {
                let base = part.data_start().filter(|_| part.compression() == CompressionMethod::Stored);
                let base = base.ok_or_else(|| broken(format!("archive/{name} is compressed in the WACZ file")))?;
                warcs.insert(name.to_owned(), (number, self.source(path, Kind::Warc, base)));
            } else if name.starts_with("indexes/") && [".cdxj", ".cdx", ".gz"].iter().any(|end| name.ends_with(end)) {
                indexes.push((number, name.ends_with(".gz")));
            }
        }
        for (number, is_gzipped) in &indexes {
            let part = BufReader::new(zip.by_index(*number).map_err(wrong)?);
            let mut place_of = |_: &mut Self, _, line: &Line| {
                let name = line.filename.strip_prefix("archive/").unwrap_or(&line.filename);
                warcs.get(name).map(|(_, source)| (*source, line.offset))
            };
            if *is_gzipped {
                self.lines(path, &mut BufReader::new(MultiGzDecoder::new(part)), &mut place_of)?;
            } else {
                self.lines(path, &mut { part }, &mut place_of)?;
            }
        }
        if indexes.is_empty() {
            for (number, source) in warcs.into_values() {
                let part = zip.by_index(number).map_err(wrong)?;
                self.records(path, source, BufReader::new(part))?;
            }
        }
        Ok(())
    }
}

/// The next record of a file, which is whole: where it begins, and the digest of its payload if it is a response. `None` at the end.
fn next_payload(reader: &mut Reader<impl BufRead>) -> Result<Option<(u64, Option<PayloadDigest>)>, ReadError> {
    let Some(mut record) = reader.next_record()? else { return Ok(None) };
    let (header, offset) = (record.header(), record.offset());
    let failed = |error| ReadError::from_io(offset, error);
    let mut digest = None;
    if header.record_type() == Some(RecordType::Response) && header.holds_http() {
        let said = header.get("WARC-Payload-Digest").map(str::to_owned);
        let head = record.read_http_head()?;
        digest = if is_chunked(&head, record.fill_buf().map_err(failed)?) {
            hashed_without_chunks(&mut record).map_err(failed)?
        } else if let Some(said) = said {
            digest_of(&said)
        } else {
            Some(hashed(&mut record).map_err(failed)?)
        };
    }
    record.finish()?;
    Ok(Some((offset, digest)))
}

/// The digest of what the chunks hold: tools that record chunks give the digest of the chunks. `None` if the chunks are broken.
fn hashed_without_chunks(record: &mut StoredRecord<'_, impl BufRead>) -> io::Result<Option<PayloadDigest>> {
    match hashed(&mut Chunked::new(record)) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => Ok(None),
        digest => digest.map(Some),
    }
}

fn hashed(payload: &mut impl Read) -> io::Result<PayloadDigest> {
    let mut sha1 = Sha1::new();
    io::copy(payload, &mut sha1)?;
    Ok(PayloadDigest(sha1.finalize().into()))
}
