//! A content that is sent in another coding is the same content, and one that breaks off takes nothing away.

use std::io::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use testweb::{Reply, Request, Step, Web};

use crate::again::{ask, changes, crawl, kinds, run, visits};
use crate::binary::BINARY;
use crate::served::Served;

const PAGE: &str =
    "<!doctype html><title>Constant</title><p>The spider sits in its web, as it did yesterday, and waits.";

/// Gzip with the time in its header, as servers that compress each answer send it.
fn zipped(text: &str, time: u32) -> Vec<u8> {
    let mut encoder = flate2::GzBuilder::new().mtime(time).write(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A site in its round. None of its pages ever changes but `/edited`.
fn reply(request: &Request, round: u32) -> Reply {
    let page = format!("{PAGE} This is {}.", request.path());
    let gzip = |text: &str| Reply::html(zipped(text, round)).header("Content-Encoding", "gzip");
    let tagged = |reply: Reply| reply.header("ETag", "W/\"constant\"");
    match request.path() {
        "/" => Reply::html(
            "<a href=/zipped>1</a><a href=/zipped/too>1</a><a href=/coded>2</a><a href=/cut>3</a><a href=/short>3</a><a href=/edited>4</a>",
        ),
        "/zipped" | "/zipped/too" if request.header("if-none-match") == Some("W/\"constant\"") => {
            tagged(Reply::new(304))
        }
        "/zipped" | "/zipped/too" => tagged(gzip(&page)),
        "/coded" if round.is_multiple_of(2) => gzip(&page),
        "/coded" => Reply::html(page),
        "/edited" => gzip(&format!("{page}<p>Round {round}.")),
        // It always announces more than it sends.
        "/short" | "/cut" if round.is_multiple_of(2) || request.path() == "/short" => {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", page.len());
            Reply::raw(move || [Step::send(format!("{head}{}", &page[..page.len() / 2]))].into_iter())
        }
        "/cut" => Reply::html(page),
        path => Reply::error(404, path),
    }
}

#[test]
fn only_what_has_another_content_has_changed() {
    check_rounds(&[]);
}

/// Its visits have no labels, except those of pages that are not whole.
#[test]
fn only_what_has_another_content_has_changed_in_a_crawl_without_an_archive() {
    check_rounds(&["--no-archive"]);
}

fn check_rounds(arguments: &[&str]) {
    let round = Arc::new(AtomicU32::new(1));
    let of_site = round.clone();
    let served =
        Served::start(Web::new().site(
            "one.test",
            testweb::from_fn(move |request: &Request| reply(request, of_site.load(Ordering::Relaxed))),
        ));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    run(crawl(&served, &dir, &["http://one.test/"]).args(arguments)).expect_code(0);
    for n in 2..6 {
        round.store(n, Ordering::Relaxed);
        run(&mut crawl(&served, &dir, &["--again", "--backoff", "0", "--max-backoff", "0"]));
        assert_eq!(kinds(&changes(&dir, &[])), [("/edited", "changed")], "round {n}");
    }
    let visits = visits(&dir);
    let of = |path: &str| &visits[&format!("http://one.test{path}")];
    for path in ["/zipped", "/zipped/too", "/coded", "/cut", "/short"] {
        assert_eq!(of(path).last().unwrap().past.changes, 0, "{path}");
    }
    // The first page of each run is asked for without a validator, and each page once in eight visits.
    let confirmed = ["/zipped", "/zipped/too"].map(|path| of(path).iter().filter(|visit| visit.status == 304).count());
    assert!(confirmed.iter().sum::<usize>() >= 2, "the server keeps its credit: {confirmed:?}");
    let outcomes: Vec<&str> = of("/cut").iter().map(|visit| visit.outcome.as_str()).collect();
    assert_eq!(outcomes, ["html", "connection_error", "html", "connection_error", "html"]);
    assert!(of("/short").iter().all(|visit| visit.outcome.as_str() == "html"), "one part follows another");
    if arguments.contains(&"--no-archive") {
        return;
    }
    ask("check", &dir, &[]);

    // What is shown after a round in which it broke off is whole.
    round.store(6, Ordering::Relaxed);
    run(&mut crawl(&served, &dir, &["--again", "--backoff", "0", "--max-backoff", "0"]));
    let text = dirs.path().join("markdown");
    run(Command::new(BINARY).arg("export").arg(&dir).arg("markdown").arg("-o").arg(&text)).expect_code(0);
    let cut = std::fs::read_to_string(text.join("one.test/cut.md")).unwrap();
    assert!(cut.contains("This is /cut."), "{cut}");
}

/// Once plain, then compressed: the same content in another place.
#[test]
fn a_page_that_moves_in_another_coding_has_moved() {
    let has_moved = Arc::new(AtomicU32::new(0));
    let of_site = has_moved.clone();
    let reply = move |request: &Request| match (request.path(), of_site.load(Ordering::Relaxed)) {
        ("/", 0) => Reply::html("<a href=/here>1</a>"),
        ("/", _) => Reply::html("<a href=/there>1</a>"),
        ("/here", 0) => Reply::html(PAGE),
        ("/there", 1) => Reply::html(zipped(PAGE, 1)).header("Content-Encoding", "gzip"),
        (path, _) => Reply::error(404, path),
    };
    let served = Served::start(Web::new().site("one.test", testweb::from_fn(reply)));
    for arguments in [&[][..], &["--no-archive"]] {
        has_moved.store(0, Ordering::Relaxed);
        let dirs = tempfile::tempdir().unwrap();
        let dir = dirs.path().join("crawl");
        run(crawl(&served, &dir, &["http://one.test/"]).args(arguments)).expect_code(0);
        has_moved.store(1, Ordering::Relaxed);
        run(&mut crawl(&served, &dir, &["--again"]));
        assert_eq!(kinds(&changes(&dir, &[])), [("/", "changed"), ("/here", "moved")], "{arguments:?}");
    }
}

/// Where only one of two visits has words to compare, their contents are compared: the bytes that are sent differ each time.
#[test]
fn a_page_that_stays_has_not_changed_where_only_one_visit_counts_words() {
    let answers = AtomicU32::new(0);
    let reply = move |_: &Request| {
        let answer = answers.fetch_add(1, Ordering::Relaxed);
        Reply::html(zipped(PAGE, answer)).header("Content-Encoding", "gzip")
    };
    let served = Served::start(Web::new().site("one.test", testweb::from_fn(reply)));
    for arguments in [&[][..], &["--no-archive"]] {
        let dirs = tempfile::tempdir().unwrap();
        let dir = dirs.path().join("crawl");
        run(crawl(&served, &dir, &["http://one.test/"]).args(arguments)).expect_code(0);
        for words in ["true", "true", "false", "false"] {
            run(&mut crawl(&served, &dir, &["--again", &format!("--changes-in-text={words}")])).expect_code(0);
            let told = changes(&dir, &[]);
            assert!(told.is_empty(), "{arguments:?} {words}: {told:?}");
        }
    }
}
