//! The pause between fetches, from the server's side.

use testweb::{Pages, Web};

use crate::run::Course;

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
