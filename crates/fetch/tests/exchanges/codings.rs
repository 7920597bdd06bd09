//! Content coding: undone where it is known, left alone where not, used as far as it goes where it is broken.

use std::io::Write;

use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use model::{Limits, Truncation};

use crate::client::{note, page, plain, response, with_limits};
use crate::server::answers;

const TEXT: &[u8] = b"The quick brown fox jumps over the lazy dog, again and again and again.";

/// [`TEXT`], 20,000,000 zeros, and 3,000,000 letters in "large window brotli" with a window of 1 GiB, encoded by
/// Google's encoder: there is none among our dependencies.
const BROTLI: &str = "1b4600508d946ee6229093a5fa75d392100d415350616fb001070ed93aec13ce3a6cc0796cf1828bacdbea15a2bec6259a419df6874f61132ea4";
const BROTLI_ZEROS: &str = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd5ffeb3c4e09f0088c302005d9218";
const BROTLI_LARGE_WINDOW: &str = "115efe1ab7e097088bc7020179be2d";

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).expect("memory");
    encoder.finish().expect("memory")
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).expect("memory");
    encoder.finish().expect("memory")
}

fn deflate(data: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(data: &[u8]) -> Vec<u8> {
    zstd::encode_all(data, 3).expect("memory")
}

fn hex(text: &str) -> Vec<u8> {
    HEXLOWER.decode(text.as_bytes()).expect("hex")
}

fn cut(mut data: Vec<u8>, from_end: usize) -> Vec<u8> {
    data.truncate(data.len() - from_end);
    data
}

fn joined(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

/// An answer with `payload` under the fields `encoding`, in chunks of `chunk_bytes`.
fn answer(encoding: &str, payload: &[u8], chunk_bytes: usize) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\n{encoding}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for chunk in payload.chunks(chunk_bytes) {
        answer.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        answer.extend(chunk);
        answer.extend(b"\r\n");
    }
    answer.extend(b"0\r\n\r\n");
    answer
}

async fn check(encoding: &str, payload: Vec<u8>, body: &[u8], words: &str) {
    for chunk_bytes in [1, 7, 100_000] {
        let server = answers(answer(encoding, &payload, chunk_bytes)).await;
        let outcome = plain().fetch(page(&server.url("/"))).await;
        let response = response(&outcome);
        assert_eq!(response.body.escape_ascii().to_string(), body.escape_ascii().to_string(), "{encoding}");
        assert_eq!(outcome.exchanges[0].payload, payload, "{encoding}");
        assert_eq!(response.truncated, None);
        let said = note(response);
        assert!(if words.is_empty() { said.is_empty() } else { said.contains(words) }, "{encoding}: {said}");
    }
}

#[tokio::test]
async fn known_codings_are_undone() {
    check("Content-Encoding: gzip\r\n", gzip(TEXT), TEXT, "").await;
    check("Content-Encoding: x-gzip\r\n", gzip(TEXT), TEXT, "").await;
    check("content-encoding: GZip\r\n", gzip(TEXT), TEXT, "").await;
    check("Content-Encoding: deflate\r\n", zlib(TEXT), TEXT, "").await;
    check("Content-Encoding: deflate\r\n", deflate(TEXT), TEXT, "").await;
    check("Content-Encoding: zstd\r\n", zstd(TEXT), TEXT, "").await;
    check("Content-Encoding: br\r\n", hex(BROTLI), TEXT, "").await;
    check("Content-Encoding: identity\r\n", TEXT.to_vec(), TEXT, "").await;
    check("Content-Encoding: \r\n", TEXT.to_vec(), TEXT, "").await;
    check("", TEXT.to_vec(), TEXT, "").await;
    // A sitemap that is a gzip file is content, not coding.
    check("Content-Type: application/gzip\r\n", gzip(TEXT), &gzip(TEXT), "").await;
}

#[tokio::test]
async fn codings_in_a_row_are_undone_from_the_last() {
    check("Content-Encoding: gzip, zstd\r\n", zstd(&gzip(TEXT)), TEXT, "").await;
    check("Content-Encoding: br\r\nContent-Encoding: gzip\r\n", gzip(&hex(BROTLI)), TEXT, "").await;
    let four = gzip(&zlib(&zstd(&gzip(TEXT))));
    check("Content-Encoding: gzip,, zstd, identity\r\nContent-Encoding: deflate, gzip\r\n", four, TEXT, "").await;
    let five = "Content-Encoding: gzip, gzip, gzip, gzip, gzip\r\n";
    check(five, b"as it is".to_vec(), b"as it is", "more than 4 content codings, not decoded").await;
}

#[tokio::test]
async fn a_transfer_coding_that_nobody_asked_for_is_told() {
    let told = "transfer coding `gzip` was not requested, and is not decoded";
    check("Transfer-Encoding: gzip\r\n", gzip(TEXT), &gzip(TEXT), told).await;
    check("Transfer-Encoding: Identity\r\n", TEXT.to_vec(), TEXT, "").await;
}

#[tokio::test]
async fn unknown_codings_are_left_alone() {
    check("Content-Encoding: compress\r\n", TEXT.to_vec(), TEXT, "`compress` is not known, not decoded").await;
    check("Content-Encoding: gzip, aes128gcm\r\n", gzip(TEXT), &gzip(TEXT), "`aes128gcm` is not known").await;
    check("Content-Encoding: utf-8\r\n", TEXT.to_vec(), TEXT, "`utf-8` is not known").await;
}

#[tokio::test]
async fn streams_in_a_row_and_dirt_behind_them_are_fine() {
    check("Content-Encoding: gzip\r\n", joined(&[gzip(b"one "), gzip(b"two")]), b"one two", "").await;
    check("Content-Encoding: zstd\r\n", joined(&[zstd(b"one "), zstd(b"two")]), b"one two", "").await;
    check("Content-Encoding: gzip\r\n", joined(&[gzip(TEXT), vec![0; 512]]), TEXT, "").await;
    check("Content-Encoding: br\r\n", joined(&[hex(BROTLI), b"dirt".to_vec()]), TEXT, "").await;
    check("Content-Encoding: gzip\r\n", Vec::new(), b"", "").await;
    check("Content-Encoding: br\r\n", Vec::new(), b"", "").await;
}

#[tokio::test]
async fn broken_data_is_used_as_far_as_it_goes() {
    check("Content-Encoding: gzip\r\n", b"<html>not gzip".to_vec(), b"", "broken gzip data").await;
    check("Content-Encoding: zstd\r\n", b"<html>not zstd".to_vec(), b"", "broken zstd data").await;
    check("Content-Encoding: gzip\r\n", cut(gzip(TEXT), 8), TEXT, "compressed data ended early").await;
    check("Content-Encoding: gzip\r\n", joined(&[cut(gzip(TEXT), 8), vec![0; 8]]), TEXT, "broken gzip data").await;
    check("Content-Encoding: br\r\n", hex(BROTLI_LARGE_WINDOW), b"", "broken br data").await;
    let server = answers(answer("Content-Encoding: br\r\n", &cut(hex(BROTLI), 4), 10)).await;
    let outcome = plain().fetch(page(&server.url("/"))).await;
    assert_eq!(note(response(&outcome)), "compressed data ended early");
    assert!(TEXT.starts_with(&response(&outcome).body));
}

#[tokio::test]
async fn bombs_are_cut_at_the_limit_or_at_the_ratio() {
    let zeros = vec![0; 20_000_000];
    for (coding, payload) in [
        ("gzip", gzip(&zeros)),
        ("deflate", zlib(&zeros)),
        ("zstd", zstd(&zeros)),
        ("br", hex(BROTLI_ZEROS)),
        ("gzip, gzip", gzip(&gzip(&zeros))),
        ("gzip, gzip, gzip, gzip", gzip(&gzip(&gzip(&gzip(&zeros))))),
    ] {
        let server = answers(answer(&format!("Content-Encoding: {coding}\r\n"), &payload, 1 << 20)).await;
        let ratio_bytes_max = (payload.len() * 10).max(65_536) + 16_384;
        for (body_bytes_max, ratio, length, cut, words) in [
            (1_000_000, u32::MAX, 1_000_000, Truncation::Length, "longer than 1000000 bytes when decoded"),
            (u64::MAX, 10, ratio_bytes_max, Truncation::Ratio, "decompression ratio over 10"),
        ] {
            let limits = Limits { body_bytes_max, decompression_ratio_max: ratio, ..Limits::default() };
            let outcome = with_limits(limits).fetch(page(&server.url("/"))).await;
            let response = response(&outcome);
            assert_eq!((response.truncated, note(response)), (Some(cut), words), "{coding}");
            assert!(response.body.len() <= length, "{coding}: {} > {length}", response.body.len());
            assert!(response.body.iter().all(|byte| *byte == 0));
        }
    }
}

#[tokio::test]
async fn small_answers_may_be_as_repetitive_as_they_like() {
    let server = answers(answer("Content-Encoding: gzip\r\n", &gzip(&[b'a'; 60_000]), 100)).await;
    let limits = Limits { decompression_ratio_max: 2, ..Limits::default() };
    let outcome = with_limits(limits).fetch(page(&server.url("/"))).await;
    assert_eq!((response(&outcome).body.len(), response(&outcome).truncated), (60_000, None));
}
