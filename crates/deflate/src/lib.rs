//! Bytes to gzip members (RFC 1952, RFC 1951): many members of some kilobytes or more each, text for the most part.
//!
//! A [`Compression`] says what matters, the time or the size, and an [`Encoder`] does it. For time there is an encoder of our own, for size a library's.
//!
//! [`GzipEncoder`] compresses in one pass: what is found is written at once, in a code made from what the members before contained. Only where such
//! a code fits badly is one made for the block, which is then compressed again. Why, and what it gains: `docs/decisions/0010-gzip.md`.
//!
//! ```
//! let mut member = Vec::new();
//! deflate::GzipEncoder::new().member(&[b"one part", b", and another"], &mut member)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod code;
mod compression;
mod counts;
mod huffman;
mod output;
mod small;
mod symbols;
mod window;

use std::io::{self, Write};

use code::Code;
pub use compression::{Compression, Encoder};
use counts::{Counts, entropy_bits};
use output::Output;
use window::Window;

/// Blocks of a kind after which their code is made again of what they contained.
const RENEWAL_BLOCKS: u32 = 64;

/// Blocks below this size, in bytes, have a code of their own kind: what is so short is a record's head for the most part, and a page is not.
const SHORT_BYTES: usize = 2_048;

/// About how many bits it takes to tell the code of a block.
const HEADER_BITS: u64 = 600;

/// The part of a block's bits that a code of its own must save: less is not worth the time.
const WORTHWHILE_PART: u64 = 5;

/// The header of a member (RFC 1952, section 2.3): deflate, no name, no time, the fastest algorithm, no particular system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff];

/// Makes gzip members. Memory is bounded: about 300 kB, whatever the members' length.
///
/// The same members in the same order give the same bytes.
pub struct GzipEncoder {
    window: Window,
    output: Output,
    /// Of short blocks.
    short: Experience,
    /// Of all others.
    long: Experience,
}

/// What blocks of a kind contained, and the code that is made of it.
struct Experience {
    /// What they contained, the later the more.
    learned: Counts,
    /// What they contained since the code was made.
    recent: Counts,
    recent_blocks: u32,
    code: Code,
}

impl Default for GzipEncoder {
    fn default() -> GzipEncoder {
        GzipEncoder::new()
    }
}

impl GzipEncoder {
    /// An encoder that has learned nothing yet.
    #[must_use]
    pub fn new() -> GzipEncoder {
        let (window, output) = (Window::new(), Output::new());
        GzipEncoder { window, output, short: Experience::none(), long: Experience::none() }
    }

    /// Writes the parts, one after the other, as one member.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn member(&mut self, parts: &[&[u8]], out: &mut impl Write) -> io::Result<()> {
        self.write(parts, out, GzipEncoder::block)
    }

    /// The same without compression, for what is compressed already.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn stored_member(&mut self, parts: &[&[u8]], out: &mut impl Write) -> io::Result<()> {
        self.write(parts, out, |encoder, is_last| encoder.output.stored(is_last, encoder.window.block()))
    }

    fn write(
        &mut self,
        parts: &[&[u8]],
        out: &mut impl Write,
        mut block: impl FnMut(&mut GzipEncoder, bool),
    ) -> io::Result<()> {
        let mut crc = crc32fast::Hasher::new();
        let mut len = 0_u64;
        self.window.clear();
        self.output.clear();
        self.output.extend(&HEADER);
        for part in parts {
            crc.update(part);
            len += part.len() as u64;
            let mut rest = *part;
            while !rest.is_empty() {
                if self.window.is_full() {
                    block(self, false);
                    out.write_all(self.output.take())?;
                    self.window.slide();
                }
                let taken = self.window.fill(rest);
                rest = &rest[taken..];
            }
        }
        block(self, true);
        self.output.align();
        self.output.extend(&crc.finalize().to_le_bytes());
        self.output.extend(&(len as u32).to_le_bytes());
        out.write_all(self.output.take())
    }

    fn block(&mut self, is_last: bool) {
        let GzipEncoder { window, output, short, long } = self;
        let experience = if window.block().len() < SHORT_BYTES { short } else { long };
        let begin = output.position();
        let mut counts = Counts::ZERO;
        coded(is_last, window, &experience.code, &mut counts, output);
        let (literals, distances) = counts.by_symbol();
        let bits = experience.code.bits(&literals, &distances);
        let best_bits = entropy_bits(&literals) + entropy_bits(&distances) + HEADER_BITS;
        let mut is_own = false;
        if bits > best_bits + best_bits / WORTHWHILE_PART {
            let own = Code::best(&counts);
            is_own = own.bits(&literals, &distances) < bits;
            if is_own {
                output.go_to(begin);
                window.go_back();
                coded(is_last, window, &own, &mut Counts::ZERO.clone(), output);
            }
        }
        let block = window.block();
        if output.bits_since(begin) > Output::stored_bits(block.len()) {
            output.go_to(begin);
            output.stored(is_last, block);
            return;
        }
        experience.add(&counts, is_own);
    }
}

/// Writes the block in a code.
fn coded(is_last: bool, window: &mut Window, code: &Code, counts: &mut Counts, output: &mut Output) {
    code.begin(is_last, output);
    window.compress(code, counts, output);
    code.end(output);
}

impl Experience {
    fn none() -> Experience {
        let code = Code::best(&Counts::ZERO.at_least_one());
        Experience { learned: Counts::ZERO, recent: Counts::ZERO, recent_blocks: 0, code }
    }

    /// Adds what a block contained. Where the code fitted it badly, the next block has another one already.
    fn add(&mut self, counts: &Counts, is_misfit: bool) {
        self.recent.add(counts);
        self.recent_blocks += 1;
        if is_misfit || self.recent_blocks == RENEWAL_BLOCKS {
            self.learned.learn(&self.recent);
            (self.recent, self.recent_blocks) = (Counts::ZERO, 0);
            self.code = Code::best(&self.learned.at_least_one());
        }
    }
}
