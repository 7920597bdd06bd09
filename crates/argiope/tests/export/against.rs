//! `crawl --against`: payloads that earlier archives hold are not recorded again, and replay together with those.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use testweb::{Pages, Reply, Request, Web, from_fn};

use testkit::crawled::Crawled;
use testkit::python::script;
use testkit::pywb::{Pywb, get};
use testkit::ran::argiope;

/// A site of pages and a document, of which one page is given.
fn site(changing: &str) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let links = ["/a", "/b", "/copy", "/doc.bin"].map(|path| format!("<a href={path}>{path}</a>")).concat();
    let noise: Vec<u8> = (0..200_000_u64).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    vec![
        ("/", "text/html", links.into_bytes()),
        ("/a", "text/html", changing.as_bytes().to_vec()),
        ("/b", "text/html", b"<title>B</title><p>It stays as it is.".to_vec()),
        ("/copy", "text/html", b"<title>B</title><p>It stays as it is.".to_vec()),
        ("/doc.bin", "application/octet-stream", noise),
    ]
}

fn crawl(changing: &str, arguments: &[&str]) -> Crawled {
    let pages = site(changing).into_iter().fold(Pages::new(), |pages, (path, media, body)| {
        let tag = format!("\"{}\"", body.len());
        pages.reply(path, Reply::new(200).header("Content-Type", media).header("ETag", tag).body(body))
    });
    Crawled::of(Web::new().site("small.test", pages), "http://small.test/", &[&["--no-sitemaps"], arguments].concat())
}

/// Type, target, and what a revisit refers to, of each answer to one of the pages; warcio verifies the digests.
fn records(crawled: &Crawled) -> Vec<[String; 5]> {
    let list = "import sys\n\
        from warcio.archiveiterator import ArchiveIterator\n\
        for path in sys.argv[1:]:\n\
        \x20   with open(path, 'rb') as file:\n\
        \x20       for record in ArchiveIterator(file, check_digests='raise'):\n\
        \x20           h = record.rec_headers\n\
        \x20           names = ['WARC-Target-URI', 'WARC-Profile', 'WARC-Refers-To-Target-URI', 'WARC-Refers-To-Date']\n\
        \x20           if record.rec_type in ('response', 'revisit') and not h['WARC-Target-URI'].endswith('robots.txt'):\n\
        \x20               print(record.rec_type, *[h.get_header(name) or '-' for name in names])\n";
    let paths: Vec<String> = crawled.segments().iter().map(|path| path.display().to_string()).collect();
    let listed = script(&["warcio"], list, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    let mut records: Vec<[String; 5]> = listed
        .lines()
        .map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            std::array::from_fn(|_| words.next().expect("five words"))
        })
        .collect();
    records.sort();
    records
}

/// The rows of an export by path.
fn rows(crawled: &Crawled) -> Vec<Value> {
    let lines = crawled.run("export", &["jsonl"]).stdout;
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn row<'r>(rows: &'r [Value], path: &str) -> &'r Value {
    let url = format!("http://small.test{path}");
    rows.iter().find(|row| row["url"] == url.as_str()).expect(path)
}

/// A collection of these WARC files in pywb.
fn collection(home: &Path, archives: &[&Crawled]) -> Pywb {
    let files: Vec<PathBuf> = archives.iter().flat_map(|crawled| crawled.segments()).collect();
    Pywb::of_warcs(home, &files)
}

#[test]
fn both_archives_together_replay_every_page() {
    let first = crawl("<p>As it was.", &[]);
    let second = crawl("<p>As it is.", &["--against", first.dir()]);
    let records = records(&second);
    let kinds: Vec<(&str, &str)> = records.iter().map(|record| (&*record[0], &*record[1])).collect();
    let url = |path: &str| format!("http://small.test{path}");
    let expect =
        [("response", "/a"), ("revisit", "/"), ("revisit", "/b"), ("revisit", "/copy"), ("revisit", "/doc.bin")];
    let expect = expect.map(|(kind, path)| (kind, url(path)));
    assert_eq!(kinds, expect.each_ref().map(|(kind, url)| (*kind, url.as_str())));
    let earlier = rows(&first);
    for [kind, target, profile, refers_to, date] in records.iter().filter(|record| record[0] == "revisit") {
        assert!(profile.ends_with("/revisit/identical-payload-digest"), "{kind} {profile}");
        // A page that two URLs had there: the record with the payload is meant.
        let meant = earlier.iter().find(|row| row["url"] == refers_to.as_str()).expect("an earlier URL");
        assert_eq!(
            (&meant["fetched_at"], &meant["payload_url"]),
            (&Value::from(date.as_str()), &Value::Null),
            "{target}"
        );
    }
    // The rows say it, written by the crawl or derived.
    let told = rows(&second);
    assert_eq!(
        (&row(&told, "/doc.bin")["payload_url"], &row(&told, "/a")["payload_url"]),
        (&url("/doc.bin").into(), &Value::Null)
    );
    assert_eq!(row(&told, "/doc.bin")["payload_at"], row(&earlier, "/doc.bin")["fetched_at"]);
    assert_eq!(row(&told, "/doc.bin")["outcome"], "binary", "it is no duplicate of anything in this crawl");
    let texts = |crawled: &Crawled| crawled.run("search", &["stays", "--json"]).stdout;
    let before = texts(&second);
    std::fs::remove_dir_all(Path::new(second.dir()).join("dataset")).expect("a dataset");
    assert_eq!(second.run("derive", &[]).code, 0);
    assert_eq!((texts(&second), rows(&second)), (before, told));
    let checked = second.run("check", &[]);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{checked:?}");

    let home = tempfile::tempdir().expect("a directory");
    let pywb = collection(home.path(), &[&first, &second]);
    let at = |row: &Value| row["fetched_at"].as_str().expect("a time").replace(['-', ':', 'T'], "")[..14].to_owned();
    for (path, media, body) in site("<p>As it is.") {
        let (status, head, replayed) =
            get(pywb.port, &format!("/it/{}id_/{}", at(row(&rows(&second), path)), url(path)));
        assert_eq!(status, "200", "{path}: {head}");
        assert!(head.contains(&format!("content-type: {media}")), "{path}: {head}");
        assert!(replayed == body || path == "/a", "{path}: {} bytes of {}", replayed.len(), body.len());
    }

    // A WACZ file of the second crawl stands alone.
    let wacz = home.path().join("second.wacz");
    assert_eq!(second.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]).code, 0);
    let alone = tempfile::tempdir().expect("a directory");
    let pywb = Pywb::serve(alone.path(), &wacz);
    for (path, _, body) in site("<p>As it is.") {
        let (status, head, replayed) = get(pywb.port, &format!("/it/2030id_/{}", url(path)));
        assert_eq!((status.as_str(), replayed == body), ("200", true), "{path}: {head}");
    }
}

#[test]
fn a_later_run_and_a_later_round_refer_to_the_earlier_archive_too() {
    let first = crawl("<p>As it was.", &[]);
    let second = crawl("<p>As it was.", &["--against", first.dir(), "--max-pages", "2"]);
    // Without the option: the directory knows it.
    let ended = second.crawl(&["--max-pages", "1000"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("not recorded again"), "{ended:?}");
    assert_eq!(second.crawl(&["--again"]).code, 0);
    let records = records(&second);
    assert!(records.len() >= 10 && records.iter().all(|record| record[0] == "revisit"), "{records:?}");
    let earlier: Vec<Value> = rows(&first).iter().map(|row| row["fetched_at"].clone()).collect();
    for record in &records {
        assert!(earlier.contains(&Value::from(record[4].as_str())), "{record:?}");
    }
    assert_eq!(second.run("check", &[]).code, 0);
    assert_eq!(second.run("changes", &["--json"]).stdout, "");
}

#[test]
fn wacz_files_warc_files_and_indexes_are_read() {
    let first = crawl("<p>As it was.", &[]);
    let home = tempfile::tempdir().expect("a directory");
    let wacz = home.path().join("first.wacz");
    assert_eq!(first.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]).code, 0);
    let segment = first.segments().remove(0);
    let index = segment.with_extension("").with_extension("cdxj");
    let lonely = home.path().join("lonely.cdxj");
    std::fs::copy(&index, &lonely).expect("an index");
    for (path, is_readable) in [(&wacz, true), (&segment, true), (&index, true), (&lonely, false)] {
        let second = crawl("<p>As it was.", &["--against", path.to_str().expect("UTF-8")]);
        let records = records(&second);
        // What only an index tells of is recorded in full: all but the duplicate of the crawl's own.
        let responses = records.iter().filter(|record| record[0] == "response").count();
        assert_eq!(responses, if is_readable { 0 } else { 4 }, "{}: {records:?}", path.display());
        let checked = second.run("check", &[]);
        assert_eq!(checked.code, 0, "{checked:?}");
        let copies = tempfile::tempdir().expect("a directory");
        let copy = copies.path().join("copy.wacz");
        let exported = second.run("export", &["wacz", "-o", copy.to_str().expect("UTF-8")]);
        assert!(exported.code == 0 && !exported.stderr.contains("without content"), "{exported:?}");
        let replays = Pywb::serve(copies.path(), &copy);
        let (status, ..) = get(replays.port, "/it/2030id_/http://small.test/b");
        assert_eq!(status, "200", "{}", path.display());
    }
}

#[test]
fn a_crawl_says_what_it_can_not_use_of_earlier_archives() {
    let first = crawl("<p>As it was.", &[]);
    let home = tempfile::tempdir().expect("a directory");
    let segment = first.segments().remove(0);
    let [lonely, cut] = ["lonely.cdxj", "cut.warc.gz"].map(|name| home.path().join(name));
    std::fs::copy(segment.with_extension("").with_extension("cdxj"), &lonely).expect("an index");
    let bytes = std::fs::read(&segment).expect("a segment");
    std::fs::write(&cut, &bytes[..bytes.len() - 40]).expect("a file");
    let second = crawl("<p>As it was.", &["--max-pages", "1"]);
    for (path, told) in [
        (&lonely, "recorded in full all the same: their WARC file does not lie beside the index"),
        (&cut, "1 file cut off inside a record, which is left out: "),
    ] {
        let ran = second.crawl(&["--max-pages", "1", "--quiet", "--against", path.to_str().expect("UTF-8")]);
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
    let ended = second.crawl(&["--max-pages", "1000"]);
    assert!(ended.code == 0 && ended.stderr.contains(" not recorded again, compared byte for byte"), "{ended:?}");
}

#[test]
fn a_crawl_takes_over_what_one_that_was_killed_had_taken_in() {
    let first = crawl("<p>As it was.", &[]);
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("new");
    std::fs::create_dir_all(dir.join("archive/against")).expect("a directory");
    std::fs::write(dir.join("archive/against/payloads.unfinished"), "half").expect("a file");
    let crawl = || {
        let dir = dir.to_str().expect("UTF-8");
        argiope(&["crawl", "-o", dir, "http://a.invalid/", "--max-attempts", "1", "--against", first.dir()])
    };
    std::fs::write(dir.join("archive/of-another"), "").expect("a file");
    let refused = crawl();
    assert!(refused.code == 1 && refused.stderr.contains("is not empty and holds no crawl"), "{refused:?}");
    std::fs::remove_file(dir.join("archive/of-another")).expect("removed");
    let ran = crawl();
    assert!(!ran.stderr.contains("is not empty") && dir.join("crawl.toml").exists(), "{ran:?}");
}

#[test]
fn what_an_index_promises_is_verified() {
    let first = crawl("<p>As it was.", &[]);
    let index = first.segments()[0].with_extension("").with_extension("cdxj");
    assert_eq!(crawl("<p>As it was.", &["--against", index.to_str().expect("UTF-8")]).segments().len(), 1);
    // The index points to other records than it says.
    let text = std::fs::read_to_string(&index).expect("an index");
    let shifted = text.replace("\"offset\": \"", "\"offset\": \"1");
    std::fs::write(&index, shifted).expect("an index");
    let second = crawl("<p>As it was.", &["--against", index.to_str().expect("UTF-8")]);
    let records = records(&second);
    let of_elsewhere = records.iter().filter(|record| record[0] == "revisit").count();
    assert!(of_elsewhere <= 1, "only the duplicate of the crawl's own: {records:?}");
    assert_eq!(second.run("check", &[]).code, 0);
}

#[test]
fn an_earlier_archive_that_is_gone_is_reported() {
    let first = crawl("<p>As it was.", &[]);
    let second = crawl("<p>As it is.", &["--against", first.dir()]);
    let home = tempfile::tempdir().expect("a directory");
    std::fs::rename(first.dir(), home.path().join("away")).expect("moved");
    for name in ["copy.wacz", "copy.warc.gz"] {
        let copy = home.path().join(name);
        let format = copy.extension().filter(|ending| *ending == "wacz").map_or("warc", |_| "wacz");
        let exported = second.run("export", &[format, "-o", copy.to_str().expect("UTF-8")]);
        assert_eq!(exported.code, 0, "{exported:?}");
        assert!(exported.stderr.contains("4 revisit records copied without content"), "{exported:?}");
    }
    // Rows that are derived meanwhile lack content, and are completed when the archive is back.
    let found = || second.run("search", &["stays", "--json"]).stdout;
    let before = found();
    std::fs::remove_dir_all(Path::new(second.dir()).join("dataset")).expect("a dataset");
    for derived in [second.run("derive", &[]), second.run("derive", &[])] {
        assert_eq!(derived.code, 0, "{derived:?}");
        assert!(derived.stderr.contains("4 rows of the dataset without text, links and images"), "{derived:?}");
    }
    assert!(before.contains("small.test/b") && !found().contains("small.test/b"), "{before}");
    std::fs::rename(home.path().join("away"), first.dir()).expect("moved");
    let derived = second.run("derive", &[]);
    assert_eq!((derived.code, derived.stderr.as_str()), (0, ""), "{derived:?}");
    assert_eq!(found(), before);
    assert!(second.run("derive", &[]).stdout.contains("nothing is missing"));
}

/// Pages with tags, which the site heeds.
const TAGGED: [&str; 4] = ["/1", "/2", "/3", "/4"];

/// A site of these pages, one without a tag, and, once it has grown, a copy of that one.
fn growing(has_grown: &Arc<AtomicBool>) -> Web {
    let has_grown = has_grown.clone();
    let links = TAGGED.iter().chain(&["/plain", "/copy"]).map(|path| format!("<a href={path}>{path}</a>"));
    let root: String = links.collect();
    let reply = move |request: &Request| match request.path() {
        "/" => Reply::html(root.clone()),
        "/copy" if !has_grown.load(Ordering::Relaxed) => Reply::error(404, "/copy"),
        "/plain" | "/copy" => Reply::html("<title>P</title><p>Without a tag."),
        path if !TAGGED.contains(&path) => Reply::error(404, path),
        _ if request.header("if-none-match").is_some() => Reply::new(304).header("ETag", "\"tag\""),
        path => Reply::html(format!("<title>{path}</title><p>With a tag.")).header("ETag", "\"tag\""),
    };
    Web::new().site("small.test", from_fn(reply))
}

/// A crawl against an earlier one that is gone by now, of a site that has grown since.
fn against_what_is_gone() -> Crawled {
    let has_grown = Arc::new(AtomicBool::new(false));
    let of_site =
        |more: &[&str]| Crawled::of(growing(&has_grown), "http://small.test/", &[&["--no-sitemaps"], more].concat());
    let first = of_site(&[]);
    let second = of_site(&["--against", first.dir()]);
    std::fs::remove_dir_all(first.dir()).expect("an earlier crawl");
    has_grown.store(true, Ordering::Relaxed);
    assert!(responses(&second).iter().all(|url| url.ends_with("/copy")), "{:?}", responses(&second));
    assert_eq!(second.run("check", &[]).code, 1);
    second
}

/// The URLs of which the archive has a response.
fn responses(crawled: &Crawled) -> Vec<String> {
    let of_type = records(crawled).into_iter().filter(|record| record[0] == "response");
    of_type.map(|[_, url, ..]| url).collect()
}

/// Each page has a response in the archive of the crawl itself, and its records lead to it.
fn is_whole(crawled: &Crawled) {
    let responses = responses(crawled);
    let has = |path: &str| responses.contains(&format!("http://small.test{path}"));
    assert!(TAGGED.iter().chain(&["/"]).all(|path| has(path)), "{responses:?}");
    // Whichever of the two was there first.
    assert!(has("/plain") || has("/copy"), "{responses:?}");
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let found = crawled.run("search", &["Without", "--json"]).stdout;
    assert!(found.contains("http://small.test/plain"), "{found}");
}

#[test]
fn what_is_lost_with_an_earlier_archive_is_recorded_in_full() {
    let second = against_what_is_gone();
    // What the server says to be unchanged is asked for in any case by the next round.
    for _ in 0..2 {
        assert_eq!(second.crawl(&["--again"]).code, 0);
    }
    is_whole(&second);
    // Each content once.
    let before = responses(&second).len();
    assert_eq!(second.crawl(&["--again"]).code, 0);
    assert_eq!(responses(&second).len(), before);
}

#[test]
fn a_repair_gives_up_what_is_lost_with_an_earlier_archive() {
    let second = against_what_is_gone();
    let repaired = second.run("check", &["--repair"]);
    assert_eq!(repaired.code, 1, "{repaired:?}");
    for path in TAGGED.iter().chain(&["/", "/plain"]) {
        let lost = format!("lost: the response of http://small.test{path}, visited 20");
        assert!(repaired.stdout.contains(&lost), "{path}: {repaired:?}");
    }
    assert_eq!(second.crawl(&["--again"]).code, 0);
    is_whole(&second);
    assert_eq!(second.run("check", &["--repair"]).code, 0);
}

#[test]
fn pages_whose_payload_is_in_an_earlier_archive_are_adopted() {
    let first = crawl("<p>As it was.", &[]);
    let second = crawl("<p>As it is.", &["--against", first.dir()]);
    let outcomes = |crawled: &Crawled| rows(crawled).iter().map(|row| row["outcome"].clone()).collect::<Vec<_>>();
    let before = outcomes(&second);
    std::fs::remove_dir_all(Path::new(second.dir()).join("state")).expect("a state");
    let adopted = second.run("adopt", &["http://small.test/"]);
    assert_eq!(adopted.code, 0, "{adopted:?}");
    assert!(adopted.stdout.contains("5 pages adopted"), "{adopted:?}");
    assert_eq!(outcomes(&second), before);
}

#[test]
fn a_refused_run_changes_no_file() {
    let crawled = crawl("<p>As it was.", &[]);
    let files = || {
        let entries = Path::new(crawled.dir()).join("archive").read_dir().expect("an archive");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        files.sort();
        files
    };
    let before = files();
    assert_eq!(crawled.crawl(&["--against", "/nowhere/at/all"]).code, 2);
    assert_eq!(files(), before);
    assert_eq!(crawled.run("check", &[]).code, 0);
}

#[test]
fn what_cannot_be_read_against_is_refused() {
    let home = tempfile::tempdir().expect("a directory");
    let (dir, text) = (home.path().join("new"), home.path().join("text.txt"));
    std::fs::write(&text, "no archive").expect("a file");
    let empty = home.path().join("empty");
    std::fs::create_dir(&empty).expect("a directory");
    let dir = dir.to_str().expect("UTF-8");
    for (path, expect) in [
        (text.as_path(), "is no WARC file, WACZ file or CDXJ index"),
        (empty.as_path(), "there is no WARC file, WACZ file or CDXJ index"),
        (Path::new("/nowhere/at/all"), "No such file"),
        (home.path(), "where the crawl itself writes"),
    ] {
        let ran = argiope(&["crawl", "-o", dir, "http://a.test/", "--against", path.to_str().expect("UTF-8")]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(expect), "{ran:?}");
        assert!(!Path::new(dir).exists(), "a refused run leaves no directory");
    }
}
