//! The bytes of records, whether the file is compressed or plain, with the position in the file.

use crate::error::Damage;
use crate::member::{MAGIC, Member};
use std::io::{self, BufRead, Read};

/// How much is decompressed at a time.
const BUFFER_BYTES: usize = 32 * 1024;

/// Records of a file one after the other. While a record in a gzip member is read, the end of the
/// member is the end of the stream.
pub(crate) struct Stream<R> {
    source: Counted<R>,
    member: Member,
    form: Form,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
}

/// How a record is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is.
    Plain,
    /// In a gzip member of its own (WARC 1.1, Annex D).
    Gzip,
}

impl<R: BufRead> Stream<R> {
    /// `position` is where `source` stands in the file.
    pub(crate) fn new(source: R, position: u64) -> Stream<R> {
        Stream {
            source: Counted { source, position },
            member: Member::new(),
            form: Form::Plain,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            at: 0,
            end: 0,
        }
    }

    /// Begins a record at the present position; nothing at the end of the file.
    pub(crate) fn start(&mut self) -> io::Result<Option<Form>> {
        (self.at, self.end) = (0, 0);
        let form = match self.source.fill_buf()?.first() {
            None => return Ok(None),
            Some(byte) if *byte == MAGIC[0] => Form::Gzip,
            Some(b'W') => Form::Plain,
            Some(_) => return Err(Damage::NotARecord.into()),
        };
        self.form = form;
        if form == Form::Gzip {
            self.member.start(&mut self.source)?;
        }
        Ok(Some(form))
    }

    /// The position in the file: behind a record that was read to its end.
    pub(crate) fn position(&self) -> u64 {
        self.source.position
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Reads on to the end of the member, whatever it holds. Its end in the file, when it has
    /// one; a wrong trailer does not matter.
    pub(crate) fn member_end(&mut self) -> io::Result<Option<u64>> {
        if self.form == Form::Plain {
            return Ok(None);
        }
        while !self.member.has_ended() {
            match self.member.read(&mut self.source, &mut self.buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if Damage::in_io(&error).is_some() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.member.has_ended().then_some(self.source.position))
    }
}

impl<R: BufRead> BufRead for Stream<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.form == Form::Plain {
            return self.source.fill_buf();
        }
        if self.at == self.end {
            self.end = self.member.read(&mut self.source, &mut self.buffer)?;
            self.at = 0;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    fn consume(&mut self, amount: usize) {
        match self.form {
            Form::Plain => self.source.consume(amount),
            Form::Gzip => self.at = (self.at + amount).min(self.end),
        }
    }
}

impl<R: BufRead> Read for Stream<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

/// A source that knows its position.
struct Counted<R> {
    source: R,
    position: u64,
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.source.consume(amount);
        self.position += amount as u64;
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(out)?;
        self.position += n as u64;
        Ok(n)
    }
}
