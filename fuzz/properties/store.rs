//! What holds for every record of the embedded store's tables: whatever bytes there are, they are read as a record or called damaged, and a
//! record is written as the same record again.
//!
//! Input: the first byte chooses the table, the rest is the record.

use std::fmt::Debug;

use store::StoreError;
use weburl::{SiteKey, UrlKey};

use crate::codec;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let Some((table, record)) = input.split_first() else { return };
    let key = UrlKey { site: SiteKey(1), url: 2 };
    match table % 9 {
        0 => url(key, record),
        1 => reads_back(record, |bytes| codec::decode_visit(key, bytes), codec::encode_visit),
        2 => reads_back(record, codec::decode_outlinks, |outlinks| codec::encode_outlinks(outlinks)),
        3 => reads_back(record, codec::decode_site, |site| codec::encode_site(site, &site.shapes)),
        4 => reads_back(record, codec::decode_robots, codec::encode_robots),
        5 => reads_back(record, |bytes| codec::decode_segment(1, bytes), codec::encode_segment),
        6 => reads_back(record, codec::decode_seed, codec::encode_seed),
        7 => reads_back(record, codec::decode_progress, codec::encode_progress),
        _ => reads_back(record, codec::decode_shape, |count| codec::encode_shape(*count)),
    }
}

/// How a URL stands is read without the rest of its record, and must agree with it.
fn url(key: UrlKey, record: &[u8]) {
    reads_back(record, codec::decode_url, codec::encode_url);
    if let Ok(whole) = codec::decode_url(record) {
        assert_eq!(codec::decode_standing(key, record).ok(), Some(whole.standing(key)));
    }
}

/// A number may be written in more than one way, so the bytes need not be the same, but they are no more.
fn reads_back<T: Debug + PartialEq>(
    record: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, StoreError>,
    encode: impl Fn(&T) -> Vec<u8>,
) {
    match decode(record) {
        Ok(value) => {
            let written = encode(&value);
            assert!(written.len() <= record.len(), "{value:?}: {written:?}");
            assert_eq!(decode(&written).ok(), Some(value));
        }
        Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}"),
    }
}
