//! The fuzz target `store`: `properties/store.rs` under libFuzzer, and a bound on its memory.
#![no_main]

// The encoding belongs to its crate alone: the target has the files.
#[path = "../../crates/store-embedded/src/bytes.rs"]
mod bytes;
#[expect(dead_code, reason = "the target reads and writes records, and makes nothing of them")]
#[path = "../../crates/store-embedded/src/codec.rs"]
mod codec;
#[path = "../../crates/store-embedded/src/failure.rs"]
mod failure;
mod memory;
#[path = "../../crates/store-embedded/src/packed.rs"]
mod packed;
#[path = "../properties/store.rs"]
mod properties;

/// Room for a packed value, unpacked and packed again: some times the largest, however short it is packed.
const UNPACKED_BYTES: usize = 8 << 20;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 64, UNPACKED_BYTES));
