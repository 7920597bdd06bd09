//! Record ids: what WARC-Record-ID and the fields that refer to it hold.

use data_encoding::HEXLOWER;
use std::fmt;

/// The id of a record, a version 4 UUID (RFC 9562 §5.4), written `<urn:uuid:…>` (WARC 1.1 §5.2).
///
/// The 16 bytes come from the caller, so that a crawl replayed with the same random numbers
/// writes the same file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId([u8; 16]);

impl RecordId {
    /// The id made from 16 random bytes. Six of their 128 bits are overwritten with the UUID's
    /// version and variant; giving back the bytes of an id makes the same id.
    pub fn new(mut bytes: [u8; 16]) -> RecordId {
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        RecordId(bytes)
    }

    /// The 16 bytes of the UUID.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = *b"<urn:uuid:00000000-0000-0000-0000-000000000000>";
        for (bytes, digits) in [(0..4, 10..18), (4..6, 19..23), (6..8, 24..28), (8..10, 29..33), (10..16, 34..46)] {
            HEXLOWER.encode_mut(&self.0[bytes], &mut text[digits]);
        }
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_as_a_version_4_uuid_urn() {
        let zero = RecordId::new([0; 16]).to_string();
        assert_eq!(zero, "<urn:uuid:00000000-0000-4000-8000-000000000000>");
        let ones = RecordId::new([0xff; 16]).to_string();
        assert_eq!(ones, "<urn:uuid:ffffffff-ffff-4fff-bfff-ffffffffffff>");
    }

    #[test]
    fn the_bytes_of_an_id_make_the_same_id() {
        let id = RecordId::new([0xa5; 16]);
        assert_eq!(RecordId::new(*id.as_bytes()), id);
    }
}
