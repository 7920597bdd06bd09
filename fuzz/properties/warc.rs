//! What holds for every file that is read as WARC.
//!
//! Input: the file. One that is not compressed is read a second time with each record in a gzip member, because a
//! fuzzer seldom gets a checksum right.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use warc::{CheckReport, Header, Location, Problem, ReadError, Reader, Repair, RepairError};

/// Buffers so small that every record is met in pieces, and the usual one.
const BUFFERS_BYTES: [usize; 3] = [1, 7, 64 * 1024];

/// A record, and where it is.
#[derive(Debug, PartialEq, Eq)]
struct Read1 {
    location: Location,
    header: Header,
    block: Vec<u8>,
}

/// The whole records from the beginning of a file, and the damage that ends them.
type Readout = (Vec<Read1>, Option<String>);

/// Asserts it.
pub fn hold(input: &[u8]) {
    let Ok(dir) = tempfile::tempdir() else { panic!("no temporary directory") };
    file_holds(input, &dir.path().join("plain"));
    if input.starts_with(b"W") {
        file_holds(&in_members(input), &dir.path().join("members"));
    }
}

/// The file with a gzip member for what lies between two places where a record may begin.
fn in_members(plain: &[u8]) -> Vec<u8> {
    const BOUNDARY: &[u8] = b"\r\n\r\nWARC/";
    let mut out = Vec::new();
    let mut rest = plain;
    while !rest.is_empty() {
        let found = rest.windows(BOUNDARY.len()).position(|window| window == BOUNDARY);
        let (record, after) = rest.split_at(found.map_or(rest.len(), |at| at + 4));
        let mut gzip = GzEncoder::new(&mut out, Compression::fast());
        let Ok(()) = gzip.write_all(record).and_then(|()| gzip.try_finish()) else { panic!("a Vec takes all bytes") };
        drop(gzip);
        rest = after;
    }
    out
}

fn file_holds(bytes: &[u8], path: &Path) {
    write(path, bytes);
    let [tiny, small, usual] = BUFFERS_BYTES.map(|buffer| read_all(BufReader::with_capacity(buffer, bytes)));
    assert_eq!(tiny, usual, "the buffer's size changes nothing");
    assert_eq!(small, usual, "the buffer's size changes nothing");
    let (records, damage) = usual;
    records_lie_one_behind_the_other(&records, damage.is_none(), bytes.len());
    skipping_is_reading(bytes, &records, damage.as_ref());
    each_record_can_be_loaded(path, &records);
    the_index_knows_whole_records(path, &records, damage.is_none());
    let report = checked(path);
    assert_eq!(report.file_bytes, bytes.len() as u64);
    assert!(report.records >= records.len() as u64);
    assert_eq!(damages(&report) == 0, damage.is_none(), "{damage:?} {report:?}");
    repairing_keeps_whole_records(path, bytes, &report);
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn checked(path: &Path) -> CheckReport {
    warc::check(path).unwrap_or_else(|error| panic!("{error}"))
}

fn damages(report: &CheckReport) -> usize {
    report.findings.iter().filter(|finding| matches!(finding.problem, Problem::Damaged { .. })).count()
}

fn read_all(input: impl BufRead) -> Readout {
    let mut reader = Reader::new(input, 0);
    let mut records = Vec::new();
    let damage = loop {
        match next_record(&mut reader) {
            Ok(Some(record)) => records.push(record),
            Ok(None) => break None,
            Err(error @ ReadError::Damaged { .. }) => break Some(error.to_string()),
            Err(error) => panic!("bytes in memory can always be read: {error}"),
        }
    };
    assert!(matches!(reader.next_record(), Ok(None)), "after the end there is nothing");
    (records, damage)
}

fn next_record(reader: &mut Reader<impl BufRead>) -> Result<Option<Read1>, ReadError> {
    let Some(mut record) = reader.next_record()? else { return Ok(None) };
    let header = record.header().clone();
    let mut block = Vec::new();
    if header.holds_http() {
        block.extend_from_slice(record.read_http_head()?.bytes());
    }
    // Damage is told again, with its offset, by `finish`.
    let _ = record.read_to_end(&mut block);
    let location = record.finish()?;
    Ok(Some(Read1 { location, header, block }))
}

fn records_lie_one_behind_the_other(records: &[Read1], is_whole: bool, file_bytes: usize) {
    let mut end = 0;
    for Read1 { location, header, block } in records {
        assert_eq!(location.offset, end);
        assert!(location.length > 0);
        assert_eq!(block.len() as u64, header.content_length());
        end += location.length;
    }
    assert!(end <= file_bytes as u64);
    assert_eq!(end == file_bytes as u64, is_whole, "{end} of {file_bytes} bytes");
}

/// Records that nobody reads are verified all the same.
fn skipping_is_reading(bytes: &[u8], records: &[Read1], damage: Option<&String>) {
    let mut reader = Reader::new(bytes, 0);
    let mut seen = 0;
    let found = loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                assert!(records.get(seen).is_none_or(|read| *record.header() == read.header));
                seen += 1;
            }
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!(found.as_ref(), damage);
    assert!(seen >= records.len());
}

fn each_record_can_be_loaded(path: &Path, records: &[Read1]) {
    for read in records {
        let Location { offset, .. } = read.location;
        let loaded = warc::read_at(path, offset, read.block.len() as u64).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((loaded.location, &loaded.header, &loaded.block), (read.location, &read.header, &read.block));
        let (head, payload) = loaded.http_parts();
        assert_eq!(head.len() + payload.len(), loaded.block.len());
        if let Some(less) = (read.block.len() as u64).checked_sub(1) {
            let refused = warc::read_at(path, offset, less);
            assert!(matches!(refused, Err(ReadError::TooLong { .. })), "{refused:?}");
        }
    }
}

fn the_index_knows_whole_records(path: &Path, records: &[Read1], is_whole: bool) {
    let lines = warc::index(path);
    assert_eq!(lines.is_ok(), is_whole);
    for line in lines.unwrap_or_default() {
        assert!(records.iter().any(|read| read.location == line.location), "{line}");
        let text = line.to_string();
        // RFC 8259 §7: in JSON they are escaped.
        assert!(!text.contains(|c| c < ' '), "{text:?}");
        let mut parts = text.splitn(3, ' ');
        let mut next = || parts.next().unwrap_or_default();
        let (key, date, json) = (next(), next(), next());
        assert!(!key.is_empty() && !key.contains(char::is_whitespace), "{text:?}");
        assert!(date.len() == 14 && date.bytes().all(|byte| byte.is_ascii_digit()), "{text:?}");
        let object: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(object["url"], line.url.as_str());
        assert_eq!(object["offset"], line.location.offset.to_string());
    }
}

fn repairing_keeps_whole_records(path: &Path, bytes: &[u8], before: &CheckReport) {
    let repair = match warc::repair(path) {
        Ok(repair) => repair,
        Err(RepairError::NotAWarc) => {
            assert_eq!(before.records, 0);
            assert_eq!(read(path), bytes, "what is no WARC file is not touched");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let now = read(path);
    match &repair {
        Repair::Intact => assert!(now == bytes && damages(before) == 0),
        Repair::TailCut { old_bytes, new_bytes } => {
            assert_eq!((*old_bytes, *new_bytes), (bytes.len() as u64, now.len() as u64));
            assert!(now.len() < bytes.len() && bytes.starts_with(&now));
        }
        Repair::Rewritten { damaged, dropped_bytes, moved } => {
            assert_eq!(read(damaged), bytes, "the damaged file is kept as it was");
            assert_eq!(bytes.len() as u64 - dropped_bytes, now.len() as u64);
            for moved in moved {
                let load = |path: &Path, offset| {
                    let loaded =
                        warc::read_at(path, offset, u64::MAX).unwrap_or_else(|error| panic!("{moved:?}: {error}"));
                    (loaded.location.length, loaded.header, loaded.block)
                };
                assert_eq!(load(damaged, moved.from), load(path, moved.to), "{moved:?}");
            }
        }
        other => panic!("what is {other:?}?"),
    }
    let after = checked(path);
    assert_eq!(damages(&after), 0, "{repair:?} left {after:?}");
    assert_eq!((after.records, &after.records_by_type), (before.records, &before.records_by_type), "{repair:?}");
    assert_eq!(warc::repair(path).ok(), Some(Repair::Intact), "the second repair finds nothing to do");
}
