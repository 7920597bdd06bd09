//! The fuzz target `documents`: `properties/documents.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/documents.rs"]
mod properties;

// A part may be referred to many times.
libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 4096, 64 << 20));
