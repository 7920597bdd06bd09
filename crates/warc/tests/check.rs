//! What a check finds in files with one thing wrong each.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod samples;

use samples::{id, records, write};
use std::fs;
use std::path::Path;
use warc::{CheckReport, Damage, Problem, Record, RecordType, Severity};

const RESPONSE: &str = "WARC-Type: response
WARC-Record-ID: <urn:uuid:2>
WARC-Date: 2026-11-21T00:00:00Z
WARC-Target-URI: http://a.example/
Content-Type: application/http; msgtype=response
WARC-Block-Digest: sha1:GQKPSS2BNGZYGOAOXMJKHRG53ZZGNIF4
WARC-Payload-Digest: sha1:6O6EVEC3UI7DCTCIQHMSZLCAUZ2WWR6I";
const BLOCK: &str = "HTTP/1.1 200 OK\r\nA: b\r\n\r\npayload";

fn with_digests(header: &str, block: &str) -> String {
    let payload = block.split_once("\r\n\r\n").map_or(block, |(_, payload)| payload);
    let block_digest = warc::Digest::of(block.as_bytes()).to_string();
    let payload_digest = warc::Digest::of(payload.as_bytes()).to_string();
    header
        .replace("sha1:GQKPSS2BNGZYGOAOXMJKHRG53ZZGNIF4", &block_digest)
        .replace("sha1:6O6EVEC3UI7DCTCIQHMSZLCAUZ2WWR6I", &payload_digest)
}

fn text(version: &str, header: &str, block: &str) -> String {
    let header = header.replace('\n', "\r\n");
    format!("WARC/{version}\r\n{header}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

fn report(bytes: &[u8]) -> CheckReport {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc");
    fs::write(&path, bytes).unwrap();
    warc::check(&path).unwrap()
}

fn problems(report: &CheckReport) -> Vec<(Severity, Problem)> {
    report.findings.iter().map(|finding| (finding.severity, finding.problem.clone())).collect()
}

/// A plain file of one response record in which `from` is replaced by `to`.
fn check(from: &str, to: &str, expect: &[(Severity, Problem)]) {
    let text = text("1.1", &with_digests(RESPONSE, BLOCK), BLOCK);
    assert!(text.contains(from), "{from} is not in the record");
    assert_eq!(problems(&report(text.replacen(from, to, 1).as_bytes())), expect, "{from} -> {to}");
}

#[test]
fn a_right_file_has_no_findings_and_all_records_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    write(&path, &records());
    let report = warc::check(&path).unwrap();
    assert_eq!(report.findings, []);
    assert!(!report.has_errors);
    assert_eq!((report.records, report.file_bytes), (8, fs::metadata(&path).unwrap().len()));
    let counts = report.records_by_type.into_iter().collect::<Vec<_>>();
    let expect = [
        (RecordType::Warcinfo, 1),
        (RecordType::Response, 3),
        (RecordType::Resource, 1),
        (RecordType::Request, 1),
        (RecordType::Metadata, 1),
        (RecordType::Revisit, 1),
    ];
    assert_eq!(counts, expect);
    check("A: b", "A: b", &[]);
}

#[test]
fn an_empty_file_holds_no_record_and_no_error() {
    assert_eq!(report(b""), CheckReport::default());
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    assert!(warc::check(Path::new("/none/such")).is_err());
}

#[test]
fn missing_and_wrong_fields_are_errors() {
    use Problem::{MissingField, WrongField};
    let wrong = |name, value: &str| (Severity::Error, WrongField { name, value: value.into() });
    check("WARC-Type:", "X-Type:", &[(Severity::Error, MissingField("WARC-Type"))]);
    check("WARC-Record-ID:", "X-ID:", &[(Severity::Error, MissingField("WARC-Record-ID"))]);
    check("WARC-Date:", "X-Date:", &[(Severity::Error, MissingField("WARC-Date"))]);
    check("WARC-Target-URI:", "X:", &[(Severity::Error, MissingField("WARC-Target-URI"))]);
    check("WARC-Type: response", "WARC-Type: revisit", &[(Severity::Error, MissingField("WARC-Profile"))]);
    check("<urn:uuid:2>", "urn:uuid:2", &[wrong("WARC-Record-ID", "urn:uuid:2")]);
    check("2026-11-21T00:00:00Z", "yesterday", &[wrong("WARC-Date", "yesterday")]);
    check("http://a.example/", "a.example", &[wrong("WARC-Target-URI", "a.example")]);
}

#[test]
fn digests_that_do_not_match_are_errors_and_unknown_ones_are_warnings() {
    let block = warc::Digest::of(BLOCK.as_bytes()).to_string();
    let payload = warc::Digest::of(b"payload").to_string();
    let broken = Problem::BlockDigest(block.clone());
    check("A: b", "A: c", &[(Severity::Error, broken.clone())]);
    let both = [(Severity::Error, broken.clone()), (Severity::Error, Problem::PayloadDigest(payload.clone()))];
    check("payload\r\n", "payloaf\r\n", &both);

    let unknown = Problem::UnknownDigest { name: "WARC-Block-Digest", value: "md5:00".into() };
    check(&block, "md5:00", &[(Severity::Warning, unknown)]);
    let sha256 = "sha256:239f59ed55e737c77147cf55ad0c1b030b6d7ee748a7426952f9b852d5a935e5";
    check(&payload, sha256, &[]);
    check(&block, &block.to_lowercase(), &[]);

    // With a transfer coding on the body, or as a part of a longer record, nobody knows.
    let coded = BLOCK.replace("A: b", "Transfer-Encoding: chunked");
    let header = with_digests(RESPONSE, &coded).replace(&payload, sha256);
    let of_other = report(text("1.1", &header.replace("239f", "0000"), &coded).as_bytes());
    let unknown = Problem::PayloadUnknown(sha256.replace("239f", "0000"));
    assert_eq!(problems(&of_other), [(Severity::Warning, unknown)]);
    let to = format!("WARC-Segment-Number: 1\r\nWARC-Payload-Digest: {}", payload.replace('A', "B"));
    check(&format!("WARC-Payload-Digest: {payload}"), &to, &[]);
}

#[test]
fn the_payload_of_a_revisit_is_elsewhere() {
    let header = with_digests(RESPONSE, BLOCK).replace("response\n", "revisit\nWARC-Profile: x\n");
    let head = BLOCK.strip_suffix("payload").unwrap();
    let block_digest = |block: &str| warc::Digest::of(block.as_bytes()).to_string();
    let header = header.replace(&block_digest(BLOCK), &block_digest(head));
    assert_eq!(problems(&report(text("1.1", &header, head).as_bytes())), []);
}

#[test]
fn unknown_versions_and_types_are_warnings() {
    check("WARC/1.1", "WARC/1.0", &[]);
    check("WARC/1.1", "WARC/2.0", &[(Severity::Warning, Problem::UnknownVersion("2.0".into()))]);
    let unknown = Problem::UnknownType("reply".into());
    check("WARC-Type: response", "WARC-Type: reply", &[(Severity::Warning, unknown)]);
}

#[test]
fn ids_are_unique_and_concurrent_records_are_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let record = |n| Record::resource(id(n), 0, "http://a.example/", "x/y", b"");
    let records = [record(1).concurrent_to(id(2)).concurrent_to(id(9)), record(2).concurrent_to(id(1)), record(1)];
    let locations = write(&path, &records);
    let report = warc::check(&path).unwrap();
    let expect = [
        (locations[2].offset, Severity::Error, Problem::DuplicateId),
        (0, Severity::Warning, Problem::ConcurrentToElsewhere(id(9).to_string())),
    ];
    let found = report.findings.iter().map(|f| (f.offset, f.severity, f.problem.clone()));
    assert_eq!(found.collect::<Vec<_>>(), expect);
    assert!(report.findings.iter().all(|finding| finding.record_id == Some(id(1).to_string())));
}

/// Not every bit of a gzip member carries content: the time and the system in its header, the
/// bits that fill up the last byte of its data.
#[test]
fn each_flipped_bit_of_a_compressed_file_is_noticed_or_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let locations = write(&path, &records()[..3]);
    let load = || locations.iter().map(|l| warc::read_at(&path, l.offset, 1 << 20).unwrap());
    let loaded = load().collect::<Vec<_>>();
    let bytes = fs::read(&path).unwrap();
    let mut noticed = 0;
    for position in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[position] ^= 1 << (position % 8);
        fs::write(&path, &bytes).unwrap();
        if warc::check(&path).unwrap().has_errors {
            noticed += 1;
        } else {
            assert!(load().eq(loaded.iter().cloned()), "bit at {position}");
        }
    }
    assert!(noticed > bytes.len() - 3 * 8, "only {noticed} of {} noticed", bytes.len());
}

#[test]
fn garbage_between_and_behind_members_is_found_with_its_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let locations = write(&path, &records());
    let bytes = fs::read(&path).unwrap();
    let at = locations[3].offset as usize;
    let with_garbage = [&bytes[..at], b"\x1f\x8b\x08garbage", &bytes[at..], b"more"].concat();
    fs::write(&path, with_garbage).unwrap();
    let report = warc::check(&path).unwrap();
    assert_eq!(report.records, 8);
    let found = report.findings.iter().map(|f| (f.offset, f.problem.clone())).collect::<Vec<_>>();
    let (first, second) = match &found[..] {
        [first, second] => (first, second),
        other => panic!("{other:?}"),
    };
    assert_eq!(first.0, locations[3].offset);
    assert!(matches!(first.1, Problem::Damaged { bytes: 10, .. }), "{first:?}");
    let problem = Problem::Damaged { bytes: 4, damage: Damage::NotARecord };
    assert_eq!(*second, (bytes.len() as u64 + 10, problem));
}
