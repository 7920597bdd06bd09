//! What the report says of real crawls, small and broken ones.

use serde_json::{Value, json};
use testweb::{Pages, Reply, Web};

use crate::crawled::{Crawled, read};
use testkit::ran::argiope;

/// A title that would end the data, run a script, and turn a terminal red.
const HOSTILE_TITLE: &str = "</script><img src=x onerror=alert(1)>\u{1b}[31m";

/// Two HTML pages, a copy, a PDF, a redirect, an error, something disallowed.
fn small_web() -> Web {
    let pdf = Reply::new(200).header("Content-Type", "application/pdf").body(&b"%PDF-1.7\nx"[..]);
    let links = ["/a", "/copy", "/gone", "/private/x", "/report.pdf", "/moved", "/a", "javascript:alert(1)"];
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">{link}</a>")).collect();
    let title = HOSTILE_TITLE.replace('<', "&lt;");
    let copied = "<title>A</title><img src=/1.png><a href=/>home</a>";
    let site = Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /private/\n")
        .html("/", format!("<title>{title}</title><img src=/1.png srcset='/2.png 2x'><img src=/3.png>{links}"))
        .html("/a", copied)
        .html("/copy", copied)
        .reply("/report.pdf", pdf)
        .reply("/moved", Reply::redirect(301, "/a"));
    Web::new().site("small.test", site)
}

fn small() -> Crawled {
    Crawled::of(small_web(), &["http://small.test/", "--no-sitemaps"])
}

fn count(value: &Value, name: &str) -> u64 {
    let rows = value["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {value}"));
    row["all_sites"].as_u64().expect("a count")
}

#[test]
fn a_crawl_in_numbers() {
    let report = small().json();
    let overview = &report["overview"];
    let number = |name: &str| overview[name]["all_sites"].as_u64().expect(name);
    assert_eq!(report["seeds"], json!(["http://small.test/"]));
    assert_eq!(report["missing"], Value::Null);
    assert_eq!((number("sites"), number("pages"), number("fetched")), (1, 7, 6));
    assert_eq!((number("html_pages"), number("duplicates"), number("binary_files")), (2, 1, 1));
    assert_eq!((number("errors"), number("redirects"), number("disallowed"), number("frontier")), (1, 1, 1, 0));
    assert_eq!(overview["pages"]["seed_sites"], 7);
    assert_eq!((count(&report["binary_by_type"], "pdf"), count(&report["status_codes"], "404")), (1, 1));
    assert_eq!(report["images"]["images"]["all_sites"], 4, "two, one on each of the copies");
    assert_eq!(report["images"]["srcset_candidates"]["all_sites"], 1);
    assert_eq!(report["images"]["html_pages"]["all_sites"], 3, "a copy is a page that was read");
    assert_eq!(report["links"]["links"]["all_sites"], 8);
    assert_eq!(report["links"]["with_repeats"]["all_sites"], 9);
    assert_eq!(report["links"]["most_from_a_page"]["all_sites"], 6);
    assert_eq!(report["duplicates"]["most_copied"]["rows"][0]["copies"], 1);
    assert_eq!(report["picture"]["pages"].as_array().map(Vec::len), Some(2));
}

#[test]
fn text_json_and_page_do_not_exclude_each_other() {
    let crawled = small();
    let path = crawled.path("report.html");
    let page = path.to_str().expect("a path");
    let text = crawled.text();
    assert!(text.starts_with("Seeds: http://small.test/\n\nThe crawl at a glance"), "{text}");
    assert!(!text.contains('\u{1b}'));
    let ran = crawled.report(&["--html", page]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    let (first, ran) = (read(&path), crawled.report(&["--html", page, "--json"]));
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1));
    assert_eq!(read(&path), first, "the same crawl, the same page");
    assert_eq!(first.matches("</script").count(), 2, "no title ends the data");
    assert!(!first.contains("<img") && !first.contains('\u{1b}'));
    let ran = crawled.report(&["--html", "/missing/report.html"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("argiope: /missing/report.html") && ran.stderr.lines().count() == 1, "{ran:?}");
}

#[test]
fn a_dataset_that_is_gone_is_named_and_can_be_derived() {
    let crawled = small();
    let whole = crawled.json();
    std::fs::remove_dir_all(crawled.path("crawl/dataset")).expect("a dataset");
    let text = crawled.text();
    let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("Note: ")).collect();
    assert!(notes.len() == 1 && notes[0].contains(&format!("`argiope derive {}`", crawled.dir())), "{text}");
    let part = crawled.json();
    assert_eq!((&part["images"], &part["links"], &part["picture"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!((&part["overview"], &part["binary_by_type"]), (&whole["overview"], &whole["binary_by_type"]));
    let ran = argiope(&["derive", &crawled.dir()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(crawled.json(), whole);
}

#[test]
fn a_crawl_without_an_archive_has_the_rest() {
    let crawled = Crawled::of(small_web(), &["http://small.test/", "--no-sitemaps", "--no-archive"]);
    assert!(crawled.text().contains("Note: images, links and the picture of links are missing"));
    assert_eq!(crawled.json()["overview"]["html_pages"]["all_sites"], 2);
}

#[test]
fn a_single_seed_that_failed() {
    // Nothing listens on a port that is bound, and nobody else can take it.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
    let port = socket.local_addr().expect("an address").port();
    let seed = format!("http://127.0.0.1:{port}/");
    let crawled = Crawled::alone(&[&seed, "--no-sitemaps", "--give-up-after", "0"]);
    let report = crawled.json();
    assert_eq!(report["overview"]["pages"]["all_sites"], 1);
    assert_eq!(report["overview"]["errors"]["seed_sites"], 1);
    assert_eq!(report["errors_by_site"]["rows"][0]["site"], seed.trim_end_matches('/'));
    assert_eq!(report["speed"]["buckets"], json!([]));
    let path = crawled.path("report.html");
    assert_eq!(crawled.report(&["--html", path.to_str().expect("a path")]).code, 0);
    assert!(crawled.text().contains("Errors by kind"));
}

#[test]
fn a_crawl_that_has_not_fetched_anything() {
    let crawled = Crawled::of(small_web(), &["http://small.test/", "--max-time", "1ns"]);
    let text = crawled.text();
    assert!(text.contains("still in the frontier"), "{text}");
    let path = crawled.path("report.html");
    assert_eq!(crawled.report(&["--html", path.to_str().expect("a path")]).code, 0);
}

#[test]
fn what_holds_no_crawl_is_said_in_one_line() {
    let dir = tempfile::TempDir::new().expect("a directory");
    let ran = argiope(&["report", dir.path().to_str().expect("a path")]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("holds no crawl") && ran.stderr.lines().count() == 1, "{ran:?}");
}
