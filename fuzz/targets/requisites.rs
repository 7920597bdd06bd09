//! The fuzz target `requisites`: `properties/requisites.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/requisites.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 256, 1 << 20));
