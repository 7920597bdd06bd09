//! Repair of damage in the middle: whole records are kept, the old file too.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod noise;
mod samples;

use noise::noise;
use samples::{id, records, write};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use warc::{Location, Moved, Problem, Record, Repair, RepairError};

struct Archive {
    dir: tempfile::TempDir,
    path: PathBuf,
    locations: Vec<Location>,
    bytes: Vec<u8>,
}

fn archive(records: &[Record<'_>]) -> Archive {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let locations = write(&path, records);
    let bytes = fs::read(&path).unwrap();
    Archive { dir, path, locations, bytes }
}

fn member(archive: &Archive, index: usize) -> &[u8] {
    let Location { offset, length } = archive.locations[index];
    &archive.bytes[offset as usize..(offset + length) as usize]
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names = names.collect::<Vec<_>>();
    names.sort();
    names
}

#[test]
fn a_file_without_damage_is_not_touched() {
    let archive = archive(&records());
    let before = fs::metadata(&archive.path).unwrap().modified().unwrap();
    assert_eq!(warc::repair(&archive.path).unwrap(), Repair::Intact);
    assert_eq!(fs::metadata(&archive.path).unwrap().modified().unwrap(), before);
    assert_eq!(names(archive.dir.path()), ["x.warc.gz"]);
}

#[test]
fn a_damaged_record_in_the_middle_is_left_out_and_the_old_file_is_kept() {
    let archive = archive(&records());
    for position in 0..archive.locations[2].length {
        let mut damaged = archive.bytes.clone();
        let at = (archive.locations[2].offset + position) as usize;
        damaged[at] ^= 0xff;
        fs::write(&archive.path, &damaged).unwrap();
        if !warc::check(&archive.path).unwrap().has_errors {
            continue; // Time and system in the gzip header.
        }
        let dropped = archive.locations[2];
        let moved = archive.locations[3..].iter();
        let moved = moved.map(|l| Moved { from: l.offset, to: l.offset - dropped.length }).collect();
        let expect = Repair::Rewritten {
            damaged: archive.dir.path().join("x.warc.gz.damaged"),
            dropped_bytes: dropped.length,
            moved,
        };
        assert_eq!(warc::repair(&archive.path).unwrap(), expect, "byte {position}");
        let kept =
            [&archive.bytes[..dropped.offset as usize], &archive.bytes[(dropped.offset + dropped.length) as usize..]];
        assert_eq!(fs::read(&archive.path).unwrap(), kept.concat(), "byte {position}");
        assert!(!warc::check(&archive.path).unwrap().has_errors);
        assert_eq!(names(archive.dir.path()), ["x.warc.gz", "x.warc.gz.damaged"]);
        let old = archive.dir.path().join("x.warc.gz.damaged");
        assert_eq!(fs::read(&old).unwrap(), damaged);
        fs::remove_file(old).unwrap();
    }
}

#[test]
fn several_damages_and_a_broken_tail_are_repaired_at_once() {
    let archive = archive(&records());
    let parts = [
        b"garbage".as_slice(),
        member(&archive, 0),
        &member(&archive, 1)[..100],
        member(&archive, 2),
        member(&archive, 3),
        &[0; 700],
        member(&archive, 4),
        &member(&archive, 5)[..50],
    ];
    fs::write(&archive.path, parts.concat()).unwrap();
    let Repair::Rewritten { moved, .. } = warc::repair(&archive.path).unwrap() else {
        panic!("not rewritten");
    };
    let kept = [0, 2, 3, 4].map(|index| member(&archive, index));
    let repaired = fs::read(&archive.path).unwrap();
    assert_eq!(repaired, kept.concat());
    assert_eq!(moved.len(), 4);
    let old = fs::read(archive.dir.path().join("x.warc.gz.damaged")).unwrap();
    for (Moved { from, to }, member) in moved.into_iter().zip(kept) {
        assert!(old[from as usize..].starts_with(member));
        assert!(repaired[to as usize..].starts_with(member));
    }
}

#[test]
fn the_old_files_of_several_repairs_are_all_kept() {
    let archive = archive(&records());
    for _ in 0..3 {
        fs::write(&archive.path, [b"garbage", &archive.bytes[..]].concat()).unwrap();
        assert!(matches!(warc::repair(&archive.path).unwrap(), Repair::Rewritten { .. }));
        assert_eq!(fs::read(&archive.path).unwrap(), archive.bytes);
    }
    let expect = ["x.warc.gz", "x.warc.gz.damaged", "x.warc.gz.damaged-2", "x.warc.gz.damaged-3"];
    assert_eq!(names(archive.dir.path()), expect);
}

#[test]
fn a_file_of_another_kind_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"no archive, only text").unwrap();
    for bytes in [b"text".to_vec(), gzip.finish().unwrap(), vec![0; 100]] {
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(warc::repair(&path), Err(RepairError::NotAWarc)));
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(names(dir.path()), ["x"]);
    }
}

#[test]
fn a_record_whose_content_does_not_match_its_digest_is_kept() {
    let record = Record::response(id(1), 0, "http://a.example/", b"HTTP/1.1 200 OK\r\n\r\n", b"x");
    let record = record.payload_digest(warc::Digest::of(b"y"));
    let archive = archive(&[record]);
    assert!(warc::check(&archive.path).unwrap().has_errors);
    assert_eq!(warc::repair(&archive.path).unwrap(), Repair::Intact);
}

/// A crawler archives archives. Level 1 stores what cannot be compressed as it is, so that the
/// records inside could be taken for records of the outer file.
#[test]
fn the_records_of_an_archived_archive_do_not_come_out() {
    let noise = noise(100_000);
    let inner_records = [
        Record::resource(id(77), 0, "http://inner.example/1", "x/y", &noise),
        Record::resource(id(78), 0, "http://inner.example/2", "x/y", b"inner"),
        Record::resource(id(79), 0, "http://inner.example/3", "x/y", &noise),
    ];
    let inner = archive(&inner_records);
    let outer_records = [
        Record::resource(id(1), 0, "http://a.example/", "x/y", b"1"),
        Record::resource(id(2), 0, "http://a.example/x.warc.gz", "application/warc", &inner.bytes),
        Record::resource(id(3), 0, "http://a.example/", "x/y", b"3"),
    ];
    let archive = archive(&outer_records);
    let inside = member(&inner, 1);
    let embedded = archive.bytes.windows(inside.len()).position(|window| window == inside);
    let embedded = embedded.expect("the inner record is stored as it is");

    let mut damaged = archive.bytes.clone();
    damaged[embedded - 20_000] ^= 1;
    fs::write(&archive.path, damaged).unwrap();
    let report = warc::check(&archive.path).unwrap();
    assert_eq!(report.records, 2);
    assert!(matches!(&report.findings[..], [one] if matches!(one.problem, Problem::Damaged { .. })));
    warc::repair(&archive.path).unwrap();
    let kept = [member(&archive, 0), member(&archive, 2)].concat();
    assert_eq!(fs::read(&archive.path).unwrap(), kept);
}
