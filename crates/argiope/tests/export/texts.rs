//! `pages` and `markdown`: a file for each HTML page.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;
use testkit::python::script;
use testkit::ran::argiope;

/// The files below a directory by their paths.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(next) = left.pop() {
        for entry in next.read_dir().expect("a directory") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => left.push(path),
                false => {
                    let name = path.strip_prefix(dir).expect("below").to_str().expect("UTF-8").to_owned();
                    files.insert(name, std::fs::read(&path).expect("a file"));
                }
            }
        }
    }
    files
}

fn export(dir: &str, format: &str, arguments: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let root = tempfile::tempdir().expect("a directory");
    let target = root.path().join("target");
    let ran = argiope(&[&["export", dir, format, "-o", target.to_str().expect("UTF-8")], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    files(&target)
}

#[test]
fn pages_are_what_argiope_pages_saved() {
    let crawled = Crawled::small();
    let root = tempfile::tempdir().expect("a directory");
    let pages = root.path().join("pages");
    std::fs::create_dir(&pages).expect("a directory");
    let connect_to = crawled.connect_to[0].clone();
    let arguments = ["http://small.test/", pages.to_str().expect("UTF-8"), "3", "--connect-to", &connect_to];
    let ran = argiope(&[&["pages"], &arguments[..], &["--delay", "0", "--max-crawl-delay", "0"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let state = root.path().join("pages.crawl");
    let exported = export(state.to_str().expect("UTF-8"), "pages", &[]);
    assert_eq!(exported, files(&pages));
    assert_eq!(exported.len(), 4, "{:?}", exported.keys());
    assert!(exported["0"].starts_with(b"http://small.test/\n0\n<title>"));
}

#[test]
fn a_filter_leaves_ids_dense() {
    let crawled = Crawled::small();
    let exported = export(crawled.dir(), "pages", &["--outcome", "duplicate"]);
    assert_eq!(exported.keys().collect::<Vec<_>>(), ["0"]);
    assert_eq!(exported["0"], b"http://small.test/copy\n2\n<title>Twice</title><a href=/copy>copy</a>");
}

#[test]
fn a_page_becomes_a_file_of_markdown() {
    let html = "<html lang=sl><head><title>Naslov: \"x\"</title><link rel=canonical href=/pravi></head><body>\
        <nav><a href=/>Domov</a></nav><main><h1>Naslov</h1><p>Besedilo s <a href=../b#c>povezavo</a>.</p></main>";
    let latin2 = b"<body><p>\xe8\xb9\xbe".to_vec();
    let pages = Pages::new()
        .html("/", "<a href=/Docs/A.html>a</a><a href=/docs/a>b</a><a href=/latin2>c</a>")
        .html("/Docs/A.html", html)
        .html("/docs/a", "<p>Another page.")
        .reply("/latin2", Reply::new(200).header("Content-Type", "text/html; charset=iso-8859-2").body(latin2));
    let crawled = Crawled::of(Web::new().site("small.test", pages), "http://small.test/", &[]);
    let exported = export(crawled.dir(), "markdown", &[]);
    let texts: Vec<(&String, &str)> =
        exported.iter().map(|(name, text)| (name, std::str::from_utf8(text).expect("UTF-8"))).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(exported.contains_key("small.test/index.md") && exported.contains_key("small.test/docs/a.md"), "{texts:?}");
    let (_, text) = texts.iter().find(|(_, text)| text.contains("Naslov")).expect("the page");
    let (head, body) = text.strip_prefix("---\n").expect("YAML").split_once("\n---\n").expect("YAML");
    assert_eq!(body, "\n# Naslov\n\nBesedilo s [povezavo](http://small.test/b#c).\n");
    // Each line of the head is a JSON value behind a name, which YAML reads the same.
    let head: BTreeMap<&str, Value> = head
        .lines()
        .map(|line| line.split_once(": ").expect("a name"))
        .map(|(name, value)| (name, serde_json::from_str(value).expect("a value")))
        .collect();
    assert_eq!(head["url"], "http://small.test/Docs/A.html");
    assert_eq!((&head["title"], &head["language"], &head["depth"]), (&json!("Naslov: \"x\""), &json!("sl"), &json!(1)));
    assert_eq!(head["canonical"], "http://small.test/pravi");
    assert!(head["digest"].as_str().is_some_and(|digest| digest.starts_with("sha1:")));
    assert!(head["fetched_at"].as_str().is_some_and(|at| at.ends_with('Z')));
    assert!(texts.iter().any(|(_, text)| text.ends_with("---\n\nčšž\n")), "{texts:?}");
}

#[test]
fn other_readers_of_yaml_read_the_head() {
    let crawled = Crawled::small();
    let root = tempfile::tempdir().expect("a directory");
    let target = root.path().join("target");
    let ran = crawled.run("export", &["markdown", "-o", target.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let read = "import sys, yaml\n\
        text = open(sys.argv[1], encoding='utf-8').read()\n\
        print(ascii(yaml.safe_load(text.split('---\\n')[1])['title']))\n";
    let path = target.join("small.test/index.md");
    let printed = script(&["yaml"], read, &[path.to_str().expect("UTF-8")]);
    assert_eq!(printed.trim(), r"'\x1b[31mred\u202e title'");
}
