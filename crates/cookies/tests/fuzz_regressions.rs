//! The stored inputs of the fuzz target `cookies`, with the properties it asserts (`docs/fuzzing.md`), and inputs made at random of the words
//! that mean something in them.

#![expect(clippy::expect_used, reason = "a test may panic")]

use proptest::prelude::*;

#[path = "../../../fuzz/properties/cookies.rs"]
mod properties;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;

#[test]
fn stored_fuzz_inputs_keep_their_properties() {
    replay::replay("cookies", properties::hold);
}

proptest! {
    #[test]
    fn inputs_of_meaningful_words_keep_their_properties(words in prop::collection::vec(
        prop::sample::select(vec![
            "a", "b", "=", ";", " ", "\n", "\t", "Domain=", "example.com", ".", "com", "www.", "Path=", "/", "/a", "Secure", "HttpOnly",
            "SameSite=None", "Max-Age=", "Expires=", "0", "-", "1700000001", "Wed, 21 Oct 2026 07:28:00 GMT", "__Host-", "__Secure-", "TRUE",
            "FALSE", "#HttpOnly_", "[", "]", "{", "}", "\"", "\"name\":\"a\"", "\"value\":\"b\"", "\"domain\":\".example.com\"", ",", "ž", "\u{0}",
        ]),
        0..60,
    )) {
        properties::hold(words.concat().as_bytes());
    }
}
