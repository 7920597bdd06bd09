//! Seeds from which nothing can be saved: one line that says why, exit code 1, and the same command tries again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use testweb::{Pages, Reply, Web, from_fn};

use crate::run::{Course, text};

/// The line of a run that must fail.
fn failed(course: &Course, seed: &str) -> String {
    let output = course.run(&[seed, "data", "1", "--delay", "0", "--backoff", "1ms"]);
    assert_eq!(output.status.code(), Some(1), "{seed}");
    assert_eq!(course.names(), ["data"], "{seed}: nothing is left");
    assert!(course.pages("data").is_empty());
    let line = text(&output.stderr);
    line.strip_prefix("argiope: seedURL ").and_then(|line| line.strip_suffix('\n')).unwrap_or(&line).to_owned()
}

fn site() -> Pages {
    Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /secret\n")
        .reply("/paper", Reply::new(200).header("Content-Type", "application/pdf").body("%PDF-1.4"))
        .reply("/away", Reply::redirect(302, "http://other.test/"))
        .reply("/moved", Reply::redirect(301, "/none"))
        .reply("/round", Reply::redirect(301, "/and-round"))
        .reply("/and-round", Reply::redirect(301, "/round"))
        .reply("/nowhere", Reply::new(301))
        .html("/secret", "a secret")
}

#[test]
fn the_reason_is_told() {
    let other = Pages::new().html("/", "another site");
    let course = Course::on(Web::new().site("seed.test", site()).site("other.test", other));
    for (path, expect) in [
        ("/none", "http://seed.test/none cannot be fetched: status 404"),
        ("/paper", "http://seed.test/paper is no HTML page: application/pdf"),
        ("/away", "http://seed.test/away redirects to http://other.test/, which is not internal"),
        ("/moved", "http://seed.test/moved redirects to http://seed.test/none, which cannot be fetched: status 404"),
        ("/nowhere", "http://seed.test/nowhere cannot be fetched: a redirect without Location"),
    ] {
        assert_eq!(failed(&course, &format!("http://seed.test{path}")), expect);
    }
    let line = failed(&course, "http://seed.test/secret");
    assert!(line.starts_with("http://seed.test/secret is disallowed by robots.txt: "), "{line}");
    let line = failed(&course, "http://seed.test/round");
    assert!(line.contains("redirects to http://seed.test/and-round, which"), "{line}");
    assert!(!course.log().iter().any(|entry| entry.host == "other.test"));
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let course = Course::on(Web::new());
    // Port 1 of loopback is refused. The first rule that matches counts.
    let seed = "http://gone.test/";
    let flags = ["--connect-to", "gone.test:80:127.0.0.1:1", "--delay", "0", "--backoff", "1ms"];
    let output = course.run(&[&[seed, "data", "1"], &flags[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let line = text(&output.stderr);
    let expect = "argiope: seedURL http://gone.test/ cannot be fetched: robots.txt: connect to 127.0.0.1:1: connection refused\n";
    assert_eq!(line, expect);
    assert_eq!(course.names(), ["data"]);
}

#[test]
fn the_same_command_tries_again() {
    let is_up = Arc::new(AtomicBool::new(false));
    let asked = is_up.clone();
    let site = from_fn(move |_| if asked.load(Ordering::Relaxed) { Reply::html("up") } else { Reply::error(404, "") });
    let course = Course::on(Web::new().site("seed.test", site));
    assert_eq!(failed(&course, "http://seed.test/"), "http://seed.test/ cannot be fetched: status 404");
    is_up.store(true, Ordering::Relaxed);
    course.run_well(&["http://seed.test/", "data", "1"]);
    assert_eq!(course.visited("data"), [("http://seed.test/".to_owned(), 0)]);
}

#[test]
fn user_and_password_of_the_seed_open_its_site_and_are_not_shown() {
    // "ana:S3CRET"
    const BASIC: &str = "Basic YW5hOlMzQ1JFVA==";
    let guarded = from_fn(|request: &testweb::Request| match request.header("authorization") {
        Some(BASIC) => Reply::html("<p>opened"),
        _ => Reply::new(401),
    });
    let course = Course::on(Web::new().site("seed.test", guarded));
    let output = course.run(&["http://ana:S3CRET@seed.test/", "data", "0", "--delay", "0"]);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("basic authentication for its site only (http://seed.test)") && !said.contains("S3CRET"));
    let page = course.pages("data").pop().unwrap();
    assert_eq!(page.url, "http://seed.test/");
    let output = course.run(&["http://ana:S3CRET@seed.test:x/", "data", "0"]);
    assert!(output.status.code() == Some(2) && !text(&output.stderr).contains("S3CRET"));
}
