//! The stored inputs of the fuzz target `maintext`, with the properties it asserts (`docs/fuzzing.md`).

#[path = "../../../fuzz/properties/maintext.rs"]
mod maintext_properties;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;

#[test]
fn stored_inputs_keep_their_properties() {
    replay::replay("maintext", maintext_properties::hold);
}
