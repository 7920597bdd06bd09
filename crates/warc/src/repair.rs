//! Repairing a file: keep the whole records, and lose nothing that could still be of use.

use crate::error::{Damage, ReadError};
use crate::reader::Location;
use crate::replace::{sync_parent, with_suffix, write_durably};
use crate::walk::{Stretch, Walk};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// So many `.damaged` files beside one archive are enough.
const DAMAGED_COPIES_MAX: u32 = 100;

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// All records are whole; the file was not touched.
    Intact,
    /// The file was cut behind its last whole record.
    TailCut {
        /// Its length before, in bytes.
        old_bytes: u64,
        /// Its length now.
        new_bytes: u64,
    },
    /// The whole records were copied to a new file, which has taken the name of the old one.
    Rewritten {
        /// Where the old file is now.
        damaged: PathBuf,
        /// How many bytes of it are not in the new one.
        dropped_bytes: u64,
        /// The records whose offset has changed, in order.
        moved: Vec<Moved>,
    },
}

/// A record that has another offset after the repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Its offset in the old file.
    pub from: u64,
    /// Its offset in the new file.
    pub to: u64,
}

/// Why a file was not repaired. It is as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file does not begin like a WARC file and holds not one record.
    #[error("this is no WARC file")]
    NotAWarc,
    /// The file could not be cut, or the new file could not be written.
    #[error("cannot write the repaired archive: {0}")]
    Write(#[source] io::Error),
}

/// Makes a damaged file valid again.
///
/// A tail that a broken write explains is cut off. With any other damage the whole records are
/// copied to a new file, which replaces the old one in one step; the old one is kept beside it as
/// `NAME.damaged`. Records that are whole but whose content does not match their digest stay.
pub fn repair(path: impl AsRef<Path>) -> Result<Repair, RepairError> {
    let path = path.as_ref();
    let mut walk = Walk::open(path)?;
    let mut plan = Plan::default();
    while let Some(stretch) = walk.next(|_| Ok(()))? {
        plan.add(stretch);
    }
    let old_bytes = walk.file_len();
    let Some(first_damage) = &plan.first_damage else {
        return Ok(Repair::Intact);
    };
    match (&plan.damage_of_tail, plan.kept.as_slice()) {
        (_, []) if *first_damage == Damage::NotARecord => Err(RepairError::NotAWarc),
        (Some(damage), [only]) if only.offset == 0 && damage.is_broken_write() => {
            cut(path, only.length).map_err(RepairError::Write)?;
            Ok(Repair::TailCut { old_bytes, new_bytes: only.length })
        }
        _ => rewrite(path, old_bytes, plan).map_err(RepairError::Write),
    }
}

/// What is to be kept of a file.
#[derive(Default)]
struct Plan {
    /// The stretches of whole records: as long as possible, so that there are few.
    kept: Vec<Location>,
    /// The offsets of all records behind the first damage.
    behind_damage: Vec<u64>,
    first_damage: Option<Damage>,
    /// The first damage behind the last whole record.
    damage_of_tail: Option<Damage>,
}

impl Plan {
    fn add(&mut self, stretch: Stretch<()>) {
        match stretch {
            Stretch::Whole(location, ()) => {
                if self.first_damage.is_some() {
                    self.behind_damage.push(location.offset);
                }
                self.damage_of_tail = None;
                match self.kept.last_mut() {
                    Some(last) if last.offset + last.length == location.offset => {
                        last.length += location.length;
                    }
                    _ => self.kept.push(location),
                }
            }
            Stretch::Damaged(_, damage) => {
                self.first_damage.get_or_insert_with(|| damage.clone());
                self.damage_of_tail.get_or_insert(damage);
            }
        }
    }

    /// The records that get another offset: all behind the first damage.
    fn moved(&self) -> Vec<Moved> {
        let mut moved = Vec::with_capacity(self.behind_damage.len());
        let mut offsets = self.behind_damage.iter().copied().peekable();
        let mut to = 0;
        for kept in &self.kept {
            while let Some(from) = offsets.next_if(|from| *from < kept.offset + kept.length) {
                moved.push(Moved { from, to: to + (from - kept.offset) });
            }
            to += kept.length;
        }
        moved
    }
}

fn cut(path: &Path, len: u64) -> io::Result<()> {
    let file = fresh::open_to_write(path)?;
    file.set_len(len)?;
    file.sync_all()
}

fn rewrite(path: &Path, old_bytes: u64, plan: Plan) -> io::Result<Repair> {
    let new = with_suffix(path, ".repair.tmp");
    let result = write_durably(&new, |out| copy_stretches(path, &plan.kept, out))
        .and_then(|()| keep_old(path))
        .and_then(|damaged| fs::rename(&new, path).map(|()| damaged));
    if result.is_err() {
        let _ = fs::remove_file(&new);
    }
    let damaged = result?;
    sync_parent(path)?;
    let kept_bytes = plan.kept.iter().map(|kept| kept.length).sum::<u64>();
    Ok(Repair::Rewritten { damaged, dropped_bytes: old_bytes.saturating_sub(kept_bytes), moved: plan.moved() })
}

fn copy_stretches(path: &Path, kept: &[Location], out: &mut dyn io::Write) -> io::Result<()> {
    let mut file = fresh::open_to_read(path)?;
    for stretch in kept {
        file.seek(SeekFrom::Start(stretch.offset))?;
        let copied = io::copy(&mut (&mut file).take(stretch.length), out)?;
        if copied != stretch.length {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was cut meanwhile"));
        }
    }
    Ok(())
}

/// Gives the old file a second name, which it keeps when the new one takes its first.
fn keep_old(path: &Path) -> io::Result<PathBuf> {
    let mut damaged = with_suffix(path, ".damaged");
    for number in 2..=DAMAGED_COPIES_MAX {
        match fs::hard_link(path, &damaged) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                damaged = with_suffix(path, &format!(".damaged-{number}"));
            }
            Ok(()) => return Ok(damaged),
            // A file system without hard links: for a moment there is no file of the first name.
            Err(_) => return fs::rename(path, &damaged).map(|()| damaged),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many .damaged files beside the archive"))
}
