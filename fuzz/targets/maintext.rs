//! The fuzz target `maintext`: `properties/maintext.rs` under libFuzzer, and a bound on its memory.
#![no_main]

mod memory;
#[path = "../properties/maintext.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| memory::bounded(input, properties::hold, 4_096, 4 << 20));
