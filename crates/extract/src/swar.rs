//! Eight bytes looked at as one number, the first one lowest ("SIMD within a register": Lamport, "Multiple Byte Processing
//! with Full-Word Instructions", CACM 1975).
//!
//! Markup is short: names, most values and most texts are. A loop over their bytes costs a branch that nobody can foresee
//! for each of them, a call of a vector search more than what it finds. Bit 7 of each byte marks what was found.

/// One byte eight times.
pub(crate) const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The bytes that are zero.
pub(crate) const fn zeros(word: u64) -> u64 {
    !((word & eight(0x7f)).wrapping_add(eight(0x7f)) | word | eight(0x7f))
}

/// The bytes that are this one.
pub(crate) const fn are(word: u64, byte: u8) -> u64 {
    zeros(word ^ eight(byte))
}

/// The bytes of ASCII that are at least this one, and perhaps others that are no ASCII.
const fn at_least(word: u64, byte: u8) -> u64 {
    (word & eight(0x7f)).wrapping_add(eight(0x80 - byte))
}

/// The bytes that are white space of ASCII, with the vertical tab.
pub(crate) const fn spaces(word: u64) -> u64 {
    let controls = at_least(word, b'\t') & !at_least(word, b'\r' + 1) & !word & eight(0x80);
    controls | are(word, b' ')
}

/// The bytes that are letters of ASCII or digits.
pub(crate) const fn alphanumeric(word: u64) -> u64 {
    let lower = word | eight(0x20);
    let letters = at_least(lower, b'a') & !at_least(lower, b'z' + 1);
    let digits = at_least(word, b'0') & !at_least(word, b'9' + 1);
    (letters | digits) & !word & eight(0x80)
}

/// Those of the [`alphanumeric`] bytes that are letters.
pub(crate) const fn letters(word: u64, alphanumeric: u64) -> u64 {
    // Bit 6 tells them from digits.
    alphanumeric & word << 1
}

/// The bytes that are no ASCII.
pub(crate) const fn beyond_ascii(word: u64) -> u64 {
    word & eight(0x80)
}

/// The first byte that is less than another one, which is 128 at most, and perhaps later ones.
pub(crate) const fn first_below(word: u64, byte: u8) -> u64 {
    word.wrapping_sub(eight(byte)) & !word & eight(0x80)
}

/// The first byte that is this one, and perhaps later ones.
pub(crate) const fn first(word: u64, byte: u8) -> u64 {
    first_below(word ^ eight(byte), 1)
}

/// How many bytes there are before the first one found.
pub(crate) const fn before(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
}

/// All bits of that many bytes, less than eight.
pub(crate) const fn mask(bytes: usize) -> u64 {
    (1 << (8 * bytes)) - 1
}

/// The eight bytes from there on, and zeros behind the end.
#[inline]
pub(crate) fn load(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    match (rest.first_chunk(), bytes.last_chunk()) {
        (Some(all), _) => u64::from_le_bytes(*all),
        (None, _) if rest.is_empty() => 0,
        (None, Some(last)) => u64::from_le_bytes(*last) >> (8 * (8 - rest.len())),
        (None, None) => load_short(rest),
    }
}

/// As [`load`], of less than eight bytes: the first half and the last half of what is there overlap.
fn load_short(bytes: &[u8]) -> u64 {
    let (first, last): (Option<&[u8; 4]>, Option<&[u8; 4]>) = (bytes.first_chunk(), bytes.last_chunk());
    if let (Some(first), Some(last)) = (first, last) {
        let behind = 8 * (bytes.len() - 4);
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << behind;
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_where_it_is() {
        for byte in 0..=255u8 {
            for at in 0..8 {
                for other in [byte.wrapping_add(1), 0xff - byte, byte ^ 1, byte ^ 0x80] {
                    let mut bytes = [other; 8];
                    bytes[at] = byte;
                    let (word, here) = (u64::from_le_bytes(bytes), 0x80 << (8 * at));
                    let expect = |found: u64, is: fn(u8) -> bool| {
                        for (place, byte) in bytes.iter().enumerate() {
                            assert_eq!(found >> (8 * place + 7) & 1 == 1, is(*byte), "{bytes:x?}");
                        }
                    };
                    expect(spaces(word), |byte| matches!(byte, b'\t'..=b'\r' | b' '));
                    expect(alphanumeric(word), |byte| byte.is_ascii_alphanumeric());
                    expect(zeros(word), |byte| byte == 0);
                    expect(beyond_ascii(word), |byte| !byte.is_ascii());
                    assert_eq!(are(word, byte), here);
                    assert_eq!(before(first(word, byte)), at);
                }
            }
        }
    }

    #[test]
    fn what_is_behind_the_end_is_zero() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        for end in 0..=bytes.len() {
            for at in 0..=end {
                let mut expect = [0; 8];
                let length = (end - at).min(8);
                expect[..length].copy_from_slice(&bytes[at..at + length]);
                assert_eq!(load(&bytes[..end], at), u64::from_le_bytes(expect), "{at}..{end}");
            }
        }
    }
}
