//! The stored inputs of the fuzz target `structured`, with the properties it asserts (`docs/fuzzing.md`).
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

#[path = "../../../fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../fuzz/properties/structured.rs"]
mod structured;

#[test]
fn stored_inputs_keep_their_properties() {
    replay::replay("structured", structured::hold);
}
