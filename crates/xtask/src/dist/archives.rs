//! Files for packages, and tar archives of them.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::VERSION;
use super::system::System;

const MODE_OF_PROGRAM: u32 = 0o755;
const MODE_OF_FILE: u32 = 0o644;
const MODE_OF_DIRECTORY: u32 = 0o755;

/// A file in a package.
#[derive(Clone)]
pub struct Entry {
    pub path: String,
    pub bytes: Rc<[u8]>,
    pub is_program: bool,
}

impl Entry {
    pub fn file(path: impl Into<String>, bytes: impl Into<Rc<[u8]>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), is_program: false }
    }

    /// The same file at another path.
    pub fn at(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self.clone() }
    }

    pub fn mode(&self) -> u32 {
        if self.is_program { MODE_OF_PROGRAM } else { MODE_OF_FILE }
    }
}

/// The tarball: everything in one directory.
///
/// # Errors
/// A path is too long.
pub fn tarball(entries: &[Entry], system: &System, epoch: u64) -> anyhow::Result<Vec<u8>> {
    let directory = format!("argiope-{VERSION}-{}", system.target);
    tar_gz(entries.iter().map(|entry| entry.at(format!("{directory}/{}", entry.path))), epoch)
}

/// A compressed tar archive of files and the directories above them. All belong to root and have the same time.
///
/// # Errors
/// A path is too long.
pub fn tar_gz(entries: impl IntoIterator<Item = Entry>, epoch: u64) -> anyhow::Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::new());
    let mut directories = BTreeSet::new();
    for entry in entries {
        let above: Vec<&Path> = Path::new(&entry.path).ancestors().skip(1).collect();
        for directory in above.into_iter().rev().filter(|directory| !directory.as_os_str().is_empty()) {
            if directories.insert(directory.to_owned()) {
                let mut header = header(EntryType::Directory, MODE_OF_DIRECTORY, 0, epoch);
                tar.append_data(&mut header, directory, std::io::empty())?;
            }
        }
        let mut header = header(EntryType::Regular, entry.mode(), entry.bytes.len(), epoch);
        tar.append_data(&mut header, &entry.path, &*entry.bytes)?;
    }
    gz(&tar.into_inner()?)
}

fn header(kind: EntryType, mode: u32, length: usize, epoch: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(length as u64);
    header.set_mtime(epoch);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Bytes as a gzip file without name and time.
///
/// # Errors
/// None: it writes to memory.
pub fn gz(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut gz = GzBuilder::new().write(Vec::new(), Compression::default());
    gz.write_all(bytes)?;
    Ok(gz.finish()?)
}
