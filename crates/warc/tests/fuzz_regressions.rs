//! The stored inputs of the fuzz target `warc`, with the properties it asserts (`docs/fuzzing.md`).

#[path = "../../../fuzz/properties/warc.rs"]
mod properties;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;

#[test]
fn stored_fuzz_inputs_keep_their_properties() {
    replay::replay("warc", properties::hold);
}
