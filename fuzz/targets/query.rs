//! The fuzz target `query`: `properties/query.rs` under libFuzzer, and a bound on its memory: whatever length is announced.
#![no_main]

mod memory;
#[path = "../properties/query.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 256, 64 << 10));
