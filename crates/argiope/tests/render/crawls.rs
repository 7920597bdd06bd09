//! What a crawl finds with a browser and without, and what it asks the server for.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use testweb::{Config, Files, LogEntry, Pages, Reply, Server, Web};
use tokio::runtime::Runtime;

use testkit::python::{python, runs, script};
use testkit::ran::{Ran, argiope};

/// What every page of the application runs: links by markup, by data, by a click; things that it may not have.
const APP: &str = "\
document.getElementById('app').innerHTML = '<a href=/one>one</a><p>Woven by a script.</p><p id=more>more</p>';
document.getElementById('more').addEventListener('click', () => { location.href = '/two' });
fetch('/api/list.json').then(answer => answer.json()).then(paths => paths.forEach(path => {
  const link = document.createElement('a'); link.href = path; link.textContent = 'listed'; document.body.append(link) }));
fetch('/private/data.json').then(answer => answer.ok && document.body.append('secret'));
fetch('http://cdn.test/excluded.json').then(answer => answer.ok && document.body.append('excluded'));
fetch('/api/list.json', { method: 'POST', body: 'x' });
new Image().src = '/dot.png';
";
const SHELL: &str = "<!DOCTYPE html><title>App</title><div id=app></div><script src=/app.js></script>";

fn web() -> Web {
    let words = "Enough words to be read without any script at all. ".repeat(10);
    let app = Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /private/\n")
        .html("/", SHELL)
        .html("/three", SHELL)
        .html(
            "/one",
            format!(
                "<title>One</title>{words}<a href=/moves>moves</a><a href=/hangs>hangs</a><script src=/app.js></script>"
            ),
        )
        .html("/two", format!("<title>Two</title>{words}"))
        .html("/moves", "<title>Moves</title><script>location.replace('/two')</script>")
        .html("/hangs", "<title>Hangs</title><a href=/four>four</a><script>while (true) {}</script>")
        .html("/four", format!("<title>Four</title>{words}"))
        .reply("/app.js", Reply::new(200).header("Content-Type", "text/javascript").body(APP))
        .reply("/api/list.json", Reply::new(200).header("Content-Type", "application/json").body("[\"/three\"]"))
        .reply("/private/data.json", Reply::new(200).body("{}"))
        .reply("/dot.png", Reply::new(200).header("Content-Type", "image/png").body("x"));
    Web::new().site("app.test", app).site("cdn.test", Pages::new().text("/excluded.json", "{}"))
}

/// A crawl, and what the server saw of it.
pub struct Crawled {
    root: TempDir,
    pub asked: BTreeMap<String, u32>,
    pub log: Vec<LogEntry>,
    server: Server,
    _runtime: Runtime,
}

impl Crawled {
    pub fn of(web: Web, seed: &str, arguments: &[&str]) -> Self {
        Crawled::by(|server| ("--connect-to", server.connect_to()), web, seed, arguments)
    }

    /// With a proxy, behind which the names are resolved.
    pub fn by_proxy(web: Web, seed: &str, arguments: &[&str]) -> Self {
        Crawled::by(|server| ("--proxy", server.proxy()), web, seed, arguments)
    }

    fn by(route: impl Fn(&Server) -> (&str, String), web: Web, seed: &str, arguments: &[&str]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let config = Config { log_entries_max: 100_000, ..Config::new(web) };
        let server = runtime.block_on(Server::start(config)).expect("a free port");
        let root = TempDir::new().expect("a directory");
        let dir = root.path().join("crawl").display().to_string();
        let (flag, to) = route(&server);
        let fixed = ["crawl", seed, "-o", &dir, flag, &to, "--no-sitemaps"];
        let fast = ["--progress", "none", "--ip-delay", "0"];
        // Pages are shown in a second; a busy machine takes longer.
        let usual = [["--delay", "0"], ["--render-time", "60s"]];
        let usual = usual.iter().filter(|[name, _]| !arguments.contains(name)).flatten().copied();
        let ran = argiope(&[&fixed[..], &fast, &usual.collect::<Vec<_>>(), arguments].concat());
        let code = match () {
            () if ran.stderr.contains(" reached, ") => 3,
            () if ran.stdout.starts_with("0 pages and documents fetched") => 1,
            () => 0,
        };
        assert_eq!(ran.code, code, "{ran:?}");
        let mut asked = BTreeMap::new();
        let log = server.log();
        for entry in &log {
            *asked.entry(format!("{} {}{}", entry.method, entry.host, entry.target)).or_default() += 1;
        }
        Crawled { root, asked, log, server, _runtime: runtime }
    }

    /// The next run of the crawl, and all that the server saw so far.
    pub fn goes_on(&self, arguments: &[&str]) -> Vec<LogEntry> {
        let ran = argiope(&[&["crawl", "-o", &self.dir(), "--progress", "none"], arguments].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        self.server.log()
    }

    pub fn dir(&self) -> String {
        self.root.path().join("crawl").display().to_string()
    }

    pub fn run(&self, command: &str, arguments: &[&str]) -> Ran {
        argiope(&[&[command, &self.dir()], arguments].concat())
    }

    /// The rows by path.
    pub fn rows(&self) -> BTreeMap<String, Value> {
        let ran = self.run("export", &["jsonl"]);
        let rows = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object a line"));
        rows.map(|row| (row["url"].as_str().expect("a URL").replace("http://app.test", ""), row)).collect()
    }

    pub fn outcomes(&self) -> BTreeMap<String, String> {
        self.rows().into_iter().map(|(path, row)| (path, row["outcome"].as_str().expect("a word").to_owned())).collect()
    }

    /// The first segment.
    pub fn segment(&self) -> PathBuf {
        let archive = Path::new(&self.dir()).join("archive");
        let mut files = archive.read_dir().expect("an archive").map(|entry| entry.expect("an entry").path());
        files.find(|path| path.to_string_lossy().ends_with(".warc.gz")).expect("a segment")
    }

    /// The records of the first segment, each as its type and URL.
    pub fn records(&self) -> Vec<String> {
        let warc = self.segment();
        runs(python(&["warcio"]).args(["-m", "warcio.cli", "check"]).arg(&warc));
        let list = "import sys; from warcio.archiveiterator import ArchiveIterator\n\
                    for record in ArchiveIterator(open(sys.argv[1], 'rb')):\n \
                    print(record.rec_type, record.rec_headers.get_header('WARC-Target-URI'))";
        script(&["warcio"], list, &[&warc.display().to_string()]).lines().map(str::to_owned).collect()
    }
}

/// One page of it hangs, which takes all the time that a page may take.
pub fn crawl(render: &str) -> Crawled {
    let arguments = ["--render", render, "--render-time", "20s", "--exclude", "*cdn.test*"];
    Crawled::of(web(), "http://app.test/", &arguments)
}

fn expect(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(path, outcome)| ((*path).to_owned(), (*outcome).to_owned())).collect()
}

#[test]
fn without_a_browser_an_application_is_empty() {
    assert_eq!(crawl("never").outcomes(), expect(&[("/", "html")]));
}

#[test]
fn with_a_browser_its_links_are_found() {
    let all = [
        ("/", "html"),
        ("/one", "html"),
        ("/two", "html"),
        ("/three", "html"),
        ("/four", "html"),
        ("/moves", "redirect"),
        ("/hangs", "render_error"),
    ];
    for mode in ["auto", "always"] {
        let crawled = crawl(mode);
        assert_eq!(crawled.outcomes(), expect(&all), "{mode}");
        let rows = crawled.rows();
        assert_eq!(rows["/moves"]["redirect_to"], "http://app.test/two");
        let reason = |path: &str| rows[path]["reason"].as_str().unwrap_or_default().to_owned();
        let refused = "; 2 requests refused (1 exclude, 1 robots.txt)";
        let why = if mode == "auto" { "the empty root of an application" } else { "asked for" };
        assert_eq!(reason("/"), format!("rendered ({why}): 3 links and 34 characters gained{refused}"));
        assert!(reason("/hangs").ends_with("not rendered within 20 s"), "{}", reason("/hangs"));
        assert_eq!(reason("/two").is_empty(), mode == "auto", "what shows enough without is not rendered");
        let told = crawled.run("explain", &["http://app.test/", "--json"]).json();
        assert!(told["row"]["reason"].as_str().is_some_and(|reason| reason.starts_with("rendered (")), "{told}");

        let asked = |what: &str| crawled.asked.get(what).copied().unwrap_or(0);
        for once in ["GET app.test/robots.txt", "GET app.test/app.js", "GET app.test/", "GET app.test/one"] {
            assert_eq!(asked(once), 1, "{once}: {:?}", crawled.asked);
        }
        let forbidden = ["/private/", "cdn.test", ".png"];
        let wrong: Vec<&String> =
            crawled.asked.keys().filter(|what| forbidden.iter().any(|part| what.contains(part))).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
fn what_was_seen_is_in_the_archive_and_the_dataset_is_derived_from_it() {
    let crawled = crawl("always");
    let records = crawled.records();
    let expect = [
        "resource urn:dom:http://app.test/",
        "metadata http://app.test/hangs",
        "response http://app.test/app.js",
        "response http://app.test/api/list.json",
    ];
    for record in expect {
        assert!(records.iter().any(|line| line == record), "{record} is not in {records:?}");
    }
    let before = answers(&crawled);
    assert!(before[0].contains("http://app.test/two") && before[2].contains("http://app.test/three"), "{before:?}");
    check_derived(&crawled, &before, "now");

    let segment = crawled.segment();
    let changed = script(&[], AS_BEFORE, &[segment.to_str().expect("UTF-8")]);
    assert!(changed.trim().parse::<u32>().is_ok_and(|changed| changed > 3), "{changed}");
    assert!(crawled.records().iter().any(|line| line == "conversion http://app.test/"));
    // Such records had no lines in the index.
    let repaired = crawled.run("check", &["--repair"]);
    assert!(repaired.stdout.contains("cdxj"), "{repaired:?}");
    check_derived(&crawled, &before, "before");
}

/// Writes the documents of rendered pages into a segment as earlier versions did, without moving any record: what is saved of its member
/// is filled up by a comment. Prints how many there are.
const AS_BEFORE: &str = r"
import re, struct, sys, zlib
data, out, changed = open(sys.argv[1], 'rb').read(), b'', 0
while data:
    unpack = zlib.decompressobj(31)
    block = unpack.decompress(data)
    member, data = data[:len(data) - len(unpack.unused_data)], unpack.unused_data
    head, rest = block.split(b'\r\n\r\n', 1)
    if b'\r\nWARC-Target-URI: urn:dom:' in head:
        for now, before in [(b'Type: resource', b'Type: conversion'), (b'urn:dom:', b''), (b'Concurrent-To', b'Refers-To')]:
            head = head.replace(now, before)
        block = re.sub(rb'\r\nWARC-Payload-Digest: [^\r]*', b'', head) + b'\r\n\r\n' + rest
        pack = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = pack.compress(block) + pack.flush()
        end = struct.pack('<II', zlib.crc32(block), len(block))
        room = len(member) - 10 - 1 - len(packed) - len(end)
        assert room >= 0, room
        member = b'\x1f\x8b\x08\x10' + bytes(6) + b'x' * room + b'\0' + packed + end
        changed += 1
    out += member
open(sys.argv[1], 'wb').write(out)
print(changed)
";

/// What is known of the pages by their links and texts.
fn answers(crawled: &Crawled) -> [String; 4] {
    let questions: [&[&str]; 4] = [
        &["links", "http://app.test/", "--json"],
        &["links", "http://app.test/moves", "--json"],
        &["search", "Woven by a script", "--json"],
        &["rank", "--json"],
    ];
    questions.map(|question| {
        let ran = crawled.run(question[0], &question[1..]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    })
}

/// The archive gives the same once more, to all who read it.
fn check_derived(crawled: &Crawled, before: &[String], name: &str) {
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(answers(crawled), before);
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
    for format in ["markdown", "pages"] {
        let target = format!("{}-{format}-{name}", crawled.dir());
        let exported = crawled.run("export", &[format, "-o", &target]);
        assert_eq!(exported.code, 0, "{exported:?}");
        assert!(texts(Path::new(&target)).contains("Woven by a script."), "{format}");
    }
}

/// All files below a directory, one behind the other.
fn texts(dir: &Path) -> String {
    let entries = dir.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path());
    let text = |path: PathBuf| {
        if path.is_dir() {
            texts(&path)
        } else {
            String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned()
        }
    };
    entries.map(text).collect()
}

#[test]
fn all_links_of_the_scripted_sandbox_are_found() {
    for mode in ["auto", "always"] {
        let crawled = Crawled::of(Web::sandboxes(), "http://scripted.test/", &["--render", mode]);
        let outcomes: BTreeMap<String, String> = crawled
            .outcomes()
            .into_iter()
            .map(|(url, outcome)| (url.replace("http://scripted.test", ""), outcome))
            .collect();
        for (page, _, leads_to) in testweb::scripted::PAGES {
            for path in [&[page], leads_to].concat() {
                let row = crawled.run("explain", &[&format!("http://scripted.test{path}")]).stdout;
                assert_eq!(outcomes.get(path).map(String::as_str), Some("html"), "{path}, {mode}: {row}");
            }
        }
    }
}

#[test]
fn documents_that_need_no_browser_get_none() {
    const PYTHON: &str = "/usr/share/doc/python3-doc/html";
    let files = Files::new(PYTHON.as_ref()).expect("`apt-get install python3-doc` brings the documents");
    let arguments = ["--render", "auto", "--connections-per-site", "8"];
    let crawled = Crawled::of(Web::new().site("python.test", files), "http://python.test/", &arguments);
    let rows = crawled.rows();
    let rendered: Vec<&Value> =
        rows.values().filter(|row| row["reason"].as_str().is_some_and(|reason| reason.contains("render"))).collect();
    assert!(rendered.is_empty() && rows.len() > 400, "{rendered:?}");
}

#[test]
fn wrong_use_is_told() {
    let wrong = argiope(&["crawl", "http://app.test/", "-o", "/nowhere/x", "--render", "sometimes"]);
    assert_eq!(
        (wrong.code, wrong.stderr.as_str()),
        (2, "argiope: --render sometimes: is none of never, auto, always\n")
    );
    let dir = TempDir::new().expect("a directory");
    let dir = dir.path().join("crawl").display().to_string();
    let missing =
        argiope(&["crawl", "http://app.test/", "-o", &dir, "--render", "auto", "--browser", "/nowhere/chromium"]);
    let expect = "argiope: no Chromium found (there is no /nowhere/chromium): on Debian and Ubuntu `apt-get install chromium` installs it\n";
    assert_eq!((missing.code, missing.stderr.as_str()), (1, expect));
    let none = argiope(&["crawl", "http://app.test/", "-o", &dir, "--render", "auto", "--browser", "/bin/true"]);
    let expect = "argiope: /bin/true does not start: it ended at once; is it Chromium?\n";
    assert_eq!((none.code, none.stderr.ends_with(expect)), (1, true), "{none:?}");
}
