//! The stored inputs of the fuzz target `documents`, with the properties it asserts (`docs/fuzzing.md`).
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

#[path = "../../../fuzz/properties/documents.rs"]
mod documents_properties;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;

#[test]
fn stored_inputs_keep_their_properties() {
    replay::replay("documents", documents_properties::hold);
}
