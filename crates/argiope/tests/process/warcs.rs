//! Checks the archive of a crawl: by our own reader, by the archive world's validator, by `argiope check`, and against the
//! state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use store::Entry;
use warc::{Header, Reader, RecordType};

use crate::binary;

const INSTALL: &str = "This test needs the WARC validator warcio for python3.\n\
    Install it: `pip install warcio`\n\
    (or on Debian: `python3 -m venv V && V/bin/pip install warcio`, with V/bin first in PATH).";

/// Checks that every segment of a finished crawl is valid to its last byte and indexed, that nothing else lies beside
/// them, that each URL has as many responses as it was answered, and that the state points to the last.
pub fn check(dir: &Path, entries: &[Entry]) {
    let archive = dir.join("archive");
    let segments = segments(&archive);
    for segment in &segments {
        let report = warc::check(segment).unwrap();
        assert!(report.findings.is_empty(), "{}: {:?}", segment.display(), report.findings);
    }
    check_by_warcio(&segments);
    let checked = binary::run(&["check", dir.to_str().unwrap()]).expect_code(0);
    assert_eq!(checked.stderr, "", "argiope check");
    let responses = responses(&segments);
    for entry in entries {
        check_entry(entry, &responses, &segments);
    }
}

/// The segments by name. Panics where one has no index, or something else lies there.
fn segments(archive: &Path) -> Vec<PathBuf> {
    let mut names: Vec<String> =
        archive.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "acknowledged");
    names.sort();
    let stems: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(".warc.gz")).collect();
    let mut expect: Vec<String> =
        stems.iter().flat_map(|stem| [format!("{stem}.cdxj"), format!("{stem}.warc.gz")]).collect();
    expect.sort();
    assert_eq!(names, expect, "each segment has an index, and nothing else is there");
    stems.iter().map(|stem| archive.join(format!("{stem}.warc.gz"))).collect()
}

fn check_by_warcio(segments: &[PathBuf]) {
    let import = Command::new("python3").args(["-c", "import warcio"]).output();
    assert!(import.is_ok_and(|output| output.status.success()), "{INSTALL}");
    let output = Command::new("python3").args(["-m", "warcio.cli", "check", "-v"]).args(segments).output().unwrap();
    let report = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let failed: Vec<&str> = report.lines().filter(|line| line.contains("failed")).take(10).collect();
    assert!(output.status.success() && failed.is_empty(), "warcio: {failed:?} {}", output.status);
    assert!(report.contains("digest pass"), "warcio checked nothing: {report}");
}

/// The first response of a URL in a crawl's archive: its segment, and where it lies there.
pub fn place_of(dir: &Path, url: &str) -> (PathBuf, warc::Location) {
    let mut lines = segments(&dir.join("archive")).into_iter().flat_map(|segment| {
        let lines = warc::index(&segment).unwrap();
        lines.into_iter().map(move |line| (segment.clone(), line))
    });
    let (segment, line) = lines.find(|(_, line)| line.url == url).unwrap();
    (segment, line.location)
}

/// The headers of the responses and revisits of a URL in a crawl's archive.
pub fn answers_of(dir: &Path, url: &str) -> Vec<Header> {
    let mut found = Vec::new();
    for segment in segments(&dir.join("archive")) {
        let mut reader = Reader::open(&segment, 0).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            let header = record.header().clone();
            record.finish().unwrap();
            let is_answer = matches!(header.record_type(), Some(RecordType::Response | RecordType::Revisit));
            if is_answer && header.target_uri() == Some(url) {
                found.push(header);
            }
        }
    }
    found
}

/// Where the responses of each URL lie: segment and offset.
fn responses(segments: &[PathBuf]) -> BTreeMap<String, Vec<(usize, u64)>> {
    let mut found: BTreeMap<String, Vec<(usize, u64)>> = BTreeMap::new();
    for (serial, segment) in segments.iter().enumerate() {
        let mut reader = Reader::open(segment, 0).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            let header = record.header();
            if matches!(header.record_type(), Some(RecordType::Response | RecordType::Revisit)) {
                let url = header.target_uri().unwrap().to_owned();
                found.entry(url).or_default().push((serial, record.offset()));
            }
            record.finish().unwrap();
        }
    }
    found
}

fn check_entry(entry: &Entry, responses: &BTreeMap<String, Vec<(usize, u64)>>, segments: &[PathBuf]) {
    let url = entry.candidate.url.as_str();
    let visit = entry.visit.as_ref().unwrap_or_else(|| panic!("{url} is left over"));
    let places = responses.get(url).cloned().unwrap_or_default();
    let answered = if visit.status == 0 { 0 } else { usize::from(visit.attempts) };
    assert_eq!(places.len(), answered, "responses of {url} in the archive: {places:?} for {visit:?}");
    let Some(location) = visit.location else { return assert_eq!(answered, 0, "{url} has no place in the archive") };
    let serial = location.segment as usize;
    assert_eq!(places.last(), Some(&(serial, location.offset)), "{url}");
    let record = warc::read_at(&segments[serial], location.offset, 1 << 24).unwrap();
    assert_eq!(record.header.target_uri(), Some(url));
}
