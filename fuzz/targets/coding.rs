//! The fuzz target `coding`: `properties/coding.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/coding.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 4096, 67108864));
