//! Sixteen bytes looked at at once, by the vectors that every processor has.
//!
//! What is looked for in a page is rarely more than a few blocks away: the code is where it is used, without a call.

use crate::swar;
use memchr::memchr;
use wide::u8x16;

/// Bytes of a block.
pub(crate) const BYTES: usize = 16;

/// Bytes looked at here before it is better to call a search by wider vectors.
const NEAR_BYTES: usize = 128;

/// Which bytes are this one.
#[inline(always)]
pub(crate) fn are(block: u8x16, byte: u8) -> u8x16 {
    block.simd_eq(u8x16::splat(byte))
}

/// Which bytes are this one at most.
#[inline(always)]
pub(crate) fn at_most(block: u8x16, byte: u8) -> u8x16 {
    block.min(u8x16::splat(byte)).simd_eq(block)
}

/// Which bytes are white space of ASCII, with the vertical tab.
#[inline(always)]
pub(crate) fn spaces(block: u8x16) -> u8x16 {
    at_most(block - u8x16::splat(b'\t'), b'\r' - b'\t') | are(block, b' ')
}

/// The block with another byte in these places.
#[inline(always)]
pub(crate) fn with(block: u8x16, places: u8x16, byte: u8) -> [u8; BYTES] {
    places.select(u8x16::splat(byte), block).to_array()
}

/// Where a byte is, which is rarely far.
#[inline(always)]
pub(crate) fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    let mut at = 0;
    // Two at a time: most texts and values are shorter, and whether they are longer than one cannot be foreseen.
    while at < NEAR_BYTES
        && let Some(two) = bytes[at..].first_chunk::<{ 2 * BYTES }>()
    {
        let (two, _) = two.as_chunks();
        let found = mask(are(u8x16::from(two[0]), byte)) | mask(are(u8x16::from(two[1]), byte)) << BYTES;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize);
        }
        at += 2 * BYTES;
    }
    Some(at + memchr(byte, &bytes[at..])?)
}

/// Where the first byte is of those that `which` tells of a block.
#[inline(always)]
pub(crate) fn position(bytes: &[u8], which: impl Fn(u8x16) -> u8x16) -> Option<usize> {
    let first = |block: u8x16| {
        Some(mask(which(block))).filter(|found| *found != 0).map(|found| found.trailing_zeros() as usize)
    };
    let (blocks, rest) = bytes.as_chunks::<BYTES>();
    for (number, block) in blocks.iter().enumerate() {
        if let Some(at) = first(u8x16::from(*block)) {
            return Some(number * BYTES + at);
        }
    }
    if rest.is_empty() {
        return None;
    }
    match bytes.last_chunk() {
        Some(last) => Some(bytes.len() - BYTES + first(u8x16::from(*last))?),
        // What is behind the end is zero.
        None => first(short(bytes)).filter(|at| *at < bytes.len()),
    }
}

/// The block from there on, and zeros behind the end.
#[inline(always)]
pub(crate) fn load(bytes: &[u8], at: usize) -> u8x16 {
    match bytes[at..].first_chunk() {
        Some(block) => u8x16::from(*block),
        None => short(&bytes[at..]),
    }
}

/// Less than a block, and zeros behind.
#[inline(always)]
fn short(bytes: &[u8]) -> u8x16 {
    let mut block = [0; BYTES];
    let (words, _) = block.as_chunks_mut();
    words[0] = swar::load(bytes, 0).to_le_bytes();
    words[1] = swar::load(bytes, bytes.len().min(8)).to_le_bytes();
    u8x16::from(block)
}

/// The first bit of each byte, the first byte lowest.
#[inline(always)]
pub(crate) fn mask(block: u8x16) -> u32 {
    block.to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_near_and_far() {
        for length in 0..300 {
            let mut bytes = vec![b'x'; length];
            assert_eq!(find(&bytes, b'"'), None);
            assert_eq!(position(&bytes, |block| are(block, 0)), None);
            bytes.extend(b"\"\"x");
            assert_eq!(find(&bytes, b'"'), Some(length));
            for behind in 0..3 {
                assert_eq!(position(&bytes[..=length + behind], |block| are(block, b'"')), Some(length));
            }
        }
    }

    #[test]
    fn every_byte_is_compared_as_a_number_without_sign() {
        for byte in 0..=255 {
            for limit in 0..=255 {
                assert_eq!(position(&[byte], |block| at_most(block, limit)).is_some(), byte <= limit, "{byte} {limit}");
                assert_eq!(position(&[byte], |block| are(block, limit)).is_some(), byte == limit, "{byte} {limit}");
            }
        }
    }
}
