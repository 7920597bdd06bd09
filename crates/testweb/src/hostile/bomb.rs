//! A gzip stream (RFC 1952) of any decoded size, put together from one compressed block that is repeated.

use std::io::Write;
use std::iter;

use bytes::Bytes;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// Magic, method deflate, no flags, no time, no extra flags, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// An empty block with fixed codes, marked as the last (RFC 1951 section 3.2.6).
const LAST_BLOCK: [u8; 2] = [3, 0];

/// The parts of the stream.
pub(super) struct Bomb {
    start: Bytes,
    block: Bytes,
    blocks: usize,
    end: Bytes,
}

impl Bomb {
    /// A stream that decodes to `start` and then `blocks` times `block`.
    pub fn new(start: &[u8], block: &[u8], blocks: usize) -> Self {
        let (mut crc, mut block_crc) = (Crc::new(), Crc::new());
        crc.update(start);
        block_crc.update(block);
        for _ in 0..blocks {
            crc.combine(&block_crc);
        }
        let trailer = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
        Bomb {
            start: [HEADER.as_slice(), &deflated(start)].concat().into(),
            block: deflated(block).into(),
            blocks,
            end: [LAST_BLOCK.as_slice(), &trailer].concat().into(),
        }
    }

    /// The stream, piece by piece.
    pub fn pieces(&self) -> impl Iterator<Item = Bytes> + use<> {
        iter::once(self.start.clone())
            .chain(iter::repeat_n(self.block.clone(), self.blocks))
            .chain(iter::once(self.end.clone()))
    }
}

/// The bytes compressed on their own up to a byte boundary: blocks that refer to nothing before them, none of them the last.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing to a vector cannot fail.
    let _ = encoder.write_all(bytes).and_then(|()| encoder.flush());
    std::mem::take(encoder.get_mut())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn decodes_to_what_was_asked_for() {
        let bomb = Bomb::new(b"start ", &b"block ".repeat(1000), 50);
        let stream: Vec<u8> = bomb.pieces().flatten().collect();
        let mut decoded = Vec::new();
        flate2::read::GzDecoder::new(&*stream).read_to_end(&mut decoded).unwrap();
        assert_eq!(decoded, [b"start ".to_vec(), b"block ".repeat(50_000)].concat());
        assert!(stream.len() < 10_000, "{}", stream.len());
    }
}
