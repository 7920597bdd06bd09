//! The writer when the disk fails, and after a crash.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod noise;
mod samples;

use noise::noise;
use samples::{id, records};
use std::fs;
use std::io::{self, Write};
use warc::{HEADER_BYTES_MAX, Record, SegmentError, SegmentFile, SegmentWriter};

/// A disk in memory that is full after some bytes.
#[derive(Default)]
struct Disk {
    bytes: Vec<u8>,
    bytes_max: usize,
    cannot_truncate: bool,
    cannot_sync: bool,
}

impl Write for &mut Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(self.bytes_max - self.bytes.len());
        if n == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SegmentFile for &mut Disk {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        if self.cannot_truncate {
            return Err(io::ErrorKind::Other.into());
        }
        self.bytes.truncate(len as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.cannot_sync { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    }
}

/// All sample records on a disk without bounds.
fn whole_segment() -> (Vec<u8>, Vec<usize>) {
    let mut disk = Disk { bytes_max: usize::MAX, ..Disk::default() };
    let mut ends = Vec::new();
    let mut segment = SegmentWriter::new(&mut disk, 0);
    for record in &records() {
        segment.append(record).unwrap();
        ends.push(segment.len() as usize);
    }
    (disk.bytes, ends)
}

#[test]
fn a_full_disk_leaves_whole_records_and_writing_goes_on_when_there_is_space() {
    let (whole, ends) = whole_segment();
    for bytes_max in 0..whole.len() {
        let mut disk = Disk { bytes_max, ..Disk::default() };
        let mut segment = SegmentWriter::new(&mut disk, 0);
        let mut records = records().into_iter().peekable();
        let error = loop {
            match segment.append(records.peek().unwrap()) {
                Ok(_) => drop(records.next()),
                Err(error) => break error,
            }
        };
        assert!(matches!(&error, SegmentError::Write(e) if e.kind() == io::ErrorKind::StorageFull));
        let fits = ends.iter().copied().filter(|end| *end <= bytes_max).max().unwrap_or(0);
        assert_eq!(segment.len(), fits as u64);
        assert_eq!(segment.sync().unwrap(), fits as u64);
        drop(segment);
        assert_eq!(disk.bytes, whole[..fits], "full after {bytes_max} bytes");

        disk.bytes_max = usize::MAX;
        let mut segment = SegmentWriter::new(&mut disk, fits as u64);
        for record in records {
            segment.append(&record).unwrap();
        }
        drop(segment);
        assert_eq!(disk.bytes, whole);
    }
}

#[test]
fn a_long_record_that_does_not_fit_is_cut_off_too() {
    // Longer than what is compressed in one piece, and not compressible.
    let noise = noise(5_000_000);
    let record = Record::resource(id(1), 0, "http://a.example/", "x/y", &noise);
    let mut disk = Disk { bytes_max: 1_000_000, ..Disk::default() };
    let mut segment = SegmentWriter::new(&mut disk, 0);
    segment.append(&records()[0]).unwrap();
    let len = segment.len();
    assert!(matches!(segment.append(&record), Err(SegmentError::Write(_))));
    segment.append(&records()[1]).unwrap();
    assert!(segment.len() > len);
    let end = segment.len() as usize;
    drop(segment);
    assert_eq!(disk.bytes.len(), end);
}

#[test]
fn a_partial_record_that_cannot_be_cut_off_is_cut_off_before_the_next_one() {
    let (whole, ends) = whole_segment();
    let mut disk = Disk { bytes_max: ends[0] + 10, cannot_truncate: true, ..Disk::default() };
    let mut segment = SegmentWriter::new(&mut disk, 0);
    segment.append(&records()[0]).unwrap();
    let error = segment.append(&records()[1]).unwrap_err();
    assert!(matches!(error, SegmentError::WriteAndTruncate { .. }), "{error}");
    // Still not: nothing may be written behind the partial record.
    assert!(matches!(segment.append(&records()[1]), Err(SegmentError::Write(_))));
    assert_eq!(segment.len(), ends[0] as u64);
    drop(segment);
    assert_eq!(disk.bytes, whole[..ends[0] + 10]);
}

#[test]
fn after_a_failed_sync_no_record_is_taken() {
    let mut disk = Disk { bytes_max: usize::MAX, cannot_sync: true, ..Disk::default() };
    let mut segment = SegmentWriter::new(&mut disk, 0);
    segment.append(&records()[0]).unwrap();
    assert!(matches!(segment.sync(), Err(SegmentError::Sync(_))));
    assert!(matches!(segment.append(&records()[1]), Err(SegmentError::SyncFailedBefore)));
    assert!(matches!(segment.sync(), Err(SegmentError::SyncFailedBefore)));
}

#[test]
fn a_header_that_no_reader_would_take_is_not_written() {
    let uri = format!("http://a.example/{}", "a".repeat(HEADER_BYTES_MAX));
    let mut disk = Disk { bytes_max: usize::MAX, ..Disk::default() };
    let mut segment = SegmentWriter::new(&mut disk, 0);
    let error = segment.append(&Record::resource(id(1), 0, &uri, "x/y", b"")).unwrap_err();
    assert!(matches!(error, SegmentError::HeaderTooLong { .. }));
    assert!(segment.is_empty());
}

#[test]
fn a_segment_continues_at_its_committed_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let locations = samples::write(&path, &records());
    let whole = fs::read(&path).unwrap();
    let committed = locations[4].offset;

    let mut segment = SegmentWriter::open_for_append(&path, committed).unwrap();
    assert_eq!(segment.len(), committed);
    assert_eq!(fs::metadata(&path).unwrap().len(), committed);
    for (record, location) in records().iter().zip(&locations).skip(4) {
        assert_eq!(segment.append(record).unwrap(), *location);
    }
    assert_eq!(segment.sync().unwrap(), whole.len() as u64);
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_segment_shorter_than_committed_or_missing_or_there_already_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    assert!(matches!(SegmentWriter::open_for_append(&path, 0), Err(SegmentError::Open { .. })));
    drop(SegmentWriter::create(&path).unwrap());
    let error = SegmentWriter::open_for_append(&path, 1).err().unwrap();
    assert!(matches!(error, SegmentError::ShorterThanCommitted { found: 0, committed: 1, .. }));
    assert!(matches!(SegmentWriter::create(&path), Err(SegmentError::Open { .. })));
}

#[test]
fn a_write_to_a_full_device_is_reported() {
    // Cutting it is not possible either, which both errors say.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = SegmentWriter::new(full, 0).append(&records()[0]).unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
}
