//! Long values that are compressed before they are written: the engine compresses tables, but neither its journals nor what it holds in
//! memory until a table is written.

use std::io::Read;

/// Bytes from which a value is compressed.
pub(crate) const PACKED_BYTES_MIN: usize = 4 << 10;
/// The largest size of an unpacked value, in bytes. A foreign directory may hold any bytes.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;
/// The fastest level that makes a file of rules three to ten times smaller.
const LEVEL: i32 = 1;

/// The value as it is written; `None` where it is better written as it is.
pub(crate) fn pack(value: &[u8]) -> Option<Vec<u8>> {
    if value.len() < PACKED_BYTES_MIN || value.len() as u64 > UNPACKED_BYTES_MAX {
        return None;
    }
    zstd::bulk::compress(value, LEVEL).ok().filter(|packed| packed.len() < value.len())
}

/// The value that was written so; `None` where it is damaged.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).ok()?.take(UNPACKED_BYTES_MAX + 1);
    decoder.read_to_end(&mut value).ok()?;
    (value.len() as u64 <= UNPACKED_BYTES_MAX).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_and_is_smaller() {
        let value: Vec<u8> = (0..20_000).flat_map(|n| format!("Disallow: /{}/\n", n * 7_919).into_bytes()).collect();
        let packed = pack(&value).expect("smaller");
        assert!(packed.len() * 2 < value.len(), "{} of {}", packed.len(), value.len());
        assert_eq!(unpack(&packed), Some(value));
    }

    #[test]
    fn what_is_short_stays_and_what_is_damaged_is_none() {
        assert_eq!(pack(&[b'a'; PACKED_BYTES_MIN - 1]), None);
        let packed = pack(&[b'a'; 1 << 20]).expect("smaller");
        assert_eq!(unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(unpack(b"no frame"), None);
        let too_long = zstd::bulk::compress(&vec![0; (64 << 20) + 1], LEVEL).expect("compressed");
        assert_eq!(unpack(&too_long), None);
    }
}
