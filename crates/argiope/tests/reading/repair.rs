//! `argiope check --repair`: what can be mended is mended, what is lost is named, and the crawl can go on.

mod rounds;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dataset::schema::Table;
use serde_json::{Value, json};
use testkit::tables::{pages, rows_of_all_visits};
use testweb::{Pages, Reply, Web};
use warc::RecordType;

use crate::check::{checked, findings};
use testkit::crawled::{Crawled, flip};

/// Repairs the directory: the exit code, and what the repair says of itself.
fn repaired(crawled: &Crawled) -> (i32, Value) {
    let ran = crawled.run("check", &["--repair", "--json"]);
    (ran.code, ran.json()["repair"].clone())
}

/// The crawl must be able to go on, and to end.
fn goes_on(crawled: &Crawled) {
    let ran = crawled.crawl(&["http://small.test/never-linked"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let row = crawled.explain("/never-linked")["row"].clone();
    assert_eq!(row["outcome"], "http_error", "it was asked for: {row}");
}

#[test]
fn nothing_is_touched_where_nothing_is_wrong() {
    let crawled = Crawled::small();
    let before = std::fs::read(&crawled.segments()[0]).expect("a segment");
    assert_eq!(repaired(&crawled), (0, Value::Null));
    assert_eq!(std::fs::read(&crawled.segments()[0]).expect("a segment"), before);
}

#[test]
fn a_damaged_request_costs_no_response() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length + 40);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (0, &json!([])), "{repair}");
    assert!(repair["moved"].as_u64() > Some(0), "{repair}");
    assert_eq!(findings(&repair["found"]).len(), 1);
    assert_eq!(checked(&crawled), (0, vec![]));
    assert!(segment.with_extension("gz.damaged").exists(), "the old file is kept");
    goes_on(&crawled);
    assert_eq!(checked(&crawled), (0, vec![]));
}

#[test]
fn a_damaged_response_is_named_as_lost_and_so_is_what_repeats_it() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length / 2);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (1, &json!(["http://small.test/a"])), "{repair}");
    let left = [
        "error: http://small.test/a: its response is not in the archive",
        "error: http://small.test/copy: it repeats http://small.test/a, whose response is not in the archive",
    ];
    let (code, mut findings) = checked(&crawled);
    findings.retain(|finding| finding.starts_with("error"));
    findings.sort_unstable();
    assert_eq!((code, findings), (1, left.map(str::to_owned).to_vec()));
    let story = crawled.explain("/a");
    assert_eq!((&story["record"], &story["record_is_missing"]), (&Value::Null, &json!(true)));
    assert_eq!(crawled.explain("/copy")["content_is_missing"], json!(true));
    for (path, words) in [("a", "the archive has lost it"), ("copy", "the answer whose content it repeats is lost")] {
        let said = crawled.run("explain", &[&format!("http://small.test/{path}")]).stdout;
        assert!(
            said.contains(words) && said.contains(&format!("argiope crawl -o {} --again", crawled.dir())),
            "{said}"
        );
    }
    let sound = crawled.explain("/target");
    assert_eq!((&sound["record_is_missing"], &sound["content_is_missing"]), (&json!(false), &json!(false)));
    goes_on(&crawled);
    let errors = checked(&crawled).1.into_iter().filter(|finding| finding.starts_with("error"));
    assert_eq!(errors.count(), 2, "nothing more is wrong");
}

/// Exports leave out what repeats a lost page, as they leave out the page, and count it.
#[test]
fn what_repeats_a_lost_page_does_not_keep_others_from_being_exported() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length / 2);
    assert_eq!(repaired(&crawled).0, 1);
    let target = tempfile::tempdir().expect("a directory");
    let export = |format: &str| {
        let to = target.path().join(format);
        (crawled.run("export", &[format, "-o", to.to_str().expect("UTF-8")]), to)
    };
    for format in ["markdown", "pages", "chunks", "kvs", "wacz", "warc"] {
        let (exported, to) = export(format);
        assert_eq!(exported.code, 0, "{format}: {exported:?}");
        assert!(to.exists(), "{format}");
        let said = match format {
            "wacz" | "warc" => "1 revisit record copied without content: ",
            _ => "1 page without content: ",
        };
        assert!(exported.stderr.contains(said), "{format}: {exported:?}");
        assert!(exported.stderr.contains("`argiope check"), "{format}: {exported:?}");
    }
    let titles: Vec<String> = walked(&target.path().join("pages"))
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a page"))
        .collect();
    assert!(titles.iter().any(|page| page.contains("<title>Target</title>")), "{titles:?}");
    assert!(!titles.iter().any(|page| page.contains("<title>Twice</title>")), "{titles:?}");
    // The lost page is got again: what repeats it has its content again.
    assert_eq!(crawled.crawl(&["--again"]).code, 0);
    std::fs::remove_dir_all(target.path().join("pages")).expect("removed");
    let (exported, to) = export("pages");
    assert_eq!(exported.code, 0, "{exported:?}");
    assert!(!exported.stderr.contains("without content"), "{exported:?}");
    let twice = walked(&to)
        .iter()
        .filter(|path| std::fs::read_to_string(path).expect("a page").contains("<title>Twice</title>"))
        .count();
    assert_eq!(twice, 2);
}

#[test]
fn a_cut_segment_loses_only_what_was_cut() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/copy");
    let file = OpenOptions::new().write(true).open(&segment).expect("a segment");
    file.set_len(offset + length / 2).expect("cut");
    let (code, repair) = repaired(&crawled);
    assert_eq!(code, 1);
    assert!(repair["lost"].as_array().expect("a list").contains(&json!("http://small.test/copy")), "{repair}");
    assert_eq!(std::fs::metadata(&segment).expect("a segment").len(), offset, "cut behind the last whole record");
    goes_on(&crawled);
}

#[test]
fn a_missing_segment_does_not_keep_the_crawl_from_going_on() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let segments = crawled.segments();
    assert!(segments.len() > 2);
    for segment in [&segments[1], segments.last().expect("there are three")] {
        std::fs::remove_file(segment).expect("removed");
    }
    // A round that cannot go on does not begin.
    for flags in [&[][..], &["--again"]] {
        let ran = crawled.crawl(flags);
        assert!(ran.code == 1 && ran.stderr.contains("`argiope check --repair`"), "{ran:?}");
    }
    assert!(crawled.run("status", &["--json"]).json()["round"].is_null(), "no round has begun");
    let (code, repair) = repaired(&crawled);
    assert_eq!(code, 1);
    assert!(!repair["lost"].as_array().expect("a list").is_empty());
    let (_, left) = checked(&crawled);
    assert!(left.iter().all(|finding| finding.ends_with("not in the archive")), "{left:#?}");
    goes_on(&crawled);
}

#[test]
fn records_that_were_pushed_over_the_committed_end_are_found_again() {
    for bytes in [10, 300, 1_200, 6_000] {
        let crawled = Crawled::with(&["--segment-size", "2KB"]);
        let segment = crawled.segments().swap_remove(1);
        let whole = std::fs::read(&segment).expect("a segment");
        std::fs::write(&segment, [&vec![b'X'; bytes], whole.as_slice()].concat()).expect("written");
        // A crawl does not cut a record in two, either.
        let ran = crawled.crawl(&["--again"]);
        assert!(ran.code == 1 && ran.stderr.contains("no end of a record"), "{bytes}: {ran:?}");
        let (code, repair) = repaired(&crawled);
        assert_eq!((code, &repair["lost"]), (0, &json!([])), "{bytes}: {repair}");
        assert_eq!(std::fs::read(&segment).expect("a segment"), whole, "{bytes}");
        assert_eq!(checked(&crawled), (0, vec![]), "{bytes}");
        assert_eq!(crawled.crawl(&[]).code, 0, "{bytes}");
    }
}

#[test]
fn segments_that_changed_places_lose_nothing() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let segments = crawled.segments();
    let (one, other) = (&segments[0], &segments[1]);
    let aside = one.with_extension("aside");
    for (from, to) in [(one, &aside), (other, one), (&aside, other)] {
        std::fs::rename(from, to).expect("renamed");
    }
    assert_eq!(crawled.crawl(&[]).code, 1);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (0, &json!([])), "{repair}");
    assert_eq!(checked(&crawled), (0, vec![]));
    // The rows were derived again with what lies there now.
    let derived = crawled.run("derive", &[]);
    assert!(derived.code == 0 && derived.stdout.contains("nothing is missing"), "{derived:?}");
    let rows = rows_of_all_visits(crawled.dir(), Table::Pages);
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(rows_of_all_visits(crawled.dir(), Table::Pages), rows);
    let again = crawled.crawl(&["--again"]);
    assert_eq!(again.code, 0, "{again:?}");
}

/// The last segment has visits of the first round then. It gets no second visit of the same URLs.
#[test]
fn a_round_after_rounds_changed_places_has_its_rows() {
    let crawled = Crawled::small();
    assert_eq!(crawled.crawl(&["--again"]).code, 0);
    let [one, other] = &crawled.segments()[..] else { panic!("a segment for each round") };
    let aside = one.with_extension("aside");
    for (from, to) in [(one, &aside), (other, one), (&aside, other)] {
        std::fs::rename(from, to).expect("renamed");
    }
    assert_eq!(repaired(&crawled).0, 0);
    let urls = || pages(crawled.dir()).into_iter().map(|(url, row)| (url, row["visit"].clone())).collect::<Vec<_>>();
    let before = urls();
    assert_eq!(crawled.crawl(&["--again"]).code, 0);
    assert_eq!(crawled.segments().len(), 3);
    let after = urls();
    assert_eq!(after.len(), before.len());
    // The others were excluded, without a request.
    assert_eq!(after.iter().filter(|(_, visit)| visit == "3").count(), 8, "{after:?}");
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(urls(), after);
}

/// A round whose crawl fails at once would be said to be under way, and nothing would be visited.
#[test]
fn a_round_does_not_begin_where_the_dataset_cannot_be_completed() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let rounds = || crawled.run("status", &["--json"]).json()["round"].clone();
    let before = rounds();
    let (segment, offset, _) = crawled.record("/a");
    let bytes = std::fs::read(&segment).expect("a segment");
    flip(&segment, offset + 2);
    std::fs::remove_dir_all(Path::new(crawled.dir()).join("dataset")).expect("removed");
    assert_eq!(crawled.crawl(&["--again"]).code, 1);
    assert_eq!(rounds(), before);
    std::fs::write(&segment, bytes).expect("written");
    let again = crawled.crawl(&["--again"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_ne!(rounds(), before);
}

#[test]
fn a_segment_of_garbage_is_set_aside() {
    let crawled = Crawled::small();
    let segment = crawled.segments().remove(0);
    std::fs::write(&segment, "not one record").expect("written");
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, repair["lost"].as_array().map(Vec::len)), (1, Some(9)), "{repair}");
    assert_eq!(std::fs::read(segment.with_extension("gz.damaged")).expect("kept"), b"not one record");
    goes_on(&crawled);
}

#[test]
fn indexes_are_rebuilt() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let index = archive::index_path(&crawled.segments()[0]);
    let before = std::fs::read(&index).expect("an index");
    std::fs::remove_file(&index).expect("removed");
    let last = archive::index_path(crawled.segments().last().expect("segments"));
    std::fs::write(&last, "nonsense\n").expect("written");
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, repair["actions"].as_array().map(Vec::len)), (0, Some(2)), "{repair}");
    assert_eq!(std::fs::read(&index).expect("an index"), before);
    assert_eq!(checked(&crawled), (0, vec![]));
}

#[test]
fn uncommitted_tails_are_cut_off() {
    let crawled = Crawled::small();
    let segment = crawled.segments().remove(0);
    let before = std::fs::read(&segment).expect("a segment");
    let mut file = OpenOptions::new().append(true).open(&segment).expect("a segment");
    file.write_all(b"garbage").expect("written");
    let ran = crawled.run("check", &["--repair"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("\nrepair: cut 7 bytes off "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nAfter the repair nothing is wrong now\nno errors: 21 records"), "{}", ran.stdout);
    assert_eq!(std::fs::read(&segment).expect("a segment"), before);
}

/// The archive was rewritten, but the process was killed before the state followed.
#[test]
fn an_interrupted_repair_is_carried_on() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length + 40);
    assert!(matches!(warc::repair(&segment), Ok(warc::Repair::Rewritten { .. })));
    assert_eq!(checked(&crawled).0, 1);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (0, &json!([])), "{repair}");
    assert_eq!(checked(&crawled), (0, vec![]));
}

/// The first segment, and the records in it of a type, with their URLs: offset and length.
pub(crate) fn records(segment: &Path, kind: RecordType) -> Vec<(String, u64, u64)> {
    let (mut reader, mut records) = (warc::Reader::open(segment, 0).expect("a segment"), Vec::new());
    while let Some(record) = reader.next_record().expect("a record") {
        let (offset, header) = (record.offset(), record.header().clone());
        let length = record.finish().expect("a whole record").length;
        if header.record_type() == Some(kind) {
            records.push((header.target_uri().unwrap_or_default().to_owned(), offset, length));
        }
    }
    records
}

/// What `search` finds, and the files that `export markdown` writes.
pub(crate) fn readable(crawled: &Crawled) -> (usize, usize) {
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    let found = found(crawled);
    let target = tempfile::tempdir().expect("a directory");
    let to = target.path().join("pages");
    let exported = crawled.run("export", &["markdown", "-o", to.to_str().expect("UTF-8")]);
    assert_eq!(exported.code, 0, "{exported:?}");
    let pages = walked(&to).iter().filter(|path| path.extension().is_some_and(|it| it == "md")).count();
    (found, pages)
}

pub(crate) fn found(crawled: &Crawled) -> usize {
    found_with(crawled, "page")
}

fn walked(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walked(&path) } else { vec![path] }).collect()
}

/// How many pages a search finds.
fn found_with(crawled: &Crawled, words: &str) -> usize {
    let ran = crawled.run("search", &[words, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    usize::try_from(ran.json()["pages"].as_u64().expect("a number")).expect("a small number")
}

/// The Parquet files of the dataset: each with its bytes.
fn tables(crawled: &Crawled) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = walked(&Path::new(crawled.dir()).join("dataset"));
    files.retain(|path| path.extension().is_some_and(|it| it == "parquet"));
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a table"))).collect()
}

/// Tables of rules that the crawl has no more go when all is made again, and so does what a killed process left.
#[test]
fn all_that_is_derived_again_is_all_there_is() {
    let crawled = Crawled::small();
    let dataset = Path::new(crawled.dir()).join("dataset");
    let (gone, left) = (dataset.join("items/gone"), dataset.join("pages/_x.unfinished"));
    std::fs::create_dir_all(&gone).expect("made");
    std::fs::write(&left, "half").expect("written");
    let before = tables(&crawled);
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!((gone.exists(), left.exists()), (false, false));
    assert_eq!(tables(&crawled).len(), before.len());
}

/// A record of the archive: where it begins, and how long it is.
fn response_of(crawled: &Crawled, url: &str) -> (PathBuf, u64, u64) {
    let segment = crawled.segments()[0].clone();
    let found = records(&segment, RecordType::Response).into_iter().find(|(of, ..)| of == url);
    let (_, offset, length) = found.expect(url);
    (segment, offset, length)
}

const ROBOTS: &str = "http://small.test/robots.txt";

#[test]
fn a_lost_robots_txt_is_counted_and_named_and_asked_for_again() {
    for has_index in [true, false] {
        let crawled = Crawled::small();
        let (segment, offset, length) = response_of(&crawled, ROBOTS);
        flip(&segment, offset + length / 2);
        if !has_index {
            std::fs::remove_file(archive::index_path(&segment)).expect("an index");
        }
        let (code, repair) = repaired(&crawled);
        let named = repair["lost_robots"].as_array().expect("a list");
        assert_eq!((code, named.len(), &named[0]["url"]), (1, 1, &json!(ROBOTS)), "{repair}");
        assert_eq!(named[0]["at"].is_string(), has_index, "{repair}");
        assert_eq!(repair["lost"], json!([]), "{repair}");
        // Told once; then it is in order.
        assert_eq!(repaired(&crawled), (0, Value::Null));
        let before = crawled.log().len();
        goes_on(&crawled);
        let asked = crawled.log().into_iter().skip(before).map(|entry| entry.target).collect::<Vec<_>>();
        assert_eq!(asked.first().map(String::as_str), Some("/robots.txt"), "before anything else: {asked:?}");
        let last = crawled.segments().last().cloned().expect("a segment");
        assert_eq!(records(&last, RecordType::Response).iter().filter(|(url, ..)| url == ROBOTS).count(), 1);
        // The request of the lost response is still there, alone.
        let (code, findings) = checked(&crawled);
        assert!(code == 0 && findings.iter().all(|finding| finding.contains("WARC-Concurrent-To")), "{findings:?}");
    }
    let crawled = Crawled::small();
    let (segment, offset, length) = response_of(&crawled, ROBOTS);
    flip(&segment, offset + length / 2);
    let told = crawled.run("check", &["--repair"]).stdout;
    assert!(told.contains("lost: the record of 2") && told.contains(&format!(" of {ROBOTS}\n")), "{told}");
    assert!(told.contains("1 record of robots.txt files lost"), "{told}");
}

#[test]
fn a_damaged_file_of_a_page_is_named_as_lost_and_comes_back_with_a_round() {
    let page = "<title>Furnished</title><link rel=stylesheet href=/style.css><p>words<img src=/spider.png>";
    let png = || Reply::new(200).header("Content-Type", "image/png").body(&b"\x89PNG\r\n\x1a\nspider"[..]);
    let css = || Reply::new(200).header("Content-Type", "text/css").body(&b"p { color: #123456 }"[..]);
    let site = Pages::new().html("/", page).reply("/spider.png", png()).reply("/style.css", css());
    let web = Web::new().site("small.test", site);
    let crawled = Crawled::of(web, "http://small.test/", &["--requisites", "--images"]);
    let urls = ["http://small.test/spider.png", "http://small.test/style.css"];
    // The last one first: what is before it stays where it is.
    let mut places = urls.map(|url| response_of(&crawled, url));
    places.sort_by_key(|(_, offset, _)| std::cmp::Reverse(*offset));
    for (segment, offset, length) in &places {
        flip(segment, offset + length / 2);
    }
    let (code, repair) = repaired(&crawled);
    let mut lost: Vec<&str> = repair["lost"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    lost.sort_unstable();
    assert_eq!((code, lost, &repair["lost_robots"]), (1, urls.to_vec(), &json!([])), "{repair}");

    // The rows that are left can be read, and derived again.
    for arguments in [&["derive", "--all"][..], &["report"], &["status"], &["search", "words"]] {
        let ran = crawled.run(arguments[0], &arguments[1..]);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    }
    let target = tempfile::tempdir().expect("a directory");
    let wacz = target.path().join("small.wacz");
    let ran = crawled.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");

    assert_eq!(crawled.crawl(&["--again"]).code, 0);
    let (code, findings) = checked(&crawled);
    let is_expected = |finding: &String| finding.starts_with("note") || finding.contains("WARC-Concurrent-To");
    assert!(code == 0 && findings.iter().all(is_expected), "{findings:?}");
    for url in urls {
        let all = crawled.segments();
        let found = all.iter().flat_map(|segment| records(segment, RecordType::Response));
        assert_eq!(found.filter(|(of, ..)| of == url).count(), 1, "{url}");
    }
}
