//! Reading records one after the other, in bounded memory.

use crate::error::{Damage, ReadError};
use crate::header::Header;
use crate::http::HttpHead;
use crate::stream::{Form, Stream};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

const FILE_BUFFER_BYTES: usize = 64 * 1024;

/// What ends every record (WARC 1.1 §4).
pub(crate) const RECORD_END: &[u8; 4] = b"\r\n\r\n";

/// Where a record lies in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes as stored, so compressed when the file is.
    pub length: u64,
}

/// The records of a WARC file, WARC 1.0 or 1.1, one gzip member a record or plain.
///
/// Each record's block is streamed; memory use does not depend on the length of a record. After an
/// error the reader is at its end.
pub struct Reader<R> {
    stream: Stream<R>,
    open: Option<Open>,
    failed: bool,
    /// What was wrong with the block of the open record: said again whenever more of it is wanted, because what the
    /// stream would say the second time is another thing.
    damage: Option<Damage>,
}

/// The record that is being read.
#[derive(Clone, Copy)]
struct Open {
    offset: u64,
    declared: u64,
    left: u64,
}

impl Reader<BufReader<File>> {
    /// Reads the file from `offset`, at which a record begins. A symbolic link is refused: the file may be of a directory
    /// that came from somebody else.
    pub fn open(path: impl AsRef<Path>, offset: u64) -> Result<Self, ReadError> {
        Ok(Reader::new(open_at(path, offset)?, offset))
    }
}

/// The bytes of a file from `offset` on. A symbolic link is refused, as by [`Reader::open`].
pub fn open_at(path: impl AsRef<Path>, offset: u64) -> Result<BufReader<File>, ReadError> {
    let mut file = fresh::open_to_read(path.as_ref()).map_err(ReadError::Io)?;
    file.seek(SeekFrom::Start(offset)).map_err(ReadError::Io)?;
    Ok(BufReader::with_capacity(FILE_BUFFER_BYTES, file))
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`, whose next byte is the one at `offset` in its file.
    pub fn new(input: R, offset: u64) -> Reader<R> {
        Reader { stream: Stream::new(input, offset), open: None, failed: false, damage: None }
    }

    /// The next record; nothing at the end of the file. What the caller left unread of the record
    /// before is read and verified first, so its damage may be reported here.
    pub fn next_record(&mut self) -> Result<Option<StoredRecord<'_, R>>, ReadError> {
        if self.failed {
            return Ok(None);
        }
        self.failed = true;
        if self.open.is_some() {
            self.finish()?;
        }
        let offset = self.stream.position();
        match self.start(offset).map_err(|error| ReadError::from_io(offset, error))? {
            None => Ok(None),
            Some(header) => {
                self.failed = false;
                Ok(Some(StoredRecord { reader: self, offset, header }))
            }
        }
    }

    fn start(&mut self, offset: u64) -> io::Result<Option<Header>> {
        let Some(form) = self.stream.start()? else {
            return Ok(None);
        };
        let header = Header::read(&mut self.stream).or_else(|error| self.at_end_of_file(form, error))?;
        let declared = header.content_length();
        self.open = Some(Open { offset, declared, left: declared });
        Ok(Some(header))
    }

    /// A plain file that ends inside a header is cut off; a member that does is wrong.
    fn at_end_of_file(&mut self, form: Form, error: io::Error) -> io::Result<Header> {
        if form == Form::Plain && self.stream.fill_buf()?.is_empty() {
            return Err(Damage::Truncated.into());
        }
        Err(error)
    }

    /// Reads and verifies the rest of the open record.
    fn finish(&mut self) -> Result<Location, ReadError> {
        let offset = self.open.map_or(self.stream.position(), |open| open.offset);
        let result = self.read_to_record_end();
        self.open = None;
        match result {
            Ok(()) => Ok(Location { offset, length: self.stream.position() - offset }),
            Err(error) => {
                self.failed = true;
                Err(ReadError::from_io(offset, error))
            }
        }
    }

    fn read_to_record_end(&mut self) -> io::Result<()> {
        loop {
            let len = self.fill_block()?.len();
            if len == 0 {
                break;
            }
            self.consume_block(len);
        }
        let mut end = [0; RECORD_END.len()];
        let mut filled = 0;
        while filled < end.len() {
            match self.stream.read(&mut end[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        if end[..filled] != RECORD_END[..filled] {
            return Err(Damage::RecordEnd.into());
        }
        let is_plain = self.stream.form() == Form::Plain;
        if filled < end.len() {
            return Err(if is_plain { Damage::Truncated } else { Damage::RecordEnd }.into());
        }
        // At the end of a member, this reads and verifies its trailer.
        if !is_plain && !self.stream.fill_buf()?.is_empty() {
            return Err(Damage::MemberGoesOn.into());
        }
        Ok(())
    }

    /// The next bytes of the block, none at its end.
    fn fill_block(&mut self) -> io::Result<&[u8]> {
        match self.ready_bytes() {
            Ok(0) => Ok(&[]),
            Ok(len) => Ok(&self.stream.fill_buf()?[..len]),
            Err(error) => {
                self.damage = Damage::in_io(&error).cloned();
                self.failed |= self.damage.is_some();
                Err(error)
            }
        }
    }

    /// How many bytes of the block are in the buffer, none at its end.
    fn ready_bytes(&mut self) -> io::Result<usize> {
        if let Some(damage) = &self.damage {
            return Err(damage.clone().into());
        }
        let Some(Open { declared, left, .. }) = self.open.filter(|open| open.left > 0) else {
            return Ok(0);
        };
        let form = self.stream.form();
        let available = self.stream.fill_buf()?.len();
        if available == 0 {
            return Err(match form {
                Form::Plain => Damage::Truncated,
                Form::Gzip => Damage::BlockShort { declared, missing: left },
            }
            .into());
        }
        Ok(usize::try_from(left).map_or(available, |left| left.min(available)))
    }

    fn consume_block(&mut self, amount: usize) {
        self.stream.consume(amount);
        if let Some(open) = &mut self.open {
            open.left = open.left.saturating_sub(amount as u64);
        }
    }

    /// Where the gzip member of the present record ends, when it has an end.
    pub(crate) fn member_end(&mut self) -> Result<Option<u64>, ReadError> {
        self.stream.member_end().map_err(ReadError::Io)
    }
}

/// A record of a file. As a reader it gives the bytes of its block.
pub struct StoredRecord<'r, R> {
    reader: &'r mut Reader<R>,
    offset: u64,
    header: Header,
}

impl<R: BufRead> StoredRecord<'_, R> {
    /// Where the record begins in its file, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The record's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Takes the HTTP head from the beginning of the block. What can be read after it is the
    /// payload. At most [`HTTP_HEAD_BYTES_MAX`](crate::HTTP_HEAD_BYTES_MAX) bytes are taken.
    pub fn read_http_head(&mut self) -> Result<HttpHead, ReadError> {
        let offset = self.offset;
        HttpHead::read(self).map_err(|error| ReadError::from_io(offset, error))
    }

    /// Reads what is left of the record, verifies that it ends as it should (block length, the
    /// empty lines after it, gzip checksum and length), and says where it lies.
    pub fn finish(self) -> Result<Location, ReadError> {
        self.reader.finish()
    }
}

impl<R: BufRead> BufRead for StoredRecord<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_block()
    }

    fn consume(&mut self, amount: usize) {
        self.reader.consume_block(amount);
    }
}

impl<R: BufRead> Read for StoredRecord<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}
