//! `inspect warc`.

use std::io::Write as _;

use ::warc::{Digest, Record, RecordId, RefersTo, Truncated};
use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};

use super::run::Dir;

/// 2026-11-21T00:00:00.123Z
const NOW_MS: u64 = 1_795_219_200_123;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nX-Evil: \x1b[2J\r\n\r\n";

const LISTING: &str = r"      offset     length type         status mime                     date                     digest                                target
           0        302 warcinfo     -      application/warc-fields  2026-11-21T00:00:00.123Z sha1:LY6RYCF6OEB4DFXNBJTHLVD2PEJ6KPWA -
         302        440 response     200    text/html                2026-11-21T00:00:00.123Z sha1:6VMT7HTE2K745SIQUUYG3CKPEJVFD5GH http://a.test/
         742        329 request      -      -                        2026-11-21T00:00:00.123Z sha1:EUNELGVZFJDI5HRJVA4N3ZCCFGSIMTLC http://a.test/
        1071        670 revisit      200    text/html                2026-11-21T00:00:00.123Z sha1:6VMT7HTE2K745SIQUUYG3CKPEJVFD5GH http://a.test/copy
        1741        366 resource     -      image/png                2026-11-21T00:00:00.123Z sha1:J375UEWCMEPC4T7LN4GTIL7LNBOM3AS3 http://a.test/logo
";

const LISTING_JSON: &str = r#"{"inspect":"warc","offset":0,"length":302,"type":"warcinfo","target_uri":null,"date":"2026-11-21T00:00:00.123Z","record_id":"<urn:uuid:01010101-0101-4101-8101-010101010101>","content_length":23,"block_digest":"sha1:LY6RYCF6OEB4DFXNBJTHLVD2PEJ6KPWA","payload_digest":null,"status":null,"mime":"application/warc-fields","truncated":null}
{"inspect":"warc","offset":302,"length":440,"type":"response","target_uri":"http://a.test/","date":"2026-11-21T00:00:00.123Z","record_id":"<urn:uuid:02020202-0202-4202-8202-020202020202>","content_length":81,"block_digest":"sha1:XBAQ6VC3OZCAU36ULFRP7BJROPI2WILA","payload_digest":"sha1:6VMT7HTE2K745SIQUUYG3CKPEJVFD5GH","status":200,"mime":"text/html","truncated":null}
{"inspect":"warc","offset":742,"length":329,"type":"request","target_uri":"http://a.test/","date":"2026-11-21T00:00:00.123Z","record_id":"<urn:uuid:03030303-0303-4303-8303-030303030303>","content_length":32,"block_digest":"sha1:EUNELGVZFJDI5HRJVA4N3ZCCFGSIMTLC","payload_digest":null,"status":null,"mime":null,"truncated":null}
{"inspect":"warc","offset":1071,"length":670,"type":"revisit","target_uri":"http://a.test/copy","date":"2026-11-21T00:00:00.123Z","record_id":"<urn:uuid:04040404-0404-4404-8404-040404040404>","content_length":73,"block_digest":"sha1:RDGABY3XEOXMLP2ZVQHF3YHIFVHSWWXA","payload_digest":"sha1:6VMT7HTE2K745SIQUUYG3CKPEJVFD5GH","status":200,"mime":"text/html","truncated":null}
{"inspect":"warc","offset":1741,"length":366,"type":"resource","target_uri":"http://a.test/logo","date":"2026-11-21T00:00:00.123Z","record_id":"<urn:uuid:05050505-0505-4505-8505-050505050505>","content_length":4,"block_digest":"sha1:J375UEWCMEPC4T7LN4GTIL7LNBOM3AS3","payload_digest":"sha1:J375UEWCMEPC4T7LN4GTIL7LNBOM3AS3","status":null,"mime":"image/png","truncated":"length"}
"#;

const RESPONSE: &str = "\
offset       302
length       440
payload      8 bytes

WARC/1.1
WARC-Type: response
WARC-Record-ID: <urn:uuid:02020202-0202-4202-8202-020202020202>
WARC-Date: 2026-11-21T00:00:00.123Z
WARC-Target-URI: http://a.test/
WARC-Payload-Digest: sha1:6VMT7HTE2K745SIQUUYG3CKPEJVFD5GH
WARC-Block-Digest: sha1:XBAQ6VC3OZCAU36ULFRP7BJROPI2WILA
Content-Type: application/http;msgtype=response
Content-Length: 81

HTTP/1.1 200 OK
Content-Type: text/html; charset=utf-8
X-Evil: \\u{1b}[2J
";

const WARCINFO_JSON: &str = r#"{"inspect":"warc","offset":0,"length":302,"type":"warcinfo","target_uri":null,"date":"2026-11-21T00:00:00.123Z","record_id":"<urn:uuid:01010101-0101-4101-8101-010101010101>","content_length":23,"block_digest":"sha1:LY6RYCF6OEB4DFXNBJTHLVD2PEJ6KPWA","payload_digest":null,"status":null,"mime":"application/warc-fields","truncated":null,"version":"1.1","header":[["WARC-Type","warcinfo"],["WARC-Record-ID","<urn:uuid:01010101-0101-4101-8101-010101010101>"],["WARC-Date","2026-11-21T00:00:00.123Z"],["WARC-Filename","a.warc"],["WARC-Block-Digest","sha1:LY6RYCF6OEB4DFXNBJTHLVD2PEJ6KPWA"],["Content-Type","application/warc-fields"],["Content-Length","23"]],"http_head":null,"fields":"software: argiope/0.1\r\n","payload_bytes":23}
"#;

fn id(n: u8) -> RecordId {
    RecordId::new([n; 16])
}

/// A file with one record of each kind, and where they begin.
fn file() -> (Vec<u8>, Vec<usize>) {
    let (named, date) = (id(2).to_string(), warc::warc_date(NOW_MS));
    let first = RefersTo { id: Some(&named), target_uri: "http://a.test/", date: &date };
    let records = [
        Record::warcinfo(id(1), NOW_MS, "a.warc", &[("software", "argiope/0.1")]),
        Record::response(id(2), NOW_MS, "http://a.test/", HEAD, b"<p>hello"),
        Record::request(id(3), NOW_MS, "http://a.test/", b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", b""),
        Record::revisit(id(4), NOW_MS, "http://a.test/copy", HEAD, Digest::of(b"<p>hello"), &first),
        Record::resource(id(5), NOW_MS, "http://a.test/logo", "image/png", b"\x89PNG").truncated(Truncated::Length),
    ];
    let mut file = Vec::new();
    let offsets = records.iter().map(|record| {
        let offset = file.len();
        record.write_to(&mut file).unwrap();
        offset
    });
    let offsets = offsets.collect();
    (file, offsets)
}

#[test]
fn text_lists_the_records() {
    let dir = Dir::new(&[("a.warc", &file().0)]);
    dir.check(&["warc", "a.warc"], LISTING);
}

#[test]
fn json_gives_one_object_a_record() {
    let dir = Dir::new(&[("a.warc", &file().0)]);
    dir.check(&["warc", "a.warc", "--json"], LISTING_JSON);
}

#[test]
fn a_record_is_shown_in_full() {
    let (file, offsets) = file();
    let dir = Dir::new(&[("a.warc", &file)]);
    dir.check(&["warc", &format!("a.warc:{}", offsets[1])], RESPONSE);
}

#[test]
fn what_a_record_says_about_the_file_is_shown() {
    let dir = Dir::new(&[("a.warc", &file().0)]);
    dir.check(&["warc", "a.warc:0", "--json"], WARCINFO_JSON);
}

#[test]
fn the_file_may_come_from_standard_input() {
    let (file, offsets) = file();
    let dir = Dir::new(&[("a.warc", &file)]);
    for place in ["", ":0", &format!(":{}", offsets[4])] {
        let from_file = dir.run(&["warc", "--json", &format!("a.warc{place}")]);
        let from_stdin = dir.run_with(&["warc", "--json", "--", &format!("-{place}")], &file);
        assert_eq!(from_file, from_stdin, "{place}");
    }
}

#[test]
fn a_file_whose_name_looks_like_an_offset_is_a_file() {
    let dir = Dir::new(&[("a.warc:7", b"")]);
    dir.check(&["warc", "a.warc:7"], "");
    dir.check_failure(&["warc", "a.warc:8"], 1, "argiope: a.warc: No such file or directory");
}

#[test]
fn damage_ends_the_listing() {
    let (file, offsets) = file();
    let cut = offsets[4] + 20;
    let dir = Dir::new(&[("a.warc", &file[..cut])]);
    let run = dir.run(&["warc", "a.warc", "--json"]);
    let damage = format!("argiope: a.warc: damaged record at offset {}: the file ends inside the record\n", offsets[4]);
    assert_eq!((run.code, run.stderr), (Some(1), damage));
    assert_eq!(String::from_utf8(run.stdout).unwrap().lines().count(), 4);
    dir.check_failure(&["warc", "a.warc:1"], 1, "argiope: a.warc: damaged record at offset 1: no record begins here");
    let end = format!("a.warc:{}", cut + 1);
    dir.check_failure(&["warc", &end], 1, &format!("argiope: a.warc: the file ends at or before offset {}", cut + 1));
}

/// Writes a response with these fields and this payload, and expects what `--payload` gives.
fn check_payload(fields: &str, payload: &[u8], expect: &[u8]) {
    let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    // `Record` would rename Transfer-Encoding, so the record is written by hand.
    let length = head.len() + payload.len();
    write!(
        gzip,
        "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: {length}\r\n\r\n{head}"
    )
    .unwrap();
    gzip.write_all(payload).unwrap();
    gzip.write_all(b"\r\n\r\n").unwrap();
    let dir = Dir::new(&[("a.warc.gz", &gzip.finish().unwrap())]);
    let run = dir.run(&["warc", "a.warc.gz:0", "--payload"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{fields}");
    assert_eq!(run.stdout, expect, "{fields}");
}

#[test]
fn the_payload_is_decoded() {
    const TEXT: &[u8] = b"hello, hello, hello";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(TEXT).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(TEXT).unwrap();
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(TEXT).unwrap();
    let zstd = zstd::stream::encode_all(TEXT, 0).unwrap();
    // `hello` in the brotli format (RFC 7932).
    let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
    check_payload("", b"\x00\xff\r\n", b"\x00\xff\r\n");
    check_payload("Content-Encoding: gzip\r\n", &gzip, TEXT);
    check_payload("Content-Encoding: X-GZIP\r\n", &[&gzip[..], &gzip].concat(), &TEXT.repeat(2));
    check_payload("Content-Encoding: deflate\r\n", &zlib.finish().unwrap(), TEXT);
    check_payload("Content-Encoding: deflate\r\n", &deflate.finish().unwrap(), TEXT);
    check_payload("Content-Encoding: br\r\n", &brotli, b"hello");
    check_payload("Content-Encoding: zstd\r\n", &zstd, TEXT);
    check_payload("Content-Encoding: zstd, identity, gzip\r\n", &twice(&zstd), TEXT);
    check_payload("Content-Encoding: gzip\r\n", b"", b"");
}

/// Compressed once more, with gzip.
fn twice(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn chunks_that_an_archive_kept_are_joined() {
    let chunked = "Transfer-Encoding: chunked\r\n";
    check_payload(chunked, b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", b"hello!");
    check_payload(chunked, b"hello", b"hello");
}

#[test]
fn a_payload_that_is_broken_or_of_an_unknown_coding_is_written_as_far_as_it_goes() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let mut coded = twice(b"hello, hello, hello");
    coded.truncate(coded.len() - 4);
    let mut file = Vec::new();
    Record::response(id(1), NOW_MS, "http://a.test/", head, &coded).write_to(&mut file).unwrap();
    let offset = file.len();
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: x-rot13\r\n\r\n";
    Record::response(id(1), NOW_MS, "http://a.test/", head, b"uryyb").write_to(&mut file).unwrap();
    let dir = Dir::new(&[("a.warc", &file)]);
    let run = dir.run(&["warc", "a.warc:0", "--payload"]);
    assert_eq!((run.code, run.stdout.as_slice()), (Some(1), &b"hello, hello, hello"[..]));
    assert!(run.stderr.starts_with("argiope: a.warc: the payload cannot be decoded further: "), "{}", run.stderr);
    let run = dir.run(&["warc", &format!("a.warc:{offset}"), "--payload"]);
    let warning = "argiope: content coding \"x-rot13\" is not known, not decoded\n";
    assert_eq!((run.code, run.stdout.as_slice(), run.stderr.as_str()), (Some(0), &b"uryyb"[..], warning));
}
