//! The fuzz target `cookies`: `properties/cookies.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/cookies.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 512, 1 << 20));
