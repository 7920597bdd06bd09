//! What holds for every answer by HTTP/1.1.
//!
//! Input: a byte that says whether HEAD was asked, then the bytes as a server sends them until it closes.

use fetch::{Replayed, read_http1};

/// The default limit on a head, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let Some((first, bytes)) = input.split_first() else { return };
    let is_head = first % 2 == 1;
    let whole = read_http1(bytes, bytes.len().max(1), is_head, HEAD_BYTES_MAX);
    for step_bytes in [1, 7] {
        assert_eq!(read_http1(bytes, step_bytes, is_head, HEAD_BYTES_MAX).ok(), whole.clone().ok(), "{step_bytes}");
    }
    let short = read_http1(bytes, bytes.len().max(1), is_head, bytes.len() / 2);
    if let Ok(short) = &short {
        assert_eq!(Ok(short), whole.as_ref(), "a smaller limit only refuses");
    }
    if let Ok(Replayed { status, head, payload, is_whole }) = &whole {
        assert!((100..=999).contains(status));
        assert!(head.len() <= HEAD_BYTES_MAX && bytes.windows(head.len()).any(|part| part == head));
        assert!(head.len() + payload.len() <= bytes.len(), "nothing is invented");
        assert!(!is_head || (payload.is_empty() && *is_whole), "HEAD has no body");
    }
}
