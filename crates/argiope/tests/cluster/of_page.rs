//! What a server tells of one page: its row, what each visit recorded, pictures, and the URLs with the same content. By `argiope client` and in
//! the browser, from workers and from shared storage.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testdb::until;
use testkit::ui::Ui;
use testweb::{Reply, Request, Web, from_fn};

use crate::lab::{Lab, Laid};

/// A page that nothing may turn into markup; a page with a copy; what is no text; and a page that changes.
fn web(has_changed: &Arc<AtomicBool>) -> Web {
    let has_changed = has_changed.clone();
    let page = move |request: &Request| match request.path() {
        "/" => Reply::new(200)
            .header("Content-Type", "text/html; charset=iso-8859-1")
            .header("X-Says", "<script>alert(1)</script>")
            .body(START),
        "/large" => Reply::html(format!("<title>large</title><p>{}", digits(LARGE_BYTES))),
        "/one" | "/two" => Reply::html("<title>copy</title><p>The same for both."),
        "/data" => Reply::new(200).header("Content-Type", "application/octet-stream").body(&b"\0\x01\x02\xff"[..]),
        "/late" => Reply::html("<title>late</title><p>Nobody sealed it."),
        "/moving" if has_changed.load(Ordering::SeqCst) => Reply::html("<title>moving</title><p>A later text."),
        "/moving" => Reply::html("<title>moving</title><p>An earlier text."),
        _ => Reply::new(404),
    };
    let busy = |request: &Request| Reply::new(if request.path() == "/" { 503 } else { 404 });
    Web::new().site("a.test", from_fn(page)).site("busy.test", from_fn(busy))
}

/// A page in Latin-1 with links to all others.
const START: &[u8] = b"<title>caf\xe9</title>\t<script>alert(2)</script><p>Text of the start.<a href=/one>1</a>\
    <a href=/two>2</a><a href=/data>4</a><a href=/gone>5</a><a href=/moving>6</a><a href=/large>7</a>";
/// Bytes of a page whose record does not come in one piece.
const LARGE_BYTES: usize = 1 << 20;

/// Digits that compress little.
fn digits(count: usize) -> String {
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from_digit(u32::try_from(*state >> 60).expect("four bits"), 16)
    };
    std::iter::repeat_n((), count).scan(7, |state, ()| next(state)).collect()
}

/// A screen about a URL of the site.
fn about(screen: &str, path: &str) -> String {
    format!("{screen}?u=http%3A%2F%2Fa.test{}", path.replace('/', "%2F"))
}

fn contains(page: &str, expected: &[&str]) {
    for expect in expected {
        assert!(page.contains(expect), "{expect}: {page}");
    }
    assert!(!page.contains("<script>alert"), "{page}");
}

/// Shared storage that takes no segment, as long as this is there.
struct Blocked(PathBuf);

impl Blocked {
    fn at(shared: &Path) -> Self {
        let (archive, kept) = (shared.join("archive"), shared.join("kept"));
        if archive.exists() {
            std::fs::rename(&archive, &kept).expect("moved away");
        }
        std::fs::write(&archive, "no directory").expect("written");
        Blocked(archive)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let kept = self.0.with_file_name("kept");
        std::fs::remove_file(&self.0).expect("removed");
        if kept.exists() {
            std::fs::rename(kept, &self.0).expect("moved back");
        }
    }
}

fn sealed(lab: &Lab) {
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
}

/// The pages that only the archive knows.
fn records(ui: &Ui) -> Vec<String> {
    let record = ui.page(&about("/url/record", "/"));
    let head =
        ["GET / HTTP/1.1\n", "Host: a.test", "HTTP/1.1 200 OK\n", "X-Says: &lt;script&gt;alert(1)&lt;/script&gt;"];
    contains(&record, &head);
    contains(&record, &["&lt;title&gt;café&lt;/title&gt;\t&lt;script&gt;", "Text of the start."]);
    // Both have the same content, and the archive has it once.
    let copies = ["/one", "/two"].map(|path| ui.page(&about("/url/record", path)));
    copies.iter().for_each(|copy| contains(copy, &["The same for both.", "HTTP/1.1 200 OK"]));
    let data = ui.page(&about("/url/record", "/data"));
    contains(&data, &["4 bytes that are no text."]);
    let large = ui.page(&about("/url/record", "/large"));
    contains(&large, &["The first 262144 bytes in UTF-8; there is more."]);
    let gone = ui.page(&about("/url/record", "/gone"));
    contains(&gone, &["HTTP/1.1 404 "]);
    [&[record, data, large, gone][..], &copies].concat()
}

#[test]
fn a_page_of_a_cluster_has_its_row_records_and_copies_wherever_they_lie() {
    let has_changed = Arc::default();
    let lab = Lab::new(Laid::of(web(&has_changed)), &[]);
    let (ui, shared) = (Ui::start_with(&[&lab.served.clients]), lab.shared());
    let workers = [lab.worker(), lab.worker()];

    // Nothing is sealed: the worker that writes the segment has the records.
    let blocked = Blocked::at(&shared);
    lab.served.asked(&["crawl", "http://a.test/"]);
    assert_eq!(lab.served.asked(&["stats"])["segments_sealed"], 0);
    let unsealed = records(&ui);
    drop(blocked);
    sealed(&lab);
    // Then shared storage has them.
    assert_eq!(records(&ui), unsealed);
    story_row_and_copies(&lab, &ui);

    // Each visit has its record.
    has_changed.store(true, Ordering::SeqCst);
    lab.served.asked(&["again", "--only", "http://a.test/moving"]);
    until("the round to end", || lab.served.asked(&["stats"])["left_of_round"] == 0);
    sealed(&lab);
    contains(&ui.page(&about("/url/record", "/moving")), &["A later text.", "aria-label=\"Visits\""]);
    let told = lab.served.asked(&["record", "a.test/moving"]);
    let visits = told["visits"].as_array().expect("dates").clone();
    assert_eq!(visits.len(), 2, "{told}");
    let at = visits[0].as_str().expect("a date");
    contains(&ui.page(&format!("{}&at={at}", about("/url/record", "/moving"))), &["An earlier text."]);
    let story = ui.page(&about("/url", "/moving"));
    contains(
        &story,
        &["new: html 200, round 1", "changed: html 200, round 2", &format!("&amp;at={}", at.replace(':', "%3A"))],
    );
    contains(&ui.page(&about("/url/row", "/moving")), &["A later text."]);
    refused(&ui);
    tried(&lab, &ui);

    // What a worker had not sealed is gone with it. The pages say so, and show the rest.
    let blocked = Blocked::at(&shared);
    lab.served.asked(&["crawl", "http://a.test/late"]);
    contains(&ui.page(&about("/url/record", "/late")), &["Nobody sealed it."]);
    workers.into_iter().for_each(|worker| lab.lose(worker));
    drop(blocked);
    contains(
        &ui.page(&about("/url/record", "/late")),
        &["the worker that wrote it is gone, and had not sealed it", "html"],
    );
    assert_eq!(records(&ui), unsealed, "shared storage needs no worker");
    contains(&ui.page(&about("/url/row", "/")), &["Its row is not known now: ", "no workers are alive"]);
    contains(&ui.page(&about("/url/copies", "/one")), &["then at 1 other URL:"]);
    contains(&ui.page(&about("/url", "/")), &["Its links are not known now: ", "<ol class=\"timeline\">"]);
}

/// What the state and the datasets of the workers know; by the command line too.
fn story_row_and_copies(lab: &Lab, ui: &Ui) {
    let story = ui.page(&about("/url", "/moving"));
    let lines = [
        "<ol class=\"timeline\">",
        "at depth 1 by link",
        "html 200, round 1",
        "/url/record?u=http%3A%2F%2Fa.test%2Fmoving&amp;at=",
    ];
    contains(&story, &lines);
    let row = ui.page(&about("/url/row", "/"));
    contains(&row, &["<td>title</td><td>café</td>", "<td>links</td><td>6</td>", "Text of the start."]);
    let copies = ui.page(&about("/url/copies", "/two"));
    contains(&copies, &[", then at 1 other URL:", ">http://a.test/one</a>", ">http://a.test/two</a>"]);
    contains(&ui.page(&about("/url/copies", "/")), &["No other URL has exactly the same content."]);

    let told = lab.served.asked(&["row", "a.test/"]);
    let row: Value = serde_json::from_str(told["row"].as_str().expect("a text")).expect("JSON");
    assert_eq!(json!([row["title"], row["links"], told["cut"]]), json!(["café", 6, []]), "{told}");
    let words = lab.served.client(&["row", "http://a.test/"]).stdout;
    assert!(words.contains("title: café\n"), "{words}");
    let told = lab.served.asked(&["record", "a.test/data"])["recorded"].clone();
    let answer = &told["answer"];
    assert_eq!(json!([answer["payload_bytes"], answer["source"], told["failure"]]), json!([4, null, ""]), "{told}");
    let words = lab.served.client(&["record", "a.test/"]).stdout;
    assert!(words.contains("--- request\nGET / HTTP/1.1\n") && words.contains("Text of the start."), "{words}");
    let told = lab.served.asked(&["copies", "a.test/one"]);
    assert_eq!(json!([told["count"], told["in_part"]]), json!([1, false]), "{told}");
    assert!(lab.served.client(&["copies", "a.test/one"]).stdout.ends_with("\n1 other URL\n"));
}

/// A URL whose requests failed, and which will be tried again.
fn tried(lab: &Lab, ui: &Ui) {
    lab.served.asked(&["add-seeds", "http://busy.test/"]);
    until("a request to have failed", || lab.served.asked(&["record", "busy.test"])["requests"].as_u64() > Some(0));
    let record = ui.page("/url/record?u=http%3A%2F%2Fbusy.test%2F");
    contains(&record, &["No visit has an outcome so far: ", " failed, and it will be tried again."]);
}

/// What cannot be answered: as `argiope ui DIR` says it.
fn refused(ui: &Ui) {
    for (path, status, why) in [
        ("/url/row".to_owned(), 400, "“URL” is empty"),
        (about("/url/row", "/never"), 404, "http://a.test/never: the crawl knows no such URL"),
        (about("/url/record", "/never"), 404, "http://a.test/never: the crawl knows no such URL"),
        ("/url/copies?u=%3Cb%3E".to_owned(), 400, "&lt;b&gt;: no URL of a crawl"),
        (format!("{}&at=2020-01-01T00:00:00.000Z", about("/url/record", "/")), 404, "has no visit of 2020-01-01"),
        (format!("{}&kind=pdf", about("/url/picture", "/")), 404, "the crawl took no such picture of it"),
        (format!("{}&kind=%3Cb%3E", about("/url/picture", "/")), 400, "`&lt;b&gt;` is no kind of picture"),
    ] {
        let answer = ui.get(&path);
        assert!(answer.status == status && answer.body.contains(why), "{path}: {} {}", answer.status, answer.body);
    }
}

/// The head of an answer, in small letters, and its body, which is no text.
fn file(ui: &Ui, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(&ui.address).expect("a connection");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", ui.address).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    (String::from_utf8_lossy(&answer[..end]).to_lowercase(), answer.split_off(end + 4))
}

#[test]
fn pictures_of_pages_come_from_a_server() {
    let pictures = ["--render", "always", "--screenshots", "view,thumbnail", "--pdf", "--render-time", "60s"];
    let lab = Lab::new(Laid::of(web(&Arc::default())), &pictures);
    let _worker = lab.worker();
    lab.served.asked(&["crawl", "http://a.test/one", "--depth", "0"]);
    let ui = Ui::start_with(&[&lab.served.clients]);
    let picture = |kind: &str| format!("{}&kind={kind}", about("/url/picture", "/one"));
    let shown = [
        "<figure class=\"page-picture\">",
        "kind=thumbnail\" alt=",
        "The page in its window",
        "The page as printed (PDF)",
    ];
    for screen in ["/url", "/url/record"] {
        contains(&ui.page(&about(screen, "/one")), &shown);
    }
    contains(&ui.page(&about("/url/record", "/one")), &["The page as a browser showed it</h2>"]);
    let (head, pdf) = file(&ui, &picture("pdf"));
    assert!(
        head.contains("content-type: application/pdf") && head.contains("content-disposition: attachment"),
        "{head}"
    );
    let (head, view) = file(&ui, &picture("view"));
    assert!(head.contains("content-type: image/png") && head.contains("nosniff"), "{head}");
    assert!(pdf.starts_with(b"%PDF") && view.starts_with(b"\x89PNG\r\n"));
    assert_eq!(ui.get(&picture("full")).status, 404);

    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("view.png");
    let ran = lab.served.client(&["page-picture", "a.test/one", "view", "-o", target.to_str().expect("UTF-8")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert_eq!(std::fs::read(&target).expect("the picture"), view);
    let told = lab.served.asked(&["page-picture", "a.test/one", "thumbnail"]);
    assert!(told["picture"].as_str().is_some_and(|text| text.starts_with("/9j/")), "a JPEG in Base64: {told}");
    let nowhere = lab.served.client(&["page-picture", "a.test/one", "view"]);
    assert!(nowhere.code == 2 && nowhere.stderr.contains("--output FILE"), "{nowhere:?}");
}
