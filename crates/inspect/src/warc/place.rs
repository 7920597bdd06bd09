//! A WARC file, with or without the offset of a record.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ::warc::ReadError;
use anyhow::anyhow;

use crate::input::{open, unreadable};

/// A file, and where in it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file; `-` is standard input.
    pub file: PathBuf,
    /// Where a record begins, in bytes.
    pub offset: Option<u64>,
}

impl Place {
    /// Takes `FILE:OFFSET` apart. A file that has the whole as its name is that file.
    #[must_use]
    pub fn of(text: &Path) -> Self {
        let whole = || Place { file: text.to_owned(), offset: None };
        match text.to_str().and_then(|text| text.rsplit_once(':')) {
            Some((file, digits))
                if !file.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && !text.exists() =>
            {
                digits.parse().map_or_else(|_| whole(), |offset| Place { file: file.into(), offset: Some(offset) })
            }
            _ => whole(),
        }
    }

    /// Opens the file at an offset.
    pub(super) fn open(&self, offset: u64) -> anyhow::Result<Box<dyn BufRead>> {
        if self.file == Path::new("-") {
            let mut input = io::stdin().lock();
            io::copy(&mut input.by_ref().take(offset), &mut io::sink())?;
            return Ok(Box::new(input));
        }
        let mut file = open(&self.file)?;
        file.seek(SeekFrom::Start(offset)).map_err(|error| unreadable(&self.to_string(), &error))?;
        Ok(Box::new(BufReader::new(file)))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file == Path::new("-") { f.write_str("standard input") } else { self.file.display().fmt(f) }
    }
}

/// Why a file could not be read on, in one line.
pub(super) fn failed(place: &Place, error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Io(error) => unreadable(&place.to_string(), &error),
        error => anyhow!("{place}: {error}"),
    }
}
