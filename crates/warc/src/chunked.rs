//! The chunked transfer coding (RFC 9112 §7.1) in records. A payload has none (WARC 1.1 §2), but wget and warcio keep it.

use std::io::{self, BufRead, Read};

use crate::HttpHead;

/// The longest line of a chunk's size with its extensions, in bytes.
const SIZE_LINE_BYTES_MAX: u64 = 4 << 10;

/// Reads what the chunks hold.
#[derive(Debug)]
pub struct Chunked<R> {
    source: R,
    /// Bytes left of the chunk.
    left: u64,
    state: State,
}

#[derive(Debug, PartialEq)]
enum State {
    First,
    Within,
    Ended,
}

/// Whether a body with this head and this beginning is in chunks. Some tools remove the coding but keep the field that names it.
#[must_use]
pub fn is_chunked(head: &HttpHead, body: &[u8]) -> bool {
    let names_it =
        head.get("Transfer-Encoding").is_some_and(|codings| codings.to_ascii_lowercase().contains("chunked"));
    names_it && begins_chunk(body)
}

fn begins_chunk(bytes: &[u8]) -> bool {
    let line = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    line.ends_with(b"\n") && size(line).is_some()
}

impl<R: BufRead> Chunked<R> {
    /// Reads a body from the beginning of its first chunk.
    pub fn new(source: R) -> Self {
        Chunked { source, left: 0, state: State::First }
    }

    /// Goes to the next chunk. What follows the last one is not looked at.
    fn next_chunk(&mut self) -> io::Result<()> {
        if self.state == State::Within {
            self.line()?;
        }
        let line = self.line()?;
        self.left = size(&line).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no chunk begins here"))?;
        self.state = if self.left == 0 { State::Ended } else { State::Within };
        Ok(())
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.source.by_ref().take(SIZE_LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        Ok(line)
    }
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && self.state != State::Ended {
            self.next_chunk()?;
        }
        if self.state == State::Ended || out.is_empty() {
            return Ok(0);
        }
        let length = self.source.by_ref().take(self.left).read(out)?;
        if length == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the payload ends inside a chunk"));
        }
        self.left -= length as u64;
        Ok(length)
    }
}

/// The size in the line above a chunk.
fn size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| matches!(byte, b';' | b'\r' | b'\n' | b' ' | b'\t')).next()?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(coded: &str, expect: Result<&str, &str>) {
        assert_eq!(begins_chunk(coded.as_bytes()), expect != Err("no chunk begins here"), "{coded:?}");
        let mut out = String::new();
        let read = Chunked::new(coded.as_bytes()).read_to_string(&mut out);
        assert_eq!(
            read.map(|_| out.as_str()).map_err(|error| error.to_string()),
            expect.map_err(str::to_owned),
            "{coded:?}"
        );
    }

    #[test]
    fn chunks_are_joined() {
        check("0\r\n\r\n", Ok(""));
        check("3\r\nabc\r\n0\r\n\r\n", Ok("abc"));
        check("3\nabc\n0\n\n", Ok("abc"));
        check("A;x=y\r\n0123456789\r\n1 \r\n!\r\n0\r\nTrailer: x\r\n\r\n", Ok("0123456789!"));
    }

    #[test]
    fn broken_chunks_are_errors() {
        check("", Err("no chunk begins here"));
        check("<html>\r\n", Err("no chunk begins here"));
        check("ffffffffffffffffff\r\n", Err("no chunk begins here"));
        check("5\r\nabc", Err("the payload ends inside a chunk"));
    }
}
