//! The fuzz target `store`: `properties/store.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/store.rs"]
mod properties;

// The encoding belongs to its crate alone: the target has the files.
#[expect(dead_code, reason = "the target reads and writes records, and makes nothing of them")]
#[path = "../../crates/store-embedded/src"]
mod encoding {
    pub(crate) mod bytes;
    pub(crate) mod codec;
    pub(crate) mod failure;
    pub(crate) mod packed;
}
use encoding::{bytes, codec, failure, packed};

/// Room for a packed value, unpacked and packed again: some times the largest, however short it is packed.
const UNPACKED_BYTES: usize = 8 << 20;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 64, UNPACKED_BYTES));
