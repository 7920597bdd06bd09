//! The fuzz target `warc`: `properties/warc.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/warc.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 64, 2 << 20));
