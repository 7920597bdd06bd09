//! What `argiope ui` shows of one URL: its rows, the record of each visit, and the URLs with the same content.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use crawl::CrawlDir;
use model::{Candidate, Purpose};
use store::Batch;
use testkit::ui::Ui;
use testweb::{Reply, Request, Web, from_fn};
use weburl::CanonicalUrl;

use crate::binary::{self, Running};
use crate::served::Served;

/// A page that nothing may turn into markup, in Latin-1; its copies; what is no text; and a page that changes.
fn web(has_changed: &Arc<AtomicBool>) -> Web {
    let has_changed = has_changed.clone();
    let page = move |request: &Request| {
        match request.path() {
        "/robots.txt" => Reply::new(404),
        "/" => Reply::new(200)
            .header("Content-Type", "text/html; charset=iso-8859-1")
            .header("X-Says", "<script>alert(1)</script>")
            .body(&b"<title>caf\xe9</title>\t<script>alert(2)</script><p>Text of the start.\
                <a href=/one>1</a><a href=/two>2</a><a href=/three>3</a><a href=/data>4</a><a href=/gone>5</a><a href=/moving>6</a>"[..]),
        "/one" | "/two" | "/three" => Reply::html("<title>copy</title><p>The same for all."),
        "/data" => Reply::new(200).header("Content-Type", "application/octet-stream").body(&b"\0\x01\x02\xff"[..]),
        "/moving" if has_changed.load(SeqCst) => Reply::html("<title>moving</title><p>A later text."),
        "/moving" => Reply::html("<title>moving</title><p>An earlier text."),
        _ => Reply::new(404),
    }
    };
    Web::new().site("ui.test", from_fn(page))
}

fn crawl(served: &Served, dir: &Path, arguments: &[&str]) {
    let fixed = ["crawl", "http://ui.test/", "-o", dir.to_str().unwrap(), "--delay", "0", "--ip-delay", "0"];
    let flags = served.flags();
    let all: Vec<&str> =
        fixed.into_iter().chain(flags.iter().map(String::as_str)).chain(arguments.iter().copied()).collect();
    binary::run(&all).expect_code(0);
}

/// A screen about a URL of the site.
fn about(screen: &str, path: &str) -> String {
    format!("{screen}?u=http%3A%2F%2Fui.test{}", path.replace('/', "%2F"))
}

#[test]
fn a_page_is_shown_with_its_row_text_heads_source_and_copies() {
    let (served, dirs) = (Served::start(web(&Arc::default())), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &["--no-sitemaps", "--concurrency", "1"]);
    let ui = Ui::start(&dir);
    let story = ui.page(&about("/url", "/one"));
    for expect in [
        "<ol class=\"timeline\">",
        "at depth 1 by link",
        "html 200, round 1",
        "/url/record?u=http%3A%2F%2Fui.test%2Fone&amp;at=",
    ] {
        assert!(story.contains(expect), "{expect}: {story}");
    }
    let row = ui.page(&about("/url/row", "/"));
    for expect in [
        "<td>title</td><td>café</td>",
        "<td>encoding</td><td>windows-1252</td>",
        "<td>links</td><td>6</td>",
        "Text of the start.",
    ] {
        assert!(row.contains(expect), "{expect}: {row}");
    }
    let record = ui.page(&about("/url/record", "/"));
    for expect in [
        "GET / HTTP/1.1\nHost: ui.test\n",
        "HTTP/1.1 200 OK\n",
        "x-says: &lt;script&gt;alert(1)&lt;/script&gt;",
        "&lt;title&gt;café&lt;/title&gt;\t&lt;script&gt;alert(2)&lt;/script&gt;",
    ] {
        assert!(record.to_lowercase().contains(&expect.to_lowercase()), "{expect}: {record}");
    }
    assert!(ui.page(&about("/url/record", "/data")).contains("4 bytes that are no text."));
    assert!(ui.page(&about("/url/record", "/gone")).contains("HTTP/1.1 404 "));
    // Whichever of them is asked about, the answer is the same.
    for path in ["/one", "/two", "/three"] {
        let copies = ui.page(&about("/url/copies", path));
        assert!(copies.contains("then at 2 other URLs:"), "{path}: {copies}");
        for each in ["/one", "/two", "/three"] {
            assert!(copies.contains(&format!(">http://ui.test{each}</a>")), "{path} {each}: {copies}");
        }
    }
    // The answer of a copy has its head, and the source of the original.
    assert!(ui.page(&about("/url/record", "/three")).contains("The same for all."));
    assert!(ui.page(&about("/url/copies", "/")).contains("No other URL has exactly the same content."));
    for (screen, title) in
        [("/url", ""), ("/url/row", "Row of "), ("/url/record", "Record of "), ("/url/copies", "Same content as ")]
    {
        let page = ui.page(&about(screen, "/"));
        for named in
            [format!("<title>{title}http://ui.test/ · Argiope</title>"), format!("<h1>{title}http://ui.test/</h1>")]
        {
            assert!(page.contains(&named), "{named}: {page}");
        }
        assert!(!page.contains("<script>"), "{page}");
    }
}

#[test]
fn each_visit_keeps_what_it_recorded() {
    let has_changed = Arc::new(AtomicBool::new(false));
    let (served, dirs) = (Served::start(web(&has_changed)), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &["--no-sitemaps"]);
    has_changed.store(true, SeqCst);
    crawl(&served, &dir, &["--again"]);
    let ui = Ui::start(&dir);
    let story = ui.page(&about("/url", "/moving"));
    let visits: Vec<&str> =
        story.split("class=\"date\" href=\"").skip(1).map(|link| link.split('"').next().unwrap()).collect();
    assert_eq!(visits.len(), 2, "{story}");
    assert!(story.contains("changed: html 200, round 2"), "{story}");
    for (visit, text, other) in
        [(visits[0], "An earlier text.", "A later text."), (visits[1], "A later text.", "An earlier text.")]
    {
        let record = ui.page(&visit.replace("&amp;", "&"));
        assert!(record.contains(text) && !record.contains(other), "{visit}: {record}");
        assert_eq!(record.matches("aria-current=\"true\"").count(), 1, "{record}");
    }
    assert!(ui.page(&about("/url/record", "/moving")).contains("A later text."), "the last visit is meant");
    assert!(ui.page(&about("/url/row", "/moving")).contains("A later text."));
}

#[test]
fn a_copy_is_found_with_what_is_around_the_text() {
    let (served, dirs) = (Served::start(web(&Arc::default())), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &["--no-sitemaps"]);
    let found = Ui::start(&dir).page("/search?q=same+for");
    assert!(found.contains("3 pages, 3 occurrences"), "{found}");
    assert_eq!(found.matches("<p>The same for all.</p>").count(), 3, "{found}");
}

#[test]
fn a_url_that_was_requested_without_an_outcome_says_so() {
    let (served, dirs) = (Served::start(web(&Arc::default())), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &["--no-sitemaps"]);
    let held = CrawlDir::existing(&dir).unwrap();
    let store = held.open_store(&held.options().unwrap()).unwrap();
    let [tried, new] = ["/tried", "/new"]
        .map(|path| Candidate::seed(CanonicalUrl::from_canonical(&format!("http://ui.test{path}")).unwrap()));
    let key = tried.url.key();
    store.commit(&Batch { found: vec![tried, new], ..Batch::default() }).unwrap();
    store.commit(&Batch { attempts: vec![(key, Purpose::Page, 1)], ..Batch::default() }).unwrap();
    drop(store);
    let ui = Ui::start(&dir);
    let waits = "It waits for its first visit.";
    let record = ui.page(&about("/url/record", "/tried"));
    assert!(record.contains("1 request failed, and it will be tried again.") && !record.contains(waits), "{record}");
    assert!(ui.page(&about("/url/record", "/new")).contains(waits));
}

#[test]
fn what_is_not_there_is_named() {
    let (served, dirs) = (Served::start(web(&Arc::default())), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &["--no-sitemaps"]);
    let ui = Ui::start(&dir);
    for (path, status, why) in [
        ("/url/row".to_owned(), 400, "“URL” is empty"),
        (about("/url/record", "/never"), 404, "http://ui.test/never: the crawl knows no such URL"),
        ("/url/copies?u=%3Cb%3E".to_owned(), 400, "&lt;b&gt;: no URL of a crawl"),
        (format!("{}&at=2020-01-01T00:00:00.000Z", about("/url/record", "/")), 404, "has no visit of 2020-01-01"),
        (format!("{}&kind=oil", about("/url/picture", "/")), 400, "`oil` is no kind of picture"),
        (format!("{}&kind=view", about("/url/picture", "/")), 404, "took no such picture"),
    ] {
        let answer = ui.get(&path);
        assert!(answer.status == status && answer.body.contains(why), "{path}: {} {}", answer.status, answer.body);
    }
    let segment = std::fs::read_dir(dir.join("archive")).unwrap().map(|entry| entry.unwrap().path());
    let segment = segment.into_iter().find(|path| path.to_string_lossy().ends_with(".warc.gz")).unwrap();
    std::fs::write(&segment, b"nothing").unwrap();
    let record = ui.get(&about("/url/record", "/"));
    assert!(record.status == 200 && record.body.contains("class=\"failure\""), "{}", record.body);
}

#[test]
fn what_a_running_crawl_recorded_is_shown_up_to_its_last_commit() {
    let page = |request: &Request| {
        let n: u64 = request.path().trim_start_matches('/').parse().unwrap_or(0);
        Reply::html(format!("<title>{n}</title><p>Page number {n}.<a href=/{}>next</a>", n + 1))
    };
    let (served, dirs) = (Served::start(Web::new().site("ui.test", from_fn(page))), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command = std::process::Command::new(binary::BINARY);
    command.args([
        "crawl",
        "http://ui.test/",
        "--delay",
        "1ms",
        "--ip-delay",
        "0",
        "--progress",
        "none",
        "--no-sitemaps",
    ]);
    let running = Running::start(command.args(served.flags()).arg("-o").arg(&dir));
    crate::ui::until("it can be asked", || dir.join("live.socket").exists());
    let ui = Ui::start(&dir);
    let last = || -> Option<String> {
        let lines = ui.page("/urls.jsonl?state=html");
        let visited = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let last = visited.max_by_key(|line| line["depth"].as_u64())?;
        Some(last["url"].as_str().unwrap().trim_start_matches("http://ui.test").to_owned())
    };
    // The last page of a commit is the one behind which the crawl is writing.
    for _ in 0..20 {
        let mut path = None;
        crate::ui::until("a page was fetched", || {
            path = last();
            path.is_some()
        });
        let path = path.unwrap();
        let record = ui.page(&about("/url/record", &path));
        let number = if path == "/" { "0" } else { &path[1..] };
        assert!(record.contains(&format!("Page number {number}.")), "{record}");
        assert!(record.contains(&format!("GET {path} HTTP/1.1")), "{record}");
    }
    drop(running);
}
