//! Members are read as they were written, by two decoders that are not ours.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{self, Read, Write};

use deflate::{Compression, Encoder, GzipEncoder};
use proptest::prelude::*;

/// What a stored block takes beside its bytes (RFC 1951, section 3.2.4), and a member beside its blocks (RFC 1952).
const STORED_BYTES: usize = 5;
const MEMBER_BYTES: usize = 18;

/// The longest blocks of ours, but for the first.
const BLOCK_BYTES: usize = 32 * 1024;

fn member(encoder: &mut GzipEncoder, parts: &[&[u8]]) -> Vec<u8> {
    let mut member = Vec::new();
    encoder.member(parts, &mut member).unwrap();
    member
}

fn check(member: &[u8], expect: &[u8]) {
    let mut gzip = flate2::bufread::GzDecoder::new(member);
    let mut bytes = Vec::new();
    gzip.read_to_end(&mut bytes).unwrap();
    assert!(bytes == expect && gzip.into_inner().is_empty(), "{} bytes, by zlib-rs", expect.len());
    let mut bytes = vec![0; expect.len()];
    let len = libdeflater::Decompressor::new().gzip_decompress(member, &mut bytes).unwrap();
    assert!(len == expect.len() && bytes == expect, "{} bytes, by libdeflate", expect.len());
    let blocks = expect.len().div_ceil(BLOCK_BYTES).max(1);
    assert!(
        member.len() <= expect.len() + blocks * STORED_BYTES + MEMBER_BYTES,
        "{} of {}",
        member.len(),
        expect.len()
    );
}

/// Numbers that are the same in every run (splitmix64), as bytes.
fn noise(len: usize) -> Vec<u8> {
    let mut state = len as u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn any_length_around_the_bounds_is_read_back() {
    let mut encoder = GzipEncoder::new();
    let lens = [
        0, 1, 2, 7, 8, 9, 15, 16, 257, 258, 259, 32_767, 32_768, 32_769, 65_534, 65_535, 65_536, 98_302, 98_303, 98_304,
    ];
    for len in lens.into_iter().chain([500_000]) {
        for bytes in [
            vec![b'a'; len],
            (0..len).map(|i| (i / 7 % 251) as u8).collect(),
            (0..len).map(|i| b"<p>one</p><p class=two>"[i * i % 23]).collect(),
            noise(len),
        ] {
            check(&member(&mut encoder, &[&bytes]), &bytes);
        }
    }
}

#[test]
fn matches_reach_as_far_back_as_the_format_allows() {
    let mut encoder = GzipEncoder::new();
    for (distance, is_found) in [(32_767, true), (32_768, true), (32_769, false)] {
        let noise = noise(1_000);
        let bytes = [&noise[..], &vec![0; distance - noise.len()], &noise].concat();
        let member = member(&mut encoder, &[&bytes]);
        check(&member, &bytes);
        assert_eq!(member.len() < 1_500, is_found, "{distance}");
    }
}

#[test]
fn text_becomes_much_shorter_and_long_repetitions_nearly_nothing() {
    let mut encoder = GzipEncoder::new();
    let text: Vec<u8> = (0..3_000).flat_map(|i| format!("<tr><td>row {i}</td></tr>\n").into_bytes()).collect();
    assert!(member(&mut encoder, &[&text]).len() < text.len() / 5);
    let zeros = vec![0; 1_000_000];
    assert!(member(&mut encoder, &[&zeros]).len() < zeros.len() / 150);
}

#[test]
fn parts_are_joined_and_stored_members_are_stored() {
    let mut encoder = GzipEncoder::new();
    let bytes = noise(200_000);
    let parts = [&bytes[..10], &[], &bytes[10..70_000], &bytes[70_000..]];
    check(&member(&mut encoder, &parts), &bytes);
    let zeros = vec![0; 200_000];
    let mut stored = Vec::new();
    encoder.stored_member(&[&zeros[..1], &zeros[1..]], &mut stored).unwrap();
    check(&stored, &zeros);
    assert!(stored.len() > zeros.len());
}

#[test]
fn the_same_members_in_the_same_order_are_the_same_bytes() {
    let members = || {
        let mut encoder = GzipEncoder::new();
        (0..200_usize).map(|n| member(&mut encoder, &[&noise(n * 10), &vec![n as u8; n]])).collect::<Vec<_>>()
    };
    assert!(members() == members());
}

#[test]
fn a_failure_to_write_is_passed_on_and_the_next_member_is_whole() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut encoder = GzipEncoder::new();
    let bytes = noise(300_000);
    assert_eq!(encoder.member(&[&bytes], &mut Full).unwrap_err().kind(), io::ErrorKind::StorageFull);
    check(&member(&mut encoder, &[&bytes]), &bytes);
}

#[test]
fn small_members_are_no_longer_than_those_of_gzip_and_depend_on_nothing_before() {
    // Texts as they are, since libraries differ by a tenth and more on what is made up.
    const TEXTS: [&str; 3] =
        [include_str!("members.rs"), include_str!("../src/window.rs"), include_str!("../benches/pages.rs")];
    let gzip = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap().len()
    };
    let mut encoder = Encoder::new(Compression::Small);
    let mut small = |bytes: &[u8]| {
        let mut member = Vec::new();
        encoder.member(&[bytes], &mut member).unwrap();
        member
    };
    let first = small(TEXTS[0].as_bytes());
    for text in TEXTS.map(str::as_bytes) {
        let member = small(text);
        check(&member, text);
        assert!(member.len() as f64 <= gzip(text) as f64 * 1.02, "{} of {}", member.len(), gzip(text));
    }
    assert!(first == small(TEXTS[0].as_bytes()));
}

#[test]
fn small_members_have_any_length() {
    let mut encoder = Encoder::new(Compression::Small);
    for len in [0, 1, 70_000, 16 << 20, (16 << 20) + 1] {
        let bytes: Vec<u8> = (0..len).map(|i| (i / 7 % 251) as u8).collect();
        let (one, other) = bytes.split_at(len / 3);
        let mut member = Vec::new();
        encoder.packed_member(&[one, other], &mut member).unwrap();
        check(&member, &bytes);
        assert!(member.len() < len / 50 + 100, "{} of {len}", member.len());
    }
}

const MARKUP: &[&[u8]] = &[b"<div class=\"a\">", b"</div>\n", b"text ", b"\0"];

/// Bytes with something of each kind: letters of few and of many kinds, repetitions near and far.
fn mixed() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        prop::collection::vec(b'a'..b'e', 0..3_000),
        (any::<u8>(), 0..2_000_usize).prop_map(|(byte, len)| vec![byte; len]),
        (0..40_000_usize).prop_map(noise),
        prop::collection::vec(prop::sample::select(MARKUP), 0..2_000).prop_map(|pieces| pieces.concat()),
    ];
    prop::collection::vec((piece, 1..4_usize), 0..6)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, times)| piece.repeat(times)).collect())
}

proptest! {
    #[test]
    fn members_are_read_as_written(all in prop::collection::vec(mixed(), 1..6), cut in any::<prop::sample::Index>()) {
        let mut encoder = GzipEncoder::new();
        for bytes in &all {
            let (one, other) = bytes.split_at(cut.index(bytes.len() + 1));
            check(&member(&mut encoder, &[one, other]), bytes);
            let mut small = Vec::new();
            Encoder::new(Compression::Small).member(&[one, other], &mut small).unwrap();
            check(&small, bytes);
        }
    }
}
