//! Records as they are, not compressed.

use warc::Record;

/// The bytes of the records.
pub fn plain(records: &[Record<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    records.iter().for_each(|record| record.write_to(&mut bytes).unwrap());
    bytes
}
