//! The content of a sitemap, decompressed if it is gzip, within the limits.

use super::{Limits, Sitemap};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// Up to this size no compression ratio is suspicious, in bytes.
const RATIO_FREE_BYTES: usize = 1 << 20;

/// Known by its magic bytes (RFC 1952, section 2.3.1), whatever the name and the headers say.
pub(super) fn content<'b>(bytes: &'b [u8], limits: &Limits, sitemap: &mut Sitemap) -> Cow<'b, [u8]> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        let kept = bytes.len().min(limits.decoded_bytes_max);
        sitemap.truncated.bytes = kept < bytes.len();
        return Cow::Borrowed(&bytes[..kept]);
    }
    let by_ratio = bytes.len().saturating_mul(limits.ratio_max);
    let bytes_max = limits.decoded_bytes_max.min(by_ratio.max(RATIO_FREE_BYTES));
    let mut content = Vec::new();
    let one_more = bytes_max as u64 + 1;
    let result = MultiGzDecoder::new(bytes).take(one_more).read_to_end(&mut content);
    sitemap.flaws.broken_gzip = result.is_err();
    sitemap.truncated.bytes = content.len() > bytes_max;
    content.truncate(bytes_max);
    Cow::Owned(content)
}
