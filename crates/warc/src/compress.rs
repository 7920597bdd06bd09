//! Compressing a record into one gzip member.

use flate2::Compression;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor};
use std::io::{self, Write};

/// Records up to this many bytes are compressed in one piece, which is twice as fast; longer ones
/// as a stream, so that memory stays bounded whatever their length.
const ONE_PIECE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Level 1: most of what is archived is text, which shrinks to a quarter at any level, or media,
/// which do not shrink at all; the time goes better elsewhere.
const LEVEL: i32 = 1;

/// Payloads of at least this many bytes that are compressed already are not compressed again: the header would have gained
/// some 200 bytes.
const PACKED_BYTES_MIN: usize = 4 * 1024;

/// A compressor with its buffers, used again for each record.
pub(crate) struct MemberCompressor {
    compressor: Compressor,
    plain: Vec<u8>,
    /// Never shorter than before, so that its bytes are not cleared for each record.
    packed: Vec<u8>,
}

impl MemberCompressor {
    pub(crate) fn new() -> MemberCompressor {
        let level = CompressionLvl::new(LEVEL).unwrap_or_default();
        MemberCompressor { compressor: Compressor::new(level), plain: Vec::new(), packed: Vec::new() }
    }

    /// Writes the parts as one gzip member. `is_packed` says that they are compressed for the most part.
    pub(crate) fn write(&mut self, parts: &[&[u8]], is_packed: bool, out: &mut impl Write) -> io::Result<()> {
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        if is_packed && len >= PACKED_BYTES_MIN {
            return write_stream(parts, Compression::none(), out);
        }
        if len > ONE_PIECE_BYTES_MAX {
            return write_stream(parts, Compression::new(LEVEL as u32), out);
        }
        self.plain.clear();
        for part in parts {
            self.plain.extend_from_slice(part);
        }
        let bound = self.compressor.gzip_compress_bound(len);
        if self.packed.len() < bound {
            self.packed.resize(bound, 0);
        }
        let packed_len = self
            .compressor
            .gzip_compress(&self.plain, &mut self.packed)
            .map_err(|error| io::Error::other(error.to_string()))?;
        out.write_all(&self.packed[..packed_len])
    }
}

fn write_stream(parts: &[&[u8]], level: Compression, out: &mut impl Write) -> io::Result<()> {
    let mut gzip = GzEncoder::new(out, level);
    for part in parts {
        gzip.write_all(part)?;
    }
    gzip.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn short_and_long_records_become_one_member_each() {
        let mut compressor = MemberCompressor::new();
        let lens = [0, 1, 100_000, ONE_PIECE_BYTES_MAX - 3, ONE_PIECE_BYTES_MAX + 1];
        for (len, is_packed) in lens.into_iter().flat_map(|len| [(len, false), (len, true)]) {
            let text = (0..len).map(|i| (i / 7 % 251) as u8).collect::<Vec<_>>();
            let mut packed = Vec::new();
            compressor.write(&[b"abc", &text], is_packed, &mut packed).unwrap();
            let is_stored = is_packed && len >= PACKED_BYTES_MIN;
            assert!(
                packed.len() < len / 10 + 100 || (is_stored && packed.len() < len + len / 1_000 + 100),
                "{len} bytes"
            );
            let mut member = flate2::bufread::GzDecoder::new(&packed[..]);
            let mut unpacked = Vec::new();
            member.read_to_end(&mut unpacked).unwrap();
            assert!(unpacked[..3] == *b"abc" && unpacked[3..] == text, "{len} bytes");
            assert!(member.into_inner().is_empty(), "{len} bytes");
        }
    }
}
