//! One gzip member (RFC 1952), decompressed as a stream.
//!
//! The usual decoders run over the end of a member or report only that something was wrong. Here
//! the exact end is needed, for the offset of the next record, and each kind of damage by name.

use crate::error::Damage;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::io::{self, BufRead};

/// The beginning of every member: the two magic bytes, and deflate as the method.
pub(crate) const MAGIC: &[u8] = &[0x1f, 0x8b, 8];

/// The optional parts of a gzip header (extra field, file name, comment) of more bytes than this
/// in all are taken for rubbish.
const OPTIONAL_BYTES_MAX: usize = 128 * 1024;

const FHCRC: u8 = 1 << 1;
const FEXTRA: u8 = 1 << 2;
const FNAME: u8 = 1 << 3;
const FCOMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0xe0;

/// The state of decompression; used again for each member, because it is large.
pub(crate) struct Member {
    inflate: Decompress,
    crc: Crc,
    at: At,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// The header or the data cannot be read.
    Broken,
    Data,
    Trailer,
    End,
}

impl Member {
    pub(crate) fn new() -> Member {
        Member { inflate: Decompress::new(false), crc: Crc::new(), at: At::Broken }
    }

    /// Reads the header of a member.
    pub(crate) fn start(&mut self, input: &mut impl BufRead) -> io::Result<()> {
        self.inflate.reset(false);
        self.crc.reset();
        self.at = At::Broken;
        read_gzip_header(input)?;
        self.at = At::Data;
        Ok(())
    }

    /// Decompresses into `out`, which is not empty. 0 bytes say that the member has ended and its
    /// trailer is right.
    pub(crate) fn read(&mut self, input: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
        while self.at == At::Data {
            let data = input.fill_buf()?;
            let at_end = data.is_empty();
            let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(data, out, FlushDecompress::None);
            let consumed = (self.inflate.total_in() - in_before) as usize;
            let produced = (self.inflate.total_out() - out_before) as usize;
            input.consume(consumed);
            self.crc.update(&out[..produced]);
            match status {
                Ok(Status::StreamEnd) => self.at = At::Trailer,
                Ok(_) if at_end && produced == 0 => return Err(Damage::Truncated.into()),
                Ok(_) => {}
                Err(_) => self.at = At::Broken,
            }
            if produced > 0 {
                return Ok(produced);
            }
        }
        self.read_trailer(input)?;
        Ok(0)
    }

    /// Whether the compressed data was read to its end, so that the next member should follow;
    /// true too when the trailer was wrong.
    pub(crate) fn has_ended(&self) -> bool {
        self.at == At::End
    }

    fn read_trailer(&mut self, input: &mut impl BufRead) -> io::Result<()> {
        match self.at {
            At::Broken => return Err(Damage::Deflate.into()),
            At::End => return Ok(()),
            At::Data | At::Trailer => {}
        }
        let crc = u32::from_le_bytes(read_array(input)?);
        let size = u32::from_le_bytes(read_array(input)?);
        self.at = At::End;
        if crc != self.crc.sum() {
            return Err(Damage::Checksum.into());
        }
        // ISIZE is the length modulo 2^32, and so is the amount.
        if size != self.crc.amount() {
            return Err(Damage::Size.into());
        }
        Ok(())
    }
}

/// RFC 1952 §2.3.
fn read_gzip_header(input: &mut impl BufRead) -> io::Result<()> {
    for magic in MAGIC {
        let [byte] = read_array(input)?;
        if byte != *magic {
            return Err(Damage::NotARecord.into());
        }
    }
    let [flags] = read_array(input)?;
    if flags & RESERVED != 0 {
        return Err(Damage::GzipHeader.into());
    }
    let _time_flags_and_system: [u8; 6] = read_array(input)?;
    if flags & FEXTRA != 0 {
        let len = u16::from_le_bytes(read_array(input)?);
        for _ in 0..len {
            let _: [u8; 1] = read_array(input)?;
        }
    }
    let texts = u32::from(flags & FNAME != 0) + u32::from(flags & FCOMMENT != 0);
    for _ in 0..texts {
        skip_text(input)?;
    }
    if flags & FHCRC != 0 {
        let _: [u8; 2] = read_array(input)?;
    }
    Ok(())
}

/// A text that a zero byte ends.
fn skip_text(input: &mut impl BufRead) -> io::Result<()> {
    for _ in 0..OPTIONAL_BYTES_MAX / 2 {
        if read_array(input)? == [0] {
            return Ok(());
        }
    }
    Err(Damage::GzipHeader.into())
}

fn read_array<const N: usize>(input: &mut impl BufRead) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Damage::Truncated.into()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, GzBuilder};
    use std::io::Write;

    const TEXT: &[u8] = b"the text of a member, the text of a member";

    fn member() -> Vec<u8> {
        let mut gzip = GzBuilder::new()
            .extra(&b"extra"[..])
            .filename("name")
            .comment("comment")
            .write(Vec::new(), Compression::fast());
        gzip.write_all(TEXT).unwrap();
        gzip.finish().unwrap()
    }

    fn read(mut bytes: &[u8]) -> Result<(Vec<u8>, usize), String> {
        let mut read = || {
            let mut member = Member::new();
            member.start(&mut bytes)?;
            let (mut all, mut some) = (Vec::new(), [0; 16]);
            loop {
                match member.read(&mut bytes, &mut some)? {
                    0 => return Ok((all, bytes.len())),
                    n => all.extend_from_slice(&some[..n]),
                }
            }
        };
        read().map_err(|error: io::Error| error.to_string())
    }

    #[test]
    fn a_member_is_read_to_its_exact_end() {
        let mut bytes = member();
        bytes.extend_from_slice(b"next");
        assert_eq!(read(&bytes), Ok((TEXT.to_vec(), 4)));
    }

    #[test]
    fn a_cut_is_noticed_at_every_byte() {
        let bytes = member();
        for len in 0..bytes.len() {
            assert_eq!(read(&bytes[..len]), Err(Damage::Truncated.to_string()), "at {len}");
        }
    }

    #[test]
    fn each_damage_has_its_name() {
        fn check(position: usize, expect: Damage) {
            let mut bytes = member();
            let position = position.checked_rem(bytes.len() + 1).unwrap();
            bytes[position] ^= 0xff;
            assert_eq!(read(&bytes), Err(expect.to_string()), "at {position}");
        }
        let len = member().len();
        check(0, Damage::NotARecord);
        check(3, Damage::GzipHeader);
        check(len - 8, Damage::Checksum);
        check(len - 1, Damage::Size);
    }
}
