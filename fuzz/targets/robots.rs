//! The fuzz target `robots`: `properties/robots.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/robots.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 64, 64 << 10));
