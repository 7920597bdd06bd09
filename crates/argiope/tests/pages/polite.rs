//! The pause between fetches, from the server's side.

use testweb::{Pages, Reply, Web, from_fn};

use crate::run::{Course, text};

#[test]
fn at_least_a_second_lies_between_fetches() {
    let site = Pages::new().html("/", "<a href=/a>a</a><a href=/b>b</a>").html("/a", "a").html("/b", "b");
    let course = Course::on(Web::new().site("seed.test", site));
    let output = course.run(&["http://seed.test/", "data", "1"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(course.pages("data").len(), 3);
    let log = course.log();
    let targets: Vec<&str> = log.iter().map(|entry| entry.target.as_str()).collect();
    assert_eq!(targets[..2], ["/robots.txt", "/"]);
    assert_eq!(targets.len(), 4);
    for pair in log.windows(2) {
        let pause_us = pair[1].start_us - pair[0].end_us.expect("answered");
        assert!(pause_us >= 1_000_000, "{pause_us} µs between {} and {}", pair[0].target, pair[1].target);
    }
}

#[test]
fn urls_that_are_left_are_told_by_what_they_wait_for() {
    let links = "<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a><a href=http://down.test/>d</a>";
    let well = Pages::new().html("/", links).html("/a", "a").html("/b", "b").html("/c", "c");
    let down = from_fn(|_| Reply::error(503, "down"));
    let course = Course::on(Web::new().site("well.test", well).site("down.test", down));
    let limits = ["--delay", "0", "--patience", "0", "--backoff", "5ms", "--max-backoff", "20ms", "--scope", "any"];
    let limits = [&limits[..], &["--max-pages-per-site", "2", "--no-sitemaps"]].concat();
    let output = course.run(&[&["http://well.test/", "data", "1"], &limits[..]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let trouble = "1 URL left, of 1 site in trouble: the first is due at ";
    let spent = "2 URLs left, of 1 site whose budget is spent: they wait for a larger --max-pages-per-site\n";
    assert!(said.contains(trouble) && said.contains(spent), "{said}");
}
