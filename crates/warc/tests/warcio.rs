//! The archive world's own validator reads what we write. It must be installed: a test run that
//! left it out would prove nothing.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod noise;
mod samples;

use noise::noise;
use samples::{NOW_MS, id, records, write};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use warc::{Location, Record};

const INSTALL: &str = "This test needs the WARC validator warcio for python3.\n\
    Install it: `pip install warcio`\n\
    (or on Debian: `python3 -m venv V && V/bin/pip install warcio`, with V/bin first in PATH).";

/// Runs `python3 -m warcio.cli`: the program `warcio` is not always in the PATH.
fn warcio(arguments: &[&str]) -> Output {
    static IS_INSTALLED: LazyLock<bool> = LazyLock::new(|| {
        let import = Command::new("python3").args(["-c", "import warcio"]).output();
        import.is_ok_and(|output| output.status.success())
    });
    assert!(*IS_INSTALLED, "{INSTALL}");
    Command::new("python3").args(["-m", "warcio.cli"]).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

const GZIP_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\
    Content-Encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n";
const LONG_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n";

/// The sample records, one that was chunked and compressed, and one longer than what is
/// compressed in one piece.
fn segment(dir: &Path) -> (PathBuf, Vec<Location>) {
    let path = dir.join(warc::segment_name(NOW_MS, 0));
    let packed = gzip(samples::PAGE);
    let long = noise(5_000_000);
    let mut records = records();
    records.push(Record::response(id(20), NOW_MS, "http://a.example/gzip", GZIP_HEAD, &packed));
    records.push(Record::response(id(21), NOW_MS, "http://a.example/pdf", LONG_HEAD, &long));
    let locations = write(&path, &records);
    (path, locations)
}

#[test]
fn warcio_finds_every_digest_right() {
    let dir = tempfile::tempdir().unwrap();
    let (path, locations) = segment(dir.path());
    let output = warcio(&["check", "-v", text(&path)]);
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(report.matches("digest pass").count(), locations.len() - 1, "{report}");
    assert_eq!(report.matches("not checked (revisit)").count(), 1, "{report}");
    assert!(!report.contains("failed") && output.stderr.is_empty(), "{report}");
}

#[test]
fn warcio_finds_a_wrong_digest_so_that_the_test_above_means_something() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let record = records().swap_remove(1).payload_digest(warc::Digest::of(b"another"));
    write(&path, &[record]);
    let output = warcio(&["check", text(&path)]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("payload digest failed"));
}

#[test]
fn warcio_sees_the_same_records_at_the_same_places() {
    let dir = tempfile::tempdir().unwrap();
    let (path, locations) = segment(dir.path());
    let output = warcio(&["index", "-f", "offset,length,warc-type,http:status", text(&path)]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines = lines.collect::<Vec<_>>();
    let number = |value: &serde_json::Value| value.as_str().unwrap().parse::<u64>().unwrap();
    let places = lines.iter().map(|line| Location { offset: number(&line["offset"]), length: number(&line["length"]) });
    assert_eq!(places.collect::<Vec<_>>(), locations);
    let types = lines.iter().map(|line| line["warc-type"].as_str().unwrap()).collect::<BTreeSet<_>>();
    let expect = ["metadata", "request", "resource", "response", "revisit", "warcinfo"];
    assert_eq!(types, BTreeSet::from(expect));
    assert_eq!(lines[7]["http:status"], "204");
}

/// What a replay tool would show: the payload after content decoding, and not de-chunked again.
#[test]
fn warcio_extracts_the_payload_of_formerly_chunked_responses() {
    let dir = tempfile::tempdir().unwrap();
    let (path, locations) = segment(dir.path());
    let payload = |index: usize| {
        let offset = locations[index].offset.to_string();
        let output = warcio(&["extract", "--payload", text(&path), &offset]);
        assert!(output.status.success());
        output.stdout
    };
    assert_eq!(payload(1), samples::PAGE, "chunked");
    assert_eq!(payload(8), samples::PAGE, "chunked and compressed");
    assert_eq!(payload(6), b"cut", "truncated, bare line feeds");
    assert_eq!(payload(7), b"", "empty");
    assert_eq!(payload(5), b"\x89PNG\r\n\r\n\x00\xff", "resource");
    assert!(payload(9) == noise(5_000_000), "long and not compressible");
}

/// Without the head of bare line feeds: warcio gives it CRLF and keeps the old digest.
#[test]
fn we_read_what_warcio_writes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let copy = dir.path().join("recompressed.warc.gz");
    let records = [&records()[..6], &records()[7..]].concat();
    write(&path, &records);
    let output = warcio(&["recompress", text(&path), text(&copy)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = warc::check(&copy).unwrap();
    assert_eq!((report.findings, report.records), (vec![], records.len() as u64));
    assert_ne!(fs::read(&copy).unwrap(), fs::read(&path).unwrap(), "it was written again");
}
