//! The index of a file.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod samples;

use samples::{records, write};
use std::fs;
use warc::{CdxLine, Location, ReadError, Record};

#[test]
fn the_index_has_a_sorted_line_for_each_response_revisit_and_resource() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let at = write(&path, &records());
    let index = dir.path().join("x.cdxj");
    warc::write_sorted(&index, warc::index(&path).unwrap()).unwrap();

    let page = "sha1:UL46ZLHHMDXNRUY2MZ6CN2J4LR2RMDKK";
    assert_eq!(page, warc::Digest::of(samples::PAGE).to_string());
    let place = |n: usize| {
        let Location { offset, length } = at[n];
        format!(r#""length": "{length}", "offset": "{offset}", "filename": "x.warc.gz"}}"#)
    };
    let digest = |bytes: &[u8]| warc::Digest::of(bytes).to_string();
    let expect = [
        format!(
            r#"example,a)/ 20261121000000 {{"url": "http://a.example/", "mime": "text/html", "status": "200", "digest": "{page}", {}"#,
            place(1)
        ),
        format!(
            r#"example,a)/copy 20261121000000 {{"url": "http://a.example/copy", "mime": "warc/revisit", "status": "200", "digest": "{page}", {}"#,
            place(3)
        ),
        format!(
            r#"example,a)/logo 20261121000000 {{"url": "http://a.example/logo", "mime": "image/png", "digest": "{}", {}"#,
            digest(b"\x89PNG\r\n\r\n\x00\xff"),
            place(5)
        ),
        format!(
            r#"example,a)/long 20261121000000 {{"url": "http://a.example/long", "status": "200", "digest": "{}", {}"#,
            digest(b"cut"),
            place(6)
        ),
        format!(
            r#"example,a)/none 20261121000000 {{"url": "http://a.example/none", "status": "204", "digest": "{}", {}"#,
            digest(b""),
            place(7)
        ),
    ];
    assert_eq!(fs::read_to_string(&index).unwrap().lines().collect::<Vec<_>>(), expect);
    let files = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(files, 2, "no temporary file is left");
}

#[test]
fn lines_are_sorted_by_bytes_and_values_are_json() {
    let line = |url: &str, timestamp: &str| CdxLine {
        url: url.to_owned(),
        timestamp14: timestamp.to_owned(),
        mime: Some("a\"b\\".to_owned()),
        status: None,
        digest: None,
        location: Location { offset: 1, length: 2 },
        filename: "č.warc.gz".to_owned(),
        asked: None,
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.cdxj");
    let lines = [
        line("http://b.example/", "2026"),
        line("http://a.example/x", "2026"),
        line("http://a.example/", "2027"),
        line("http://a.example/", "2026"),
    ];
    warc::write_sorted(&path, lines).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let keys = text.lines().map(|line| line.split(" {").next().unwrap()).collect::<Vec<_>>();
    let expect = ["example,a)/ 2026", "example,a)/ 2027", "example,a)/x 2026", "example,b)/ 2026"];
    assert_eq!(keys, expect);
    for line in text.lines() {
        let json: serde_json::Value = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
        assert_eq!((&json["mime"], &json["filename"]), (&"a\"b\\".into(), &"č.warc.gz".into()));
    }
}

#[test]
fn an_index_made_while_writing_is_the_one_made_by_reading() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let head = |uri, method: &'static [u8]| {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
        [
            Record::response(samples::id(9), samples::NOW_MS, uri, answer, b""),
            Record::request(samples::id(10), samples::NOW_MS, uri, method, b""),
        ]
    };
    let mut all = records();
    all.extend(head("http://a.example/asked for by HEAD", b"HEAD / HTTP/1.1\r\n\r\n"));
    all.extend(head("http://a.example/asked for by GET", b"GET / HTTP/1.1\r\n\r\n"));
    all.push(all[1].clone().packed());
    let [made, read] = ["made.cdxj", "read.cdxj"].map(|name| dir.path().join(name));
    let mut index = warc::IndexWriter::new(&made, "x.warc.gz");
    for (record, location) in all.iter().zip(write(&path, &all)) {
        index.push(record, location).unwrap();
    }
    index.finish().unwrap();
    warc::write_index(&path, &read).unwrap();
    let made = fs::read_to_string(&made).unwrap();
    assert_eq!(made, fs::read_to_string(&read).unwrap());
    assert!(made.contains("by%20GET") && !made.contains("by%20HEAD"), "{made}");
}

#[test]
fn a_damaged_file_is_not_indexed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc.gz");
    let locations = write(&path, &records());
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let error = warc::index(&path).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { offset, .. } if offset == locations[7].offset));
}

#[test]
fn an_index_that_cannot_be_written_leaves_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.cdxj");
    fs::write(&path, "old").unwrap();
    fs::create_dir(dir.path().join("x.cdxj.tmp")).unwrap();
    assert!(warc::write_sorted(&path, []).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}
