//! `wacz`: what the web served comes back from pywb, byte for byte.

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;
use testkit::python::{python, runs, script};
use testkit::pywb::{Pywb, get};

/// A document that is no text: bytes that do not compress (xorshift).
fn binary(begin: &[u8], bytes: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    });
    begin.iter().copied().chain(noise.take(bytes)).collect()
}

/// What is served: path, media type, bytes.
fn served() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let links = "<a href=/page?x=1&y=2>page</a><a href=/copy>copy</a><a href=/doc.pdf>pdf</a><a href=/old>old</a>";
    let root = format!(
        "<html><head><title>Root &amp; more</title></head><body>{links}<img src=/i.png><a href=/i.png>image</a>"
    );
    vec![
        ("/", "text/html; charset=utf-8", root.into_bytes()),
        ("/page?x=1&y=2", "text/html", "<title>Stran</title><p>Besedilo č š ž, in še".as_bytes().to_vec()),
        ("/copy", "text/html", "<title>Stran</title><p>Besedilo č š ž, in še".as_bytes().to_vec()),
        ("/doc.pdf", "application/pdf", binary(b"%PDF-1.7\n", 300_000)),
        ("/i.png", "image/png", binary(b"\x89PNG\r\n\x1a\n", 5_000)),
    ]
}

fn crawl(arguments: &[&str]) -> Crawled {
    let pages = served().into_iter().fold(Pages::new(), |pages, (path, media, body)| {
        pages.reply(path, Reply::new(200).header("Content-Type", media).body(body))
    });
    let pages = pages.reply("/old", Reply::redirect(301, "/")).text("/robots.txt", "User-agent: *\nDisallow: /x\n");
    Crawled::of(Web::new().site("small.test", pages), "http://small.test/", arguments)
}

fn export(crawled: &Crawled, target: &Path, arguments: &[&str]) {
    let ran = crawled.run("export", &[&["wacz", "-o", target.to_str().expect("UTF-8")], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

/// The parts of the file, stored where they are gzipped and deflated else, unpacked by Python's own reader of ZIP files, which verifies their checksums.
fn unpacked(wacz: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let unpack = "import sys, zipfile\n\
        with zipfile.ZipFile(sys.argv[1]) as z:\n\
        \x20   assert z.testzip() is None\n\
        \x20   assert all((i.compress_type == zipfile.ZIP_STORED) == i.filename.endswith('.gz') for i in z.infolist())\n\
        \x20   z.extractall(sys.argv[2])\n";
    script(&[], unpack, &[wacz.to_str().expect("UTF-8"), dir.path().to_str().expect("UTF-8")]);
    dir
}

#[test]
fn the_parts_are_what_the_specification_asks_for() {
    let crawled = crawl(&["--segment-size", "100KB"]);
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    export(&crawled, &wacz, &[]);
    runs(python(&["wacz"]).args(["-m", "wacz.main", "validate", "-f"]).arg(&wacz));
    let parts = unpacked(&wacz);
    let text = |name: &str| std::fs::read_to_string(parts.path().join(name)).expect(name);
    let package: Value = serde_json::from_str(&text("datapackage.json")).expect("JSON");
    assert_eq!((&package["profile"], &package["wacz_version"]), (&"data-package".into(), &"1.1.1".into()));
    assert_eq!(package["mainPageUrl"], "http://small.test/");
    let resources = package["resources"].as_array().expect("a list");
    let paths: Vec<&str> = resources.iter().filter_map(|resource| resource["path"].as_str()).collect();
    assert!(paths.iter().filter(|path| path.starts_with("archive/")).count() > 1, "{paths:?}");
    for path in ["indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"] {
        assert!(paths.contains(&path), "{paths:?}");
    }
    paths
        .iter()
        .filter(|path| path.starts_with("archive/"))
        .for_each(|path| crate::archive::check(&parts.path().join(path)));

    let pages = text("pages/pages.jsonl");
    let mut pages = pages.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    assert_eq!(pages.next().expect("a header")["format"], "json-pages-1.0");
    let pages: Vec<Value> = pages.collect();
    assert_eq!(pages.len(), 3, "{pages:?}");
    for page in &pages {
        let url = page["url"].as_str().expect("a URL");
        assert_eq!(page["seed"] == true, url == "http://small.test/", "{url}");
        let is_root = url == "http://small.test/";
        assert_eq!(page["title"], if is_root { "Root & more" } else { "Stran" });
        assert_eq!(page["text"], if is_root { "pagecopypdfoldimage" } else { "Besedilo č š ž, in še" });
    }
}

#[test]
fn the_index_leads_to_each_record() {
    let crawled = crawl(&["--segment-size", "100KB"]);
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    export(&crawled, &wacz, &[]);
    let parts = unpacked(&wacz);
    let packed = std::fs::read(parts.path().join("indexes/index.cdx.gz")).expect("an index");
    let idx = std::fs::read_to_string(parts.path().join("indexes/index.idx")).expect("an index");
    let mut members = idx.lines();
    assert!(members.next().expect("a header").starts_with("!meta 0 {\"format\": \"cdxj-gzip-1.0\""));
    let mut lines: Vec<String> = Vec::new();
    for member in members {
        let (key, json) = member.split_at(member.find(" {").expect("JSON"));
        let json: Value = serde_json::from_str(json).expect("JSON");
        let number = |key: &str| usize::try_from(json[key].as_u64().expect("a number")).expect("in memory");
        let mut text = String::new();
        let member = &packed[number("offset")..number("offset") + number("length")];
        flate2::read::GzDecoder::new(member).read_to_string(&mut text).expect("gzip");
        assert!(text.starts_with(&format!("{key} {{")), "{key}");
        lines.extend(text.lines().map(str::to_owned));
    }
    assert!(lines.is_sorted());
    // robots.txt, sitemap.xml, five documents, a redirect.
    assert_eq!(lines.len(), 8, "{lines:?}");
    for line in lines {
        let json: Value = serde_json::from_str(&line[line.find('{').expect("JSON")..]).expect("JSON");
        let text = |key: &str| json[key].as_str().expect("a text").to_owned();
        let path = parts.path().join("archive").join(text("filename"));
        let record = warc::read_at(&path, text("offset").parse().expect("a number"), 1 << 20).expect("a record");
        assert_eq!(record.header.target_uri(), json["url"].as_str());
        assert_eq!(record.location.length.to_string(), text("length"));
    }
}

/// Status, head and body of a recorded answer as it was.
fn replay(pywb: &Pywb, url: &str) -> (String, String, Vec<u8>) {
    get(pywb.port, &format!("/it/2030id_/{url}"))
}

#[test]
fn pywb_replays_pages_and_documents_byte_for_byte() {
    let crawled = crawl(&["--segment-size", "100KB"]);
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    export(&crawled, &wacz, &[]);
    let pywb = Pywb::serve(dir.path(), &wacz);
    for (path, media, body) in served() {
        let (status, head, replayed) = replay(&pywb, &format!("http://small.test{path}"));
        assert_eq!(status, "200", "{path}: {head}");
        assert!(head.contains(&format!("content-type: {media}")), "{path}: {head}");
        assert!(replayed == body, "{path}: {} bytes of {}", replayed.len(), body.len());
    }
    let (status, head, _) = replay(&pywb, "http://small.test/old");
    assert_eq!(status, "301", "{head}");
    assert_eq!(replay(&pywb, "http://small.test/nowhere").0, "404");
}

#[test]
fn a_filtered_file_stands_alone() {
    let crawled = crawl(&[]);
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    export(&crawled, &wacz, &["--outcome", "duplicate"]);
    let pywb = Pywb::serve(dir.path(), &wacz);
    let (duplicate, original) = match replay(&pywb, "http://small.test/copy").0.as_str() {
        "200" => ("/copy", "/page?x=1&y=2"),
        _ => ("/page?x=1&y=2", "/copy"),
    };
    let (status, _, replayed) = replay(&pywb, &format!("http://small.test{duplicate}"));
    assert_eq!((status.as_str(), replayed), ("200", served()[1].2.clone()), "its original is not there to be asked");
    assert_eq!(replay(&pywb, &format!("http://small.test{original}")).0, "404");
}

/// A page that tells by an entity tag that it has not changed, and one that does not.
fn lasting(path: &str, says_so: bool) -> impl testweb::Site {
    let links = format!("<a href={path}tagged>tagged</a><a href={path}plain>plain</a><p>Besedilo č š ž.");
    testweb::from_fn(move |request: &testweb::Request| match request.path() {
        "/robots.txt" | "/sitemap.xml" => Reply::error(404, request.path()),
        "/tagged" | "/" if says_so && request.header("if-none-match") == Some("\"1\"") => {
            Reply::new(304).header("ETag", "\"1\"")
        }
        "/tagged" | "/" => Reply::html(format!("{links}{}", request.path())).header("ETag", "\"1\""),
        _ => Reply::html(format!("plain {links}")),
    })
}

#[test]
fn pywb_and_warcio_find_the_content_of_pages_that_have_not_changed() {
    let crawled = Crawled::of(Web::new().site("small.test", lasting("/", true)), "http://small.test/", &[]);
    for _ in 0..2 {
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
    }
    let profiles = "import sys, collections\n\
        from warcio.archiveiterator import ArchiveIterator\n\
        counts = collections.Counter()\n\
        for path in sys.argv[1:]:\n\
        \x20   with open(path, 'rb') as file:\n\
        \x20       for record in ArchiveIterator(file, check_digests='raise'):\n\
        \x20           if record.rec_type == 'revisit':\n\
        \x20               assert record.rec_headers['WARC-Refers-To-Target-URI'] == record.rec_headers['WARC-Target-URI']\n\
        \x20               counts[record.rec_headers['WARC-Profile'].rsplit('/', 1)[1]] += 1\n\
        print(sorted(counts.items()))\n";
    let segments = crawled.segments();
    assert_eq!(segments.len(), 3, "a segment has one visit of a page");
    let paths: Vec<&str> = segments.iter().map(|path| path.to_str().expect("UTF-8")).collect();
    let counts = script(&["warcio"], profiles, &paths);
    // The first page of each round is asked for in any case, and of so small a site one in eight of the others.
    assert_eq!(counts, "[('identical-payload-digest', 5), ('server-not-modified', 1)]\n");
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    export(&crawled, &wacz, &[]);
    let pywb = Pywb::serve(dir.path(), &wacz);
    let links = "<a href=/tagged>tagged</a><a href=/plain>plain</a><p>Besedilo č š ž.";
    for (path, body) in
        [("/", format!("{links}/")), ("/tagged", format!("{links}/tagged")), ("/plain", format!("plain {links}"))]
    {
        let (status, head, replayed) = replay(&pywb, &format!("http://small.test{path}"));
        assert_eq!(status, "200", "{path}: {head}");
        assert_eq!(String::from_utf8(replayed).expect("UTF-8"), body, "{path}");
    }
    // The WACZ file names the pages once each.
    let parts = unpacked(&wacz);
    let pages = std::fs::read_to_string(parts.path().join("pages/pages.jsonl")).expect("pages");
    let pages =
        [pages, std::fs::read_to_string(parts.path().join("pages/extraPages.jsonl")).unwrap_or_default()].concat();
    assert_eq!(pages.matches("\"url\"").count(), 3, "{pages}");
}

/// Pages that each have an entity tag of their own and say by it that they have not changed.
const TAGGED: usize = 30;

#[test]
fn pywb_replays_each_answer_that_said_unchanged_at_its_own_moment() {
    let links: String = (0..TAGGED).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let body = move |path: &str| format!("<title>{path}</title>{links}<p>Besedilo č š ž.");
    let shown = body.clone();
    let site = testweb::from_fn(move |request: &testweb::Request| {
        let tag = format!("\"{}\"", request.path());
        match request.path() {
            "/robots.txt" | "/sitemap.xml" => Reply::error(404, request.path()),
            _ if request.header("if-none-match") == Some(&*tag) => Reply::new(304).header("ETag", tag),
            path => Reply::html(shown(path)).header("ETag", tag),
        }
    });
    let crawled = Crawled::of(Web::new().site("small.test", site), "http://small.test/", &[]);
    for _ in 0..2 {
        // The moments of an archive's index are seconds.
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
    }
    let list = "import sys\n\
        from warcio.archiveiterator import ArchiveIterator\n\
        for path in sys.argv[1:]:\n\
        \x20   with open(path, 'rb') as file:\n\
        \x20       for record in ArchiveIterator(file, check_digests='raise'):\n\
        \x20           head = record.rec_headers\n\
        \x20           if record.rec_type == 'revisit' and head['WARC-Profile'].endswith('server-not-modified'):\n\
        \x20               assert head['WARC-Refers-To-Date'] < head['WARC-Date'], head\n\
        \x20               moment = ''.join(c for c in head['WARC-Date'].split('.')[0] if c.isdigit())\n\
        \x20               print(moment, head['WARC-Target-URI'])\n";
    let segments = crawled.segments();
    let paths: Vec<&str> = segments.iter().map(|path| path.to_str().expect("UTF-8")).collect();
    let listed = script(&["warcio"], list, &paths);
    // Twice each, but for those that a small site is asked for in any case.
    assert!(listed.lines().count() > TAGGED, "{listed}");
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    export(&crawled, &wacz, &[]);
    let pywb = Pywb::serve(dir.path(), &wacz);
    for line in listed.lines() {
        let (moment, url) = line.split_once(' ').expect("a moment and a URL");
        let (status, head, replayed) = get(pywb.port, &format!("/it/{moment}id_/{url}"));
        let path = url.strip_prefix("http://small.test").expect("a page of the site");
        assert_eq!((&*status, String::from_utf8(replayed).expect("UTF-8")), ("200", body(path)), "{line}: {head}");
    }
}
