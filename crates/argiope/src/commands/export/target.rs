//! Where an export goes: standard output, or a file that is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Standard output, or a file on its way.
pub(super) enum Target {
    Stdout(BufWriter<StdoutLock<'static>>),
    File(PendingFile),
}

/// A file that is written under another name first. What is dropped unfinished is removed.
pub(super) struct PendingFile {
    out: BufWriter<File>,
    /// Where it is written, if that is not its place; taken when it is finished.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl Target {
    /// Begins to write to `path`, or to standard output.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(super) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        match path.filter(|path| path.as_os_str() != "-") {
            None => Ok(Target::Stdout(BufWriter::new(io::stdout().lock()))),
            Some(path) => {
                PendingFile::create(path).map(Target::File).with_context(|| format!("cannot write {}", path.display()))
            }
        }
    }

    /// Ends the writing: a file takes its place.
    ///
    /// # Errors
    /// What was written did not all get there.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {
            Target::Stdout(mut out) => Ok(out.flush()?),
            Target::File(file) => {
                let path = file.path.clone();
                file.finish().with_context(|| format!("cannot write {}", path.display()))
            }
        }
    }
}

impl PendingFile {
    fn create(path: &Path) -> io::Result<Self> {
        // A pipe or a device stays what it is: there is nothing to rename.
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".tmp");
        let temporary = (!is_special).then(|| path.with_file_name(name));
        let out = match &temporary {
            Some(temporary) => File::create(temporary)?,
            None => File::options().write(true).open(path)?,
        };
        Ok(PendingFile { out: BufWriter::new(out), temporary, path: path.to_owned() })
    }

    fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some(temporary) = &self.temporary {
            self.out.get_ref().sync_all()?;
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(out) => out.write(bytes),
            Target::File(file) => file.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(out) => out.flush(),
            Target::File(file) => file.out.flush(),
        }
    }
}
