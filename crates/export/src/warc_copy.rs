//! WARC: the records of what a filter admits, copied into segments that stand alone (`docs/exports.md`).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::copy::{Copied, CopySettings, Target, copy};
use crate::{Crawl, ExportError, Filter, PendingDir, PendingFile, Progress};

/// What the name of a segment ends with.
const ENDING: &str = ".warc.gz";

/// Writes one segment if the name of `target` ends with `.warc.gz`, else a directory of segments that are named after it.
///
/// # Errors
/// There is no archive, it cannot be read, or `target` cannot be written.
pub fn write(
    crawl: &Crawl<'_>,
    filter: &Filter,
    settings: CopySettings,
    target: &Path,
    progress: Progress<'_>,
) -> Result<Copied, ExportError> {
    crawl.segments()?;
    if target.to_string_lossy().ends_with(ENDING) {
        let settings = CopySettings { segment_bytes_max: u64::MAX, ..settings };
        let mut one = OneFile { file: PendingFile::create(target)?, path: target };
        let copied = copy(crawl, filter, settings, &mut one, progress)?;
        one.file.finish()?;
        return Ok(copied);
    }
    let dir = PendingDir::create(target)?;
    let stem = target.file_name().unwrap_or("crawl".as_ref()).to_string_lossy().into_owned();
    let mut files = Files { dir: &dir, stem, current: None };
    let copied = copy(crawl, filter, settings, &mut files, progress)?;
    dir.finish()?;
    Ok(copied)
}

struct OneFile<'p> {
    file: PendingFile,
    path: &'p Path,
}

impl Target for OneFile<'_> {
    fn begin(&mut self, _: u32) -> Result<String, ExportError> {
        Ok(self.path.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.file.write_all(bytes).map_err(|error| ExportError::io(self.path, error))
    }

    fn end(&mut self) -> Result<(), ExportError> {
        Ok(())
    }
}

struct Files<'d> {
    dir: &'d PendingDir,
    /// What the names of the segments begin with.
    stem: String,
    current: Option<(PathBuf, BufWriter<File>)>,
}

impl Target for Files<'_> {
    fn begin(&mut self, serial: u32) -> Result<String, ExportError> {
        let name = format!("{}-{serial:05}{ENDING}", self.stem);
        let path = self.dir.path().join(&name);
        let file = File::create_new(&path).map_err(|error| ExportError::io(&path, error))?;
        self.current = Some((path, BufWriter::new(file)));
        Ok(name)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        let Some((path, out)) = &mut self.current else { return Ok(()) };
        out.write_all(bytes).map_err(|error| ExportError::io(path, error))
    }

    fn end(&mut self) -> Result<(), ExportError> {
        let Some((path, mut out)) = self.current.take() else { return Ok(()) };
        out.flush().map_err(|error| ExportError::io(&path, error))
    }
}
