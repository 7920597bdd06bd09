//! Documents of megabytes, each another, of bytes that cannot be compressed.

use bytes::Bytes;

use crate::{Reply, Request};

/// A document has as many bytes as a crawl takes of one.
const DOCUMENT_BYTES: usize = 10_000_000;
/// It is made and sent in pieces of this size.
const PIECE_BYTES: usize = 64 * 1024;

/// The reply of a site: the same document at every path, in chunks if the path is `/chunked`.
pub(super) fn reply(request: &Request) -> Reply {
    if request.path() == "/robots.txt" {
        return Reply::text("");
    }
    let seed = request.host.bytes().fold(1, |hash: u64, byte| hash.wrapping_mul(131).wrapping_add(byte.into()));
    let document = Reply::new(200).header("Content-Type", "application/pdf");
    let document = match request.path() {
        "/chunked" => document,
        _ => document.header("Content-Length", DOCUMENT_BYTES.to_string()),
    };
    document.stream(move || pieces(seed))
}

fn pieces(seed: u64) -> impl Iterator<Item = Bytes> + use<> {
    let mut state = seed;
    // Xorshift (Marsaglia 2003) with a multiplication at its end.
    let mut word = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_le_bytes()
    };
    (0..DOCUMENT_BYTES.div_ceil(PIECE_BYTES)).map(move |number| {
        let bytes = PIECE_BYTES.min(DOCUMENT_BYTES - number * PIECE_BYTES);
        let mut piece: Vec<u8> = std::iter::repeat_with(&mut word).take(bytes.div_ceil(8)).flatten().collect();
        piece.truncate(bytes);
        piece.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_a_document_of_its_own() {
        let document = |seed| pieces(seed).flatten().collect::<Vec<u8>>();
        let [one, two] = [1, 2].map(document);
        assert_eq!((one.len(), two.len()), (DOCUMENT_BYTES, DOCUMENT_BYTES));
        assert!(one != two && one == document(1));
    }
}
