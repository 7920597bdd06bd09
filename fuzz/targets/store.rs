//! The fuzz target `store`: `properties/store.rs` under libFuzzer, and a bound on its memory.
#![no_main]

// The encoding belongs to its crate alone: the target has the files.
#[expect(dead_code, reason = "the target reads and writes records, and makes nothing of them")]
#[path = "../../crates/store-embedded/src/bytes.rs"]
mod bytes;
#[expect(dead_code, reason = "as above")]
#[path = "../../crates/store-embedded/src/codec.rs"]
mod codec;
mod memory;
#[path = "../properties/store.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 64, 64 << 10));
