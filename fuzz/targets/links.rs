//! The fuzz target `links`: `properties/links.rs` under libFuzzer. Its memory is that of html5ever's trees, and has no bound.
#![no_main]

#[path = "../properties/links.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::hold(input));
