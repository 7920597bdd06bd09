//! The fuzz target `rules`: `properties/rules.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/rules.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 4096, 16 << 20));
