//! The file of what was taken in: entries sorted by digest, with a table of where each pair of first bytes begins.
//!
//! ```text
//! magic, number of entries, where the listing begins    16 + 8 + 8 bytes
//! for each pair of first bytes how many entries lie up to its end    65,536 x 8 bytes
//! entries: digest, source, offset    20 + 4 + 8 bytes each
//! listing: sources, and files that were taken in, as JSON
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use model::PayloadDigest;
use serde::{Deserialize, Serialize};
use sort::Sorted;

use crate::AgainstError;
use crate::sources::{MAGIC, NAME, Seen, Source};

const DIGEST_BYTES: usize = 20;
pub(crate) const ENTRY_BYTES: usize = DIGEST_BYTES + 4 + 8;
/// Pairs of first bytes.
const FANS: usize = 1 << 16;
/// Bytes before the entries.
const HEAD_BYTES: u64 = 16 + 8 + 8 + (FANS as u64) * 8;
/// The longest listing, in bytes: some ten million files.
const LISTING_BYTES_MAX: u64 = 1 << 30;

/// The file in the directory.
pub(crate) fn path_in(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Where a payload lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) digest: PayloadDigest,
    /// Which source.
    pub(crate) source: u32,
    /// Where the record or line begins in it, in bytes.
    pub(crate) offset: u64,
}

impl Entry {
    pub(crate) fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..DIGEST_BYTES].copy_from_slice(&self.digest.0);
        bytes[DIGEST_BYTES..DIGEST_BYTES + 4].copy_from_slice(&self.source.to_be_bytes());
        bytes[DIGEST_BYTES + 4..].copy_from_slice(&self.offset.to_be_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Self {
        let (mut digest, mut source, mut offset) = ([0; DIGEST_BYTES], [0; 4], [0; 8]);
        digest.copy_from_slice(&bytes[..DIGEST_BYTES]);
        source.copy_from_slice(&bytes[DIGEST_BYTES..DIGEST_BYTES + 4]);
        offset.copy_from_slice(&bytes[DIGEST_BYTES + 4..]);
        let (source, offset) = (u32::from_be_bytes(source), u64::from_be_bytes(offset));
        Entry { digest: PayloadDigest(digest), source, offset }
    }
}

/// What entries point to, and which files were taken in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Listing {
    pub(crate) sources: Vec<Source>,
    pub(crate) seen: Vec<Seen>,
}

/// The entries of a file.
pub(crate) struct Entries {
    path: PathBuf,
    file: File,
    count: u64,
    /// How many entries lie up to the end of each pair of first bytes.
    fans: Vec<u64>,
    pub(crate) listing: Listing,
}

impl Entries {
    /// Opens the file; `None` where there is none.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, AgainstError> {
        let mut file = match fresh::open_to_read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(AgainstError::io(path))?,
        };
        let wrong = || AgainstError::Form {
            path: path.to_owned(),
            detail: "cannot be read: remove it, and give --against again".to_owned(),
        };
        let length = file.metadata().map_err(AgainstError::io(path))?.len();
        let mut head = vec![0; usize::try_from(HEAD_BYTES).unwrap_or(usize::MAX)];
        file.read_exact(&mut head).map_err(|_| wrong())?;
        let (words, _) = head[MAGIC.len()..].as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_be_bytes(*word));
        let (count, listing_at) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        let fans: Vec<u64> = words.collect();
        let end = count.checked_mul(ENTRY_BYTES as u64).and_then(|bytes| bytes.checked_add(HEAD_BYTES));
        let is_ours = head.starts_with(MAGIC)
            && end == Some(listing_at)
            && fans.is_sorted()
            && fans.last() == Some(&count)
            && length.checked_sub(listing_at).is_some_and(|bytes| bytes <= LISTING_BYTES_MAX);
        if !is_ours {
            return Err(wrong());
        }
        file.seek(SeekFrom::Start(listing_at)).map_err(AgainstError::io(path))?;
        let listing = serde_json::from_reader(BufReader::new(&file)).map_err(|_| wrong())?;
        Ok(Some(Entries { path: path.to_owned(), file, count, fans, listing }))
    }

    pub(crate) fn source(&self, entry: &Entry) -> Option<&Source> {
        self.listing.sources.get(entry.source as usize)
    }

    /// The entries with this digest, `max` at most.
    pub(crate) fn of(&self, digest: PayloadDigest, max: usize) -> Result<Vec<Entry>, AgainstError> {
        let fan = usize::from(u16::from_be_bytes([digest.0[0], digest.0[1]]));
        let first = fan.checked_sub(1).map_or(0, |before| self.fans[before]);
        let (mut low, mut high) = (first, self.fans[fan]);
        let end = high;
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle)?.digest < digest { low = middle + 1 } else { high = middle }
        }
        let mut found = Vec::new();
        while low < end && found.len() < max {
            let entry = self.at(low)?;
            if entry.digest != digest {
                break;
            }
            found.push(entry);
            low += 1;
        }
        Ok(found)
    }

    fn at(&self, place: u64) -> Result<Entry, AgainstError> {
        let mut bytes = [0; ENTRY_BYTES];
        let offset = HEAD_BYTES + place * ENTRY_BYTES as u64;
        self.file.read_exact_at(&mut bytes, offset).map_err(AgainstError::io(&self.path))?;
        Ok(Entry::from_bytes(&bytes))
    }

    /// Calls `each` for the bytes of every entry.
    pub(crate) fn for_each(
        &mut self,
        mut each: impl FnMut(&[u8; ENTRY_BYTES]) -> Result<(), AgainstError>,
    ) -> Result<(), AgainstError> {
        self.file.seek(SeekFrom::Start(HEAD_BYTES)).map_err(AgainstError::io(&self.path))?;
        let mut input = BufReader::new(&self.file);
        let mut bytes = [0; ENTRY_BYTES];
        for _ in 0..self.count {
            input.read_exact(&mut bytes).map_err(AgainstError::io(&self.path))?;
            each(&bytes)?;
        }
        Ok(())
    }
}

/// Writes the file: what is there stays until all of the new one is. Gives how many entries it has.
pub(crate) fn write(path: &Path, sorted: Sorted, listing: &Listing) -> Result<u64, AgainstError> {
    let unfinished = path.with_extension("unfinished");
    let io = || AgainstError::io(&unfinished);
    let file = fresh::create(&unfinished).map_err(io())?;
    let mut out = BufWriter::new(&file);
    out.write_all(&vec![0; usize::try_from(HEAD_BYTES).unwrap_or(usize::MAX)]).map_err(io())?;
    let mut fans = vec![0_u64; FANS];
    let mut last: Vec<u8> = Vec::new();
    let mut count = 0_u64;
    for entry in sorted {
        let entry = entry.map_err(|error| io()(error.into()))?;
        if entry == last {
            continue;
        }
        out.write_all(&entry).map_err(io())?;
        count += 1;
        fans[usize::from(u16::from_be_bytes([entry[0], entry[1]]))] = count;
        last = entry;
    }
    // A pair that no entry begins with ends where the one before ends.
    for fan in 1..FANS {
        fans[fan] = fans[fan].max(fans[fan - 1]);
    }
    let listing = serde_json::to_vec(listing).map_err(|error| io()(error.into()))?;
    out.write_all(&listing).map_err(io())?;
    let listing_at = HEAD_BYTES + count * ENTRY_BYTES as u64;
    let mut head = MAGIC.to_vec();
    for word in [count, listing_at].iter().chain(&fans) {
        head.extend(word.to_be_bytes());
    }
    out.seek(SeekFrom::Start(0)).and_then(|_| out.write_all(&head)).and_then(|()| out.flush()).map_err(io())?;
    drop(out);
    file.sync_all().and_then(|()| std::fs::rename(&unfinished, path)).map_err(io())?;
    Ok(count)
}
