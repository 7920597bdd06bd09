//! Records for tests, with fixed ids and a fixed clock.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use warc::{Digest, Location, Record, RecordId, RefersTo, SegmentWriter, Truncated};

/// 2026-11-21T00:00:00.123Z
pub const NOW_MS: u64 = 1_795_219_200_123;

pub const PAGE: &[u8] = b"<title>Hello</title>";
pub const PAGE_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

pub fn id(n: u8) -> RecordId {
    RecordId::new([n; 16])
}

/// A record of each type that is written, and the odd cases: chunked, truncated, binary, empty.
pub fn records() -> Vec<Record<'static>> {
    let date = warc::warc_date(NOW_MS);
    let first = RefersTo {
        id: Some("<urn:uuid:02020202-0202-4202-8202-020202020202>"),
        target_uri: "http://a.example/",
        date: &date,
    };
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    vec![
        Record::warcinfo(
            id(1),
            NOW_MS,
            "a.warc.gz",
            &[("software", "argiope/0.1"), ("format", "WARC File Format 1.1")],
        ),
        Record::response(id(2), NOW_MS, "http://a.example/", PAGE_HEAD, PAGE).warcinfo_id(id(1)).ip_address(local),
        Record::request(id(3), NOW_MS, "http://a.example/", b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", b"")
            .concurrent_to(id(2)),
        Record::revisit(id(4), NOW_MS, "http://a.example/copy", PAGE_HEAD, Digest::of(PAGE), &first).ip_address(local),
        Record::metadata(id(5), NOW_MS, "http://a.example/", "application/warc-fields", b"fetchTimeMs: 12\r\n")
            .concurrent_to(id(2)),
        Record::resource(id(6), NOW_MS, "http://a.example/logo", "image/png", b"\x89PNG\r\n\r\n\x00\xff"),
        Record::response(id(7), NOW_MS, "http://a.example/long", b"HTTP/1.1 200 OK\nContent-Length: 9\n\n", b"cut")
            .truncated(Truncated::Length)
            .identified_payload_type("text/plain"),
        Record::response(id(8), NOW_MS, "http://a.example/none", b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    ]
}

/// Writes the records as a segment.
pub fn write(path: &Path, records: &[Record<'_>]) -> Vec<Location> {
    let mut segment = SegmentWriter::create(path).unwrap();
    let locations = records.iter().map(|record| segment.append(record).unwrap()).collect();
    let len = segment.sync().unwrap();
    assert_eq!(len, std::fs::metadata(path).unwrap().len());
    locations
}
