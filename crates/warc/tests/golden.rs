//! The bytes of each type of record, once written by hand after WARC 1.1.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod plain;
mod samples;

use plain::plain;
use samples::records;
use std::io::Read;

fn check(index: usize, expect: &str) {
    let record = &records()[index];
    assert_eq!(String::from_utf8(plain(std::slice::from_ref(record))).unwrap(), expect);
}

#[test]
fn warcinfo() {
    check(
        0,
        "WARC/1.1\r\n\
         WARC-Type: warcinfo\r\n\
         WARC-Record-ID: <urn:uuid:01010101-0101-4101-8101-010101010101>\r\n\
         WARC-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Filename: a.warc.gz\r\n\
         WARC-Block-Digest: sha1:F7ZZZCZMR2PCSFOLG2SUD6FX7Y4W6WW5\r\n\
         Content-Type: application/warc-fields\r\n\
         Content-Length: 53\r\n\
         \r\n\
         software: argiope/0.1\r\n\
         format: WARC File Format 1.1\r\n\
         \r\n\r\n",
    );
}

#[test]
fn response() {
    check(
        1,
        "WARC/1.1\r\n\
         WARC-Type: response\r\n\
         WARC-Record-ID: <urn:uuid:02020202-0202-4202-8202-020202020202>\r\n\
         WARC-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Target-URI: http://a.example/\r\n\
         WARC-Warcinfo-ID: <urn:uuid:01010101-0101-4101-8101-010101010101>\r\n\
         WARC-IP-Address: 127.0.0.1\r\n\
         WARC-Payload-Digest: sha1:UL46ZLHHMDXNRUY2MZ6CN2J4LR2RMDKK\r\n\
         WARC-Block-Digest: sha1:KDIAIPO327VEXUXRRL64ZGTSFIUWXQQ4\r\n\
         Content-Type: application/http;msgtype=response\r\n\
         Content-Length: 117\r\n\
         \r\n\
         HTTP/1.1 200 OK\r\n\
         Content-Type: text/html; charset=utf-8\r\n\
         X-Crawler-Transfer-Encoding: chunked\r\n\
         \r\n\
         <title>Hello</title>\
         \r\n\r\n",
    );
}

#[test]
fn request() {
    check(
        2,
        "WARC/1.1\r\n\
         WARC-Type: request\r\n\
         WARC-Record-ID: <urn:uuid:03030303-0303-4303-8303-030303030303>\r\n\
         WARC-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Target-URI: http://a.example/\r\n\
         WARC-Concurrent-To: <urn:uuid:02020202-0202-4202-8202-020202020202>\r\n\
         WARC-Block-Digest: sha1:JY66MHDYUADWSY5XTRTWV6WXXTLGYOOV\r\n\
         Content-Type: application/http;msgtype=request\r\n\
         Content-Length: 35\r\n\
         \r\n\
         GET / HTTP/1.1\r\n\
         Host: a.example\r\n\
         \r\n\
         \r\n\r\n",
    );
}

#[test]
fn revisit() {
    check(
        3,
        "WARC/1.1\r\n\
         WARC-Type: revisit\r\n\
         WARC-Record-ID: <urn:uuid:04040404-0404-4404-8404-040404040404>\r\n\
         WARC-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Target-URI: http://a.example/copy\r\n\
         WARC-Refers-To: <urn:uuid:02020202-0202-4202-8202-020202020202>\r\n\
         WARC-Refers-To-Target-URI: http://a.example/\r\n\
         WARC-Refers-To-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n\
         WARC-IP-Address: 127.0.0.1\r\n\
         WARC-Payload-Digest: sha1:UL46ZLHHMDXNRUY2MZ6CN2J4LR2RMDKK\r\n\
         WARC-Block-Digest: sha1:ZTPJGOYMU6AQINEVYAJTY5ZG4Y2VZIJE\r\n\
         Content-Type: application/http;msgtype=response\r\n\
         Content-Length: 97\r\n\
         \r\n\
         HTTP/1.1 200 OK\r\n\
         Content-Type: text/html; charset=utf-8\r\n\
         X-Crawler-Transfer-Encoding: chunked\r\n\
         \r\n\
         \r\n\r\n",
    );
}

#[test]
fn metadata() {
    check(
        4,
        "WARC/1.1\r\n\
         WARC-Type: metadata\r\n\
         WARC-Record-ID: <urn:uuid:05050505-0505-4505-8505-050505050505>\r\n\
         WARC-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Target-URI: http://a.example/\r\n\
         WARC-Concurrent-To: <urn:uuid:02020202-0202-4202-8202-020202020202>\r\n\
         WARC-Block-Digest: sha1:NIB2BWQS3HN7KF3L6G2TWK32Q3RN52IO\r\n\
         Content-Type: application/warc-fields\r\n\
         Content-Length: 17\r\n\
         \r\n\
         fetchTimeMs: 12\r\n\
         \r\n\r\n",
    );
}

#[test]
fn resource() {
    let expect = b"WARC/1.1\r\n\
         WARC-Type: resource\r\n\
         WARC-Record-ID: <urn:uuid:06060606-0606-4606-8606-060606060606>\r\n\
         WARC-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Target-URI: http://a.example/logo\r\n\
         WARC-Payload-Digest: sha1:F5G7K3UALHYYIIAGOPRZHUEB6JWSOJA3\r\n\
         WARC-Block-Digest: sha1:F5G7K3UALHYYIIAGOPRZHUEB6JWSOJA3\r\n\
         Content-Type: image/png\r\n\
         Content-Length: 10\r\n\
         \r\n\
         \x89PNG\r\n\r\n\x00\xff\
         \r\n\r\n";
    assert_eq!(plain(&records()[5..6]), expect);
}

#[test]
fn truncated_response() {
    check(
        6,
        "WARC/1.1\r\n\
         WARC-Type: response\r\n\
         WARC-Record-ID: <urn:uuid:07070707-0707-4707-8707-070707070707>\r\n\
         WARC-Date: 2026-11-21T00:00:00.123Z\r\n\
         WARC-Target-URI: http://a.example/long\r\n\
         WARC-Truncated: length\r\n\
         WARC-Identified-Payload-Type: text/plain\r\n\
         WARC-Payload-Digest: sha1:A3SF4OCDDC3GESAI2N2ZB5QKYGM4NYSQ\r\n\
         WARC-Block-Digest: sha1:NFDKC3BMDLIKCFZK2EASHXDDM4OIGIHB\r\n\
         Content-Type: application/http;msgtype=response\r\n\
         Content-Length: 38\r\n\
         \r\n\
         HTTP/1.1 200 OK\n\
         Content-Length: 9\n\
         \n\
         cut\
         \r\n\r\n",
    );
}

#[test]
fn a_record_is_one_gzip_member_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.warc.gz");
    let locations = samples::write(&path, &records());
    let file = std::fs::read(&path).unwrap();
    for (record, location) in records().iter().zip(locations) {
        let start = location.offset as usize;
        let member = &file[start..start + location.length as usize];
        let mut gzip = flate2::bufread::GzDecoder::new(member);
        let mut unpacked = Vec::new();
        gzip.read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain(std::slice::from_ref(record)));
        assert!(gzip.into_inner().is_empty());
    }
}

#[test]
fn segment_names_hold_time_and_serial() {
    let name = warc::segment_name(samples::NOW_MS, 7);
    assert_eq!(name, "argiope-20261121000000-00007.warc.gz");
    assert_eq!(warc::segment_name(0, 123_456), "argiope-19700101000000-123456.warc.gz");
}
