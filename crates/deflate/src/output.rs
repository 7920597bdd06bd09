//! Bits on their way out.

/// Bytes that can be held: more than twice of what goes in between two calls of [`Output::take`]. A power of two, so that an index is checked by masking.
const HELD_BYTES: usize = 128 * 1024;

const WORD_BYTES: usize = 8;

/// Bits in the order of RFC 1951, section 3.1.1.
pub(crate) struct Output {
    bytes: Box<[u8; HELD_BYTES + WORD_BYTES]>,
    at: Position,
}

/// A place in the output.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// Whole bytes before it.
    bytes: usize,
    /// Bits behind those.
    rest: u64,
    /// How many those are, at most 7.
    rest_bits: u32,
}

impl Output {
    pub(crate) fn new() -> Output {
        Output { bytes: Box::new([0; HELD_BYTES + WORD_BYTES]), at: Position { bytes: 0, rest: 0, rest_bits: 0 } }
    }

    /// Writes `count` bits, at most 57; those above them are 0.
    pub(crate) fn put(&mut self, bits: u64, count: u32) {
        self.at = self.put_at(self.at, bits, count);
    }

    /// The same at a place that the caller keeps, where there is much to write; [`Output::go_to`] says where it ended.
    #[inline(always)]
    pub(crate) fn put_at(&mut self, at: Position, bits: u64, count: u32) -> Position {
        let rest = at.rest | bits << at.rest_bits;
        let rest_bits = at.rest_bits + count;
        let from = at.bytes & (HELD_BYTES - 1);
        self.bytes[from..from + WORD_BYTES].copy_from_slice(&rest.to_le_bytes());
        Position {
            bytes: at.bytes + (rest_bits / 8) as usize,
            rest: rest >> (rest_bits & 0x38),
            rest_bits: rest_bits % 8,
        }
    }

    /// Fills the byte that was begun.
    pub(crate) fn align(&mut self) {
        self.put(0, self.at.rest_bits.wrapping_neg() % 8);
    }

    /// Writes bytes. What was written before ends with a byte.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes[self.at.bytes..][..bytes.len()].copy_from_slice(bytes);
        self.at.bytes += bytes.len();
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.at = Position { bytes: 0, rest: 0, rest_bits: 0 };
    }

    /// Writes a block of bytes as they are (RFC 1951, section 3.2.4), at most 65,535.
    pub(crate) fn stored(&mut self, is_last: bool, bytes: &[u8]) {
        self.put(u64::from(is_last), 3);
        self.align();
        let len = bytes.len() as u16;
        self.put(u64::from(len) | u64::from(!len) << 16, 32);
        self.extend(bytes);
    }

    /// About how many bits that takes.
    pub(crate) fn stored_bits(len: usize) -> u64 {
        (len as u64 + 5) * 8
    }

    pub(crate) fn position(&self) -> Position {
        self.at
    }

    /// The bits written since.
    pub(crate) fn bits_since(&self, begin: Position) -> u64 {
        (self.at.bytes - begin.bytes) as u64 * 8 + u64::from(self.at.rest_bits) - u64::from(begin.rest_bits)
    }

    /// Goes to a place: what was written behind it is forgotten.
    pub(crate) fn go_to(&mut self, to: Position) {
        self.at = to;
    }

    /// The whole bytes that were written since the last call.
    pub(crate) fn take(&mut self) -> &[u8] {
        let len = std::mem::take(&mut self.at.bytes);
        &self.bytes[..len]
    }
}
