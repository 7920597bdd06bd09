//! The fuzz target `http1`: `properties/http1.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/http1.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 64, 1048576));
