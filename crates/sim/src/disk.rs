//! The disk: where the state and the archive lie, and what a crash leaves of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::{MemoryStore, Store};
use store_embedded::{EmbeddedStore, Options};
use tempfile::TempDir;

use crate::rng::Rng;
use crate::scenario::StorageKind;

/// A RAM disk, where there is one.
const RAM_DISK: &str = "/dev/shm";

/// The embedded store's journal is made this long at once; what is not written yet is zeros.
const JOURNAL_BYTES: u64 = 64 << 20;

/// The file in which the embedded store notes the last batch acknowledged.
const ACKNOWLEDGED: &str = "acknowledged";

/// What a torn write may leave behind the end.
const GARBAGE_BYTES_MAX: u64 = 3_000;

/// The disk of one simulation.
pub struct Disk {
    dir: TempDir,
    state: State,
    has_archive: bool,
}

enum State {
    Memory(Arc<MemoryStore>),
    Embedded {
        /// How often it was copied as at a crash.
        generation: u32,
        open: Option<Arc<EmbeddedStore>>,
        /// What is on disk for sure.
        safe: Safe,
    },
}

/// The embedded store as it was before a commit.
#[derive(Clone, Default)]
struct Safe {
    /// How much of the journal was written.
    journal: u64,
    /// The store's note of the last batch acknowledged, which it writes when the journal is on disk.
    acknowledged: Vec<u8>,
}

impl Disk {
    /// An empty disk.
    ///
    /// # Errors
    /// There is no place for it.
    pub fn new(storage: StorageKind, has_archive: bool) -> io::Result<Self> {
        let dir = if Path::new(RAM_DISK).is_dir() { tempfile::tempdir_in(RAM_DISK) } else { tempfile::tempdir() }?;
        let state = match storage {
            StorageKind::Memory => State::Memory(Arc::default()),
            StorageKind::Embedded => State::Embedded { generation: 0, open: None, safe: Safe::default() },
        };
        Ok(Disk { dir, state, has_archive })
    }

    /// Where the archive lies, if there is one.
    #[must_use]
    pub fn archive(&self) -> Option<PathBuf> {
        self.has_archive.then(|| self.dir.path().join("archive"))
    }

    /// Opens the store.
    ///
    /// # Errors
    /// It cannot be opened, in words.
    pub fn open(&mut self) -> Result<Arc<dyn Store>, String> {
        let dir = self.dir.path();
        match &mut self.state {
            State::Memory(store) => Ok(store.clone()),
            State::Embedded { generation, open, .. } => {
                let store = EmbeddedStore::open(&state_dir(dir, *generation), Options::default());
                let store = Arc::new(store.map_err(|error| error.to_string())?);
                *open = Some(store.clone());
                Ok(store)
            }
        }
    }

    /// Closes the store in good order.
    pub fn close(&mut self) {
        if let State::Embedded { open, .. } = &mut self.state {
            *open = None;
        }
    }

    /// Notes that all written so far is safe, and what comes now is not.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn note_safe(&mut self) -> io::Result<()> {
        let dir = self.dir.path();
        if let State::Embedded { generation, safe, .. } = &mut self.state {
            let state = state_dir(dir, *generation);
            *safe = Safe { journal: written(&journal(&state))?, acknowledged: fs::read(state.join(ACKNOWLEDGED))? };
        }
        Ok(())
    }

    /// Does to the disk what a crash does. `torn` says that a commit was under way since [`Disk::note_safe`], of which
    /// any part may be there. The archive is on disk up to `synced`; of the rest any part may be there.
    ///
    /// # Errors
    /// The disk, the real one, fails.
    pub fn crash(&mut self, rng: &mut Rng, torn: bool, synced: &BTreeMap<String, u64>) -> io::Result<()> {
        let dir = self.dir.path().to_owned();
        if let State::Embedded { generation, open, safe } = &mut self.state {
            let (from, to) = (state_dir(&dir, *generation), state_dir(&dir, *generation + 1));
            copy_without_journal(&from, &to)?;
            let end = written(&journal(&from))?;
            let kept = if torn { rng.between(safe.journal.min(end), end) } else { end };
            copy_journal(&journal(&from), &journal(&to), kept, !torn && rng.chance(500))?;
            if torn {
                fs::write(to.join(ACKNOWLEDGED), &safe.acknowledged)?;
            }
            *open = None;
            *generation += 1;
        }
        match self.archive() {
            Some(archive) if archive.is_dir() => tear_archive(&archive, rng, synced),
            _ => Ok(()),
        }
    }
}

fn state_dir(dir: &Path, generation: u32) -> PathBuf {
    dir.join(format!("state-{generation}"))
}

fn journal(state: &Path) -> PathBuf {
    state.join("engine/0.jnl")
}

/// How much of a journal is written.
fn written(journal: &Path) -> io::Result<u64> {
    const CHUNK: usize = 1 << 16;
    let zeros = [0; CHUNK];
    let mut file = File::open(journal)?;
    let (mut buffer, mut end, mut at) = (vec![0; CHUNK], 0, 0);
    loop {
        let got = file.read(&mut buffer)?;
        if got == 0 || buffer[..got] == zeros[..got] {
            return Ok(end);
        }
        if let Some(last) = buffer[..got].iter().rposition(|byte| *byte != 0) {
            end = at + last as u64 + 1;
        }
        at += got as u64;
    }
}

fn copy_without_journal(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_without_journal(&path, &to)?;
        } else if path.extension().is_none_or(|extension| extension != "jnl") {
            fs::copy(path, to)?;
        }
    }
    Ok(())
}

/// The journal up to `kept`; then nothing, or, if it is whole, sometimes zeros. Of zeros within the last batch the engine
/// makes a failed assertion where it is built with assertions, as it is for tests.
fn copy_journal(from: &Path, to: &Path, kept: u64, has_zeros: bool) -> io::Result<()> {
    let mut bytes = Vec::new();
    File::open(from)?.take(kept).read_to_end(&mut bytes)?;
    let mut copy = File::create(to)?;
    copy.write_all(&bytes)?;
    if has_zeros { copy.set_len(JOURNAL_BYTES) } else { Ok(()) }
}

fn garbage(rng: &mut Rng) -> Vec<u8> {
    let length = usize::try_from(rng.below(GARBAGE_BYTES_MAX)).unwrap_or(0);
    std::iter::repeat_with(|| rng.number().to_le_bytes()[0]).take(length).collect()
}

fn tear_archive(archive: &Path, rng: &mut Rng, synced: &BTreeMap<String, u64>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(archive)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut file = File::options().write(true).open(&path)?;
        let (safe, length) = (synced.get(&name).copied().unwrap_or(0), file.metadata()?.len());
        file.set_len(rng.between(safe.min(length), length))?;
        if rng.chance(300) {
            file.seek(SeekFrom::End(0))?;
            file.write_all(&garbage(rng))?;
        }
    }
    Ok(())
}
