//! The stored inputs of the fuzz target `query`, with the properties it asserts (`docs/fuzzing.md`).

#![expect(clippy::expect_used, reason = "a test may panic")]

#[path = "../../../fuzz/properties/query.rs"]
mod properties;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;

#[test]
fn stored_fuzz_inputs_keep_their_properties() {
    replay::replay("query", properties::hold);
}
