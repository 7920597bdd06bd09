//! Walking over a file that may be damaged: whole records, and the stretches between them.

use crate::error::{Damage, ReadError};
use crate::reader::{Location, Reader, StoredRecord};
use crate::resync::Resync;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A part of a file. The stretches of a file follow each other without gaps.
#[derive(Debug)]
pub enum Stretch<T> {
    /// A whole record, and what the visitor made of it.
    Whole(Location, T),
    /// Bytes that are no whole record.
    Damaged(Location, Damage),
}

/// The walk over a file.
pub struct Walk {
    path: PathBuf,
    file_len: u64,
    reader: Reader<BufReader<File>>,
    position: u64,
    resync: Option<Resync>,
}

/// A record of a file that is walked over.
pub type Visited<'r> = StoredRecord<'r, BufReader<File>>;

impl Walk {
    /// Begins at the beginning of a file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Walk, ReadError> {
        Walk::open_at(path, 0)
    }

    /// Begins at `offset`, at which a record ends.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open_at(path: &Path, offset: u64) -> Result<Walk, ReadError> {
        let reader = Reader::open(path, offset)?;
        let file_len = std::fs::metadata(path).map_err(ReadError::Io)?.len();
        Ok(Walk { path: path.to_owned(), file_len, reader, position: offset, resync: None })
    }

    /// The length of the file in bytes.
    pub(crate) fn file_len(&self) -> u64 {
        self.file_len
    }

    /// The next stretch, nothing at the end of the file. `visit` sees each record before it is
    /// known whether the record is whole; what it does not read is read after it.
    ///
    /// # Errors
    /// The file cannot be read, or a record is longer than `visit` allows. Damage is no error.
    pub fn next<T>(
        &mut self,
        visit: impl FnOnce(&mut Visited<'_>) -> Result<T, ReadError>,
    ) -> Result<Option<Stretch<T>>, ReadError> {
        let offset = self.position;
        match self.whole_record(visit) {
            Ok(None) => Ok(None),
            Ok(Some((location, value))) => {
                self.position = location.offset + location.length;
                Ok(Some(Stretch::Whole(location, value)))
            }
            Err(ReadError::Damaged { damage, .. }) => {
                self.position = self.find_next_record(offset)?;
                let length = self.position - offset;
                self.reader = Reader::open(&self.path, self.position)?;
                Ok(Some(Stretch::Damaged(Location { offset, length }, damage)))
            }
            Err(error) => Err(error),
        }
    }

    fn whole_record<T>(
        &mut self,
        visit: impl FnOnce(&mut Visited<'_>) -> Result<T, ReadError>,
    ) -> Result<Option<(Location, T)>, ReadError> {
        let Some(mut record) = self.reader.next_record()? else {
            return Ok(None);
        };
        let value = visit(&mut record)?;
        Ok(Some((record.finish()?, value)))
    }

    /// Where to go on after the damaged record at `offset`: behind its gzip member, if that has
    /// an end and a record begins there, so that an archive inside the archive is not searched;
    /// else at the next record there seems to be, or the end of the file.
    fn find_next_record(&mut self, offset: u64) -> Result<u64, ReadError> {
        let member_end = self.reader.member_end()?;
        let resync = match &mut self.resync {
            Some(resync) => resync,
            None => {
                let file = fresh::open_to_read(&self.path).map_err(ReadError::Io)?;
                self.resync.insert(Resync::new(file).map_err(ReadError::Io)?)
            }
        };
        if let Some(end) = member_end.filter(|end| *end > offset)
            && (end >= self.file_len || resync.begins_at(end).map_err(ReadError::Io)?)
        {
            return Ok(end);
        }
        let found = resync.next_from(offset + 1).map_err(ReadError::Io)?;
        // A file that grows meanwhile is walked to the length it had.
        Ok(found.unwrap_or(self.file_len).max(offset + 1))
    }
}
