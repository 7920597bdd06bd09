//! What workers say to each other in a query: whatever comes is refused, or is what it says and reads back as itself.
//!
//! Input: what a connection brings. It is read as a hello, as a message of each kind that is gathered, and as each message in JSON; where a
//! length would have to stand before it, as it is and with its own length before it.

use std::io::Read;
use std::path::Path;

use query_wire::{
    HELLO_BYTES, Hello, MEMBERS_MAX, MESSAGE_BYTES_MAX, Named, PIECE_BYTES_MAX, PartResult, Query, Run, Secret, Start,
    Started, WireError, receive, send,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Asserts it.
pub fn hold(input: &[u8]) {
    hello(input);
    let framed = [&(input.len() as u64).to_le_bytes()[..], input].concat();
    for bytes in [input, &framed] {
        // What the processes of a query gather (argiope::queries::answers).
        message::<Vec<bool>>(bytes);
        message::<Vec<((u64, u64), String)>>(bytes);
        message::<Option<u64>>(bytes);
        message::<u64>(bytes);
        message::<Vec<((u64, u64), u64)>>(bytes);
        message::<([u64; 2], [u64; 2], [Vec<((u64, u64), (u64, u64))>; 2])>(bytes);
        message::<(Vec<((u64, u64), bool)>, Vec<(u64, u64)>)>(bytes);
        message::<Vec<(u64, u64)>>(bytes);
        message::<()>(bytes);
        message::<[Vec<serde_json::Value>; 2]>(bytes);
    }
    if let Some(start) = read_again::<Start>(input) {
        started(&start);
    }
    read_again::<Started>(input);
    read_again::<Run>(input);
    read_again::<PartResult>(input);
}

/// A hello is of a query with its secret only, and there is one way to write it.
fn hello(input: &[u8]) {
    let Some(bytes) = input.first_chunk::<HELLO_BYTES>() else { return };
    let secret = bytes.first_chunk().map(|secret| Secret(*secret)).expect("a hello begins with a secret");
    if let Some(hello) = Hello::from_bytes(bytes, &secret) {
        assert_eq!(hello.to_bytes(&secret), *bytes);
    }
    for bit in 0..128 {
        let mut other = secret;
        other.0[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Hello::from_bytes(bytes, &other), None);
    }
}

/// A message is read whole, and nothing behind it; what is cut is lost.
fn message<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let mut rest = bytes;
    match receive::<T>(&mut rest) {
        Ok(message) => {
            let length = bytes.len() - rest.len();
            assert_eq!(length as u64, 8 + announced(bytes).expect("a length"));
            for cut in [0, 7, 8, length - 1] {
                let cut = cut.min(length - 1);
                assert!(matches!(receive::<T>(&mut &bytes[..cut]), Err(WireError::Lost(_))), "cut at {cut}");
            }
            // Its bytes may come one by one.
            let again = receive::<T>(&mut Slowly(bytes)).expect("the same message");
            let (mut first, mut second) = (Vec::new(), Vec::new());
            send(&mut first, &message).expect("written");
            send(&mut second, &again).expect("written");
            assert_eq!(first, second);
            let mut third = Vec::new();
            send(&mut third, &receive::<T>(&mut &first[..]).expect("read back")).expect("written");
            assert_eq!(first, third);
        }
        Err(WireError::TooLong { bytes: long }) => assert!(Some(long) == announced(bytes) && long > MESSAGE_BYTES_MAX),
        Err(WireError::Lost(_)) => assert!(announced(bytes).is_none_or(|length| (bytes.len() as u64) < 8 + length)),
        Err(_) => {}
    }
}

fn announced(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|length| u64::from_le_bytes(*length))
}

struct Slowly<'a>(&'a [u8]);

impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}

/// What is written of a message reads back as the same.
fn read_again<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(input: &[u8]) -> Option<T> {
    let message: T = serde_json::from_slice(input).ok()?;
    let written = serde_json::to_vec(&message).expect("written");
    assert_eq!(serde_json::from_slice::<T>(&written).expect("read back"), message);
    Some(message)
}

/// What passes its check is a member of a query that can be, and names files of one directory.
fn started(start: &Start) {
    for named in named_in(&start.query) {
        let candidates = named.candidates();
        assert!(candidates.len() <= named.0.len());
        for url in candidates {
            assert!(named.0.iter().any(|text| text == url.as_str()));
        }
    }
    if start.secret().is_err() {
        return;
    }
    assert!(start.index < start.members && start.members <= MEMBERS_MAX);
    assert!(start.id.len() == 32 && start.id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    let dir = Path::new("dir");
    let of_piece = match &start.query {
        Query::Piece { segment, bytes, .. } => {
            assert!(*bytes <= PIECE_BYTES_MAX);
            Some(segment)
        }
        _ => None,
    };
    for segment in start.segments.iter().chain(of_piece) {
        let file = dir.join(segment);
        assert_eq!(
            (file.parent(), file.file_name().and_then(|name| name.to_str())),
            (Some(dir), Some(segment.as_str()))
        );
        assert!(!segment.starts_with('.') && !segment.contains('\0'));
    }
}

fn named_in(query: &Query) -> Vec<&Named> {
    match query {
        Query::PageRank { url, .. } => url.iter().collect(),
        Query::Overlap { urls, .. } | Query::Path { ends: urls } => urls.iter().collect(),
        Query::Links { url } | Query::Row { url } => vec![url],
        Query::Search { .. }
        | Query::Picture { .. }
        | Query::Linking { .. }
        | Query::Contents { .. }
        | Query::Piece { .. } => Vec::new(),
    }
}
