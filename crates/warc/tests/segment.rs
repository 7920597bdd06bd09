//! The writer when the disk fails, and after a crash.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod noise;
mod samples;

use noise::noise;
use samples::{id, records};
use std::cell::RefCell;
use std::fs;
use std::io::{self, Read, Write};
use std::rc::Rc;
use warc::{HEADER_BYTES_MAX, Reader, Record, SegmentError, SegmentFile, SegmentWriter};

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
    segment.flush().unwrap();
    drop(segment);
    (disk.bytes, ends)
}

/// The blocks of all records in a segment, which must be without damage.
fn blocks(mut segment: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = Reader::new(&mut segment, 0);
    let mut blocks = Vec::new();
    while let Some(mut record) = reader.next_record().unwrap() {
        let mut block = Vec::new();
        record.read_to_end(&mut block).unwrap();
        blocks.push(block);
        record.finish().unwrap();
    }
    blocks
}

#[test]
fn a_full_disk_leaves_whole_records_and_none_is_lost_when_there_is_space() {
    let (whole, _) = whole_segment();
    for bytes_max in 0..whole.len() {
        let mut disk = Disk { bytes_max, ..Disk::default() };
        let mut segment = SegmentWriter::new(&mut disk, 0);
        for record in &records() {
            segment.append(record).unwrap();
        }
        for _ in 0..2 {
            let error = segment.sync().unwrap_err();
            assert!(matches!(&error, SegmentError::Write(e) if e.kind() == io::ErrorKind::StorageFull));
            assert_eq!(segment.len(), whole.len() as u64);
        }
        drop(segment);
        assert!(disk.bytes.is_empty(), "full after {bytes_max} bytes");
    }
}

#[test]
fn records_go_to_the_disk_in_whole_and_a_record_without_space_is_not_taken() {
    let noise = noise(100_000);
    let record = Record::resource(id(1), 0, "http://a.example/", "x/y", &noise);
    for bytes_max in [0, 50_000, 250_000, 399_999, 700_000] {
        let mut disk = Disk { bytes_max, ..Disk::default() };
        let mut segment = SegmentWriter::new(&mut disk, 0);
        let mut taken = 0;
        let error = loop {
            match segment.append(&record) {
                Ok(location) => taken = location.offset + location.length,
                Err(error) => break error,
            }
        };
        assert!(matches!(&error, SegmentError::Write(e) if e.kind() == io::ErrorKind::StorageFull));
        assert_eq!(segment.len(), taken);
        drop(segment);
        let whole = blocks(&disk.bytes);
        assert!(whole.iter().all(|block| *block == noise));
        assert!(disk.bytes.len() <= bytes_max);
    }
}

/// A disk that is full for a while.
struct Patient(Rc<RefCell<Disk>>);

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&mut *self.0.borrow_mut()).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SegmentFile for Patient {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        (&mut *self.0.borrow_mut()).truncate(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        (&mut *self.0.borrow_mut()).sync()
    }
}

#[test]
fn writing_goes_on_when_there_is_space_again() {
    let noise = noise(700_000);
    let long = Record::resource(id(1), 0, "http://a.example/", "x/y", &noise);
    for bytes_max in [0, 10, 300_000, 400_000] {
        let disk = Rc::new(RefCell::new(Disk { bytes_max, ..Disk::default() }));
        let mut segment = SegmentWriter::new(Patient(disk.clone()), 0);
        segment.append(&records()[0]).unwrap();
        let len = segment.len();
        assert!(matches!(segment.append(&long), Err(SegmentError::Write(_))), "{bytes_max}");
        assert_eq!(segment.len(), len);
        disk.borrow_mut().bytes_max = usize::MAX;
        let location = segment.append(&records()[1]).unwrap();
        assert_eq!(location.offset, len);
        segment.append(&long).unwrap();
        assert_eq!(segment.sync().unwrap(), segment.len());
        let disk = disk.borrow();
        assert_eq!(disk.bytes.len() as u64, segment.len());
        assert_eq!(blocks(&disk.bytes).len(), 3);
    }
}

#[test]
fn a_partial_record_that_cannot_be_cut_off_is_cut_off_before_the_next_one() {
    let (whole, ends) = whole_segment();
    let disk = Rc::new(RefCell::new(Disk { bytes_max: ends[0] + 10, cannot_truncate: true, ..Disk::default() }));
    let mut segment = SegmentWriter::new(Patient(disk.clone()), 0);
    segment.append(&records()[0]).unwrap();
    segment.flush().unwrap();
    segment.append(&records()[1]).unwrap();
    let error = segment.flush().unwrap_err();
    assert!(matches!(error, SegmentError::WriteAndTruncate { .. }), "{error}");
    // Still not: nothing may be written behind the partial record.
    disk.borrow_mut().bytes_max = usize::MAX;
    assert!(matches!(segment.append(&records()[2]), Err(SegmentError::Write(_))));
    assert!(matches!(segment.sync(), Err(SegmentError::Write(_))));
    assert_eq!(segment.len(), ends[1] as u64);
    assert_eq!(disk.borrow().bytes, whole[..ends[0] + 10]);
    // Now: the record that waited is written, all of it.
    disk.borrow_mut().cannot_truncate = false;
    assert_eq!(segment.sync().unwrap(), ends[1] as u64);
    assert_eq!(disk.borrow().bytes, whole[..ends[1]]);
}

#[test]
fn little_is_written_for_each_record_but_everything_by_a_flush() {
    let disk = Rc::new(RefCell::new(Disk { bytes_max: usize::MAX, ..Disk::default() }));
    let mut segment = SegmentWriter::new(Patient(disk.clone()), 0);
    for _ in 0..2_000 {
        segment.append(&records()[0]).unwrap();
        let waiting = segment.len() - disk.borrow().bytes.len() as u64;
        assert!(waiting <= 256 * 1024);
    }
    assert!(!disk.borrow().bytes.is_empty());
    segment.flush().unwrap();
    assert_eq!(disk.borrow().bytes.len() as u64, segment.len());
    assert_eq!(blocks(&disk.borrow().bytes).len(), 2_000);
}

#[test]
fn what_is_compressed_already_is_stored() {
    fn check(payload: &[u8], is_packed: bool, is_stored: bool) {
        let mut disk = Disk { bytes_max: usize::MAX, ..Disk::default() };
        let mut segment = SegmentWriter::new(&mut disk, 0);
        let record = Record::resource(id(1), 0, "http://a.example/", "x/y", payload);
        let record = if is_packed { record.packed() } else { record };
        segment.append(&record).unwrap();
        segment.flush().unwrap();
        drop(segment);
        assert_eq!(blocks(&disk.bytes), [payload]);
        assert_eq!(disk.bytes.len() > payload.len(), is_stored, "{} bytes", payload.len());
    }
    check(&[7; 100_000], true, true);
    check(&[7; 100_000], false, false);
    // The header gains more.
    check(&[7; 4_000], true, false);
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
    for record in records().iter().skip(4) {
        segment.append(record).unwrap();
    }
    segment.sync().unwrap();
    assert_eq!(blocks(&fs::read(&path).unwrap()), blocks(&whole));
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
    let mut segment = SegmentWriter::new(full, 0);
    segment.append(&records()[0]).unwrap();
    let error = segment.flush().unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
}
