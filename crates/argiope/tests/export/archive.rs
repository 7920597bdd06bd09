//! `warc` and `cdxj`: copies of the archive that stand alone, and the index of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use warc::{Reader, RecordType};

use testkit::crawled::Crawled;
use testkit::python::{python, runs};
use testkit::pywb::{Pywb, get};

/// A record: type, URL, its bytes as they lie in the file.
type Stored = (Option<RecordType>, Option<String>, Vec<u8>);

fn records(path: &Path) -> Vec<Stored> {
    let bytes = std::fs::read(path).expect("a segment");
    let mut reader = Reader::open(path, 0).expect("a segment");
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().expect("whole") {
        let (kind, url) = (record.header().record_type(), record.header().target_uri().map(str::to_owned));
        let location = record.finish().expect("whole");
        let at = usize::try_from(location.offset).expect("in memory");
        let end = at + usize::try_from(location.length).expect("in memory");
        records.push((kind, url, bytes[at..end].to_vec()));
    }
    records
}

/// Both checkers find nothing.
pub fn check(path: &Path) {
    let report = warc::check(path).expect("readable");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    runs(python(&["warcio"]).args(["-m", "warcio.cli", "check"]).arg(path));
}

fn copy(crawled: &Crawled, arguments: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("copy.warc.gz");
    let ran = crawled.run("export", &[&["warc", "-o", path.to_str().expect("UTF-8")], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    (dir, path)
}

#[test]
fn without_a_filter_every_record_is_copied_byte_for_byte() {
    let crawled = Crawled::small();
    let (_dir, path) = copy(&crawled, &[]);
    check(&path);
    let all: Vec<Stored> = crawled.segments().iter().flat_map(|segment| records(segment)).collect();
    let copied = records(&path);
    assert_eq!(copied[0].0, Some(RecordType::Warcinfo));
    assert_eq!(copied[1..], all);
    for url in ["http://small.test/robots.txt", "http://small.test/sitemap.xml"] {
        assert!(copied.iter().any(|(_, found, _)| found.as_deref() == Some(url)), "{url}");
    }
}

#[test]
fn the_first_record_says_what_it_is_a_copy_of() {
    let crawled = Crawled::small();
    let (_dir, path) = copy(&crawled, &["--outcome", "html", "--content-type", "text/*"]);
    let first = warc::read_at(&path, 0, 1 << 20).expect("a record");
    assert_eq!(first.header.get("WARC-Filename"), Some("copy.warc.gz"));
    let text = String::from_utf8(first.block).expect("UTF-8");
    let segment = crawled.segments()[0].file_name().expect("a name").to_string_lossy().into_owned();
    let expect = format!("description: a copy of records of {segment}, --outcome html --content-type text/*\r\n");
    assert!(text.contains(&expect), "{text}");
}

#[test]
fn a_filter_leaves_out_what_it_does_not_admit() {
    let crawled = Crawled::small();
    let (_dir, path) = copy(&crawled, &["--outcome", "binary", "--outcome", "redirect"]);
    check(&path);
    let all: BTreeSet<Stored> = crawled.segments().iter().flat_map(|segment| records(segment)).collect();
    let copied = records(&path);
    assert!(copied[1..].iter().all(|record| all.contains(record)), "byte for byte");
    let urls: Vec<&str> = copied.iter().filter_map(|(_, url, _)| url.as_deref()).collect();
    for url in ["http://small.test/file.bin", "http://small.test/b"] {
        assert_eq!(urls.iter().filter(|found| **found == url).count(), 2, "request and response of {url}");
    }
    assert_eq!(urls.len(), 4);
    let kinds: Vec<_> = copied.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds[..2], [Some(RecordType::Warcinfo), Some(RecordType::Warcinfo)], "the crawl's settings come along");
}

#[test]
fn a_revisit_whose_original_is_left_out_becomes_a_response() {
    let crawled = Crawled::small();
    let (_dir, path) = copy(&crawled, &["--outcome", "duplicate"]);
    check(&path);
    let (mut responses, mut requests) = (Vec::new(), Vec::new());
    let mut reader = Reader::open(&path, 0).expect("a segment");
    while let Some(mut record) = reader.next_record().expect("whole") {
        let header = record.header().clone();
        let mut block = String::new();
        std::io::Read::read_to_string(&mut record, &mut block).expect("text");
        record.finish().expect("whole");
        match header.record_type() {
            Some(RecordType::Response) => responses.push((header, block)),
            Some(RecordType::Request) => requests.push(header),
            kind => assert_eq!(kind, Some(RecordType::Warcinfo)),
        }
    }
    let ([(response, block)], [request]) = (&responses[..], &requests[..]) else {
        panic!("{responses:?} {requests:?}")
    };
    assert_eq!(response.target_uri(), Some("http://small.test/copy"));
    assert!(block.ends_with("\r\n\r\n<title>Twice</title><a href=/copy>copy</a>"), "{block}");
    assert_eq!(request.get("WARC-Concurrent-To"), response.record_id());
    // With its original it stays what it is.
    let (_dir, path) = copy(&crawled, &["--outcome", "duplicate", "--outcome", "html"]);
    assert_eq!(records(&path).iter().filter(|(kind, ..)| *kind == Some(RecordType::Revisit)).count(), 1);
}

#[test]
fn a_directory_gets_segments_of_the_size_that_the_crawl_had() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    assert!(crawled.segments().len() > 2);
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("copy");
    let ran = crawled.run("export", &["warc", "-o", target.to_str().expect("UTF-8")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let mut names: Vec<String> = target
        .read_dir()
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert!(names.len() > 2 && names[0] == "copy-00000.warc.gz", "{names:?}");
    names.iter().for_each(|name| check(&target.join(name)));
    let ours = |paths: Vec<PathBuf>| {
        let records: Vec<Stored> = paths.iter().flat_map(|path| records(path)).collect();
        records.into_iter().filter(|(kind, ..)| *kind != Some(RecordType::Warcinfo)).collect::<Vec<_>>()
    };
    assert_eq!(ours(names.iter().map(|name| target.join(name)).collect()), ours(crawled.segments()));
}

/// Type, URL and block of each record, warcinfo records left out: they name the file and the settings.
fn contents(paths: &[PathBuf]) -> Vec<(Option<RecordType>, Option<String>, Vec<u8>)> {
    let mut contents = Vec::new();
    for path in paths {
        let mut reader = Reader::open(path, 0).expect("a segment");
        while let Some(mut record) = reader.next_record().expect("whole") {
            let (kind, url) = (record.header().record_type(), record.header().target_uri().map(str::to_owned));
            let mut block = Vec::new();
            std::io::Read::read_to_end(&mut record, &mut block).expect("whole");
            record.finish().expect("whole");
            if kind != Some(RecordType::Warcinfo) {
                contents.push((kind, url, block));
            }
        }
    }
    contents
}

fn bytes(paths: &[PathBuf]) -> u64 {
    paths.iter().map(|path| path.metadata().expect("a file").len()).sum()
}

#[test]
fn an_archive_and_a_copy_are_compressed_as_they_are_asked_to_be() {
    let (fast, small) = (Crawled::small(), Crawled::with(&["--compression", "small"]));
    let [in_fast, in_small] = [&fast, &small].map(|crawled| bytes(&crawled.segments()));
    assert!(in_small < in_fast, "{in_small} {in_fast}");
    small.segments().iter().for_each(|segment| check(segment));

    let (_dir, path) = copy(&fast, &["--compression", "small"]);
    check(&path);
    assert_eq!(contents(std::slice::from_ref(&path)), contents(&fast.segments()));
    let as_fast = copy(&small, &["--compression", "fast"]);
    check(&as_fast.1);
    let [to_small, to_fast] = [path, as_fast.1].map(|path| bytes(&[path]));
    assert!(to_small < in_fast && to_small < to_fast, "{to_small} {in_fast} {to_fast}");

    // Its index leads to the records where they are now.
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("small.wacz");
    let ran = fast.run("export", &["wacz", "--compression", "small", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    runs(python(&["wacz"]).args(["-m", "wacz.main", "validate", "-f"]).arg(&wacz));
    let pywb = Pywb::serve(dir.path(), &wacz);
    assert_eq!(get(pywb.port, "/it/2030id_/http://small.test/").0, "200");
}

#[test]
fn options_of_other_formats_are_refused() {
    let crawled = Crawled::small();
    for (arguments, expect) in [
        (&["jsonl", "--compression", "small"][..], "--compression is for warc and wacz: jsonl has no use for it"),
        (&["wacz", "--all"], "--all is for jsonl: wacz has no use for it"),
        (&["jsonl", "--items", "product"], "--items is for items: jsonl has no use for it"),
        (&["markdown", "--chunk-tokens", "100"], "--chunk-tokens is for chunks: markdown has no use for it"),
        (&["pages", "--chunk-chars", "100"], "--chunk-chars is for chunks: pages has no use for it"),
    ] {
        let ran = crawled.run("export", arguments);
        assert!(ran.code == 2 && ran.stderr.contains(expect), "{arguments:?}: {ran:?}");
    }
}

fn lines(crawled: &Crawled, arguments: &[&str]) -> Vec<String> {
    let ran = crawled.run("export", &[&["cdxj"], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_index_is_sorted_and_leads_to_the_records() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let all = lines(&crawled, &[]);
    assert!(all.is_sorted());
    let mut expect: Vec<String> = Vec::new();
    for segment in crawled.segments() {
        expect.extend(warc::index(&segment).expect("an index").iter().map(ToString::to_string));
    }
    expect.sort();
    assert_eq!(all, expect);
    for line in &all {
        let json: Value = serde_json::from_str(&line[line.find('{').expect("JSON")..]).expect("JSON");
        let text = |key: &str| json[key].as_str().expect("a text").to_owned();
        let path = Path::new(crawled.dir()).join("archive").join(text("filename"));
        let record = warc::read_at(&path, text("offset").parse().expect("a number"), 1 << 20).expect("a record");
        assert_eq!(record.header.target_uri(), json["url"].as_str());
    }
}

#[test]
fn the_index_is_filtered_and_made_where_there_is_none() {
    let crawled = Crawled::small();
    let all = lines(&crawled, &[]);
    let index = crawled.segments()[0].with_extension("").with_extension("cdxj");
    std::fs::remove_file(index).expect("an index");
    assert_eq!(lines(&crawled, &[]), all);
    let html = lines(&crawled, &["--outcome", "html"]);
    assert!(!html.is_empty() && html.len() < all.len());
    assert!(html.iter().all(|line| all.contains(line) && line.contains("\"mime\": \"text/html\"")), "{html:?}");
}

#[test]
fn answers_to_head_are_not_indexed() {
    let crawled = Crawled::with(&["--head-first"]);
    let all = lines(&crawled, &[]);
    let of_root: Vec<&String> = all.iter().filter(|line| line.starts_with("test,small)/ ")).collect();
    assert_eq!(of_root.len(), 1, "{all:?}");
    let json: Value = serde_json::from_str(&of_root[0][of_root[0].find('{').expect("JSON")..]).expect("JSON");
    let path = Path::new(crawled.dir()).join("archive").join(json["filename"].as_str().expect("a name"));
    let offset = json["offset"].as_str().expect("a text").parse().expect("a number");
    assert!(!warc::read_at(&path, offset, 1 << 20).expect("a record").http_parts().1.is_empty());
}
