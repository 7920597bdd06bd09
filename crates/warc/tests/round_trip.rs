//! What is written is what is read.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use std::io::{BufReader, Read};
use warc::{Digest, Header, Reader, Record, RecordId, RecordType, RefersTo, SegmentWriter, Truncated};

#[derive(Debug, Clone)]
struct Sample {
    kind: RecordType,
    id: [u8; 16],
    date_ms: u64,
    uri: String,
    head: Vec<u8>,
    payload: Vec<u8>,
}

fn sample() -> impl Strategy<Value = Sample> {
    let kind = prop::sample::select(vec![
        RecordType::Warcinfo,
        RecordType::Response,
        RecordType::Request,
        RecordType::Revisit,
        RecordType::Metadata,
        RecordType::Resource,
    ]);
    let head = "HTTP/1.1 200 OK\r\n([a-zA-Z-]{1,12}: [ -~]{0,20}\r\n){0,4}\r\n";
    let payload = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        "[a-z \r\n]{0,3000}".prop_map(String::into_bytes),
        Just(b"\r\n\r\nWARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n".to_vec()),
    ];
    (kind, any::<[u8; 16]>(), 0..4_102_444_800_000_u64, "https?://[a-z.]{1,20}/[!-~]{0,30}", head, payload).prop_map(
        |(kind, id, date_ms, uri, head, payload)| Sample { kind, id, date_ms, uri, head: head.into_bytes(), payload },
    )
}

impl Sample {
    fn record(&self) -> Record<'_> {
        let Sample { id, date_ms, uri, head, payload, .. } = self;
        let id = RecordId::new(*id);
        let named = id.to_string();
        let date = warc::warc_date(*date_ms);
        let refers_to = RefersTo { id: Some(&named), target_uri: uri, date: &date };
        let digest = Digest::of(payload);
        match self.kind {
            RecordType::Warcinfo => Record::warcinfo(id, *date_ms, "name", &[("software", "x")]),
            RecordType::Request => Record::request(id, *date_ms, uri, head, payload),
            RecordType::Revisit => Record::revisit(id, *date_ms, uri, head, digest, &refers_to),
            RecordType::Metadata => Record::metadata(id, *date_ms, uri, "text/plain", payload),
            RecordType::Resource => Record::resource(id, *date_ms, uri, "text/plain", payload),
            _ => Record::response(id, *date_ms, uri, head, payload).truncated(Truncated::Time),
        }
    }

    /// The block as it must be read.
    fn block(&self) -> Vec<u8> {
        let archived = || warc::archived_head(&self.head).into_owned();
        match self.kind {
            RecordType::Warcinfo => b"software: x\r\n".to_vec(),
            RecordType::Request => [self.head.clone(), self.payload.clone()].concat(),
            RecordType::Response => [archived(), self.payload.clone()].concat(),
            RecordType::Revisit => archived(),
            _ => self.payload.clone(),
        }
    }

    fn check_header(&self, header: &Header) {
        assert_eq!(header.record_type(), Some(self.kind));
        assert_eq!(header.record_id(), Some(RecordId::new(self.id).to_string().as_str()));
        assert_eq!(header.date(), Some(warc::warc_date(self.date_ms).as_str()));
        let uri = (self.kind != RecordType::Warcinfo).then_some(self.uri.as_str());
        assert_eq!(header.target_uri(), uri);
    }
}

fn check_read<R: std::io::BufRead>(mut reader: Reader<R>, samples: &[Sample], len: u64) {
    let mut offset = 0;
    for sample in samples {
        let mut record = reader.next_record().unwrap().unwrap();
        assert_eq!(record.offset(), offset);
        sample.check_header(record.header());
        let mut block = Vec::new();
        record.read_to_end(&mut block).unwrap();
        assert_eq!(block, sample.block());
        offset += record.finish().unwrap().length;
    }
    assert!(reader.next_record().unwrap().is_none());
    assert_eq!(offset, len);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn records_are_read_as_written(samples in prop::collection::vec(sample(), 0..6), buffer in 1..200_usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.warc.gz");
        let mut segment = SegmentWriter::create(&path).unwrap();
        let mut plain = Vec::new();
        for sample in &samples {
            let location = segment.append(&sample.record()).unwrap();
            segment.flush().unwrap();
            let loaded = warc::read_at(&path, location.offset, 1 << 20).unwrap();
            prop_assert_eq!(loaded.location, location);
            prop_assert_eq!(loaded.block, sample.block());
            sample.record().write_to(&mut plain).unwrap();
        }
        let gzip = std::fs::read(&path).unwrap();
        for bytes in [&gzip, &plain] {
            // With any buffer size, so that every boundary is met.
            let input = BufReader::with_capacity(buffer, &bytes[..]);
            check_read(Reader::new(input, 0), &samples, bytes.len() as u64);
        }
        let mut ids = samples.iter().map(|sample| sample.id).collect::<Vec<_>>();
        ids.sort_unstable();
        ids.dedup();
        let report = warc::check(&path).unwrap();
        prop_assert_eq!(report.has_errors, ids.len() < samples.len(), "{:?}", report.findings);
    }

    #[test]
    fn reading_rubbish_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..2000), begin in 0..4_usize) {
        let begins: [&[u8]; 4] = [b"", b"\x1f\x8b\x08", b"WARC/1.1\r\n", b"WARC/1.0\r\nContent-Length: 9\r\n\r\n"];
        let bytes = [begins[begin], &bytes].concat();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.warc.gz");
        std::fs::write(&path, &bytes).unwrap();
        let report = warc::check(&path).unwrap();
        prop_assert_eq!(report.has_errors, !bytes.is_empty());
        let _ = warc::repair(&path);
        let _ = warc::index(&path);
    }
}
