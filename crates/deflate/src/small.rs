//! Members that are as short as those of gzip at its default level, by libraries: our own encoder is made for speed.

use std::io::{self, Write};

use flate2::GzBuilder;
use libdeflater::{CompressionLvl, Compressor};

/// libdeflate's level: the first whose members are no longer than those of `gzip -6` (`docs/decisions/0010-gzip.md`).
const LEVEL: i32 = 6;

/// Members of up to so many bytes are compressed at once; longer ones in steps, so that memory is bounded. 16 MiB.
const WHOLE_BYTES_MAX: usize = 16 << 20;

/// The level of zlib-rs for longer members.
const STREAM_LEVEL: u32 = 9;

/// Makes gzip members that are short. Memory is bounded: about twice [`WHOLE_BYTES_MAX`], whatever the members' length.
///
/// A member depends on its bytes only, and on none before it.
pub(crate) struct SmallEncoder {
    compressor: Compressor,
    /// The parts of a member together, since libdeflate wants its input in one piece.
    whole: Vec<u8>,
    member: Vec<u8>,
}

impl SmallEncoder {
    pub(crate) fn new() -> SmallEncoder {
        let level = CompressionLvl::new(LEVEL).unwrap_or_default();
        SmallEncoder { compressor: Compressor::new(level), whole: Vec::new(), member: Vec::new() }
    }

    pub(crate) fn member(&mut self, parts: &[&[u8]], out: &mut impl Write) -> io::Result<()> {
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        if len > WHOLE_BYTES_MAX {
            return streamed(parts, out);
        }
        self.whole.clear();
        parts.iter().for_each(|part| self.whole.extend_from_slice(part));
        self.member.resize(self.compressor.gzip_compress_bound(len), 0);
        let len = self.compressor.gzip_compress(&self.whole, &mut self.member).map_err(io::Error::other)?;
        out.write_all(&self.member[..len])
    }
}

fn streamed(parts: &[&[u8]], out: &mut impl Write) -> io::Result<()> {
    let mut gzip = GzBuilder::new().write(out, flate2::Compression::new(STREAM_LEVEL));
    parts.iter().try_for_each(|part| gzip.write_all(part))?;
    gzip.finish().map(drop)
}
