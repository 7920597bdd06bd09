//! Long values that are compressed before they are written: the engine compresses tables, but neither its journals nor what it holds in
//! memory until a table is written.

use std::io::Read;

/// Bytes from which a value is compressed.
pub(crate) const PACKED_BYTES_MIN: usize = 4 << 10;
/// The largest size of an unpacked value, in bytes: twice that of a robots.txt. A foreign directory may hold any bytes.
const UNPACKED_BYTES_MAX: u64 = 1 << UNPACKED_LOG_MAX;
/// Its binary logarithm, which bounds the memory of the decoder too.
const UNPACKED_LOG_MAX: u32 = 20;
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
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).ok()?;
    decoder.window_log_max(UNPACKED_LOG_MAX).ok()?;
    decoder.take(UNPACKED_BYTES_MAX + 1).read_to_end(&mut value).ok()?;
    (value.len() as u64 <= UNPACKED_BYTES_MAX).then_some(value)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

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
        let too_long = zstd::bulk::compress(&vec![0; (1 << UNPACKED_LOG_MAX) + 1], LEVEL).expect("compressed");
        assert_eq!(unpack(&too_long), None);
    }

    #[test]
    fn a_frame_that_asks_for_more_memory_than_a_value_takes_is_none() {
        let with_window = |log: u32| {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL).expect("memory");
            encoder.window_log(log).expect("a window");
            encoder.write_all(b"Disallow: /\n").expect("memory");
            encoder.finish().expect("memory")
        };
        assert!(unpack(&with_window(UNPACKED_LOG_MAX)).is_some());
        assert_eq!(unpack(&with_window(UNPACKED_LOG_MAX + 1)), None);
    }
}
