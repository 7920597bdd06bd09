//! A file that is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::ExportError;

/// A file that is written under another name first (`NAME.tmp` beside it). What is dropped unfinished is removed.
pub struct PendingFile {
    out: BufWriter<File>,
    /// Where it is written, if that is not its place; taken when it is finished.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl PendingFile {
    /// Begins to write to `path`. A pipe or a device is written to as it is: there is nothing to rename.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let temporary = (!is_special).then(|| temporary(path));
        let out = match &temporary {
            Some(temporary) => fresh::create(temporary),
            None => File::options().write(true).open(path),
        };
        let out = out.map_err(|error| ExportError::io(path, error))?;
        Ok(PendingFile { out: BufWriter::new(out), temporary, path: path.to_owned() })
    }

    /// The file's place.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is written elsewhere, and gone if it is not finished. A pipe or a device keeps what was written.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.temporary.is_some()
    }

    /// Ends the writing: the file takes its place.
    ///
    /// # Errors
    /// What was written did not all get there.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let finished = self.out.flush().and_then(|()| match &self.temporary {
            Some(temporary) => self.out.get_ref().sync_all().and_then(|()| fs::rename(temporary, &self.path)),
            None => Ok(()),
        });
        finished.map_err(|error| ExportError::io(&self.path, error))?;
        self.temporary = None;
        Ok(())
    }
}

/// Where a file or directory is written before it gets its name.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    path.with_file_name(name)
}

/// A file without a name on the disk of `target`, or where the system keeps temporary files if nothing can be written there:
/// nothing of it stays behind, however the process ends.
pub(crate) fn unnamed_file(target: &Path) -> Result<File, ExportError> {
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(dir).or_else(|_| tempfile::tempfile()).map_err(|error| ExportError::io(target, error))
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A part that was written before may be corrected; a pipe cannot go back.
impl Seek for PendingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}
