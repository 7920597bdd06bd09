//! Reading what others wrote, and what nobody should have written.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod plain;
mod samples;

use plain::plain;
use samples::{id, records, write};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use warc::{Damage, HTTP_HEAD_BYTES_MAX, Location, ReadError, Reader, Record};

const OLD: &[u8] = b"WARC/1.0\r\n\
    WARC-Type: warcinfo\r\n\
    WARC-Date: 2010-01-02T03:04:05Z\r\n\
    WARC-Record-ID: <urn:uuid:1>\r\n\
    Content-Type: application/warc-fields\r\n\
    Content-Length: 8\r\n\
    \r\n\
    a: b\r\n\
    \r\n\
    \r\n\r\n\
    WARC/1.0\r\n\
    warc-type: Response\r\n\
    WARC-TARGET-URI: <http://a.example/\r\n \
     x>\r\n\
    WARC-Date: 2010-01-02T03:04:05Z\r\n\
    WARC-Record-ID: <urn:uuid:2>\r\n\
    Content-Type: application/http; msgtype=response\r\n\
    WARC-Payload-Digest: sha1:d4735e3a265e16eee03f59718b9b5d03019c07d8\r\n\
    content-length: 21\r\n\
    \r\n\
    HTTP/1.0 200 OK\r\n\r\n12\
    \r\n\r\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn read_all(bytes: &[u8]) -> Result<Vec<(Location, Vec<u8>)>, Damage> {
    let mut reader = Reader::new(bytes, 0);
    let mut read = || {
        let mut records = Vec::new();
        while let Some(mut record) = reader.next_record()? {
            let mut block = Vec::new();
            // Damage in the block is reported by `finish`.
            let _ = record.read_to_end(&mut block);
            records.push((record.finish()?, block));
        }
        Ok(records)
    };
    read().map_err(|error| match error {
        ReadError::Damaged { damage, .. } => damage,
        other => panic!("{other}"),
    })
}

#[test]
fn version_1_0_is_read_plain_and_compressed() {
    let at = OLD.windows(8).rposition(|window| window == b"WARC/1.0").unwrap();
    let plain = read_all(OLD).unwrap();
    assert_eq!(plain[0], (Location { offset: 0, length: at as u64 }, b"a: b\r\n\r\n".to_vec()));
    assert_eq!(plain[1].1, b"HTTP/1.0 200 OK\r\n\r\n12");
    let members = [gzip(&OLD[..at]), gzip(&OLD[at..])];
    let packed = read_all(&members.concat()).unwrap();
    assert_eq!(packed[1].0.offset, members[0].len() as u64);
    assert_eq!(packed[1].1, plain[1].1);

    let mut reader = Reader::new(&OLD[at..], at as u64);
    let record = reader.next_record().unwrap().unwrap();
    assert_eq!(record.offset(), at as u64);
    assert_eq!(record.header().target_uri(), Some("http://a.example/ x"));
    assert_eq!(record.header().timestamp14().as_deref(), Some("20100102030405"));
}

#[test]
fn what_is_left_unread_of_a_record_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let locations = write(&path, &records());
    let mut reader = Reader::open(&path, 0).unwrap();
    let mut offsets = Vec::new();
    while let Some(mut record) = reader.next_record().unwrap() {
        let _ = record.read(&mut [0; 3]).unwrap();
        offsets.push(record.offset());
    }
    assert_eq!(offsets, locations.iter().map(|location| location.offset).collect::<Vec<_>>());
}

#[test]
fn a_record_is_loaded_by_its_offset() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let locations = write(&path, &records());
    let loaded = warc::read_at(&path, locations[1].offset, 1000).unwrap();
    assert_eq!(loaded.location, locations[1]);
    let (head, payload) = loaded.http_parts();
    assert!(head.ends_with(b"X-Crawler-Transfer-Encoding: chunked\r\n\r\n"));
    assert_eq!(payload, samples::PAGE);
    let loaded = warc::read_at(&path, locations[5].offset, 1000).unwrap();
    assert_eq!(loaded.http_parts(), (&b""[..], &b"\x89PNG\r\n\r\n\x00\xff"[..]));

    let error = warc::read_at(&path, locations[1].offset, 116).unwrap_err();
    assert!(matches!(error, ReadError::TooLong { block_bytes: 117, block_bytes_max: 116, .. }));
    for offset in [1, locations[1].offset + 1, 1 << 40] {
        let error = warc::read_at(&path, offset, 1000).unwrap_err();
        assert!(matches!(error, ReadError::Damaged { offset: at, .. } if at == offset), "{error}");
    }
    assert!(matches!(warc::read_at(dir.path().join("none"), 0, 9), Err(ReadError::Io(_))));
}

#[test]
fn a_content_length_that_lies_is_noticed() {
    fn check(declared: &str, in_member: Damage, in_plain: Damage) {
        let text = format!("WARC/1.1\r\nContent-Length: {declared}\r\n\r\n12345\r\n\r\n");
        assert_eq!(read_all(&gzip(text.as_bytes())), Err(in_member), "{declared}");
        assert_eq!(read_all(text.as_bytes()), Err(in_plain), "{declared}");
    }
    let short = |declared, missing| Damage::BlockShort { declared, missing };
    check("4", Damage::RecordEnd, Damage::RecordEnd);
    check("6", Damage::RecordEnd, Damage::RecordEnd);
    check("9", Damage::RecordEnd, Damage::Truncated);
    check("10", short(10, 1), Damage::Truncated);
    check(&u64::MAX.to_string(), short(u64::MAX, u64::MAX - 9), Damage::Truncated);
    check("18446744073709551616", Damage::ContentLength, Damage::ContentLength);

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc");
    fs::write(&path, format!("WARC/1.1\r\nContent-Length: {}\r\n\r\n1", u64::MAX)).unwrap();
    let error = warc::read_at(&path, 0, u64::MAX).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { damage: Damage::Truncated, .. }));
}

#[test]
fn a_member_must_hold_exactly_one_record() {
    let end = OLD.windows(8).rposition(|window| window == b"WARC/1.0").unwrap();
    assert_eq!(read_all(&gzip(OLD)), Err(Damage::MemberGoesOn));
    assert_eq!(read_all(&gzip(&OLD[..end - 2])), Err(Damage::RecordEnd));
    assert_eq!(read_all(&gzip(b"")), Err(Damage::NotARecord));
    assert_eq!(read_all(&gzip(b"WARC/1.1\r\nA: b\r\n")), Err(Damage::HeaderEnd));
}

#[test]
fn a_header_bomb_is_bounded() {
    let bomb = [b"WARC/1.1\r\nA: ".to_vec(), vec![b'a'; 50_000_000]].concat();
    assert_eq!(read_all(&gzip(&bomb)), Err(Damage::HeaderEnd));
    assert_eq!(read_all(&bomb), Err(Damage::HeaderEnd));
}

#[test]
fn an_http_head_without_end_is_bounded_and_no_error() {
    let head = [b"HTTP/1.1 200 OK\r\nA: ".to_vec(), vec![b'a'; 3_000_000]].concat();
    let record = Record::response(id(1), 0, "http://a.example/", &head, b"");
    let bytes = plain(&[record]);
    let mut reader = Reader::new(&bytes[..], 0);
    let mut record = reader.next_record().unwrap().unwrap();
    let head = record.read_http_head().unwrap();
    assert_eq!(head.bytes().len(), HTTP_HEAD_BYTES_MAX);
    assert_eq!((head.is_whole(), head.status()), (false, Some(200)));
    record.finish().unwrap();
}

/// A block that nobody could hold in memory: the same bytes again and again.
struct Endless {
    chunk: Vec<u8>,
    left: u64,
}

impl BufRead for Endless {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let len = self.chunk.len().min(usize::try_from(self.left).unwrap());
        Ok(&self.chunk[..len])
    }

    fn consume(&mut self, amount: usize) {
        self.left -= amount as u64;
    }
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

#[test]
fn a_record_of_5_gib_is_streamed() {
    const BLOCK_BYTES: u64 = 5 << 30;
    let header = format!("WARC/1.1\r\nContent-Length: {BLOCK_BYTES}\r\n\r\n");
    let header_len = header.len() as u64;
    let block = Endless { chunk: vec![b'x'; 1 << 20], left: BLOCK_BYTES };
    let input = io::Cursor::new(header).chain(block).chain(&b"\r\n\r\nrubbish"[..]);
    let mut reader = Reader::new(input, 0);
    let mut record = reader.next_record().unwrap().unwrap();
    let mut count = 0;
    loop {
        let len = record.fill_buf().unwrap().len();
        if len == 0 {
            break;
        }
        count += len as u64;
        record.consume(len);
    }
    assert_eq!(count, BLOCK_BYTES);
    assert_eq!(record.finish().unwrap().length, header_len + BLOCK_BYTES + 4);
    assert!(reader.next_record().is_err());
    assert!(reader.next_record().unwrap().is_none(), "after an error the reader is at its end");
}

#[test]
fn an_error_of_the_disk_is_not_taken_for_damage() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let input = BufReader::new(OLD[..300].chain(Broken));
    let mut reader = Reader::new(input, 0);
    reader.next_record().unwrap().unwrap().finish().unwrap();
    let error = reader.next_record().err().unwrap();
    assert!(matches!(&error, ReadError::Io(e) if e.kind() == io::ErrorKind::ConnectionReset), "{error}");
}

/// Found by fuzzing: after damage in the block, `finish` and then `next_record` each reported another error.
#[test]
fn damage_in_a_block_is_told_the_same_by_each_call_and_ends_the_file() {
    let mut bytes = gzip(b"WARC/1.1\r\nContent-Length: 100\r\n\r\nshort");
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 0xff;
    let mut reader = Reader::new(&bytes[..], 0);
    let mut record = reader.next_record().unwrap().unwrap();
    let read = record.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(read.to_string(), Damage::Checksum.to_string());
    let again = record.finish().unwrap_err();
    assert!(matches!(again, ReadError::Damaged { offset: 0, damage: Damage::Checksum }), "{again}");
    assert!(reader.next_record().unwrap().is_none());

    let mut reader = Reader::new(&bytes[..], 0);
    let mut record = reader.next_record().unwrap().unwrap();
    assert!(record.read_http_head().is_err());
    assert!(reader.next_record().unwrap().is_none());
}
