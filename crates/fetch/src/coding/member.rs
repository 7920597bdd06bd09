//! A gzip payload that is there as a whole, decoded at once: by libdeflate, in a fraction of the time that a stream takes.

use libdeflater::Decompressor;
use memchr::memmem;

/// The flag of a head with a checksum of its own (RFC 1952 §2.3.1), which libdeflate does not look at.
const FHCRC: u8 = 1 << 1;

/// The first byte of a member.
const MAGIC: u8 = 0x1f;

/// So many bytes a byte of deflate data can become at most: a match of 258 bytes takes two bits or more (RFC 1951 §3.2.5).
const RATIO_MAX: usize = 258 * 8 / 2;

/// A payload that by its ends is a single member.
pub(crate) struct Member<'a> {
    payload: &'a [u8],
    /// What it says that it decodes to, in bytes.
    pub(crate) length: usize,
}

impl<'a> Member<'a> {
    /// `None` if the ends already say that it takes a stream.
    pub(crate) fn of(payload: &'a [u8]) -> Option<Self> {
        let [MAGIC, 0x8b, 8, flags, .., a, b, c, d] = payload else { return None };
        let length = usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).ok()?;
        let is_possible = length <= payload.len().saturating_mul(RATIO_MAX);
        (is_possible && flags & FHCRC == 0).then_some(Member { payload, length })
    }

    /// Decodes to `body`, which is empty, the bytes that a stream decodes to. False, and `body` left empty, where that takes the
    /// stream to say.
    pub(crate) fn decode(&self, body: &mut Vec<u8>) -> bool {
        if self.is_followed() {
            return false;
        }
        // Memory that is asked for with zeros in it comes in new pages, and their faults take as long as the decoding.
        body.resize(self.length, 0);
        let is_whole = Decompressor::new().gzip_decompress(self.payload, body) == Ok(self.length);
        if !is_whole {
            body.clear();
        }
        is_whole
    }

    /// False only if what may be behind a first member is dirt to the stream as well: libdeflate does not look at it. A first
    /// member that ends before the payload ends with the same length, and another begins with [`MAGIC`].
    fn is_followed(&self) -> bool {
        let [.., a, b, c, d] = self.payload else { return false };
        memmem::find(self.payload, &[*a, *b, *c, *d, MAGIC]).is_some()
    }
}
