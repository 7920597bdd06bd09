//! A file cut off at any byte: noticed, and repaired without losing a whole record.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod plain;
mod samples;

use plain::plain;
use samples::{records, write};
use std::fs;
use std::path::Path;
use warc::{Damage, Location, Problem, Record, Repair};

/// Two short ones: each byte costs a repair, and each repair waits for the disk.
fn two_records() -> Vec<Record<'static>> {
    records().into_iter().step_by(2).take(2).collect()
}

/// The length of the records that are whole in the first `len` bytes.
fn whole_len(locations: &[Location], len: u64) -> u64 {
    let ends = locations.iter().map(|location| location.offset + location.length);
    ends.take_while(|end| *end <= len).last().unwrap_or(0)
}

fn check_cut(path: &Path, bytes: &[u8], len: usize, whole: u64) {
    fs::write(path, &bytes[..len]).unwrap();
    let is_whole = whole == len as u64;

    let report = warc::check(path).unwrap();
    assert_eq!(report.has_errors, !is_whole, "cut at {len}");
    if !is_whole {
        let finding = &report.findings[0];
        assert_eq!(finding.offset, whole, "cut at {len}");
        let damage = Damage::Truncated;
        assert_eq!(finding.problem, Problem::Damaged { bytes: len as u64 - whole, damage });
    }

    let expect = if is_whole {
        Repair::Intact
    } else if whole > 0 {
        Repair::TailCut { old_bytes: len as u64, new_bytes: whole }
    } else {
        // Nothing would be left of the file, so it is kept.
        let damaged = path.with_file_name("x.damaged");
        Repair::Rewritten { damaged, dropped_bytes: len as u64, moved: vec![] }
    };
    assert_eq!(warc::repair(path).unwrap(), expect, "cut at {len}");
    assert_eq!(fs::read(path).unwrap(), &bytes[..whole as usize], "cut at {len}");
    assert!(!warc::check(path).unwrap().has_errors);
    if let Repair::Rewritten { damaged, .. } = expect {
        assert_eq!(fs::read(&damaged).unwrap(), &bytes[..len]);
        fs::remove_file(damaged).unwrap();
    }
}

#[test]
fn a_compressed_file_cut_at_any_byte_is_noticed_and_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let locations = write(&path, &two_records());
    let bytes = fs::read(&path).unwrap();
    for len in 0..=bytes.len() {
        check_cut(&path, &bytes, len, whole_len(&locations, len as u64));
    }
}

#[test]
fn a_plain_file_cut_at_any_byte_is_noticed_and_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mut locations = Vec::new();
    let mut bytes = Vec::new();
    for record in two_records() {
        let record = plain(&[record]);
        locations.push(Location { offset: bytes.len() as u64, length: record.len() as u64 });
        bytes.extend(record);
    }
    for len in 0..=bytes.len() {
        check_cut(&path, &bytes, len, whole_len(&locations, len as u64));
    }
}

#[test]
fn a_tail_of_zeros_or_rubbish_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    write(&path, &records());
    let bytes = fs::read(&path).unwrap();
    for tail in [&[0; 5000][..], b"\x1f", b"\x1f\x8b\x08\xff", b"rubbish", b"WARC/1.1\r\n"] {
        fs::write(&path, [&bytes, tail].concat()).unwrap();
        let report = warc::check(&path).unwrap();
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].offset, bytes.len() as u64);
        assert_eq!(report.records, 8);
        let repair = warc::repair(&path).unwrap();
        assert!(matches!(repair, Repair::TailCut { .. }), "{tail:?}: {repair:?}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}
