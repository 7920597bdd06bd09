//! Opening a store, to commit to it or only to read: the lock, the engine, and whether all is there that was promised.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

use store::StoreError;

use crate::codec::{FORMAT_VERSION, OLDEST_FORMAT_VERSION, Progress, decode_progress, encode_progress};
use crate::commit::Writer;
use crate::known::Fingerprints;
use crate::mirror::Mirror;
use crate::place::Place;
use crate::read::View;
use crate::tables::{ENGINE_DIR, Tables, Use};
use crate::witness::{self, Witness};
use crate::{EmbeddedStore, EmbeddedView, Options, empty, error, holder, keys};

/// Random bytes of a crawl's id.
const CRAWL_ID_BYTES: usize = 16;
const LOCK_FILE: &str = "lock";
/// The lock of the engine itself. Stores of early programs have no other.
const ENGINE_LOCK_FILE: &str = "engine/lock";
/// The file that the engine writes last when it makes a database, and looks for to know that there is one.
const ENGINE_MARKER: &str = "version";

impl EmbeddedStore {
    /// Opens the store in the directory `dir`, or makes an empty one there.
    ///
    /// # Errors
    /// [`StoreError::InUse`]: another process has it open. [`StoreError::Version`]: another format. [`StoreError::Full`]:
    /// no space to make it. [`StoreError::DamagedFiles`]: files are missing or not as they were written, or batches that were acknowledged are not all there.
    pub fn open(dir: &Path, options: Options) -> Result<EmbeddedStore, StoreError> {
        EmbeddedStore::open_with(dir, options, Fingerprints::keyed())
    }

    /// The same with the hash by which it tells known URLs apart.
    pub(crate) fn open_with(
        dir: &Path,
        options: Options,
        fingerprints: Fingerprints,
    ) -> Result<EmbeddedStore, StoreError> {
        fs::create_dir_all(dir).map_err(|error| error::system_at(dir, "making the directory", &error))?;
        let lock = lock(dir)?;
        refuse_links(dir).map_err(|error| error::system(dir, "opening the store", error))?;
        let (mut witness, acknowledged) = Witness::open(dir)?;
        let place = Place::hold(dir).map_err(|error| error::system_at(dir, "opening the store", &error))?;
        let (tables, version, progress) = open_tables(dir, place, &options, Use::Commits, acknowledged)?;
        witness.note(progress.sequence).map_err(|error| error::system(dir, "writing the witness", error))?;
        let crawl_id = crawl_id(&tables)?.map_or_else(|| make_crawl_id(&tables), Ok)?;
        let writer = Writer::new(version, progress, fingerprints, witness);
        Ok(EmbeddedStore { writer: Mutex::new(writer), tables: Arc::new(tables), crawl_id, lock: Arc::new(lock) })
    }

    /// The state in the directory `dir` as [`EmbeddedStore::open`] would find it. Nothing in the directory changes, and others may read it
    /// at the same time, but nobody has it open to commit.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`]; [`StoreError::Full`]: no space for the copies in the directory of temporary files.
    pub fn open_to_read(dir: &Path, options: &Options) -> Result<EmbeddedView, StoreError> {
        let lock = lock_to_read(dir)?;
        refuse_links(dir).map_err(|error| error::system(dir, "opening the store", error))?;
        let view = EmbeddedStore::open_mirror(dir, options, Mirror::of(dir)?)?;
        Ok(EmbeddedView { _lock: lock.map(Arc::new), ..view })
    }

    /// The same, but others may commit to the store as soon as this returns. The view keeps the state that it found. `None` if that has
    /// too many tables to keep them open.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open_to_read`].
    pub fn open_apart(dir: &Path, options: &Options) -> Result<Option<EmbeddedView>, StoreError> {
        let _lock = lock_to_read(dir)?;
        refuse_links(dir).map_err(|error| error::system(dir, "opening the store", error))?;
        Mirror::apart(dir)?.map(|mirror| EmbeddedStore::open_mirror(dir, options, mirror)).transpose()
    }

    /// Keeps all others from opening the store in the directory `dir` until the file that this gives is closed.
    ///
    /// # Errors
    /// [`StoreError::InUse`]: another process has it open. Or there is no such directory, or it may not be written to.
    pub fn keep_closed(dir: &Path) -> Result<File, StoreError> {
        lock(dir)
    }

    /// The process that has the store in the directory `dir` open, if it is stopped: in words, and its number.
    #[must_use]
    pub fn stopped_by(dir: &Path) -> Option<(String, u32)> {
        holder::stopped(&fresh::open_to_read(&dir.join(LOCK_FILE)).ok()?)
    }

    /// The number of the last batch that was committed to the store in the directory `dir`; `None` if none is known.
    ///
    /// # Errors
    /// The file that has it cannot be read.
    pub fn acknowledged(dir: &Path) -> Result<Option<u64>, StoreError> {
        witness::read(dir)
    }

    fn open_mirror(dir: &Path, options: &Options, mirror: Mirror) -> Result<EmbeddedView, StoreError> {
        let acknowledged = witness::read(dir)?;
        let (tables, ..) = open_tables(dir, Place::own(mirror.path()), options, Use::Reading, acknowledged)?;
        mirror.remove_journals();
        // One that was made just now is nobody's: the next to commit makes another.
        let crawl_id = crawl_id(&tables)?.map_or_else(|| random_crawl_id(dir), Ok)?;
        Ok(EmbeddedView { view: View::of(&Arc::new(tables)), crawl_id, _mirror: Some(mirror), _lock: None })
    }
}

/// Opens the engine in `place`, with all that was acknowledged. Returns the version of its format too, and how far it is.
fn open_tables(
    dir: &Path,
    place: Place,
    options: &Options,
    used: Use,
    acknowledged: Option<u64>,
) -> Result<(Tables, u32, Progress), StoreError> {
    let engine_dir = place.path().join(ENGINE_DIR);
    remove_unfinished(dir, &engine_dir, acknowledged.is_some())?;
    if used == Use::Commits && !engine_dir.exists() {
        empty::make(place.path(), options);
    }
    let mut tables = Tables::open(dir, place, options, used)?;
    let begun = read_progress(&tables)?;
    check_complete(&tables, begun.as_ref().map_or(0, |(_, progress)| progress.sequence), acknowledged)?;
    let (version, progress) = begun.map_or_else(|| begin(&tables), Ok)?;
    let has_outcomes = tables.meta.contains_key(keys::BY_OUTCOME);
    tables.has_outcomes = has_outcomes.map_err(tables.failed("reading the format version"))?;
    Ok((tables, version, progress))
}

/// Refuses a directory with a symbolic link in it, or one in its place. What lies there is written to and cut, and a directory may come
/// from somebody else. So may a pipe, whose other end the engine would wait for.
fn refuse_links(dir: &Path) -> io::Result<()> {
    fresh::is_directory(dir).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", dir.display())))?;
    for entry in dir.read_dir()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            let path = entry.path();
            let why = "is a symbolic link: the state of a crawl is written to, and so would be what it leads to; put there what it leads to";
            return Err(io::Error::other(format!("{} {why}", path.display())));
        }
        if kind.is_dir() {
            refuse_links(&entry.path())?;
        } else if !kind.is_file() {
            return Err(io::Error::other(format!("{} is not a regular file", entry.path().display())));
        }
    }
    Ok(())
}

fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join(LOCK_FILE);
    let file = fresh::open_or_create(&path).map_err(|error| not_locked(&path, &error))?;
    let tried = file.try_lock();
    locked(dir, &path, file, tried)
}

/// Keeps those away that commit. None where there is no lock to be had: nobody can have such a store open.
fn lock_to_read(dir: &Path) -> Result<Option<File>, StoreError> {
    for path in [LOCK_FILE, ENGINE_LOCK_FILE].map(|name| dir.join(name)) {
        match fresh::open_to_read(&path) {
            Ok(file) => {
                let tried = file.try_lock_shared();
                return locked(dir, &path, file, tried).map(Some);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(not_locked(&path, &error)),
        }
    }
    Ok(None)
}

fn locked(dir: &Path, path: &Path, file: File, tried: Result<(), TryLockError>) -> Result<File, StoreError> {
    match tried {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::InUse { place: dir.display().to_string(), by: holder::of(&file) })
        }
        Err(TryLockError::Error(error)) => Err(not_locked(path, &error)),
    }
}

fn not_locked(path: &Path, error: &io::Error) -> StoreError {
    error::system_at(path, "locking the store", error)
}

/// Removes what a process left behind that was killed while it made the engine's files. The engine would stumble over
/// them, and nothing was committed yet.
fn remove_unfinished(dir: &Path, engine_dir: &Path, is_begun: bool) -> Result<(), StoreError> {
    let failed = |error| error::system(dir, "looking for the engine's files", error);
    let is_there = engine_dir.try_exists().map_err(failed)?;
    let marker = engine_dir.join(ENGINE_MARKER);
    let is_marked = marker.try_exists().map_err(failed)?;
    // Once something was acknowledged, this is damage, and nothing is removed. The engine would begin another store there.
    if is_there && !is_marked && is_begun {
        return Err(error::damaged_files(dir, "engine/version is missing"));
    }
    // It may have been killed between making the marker and writing it.
    let is_cut = is_marked && !is_begun && marker.metadata().map_err(failed)?.len() == 0;
    if is_there && (!is_marked || is_cut) {
        fs::remove_dir_all(engine_dir).map_err(failed)?;
    }
    Ok(())
}

/// Reads the format version and how far the store is; `None` if nothing was ever written to it.
fn read_progress(tables: &Tables) -> Result<Option<(u32, Progress)>, StoreError> {
    let read = |key| tables.meta.get(key).map_err(tables.failed("reading the format version"));
    let Some(version) = read(keys::FORMAT)? else { return Ok(None) };
    let found = version.as_ref().try_into().map(u32::from_be_bytes);
    let found = found.map_err(|_| error::damaged_files(&tables.dir, "the version of its format cannot be read"))?;
    if !(OLDEST_FORMAT_VERSION..=FORMAT_VERSION).contains(&found) {
        let place = tables.dir.display().to_string();
        return Err(StoreError::Version { place, found, expected: FORMAT_VERSION });
    }
    let progress = read(keys::PROGRESS)?
        .ok_or_else(|| error::damaged_files(&tables.dir, "the record of its progress is missing"))?;
    Ok(Some((found, decode_progress(&progress)?)))
}

/// Writes the format version, and that nothing has happened yet.
fn begin(tables: &Tables) -> Result<(u32, Progress), StoreError> {
    let progress = Progress::default();
    let mut batch = tables.batch();
    batch.insert(&tables.meta, keys::FORMAT, FORMAT_VERSION.to_be_bytes());
    batch.insert(&tables.meta, keys::PROGRESS, encode_progress(&progress));
    batch.insert(&tables.meta, keys::BY_OUTCOME, []);
    batch.commit().map_err(tables.failed("writing the format version"))?;
    Ok((FORMAT_VERSION, progress))
}

/// The crawl's id. There is none in a new store, and in one of an earlier program.
fn crawl_id(tables: &Tables) -> Result<Option<String>, StoreError> {
    let id = tables.meta.get(keys::CRAWL_ID).map_err(tables.failed("reading the crawl's id"))?;
    let unread = || error::damaged_files(&tables.dir, "the crawl's id cannot be read");
    id.map(|id| String::from_utf8(id.to_vec()).map_err(|_| unread())).transpose()
}

fn random_crawl_id(dir: &Path) -> Result<String, StoreError> {
    let mut random = [0; CRAWL_ID_BYTES];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
    read.map_err(|error| error::system(dir, "making the crawl's id", error))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn make_crawl_id(tables: &Tables) -> Result<String, StoreError> {
    let id = random_crawl_id(&tables.dir)?;
    let mut batch = tables.batch();
    batch.insert(&tables.meta, keys::CRAWL_ID, id.as_bytes());
    batch.commit().map_err(tables.failed("writing the crawl's id"))?;
    Ok(id)
}

/// Every acknowledged batch must be there, and whole.
fn check_complete(tables: &Tables, sequence: u64, acknowledged: Option<u64>) -> Result<(), StoreError> {
    // First: without the witness, it would not open either.
    if tables.is_torn() {
        return Err(error::damaged_files(&tables.dir, &format!("batches behind {sequence} are there by halves")));
    }
    match acknowledged {
        Some(acknowledged) if acknowledged > 0 && sequence == 0 => Err(error::damaged_files(
            &tables.dir,
            &format!("nothing is left of it, and batch {acknowledged} was acknowledged"),
        )),
        Some(acknowledged) if acknowledged > sequence => Err(StoreError::DamagedFiles {
            place: tables.dir.display().to_string(),
            detail: format!("it ends with batch {sequence} but batch {acknowledged} was acknowledged"),
            way_out: format!(
                "remove {} to go on with what is left; what the archive has beyond it is then set aside in archive/orphaned, from where \
                 `argiope adopt` takes it in again",
                tables.dir.join(witness::FILE).display()
            ),
        }),
        _ => Ok(()),
    }
}
