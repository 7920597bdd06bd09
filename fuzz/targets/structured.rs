//! The fuzz target `structured`: `properties/structured.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/structured.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 4096, 16 << 20));
