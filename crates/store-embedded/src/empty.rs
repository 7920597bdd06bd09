//! The engine of an empty store, made where syncing costs nothing.
//!
//! The engine syncs its files some 16 times for each table that it makes, one after the other: 200 times for ours, which takes a disk up
//! to a second. So its files are made in memory, copied into the store, and synced together.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};

use fresh::Temporary;
use rustix::fs::{StatFs, statfs};

use crate::Options;
use crate::mirror::copy;
use crate::place::Place;
use crate::tables::{ENGINE_DIR, Tables, Use};

/// Where Linux has files in memory, as a rule (shm_overview(7)).
const MEMORY_DIR: &str = "/dev/shm";
/// The type of such a file system (statfs(2)).
const TMPFS_MAGIC: i64 = 0x0102_1994;
/// The copy before it is whole and on disk.
const UNFINISHED_DIR: &str = "engine.new";
/// Files that are synced at once: a file system writes them out together.
const SYNCED_AT_ONCE: usize = 16;

/// Makes the engine of the store in `place`, which has none. If this cannot be done, there is none afterwards, and the engine
/// makes it by itself when it is opened.
pub(crate) fn make(place: &Path, options: &Options) {
    let unfinished = place.join(UNFINISHED_DIR);
    let begun = match fs::remove_dir_all(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return,
        _ => try_make(&unfinished, options),
    };
    let made = begun.is_some() && fs::rename(&unfinished, place.join(ENGINE_DIR)).is_ok();
    if !made || sync(place).is_err() {
        // What is left of it goes with the next try.
        let _ = fs::remove_dir_all(&unfinished);
    }
}

fn try_make(to: &Path, options: &Options) -> Option<()> {
    let memory = Path::new(MEMORY_DIR);
    let StatFs { f_type, .. } = statfs(memory).ok()?;
    let dir = Temporary::new_in(memory).ok().filter(|_| f_type == TMPFS_MAGIC)?;
    let place = Arc::new(Place::own(dir.path()));
    drop(Tables::try_open(dir.path(), &place, options, Use::Commits).ok()?);
    let mut made = Vec::new();
    copy_all(&dir.path().join(ENGINE_DIR), to, &mut made).ok()?;
    thread::scope(|scope| {
        let part = made.len().div_ceil(SYNCED_AT_ONCE).max(1);
        let sync_part = |part: &[PathBuf]| part.iter().try_for_each(|path| sync(path));
        // Where no thread can be had, the part is synced here.
        let parts = made.chunks(part).map(|part| {
            let thread = thread::Builder::new().spawn_scoped(scope, move || sync_part(part));
            thread.map_err(|_| sync_part(part))
        });
        let parts: Vec<_> = parts.collect();
        let is_synced = |part: Result<ScopedJoinHandle<'_, io::Result<()>>, io::Result<()>>| match part {
            Ok(thread) => matches!(thread.join(), Ok(Ok(()))),
            Err(synced) => synced.is_ok(),
        };
        parts.into_iter().all(is_synced).then_some(())
    })
}

/// Copies a directory, and lists what it has made.
fn copy_all(from: &Path, to: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    fs::create_dir(to)?;
    made.push(to.to_owned());
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_all(&from, &to, made)?;
        } else {
            copy(&from, &to).map_err(io::Error::other)?;
            made.push(to);
        }
    }
    Ok(())
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
