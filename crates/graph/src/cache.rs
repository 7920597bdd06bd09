//! The parts of a dataset's graph, kept in `DIR/dataset/graph/`, one file a segment. A file that is missing, damaged, or made from another
//! table of pages than the one that lies there is made again from the tables.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use dataset::schema::Table;
use dataset::{Layout, UNRECORDED, covered_bytes};

use crate::GraphError;
use crate::part::Part;

/// The name of the file that who writes here holds a lock on.
const LOCK: &str = "lock";

/// The parts of the segments of a dataset, and of the URLs without a record.
pub(crate) fn parts(layout: &Layout) -> Result<Vec<Part>, GraphError> {
    let dir = layout.root().join("graph");
    let segments = layout.files(Table::Pages)?;
    let segments = segments.iter().filter_map(|path| path.file_stem()?.to_str());
    let queue = Mutex::new(segments.map(str::to_owned).collect::<Vec<_>>());
    let cache = Cache::open(&dir);
    let work = || -> Result<Vec<Part>, GraphError> {
        let mut parts = Vec::new();
        loop {
            // A thread that panicked while it held the queue left nothing undone in it.
            let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
            let Some(segment) = next else { return Ok(parts) };
            parts.push(part(layout, &cache, &segment)?);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut parts = Vec::new();
        for thread in threads {
            parts.extend(thread.join().map_err(|_| GraphError::Worker("reading the tables".to_owned()))??);
        }
        Ok(parts)
    })
}

fn part(layout: &Layout, cache: &Cache, segment: &str) -> Result<Part, GraphError> {
    // The URLs without a record are written again each time, and have no links.
    let covered = if segment == UNRECORDED { None } else { covered_bytes(layout, segment)? };
    let stamp = covered.and_then(|covered| {
        let superseded = fs::metadata(layout.superseded(segment)).map_or(0, |list| list.len());
        stamp(&layout.file(Table::Pages, segment), covered, superseded)
    });
    let Some(stamp) = stamp else { return Part::read(layout, segment) };
    if let Some(part) = cache.get(segment, stamp) {
        return Ok(part);
    }
    let part = Part::read(layout, segment)?;
    cache.put(segment, &part, stamp);
    Ok(part)
}

/// Distinguishes a table of pages from others of its segment: how far into the segment it reaches, and since its rows may be
/// corrected, when it was written. Besides it matters how many of them are superseded, which become ever more or are counted again.
/// `None` if the system does not say.
fn stamp(pages: &Path, covered: u64, superseded: u64) -> Option<u64> {
    let metadata = fs::metadata(pages).ok()?;
    let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hasher = blake3::Hasher::new();
    for number in [covered, superseded, metadata.len(), written.as_secs(), u64::from(written.subsec_nanos())] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.finalize().as_bytes().first_chunk().map(|stamp| u64::from_le_bytes(*stamp))
}

/// The directory of the files.
struct Cache {
    dir: PathBuf,
    /// Held by who may write here. `None` if nothing can be written, or someone else is at it.
    lock: Option<File>,
}

impl Cache {
    fn open(dir: &Path) -> Self {
        let lock = || -> io::Result<File> {
            fresh::directory(dir)?;
            let file = fresh::open_or_create(&dir.join(LOCK))?;
            file.try_lock()?;
            Ok(file)
        };
        // A cache that cannot be written to is no error: the tables are there.
        Cache { dir: dir.to_owned(), lock: lock().ok() }
    }

    fn path(&self, segment: &str) -> PathBuf {
        self.dir.join(format!("{segment}.part"))
    }

    fn get(&self, segment: &str, stamp: u64) -> Option<Part> {
        let mut bytes = Vec::new();
        fresh::open_to_read(&self.path(segment)).and_then(|mut file| file.read_to_end(&mut bytes)).ok()?;
        Part::from_bytes(&bytes, stamp)
    }

    fn put(&self, segment: &str, part: &Part, stamp: u64) {
        if self.lock.is_none() {
            return;
        }
        let path = self.path(segment);
        let unfinished = path.with_extension("unfinished");
        // Not synced: what a crash of the machine leaves of it has not its checksum.
        let written = fresh::write(&unfinished, &part.to_bytes(stamp)).and_then(|()| fs::rename(&unfinished, &path));
        if written.is_err() {
            // Not kept then; what there is of it would only take space.
            let _ = fs::remove_file(&unfinished);
        }
    }
}
