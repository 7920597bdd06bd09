//! What holds for every payload with a content coding.
//!
//! Input: a byte that names the coding, then the payload.

use fetch::decode;

const CODINGS: [&str; 6] = ["gzip", "deflate", "br", "zstd", "gzip, br", "identity"];

/// Larger than what most inputs become.
const BYTES_MAX: usize = 1 << 20;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let Some((first, payload)) = input.split_first() else { return };
    let coding = CODINGS[usize::from(*first) % CODINGS.len()];
    let read = |payload: &[u8], bytes_max| decode([coding].into_iter(), payload.to_vec(), bytes_max);
    let whole = read(payload, BYTES_MAX);
    if coding == "identity" {
        assert_eq!(whole, payload);
        return;
    }
    assert!(whole.len() <= BYTES_MAX);
    for bytes_max in [0, 1, whole.len() / 2] {
        let part = read(payload, bytes_max);
        assert!(part.len() <= bytes_max && whole.starts_with(&part), "{coding}: a smaller limit only cuts");
    }
    let cut = read(&payload[..payload.len() / 2], BYTES_MAX);
    assert!(whole.starts_with(&cut) || cut.starts_with(&whole), "{coding}: what came of a part is the beginning");
}
