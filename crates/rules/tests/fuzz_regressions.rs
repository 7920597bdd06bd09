//! The stored inputs of the fuzz target `rules`, with the properties it asserts (`docs/fuzzing.md`).
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

#[path = "../../../fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../fuzz/properties/rules.rs"]
mod rules;

#[test]
fn stored_inputs_keep_their_properties() {
    replay::replay("rules", rules::hold);
}
