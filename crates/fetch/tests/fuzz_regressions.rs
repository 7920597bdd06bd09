//! The stored inputs of the fuzz targets `http1` and `coding`, with the properties they assert (`docs/fuzzing.md`).

#[path = "../../../fuzz/properties/coding.rs"]
mod coding;
#[path = "../../../fuzz/properties/http1.rs"]
mod http1;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;

#[test]
fn stored_answers_keep_their_properties() {
    replay::replay("http1", http1::hold);
}

#[test]
fn stored_payloads_keep_their_properties() {
    replay::replay("coding", coding::hold);
}
