//! Dates that lie ahead, since a clock was set back.

use std::time::Duration;

use bytes::Bytes;
use model::{FailureKind, RobotsAnswer, RobotsRecord, SiteRecord};

use super::driven::{Driven, url};
use super::{DAY, NOW, Start, record, settings};
use crate::Event;

const SECOND: Duration = Duration::from_secs(1);

/// A site whose robots.txt has a date three days ahead.
fn ahead() -> SiteRecord {
    let answer = RobotsAnswer::Status { code: 200, body: Bytes::from_static(b"User-agent: *\nDisallow: /private\n") };
    let robots = RobotsRecord { fetched_at: NOW + DAY * 3, failed_tries: 0, answer, is_cut: false, renewal: None };
    SiteRecord { robots: Some(robots), ..record(NOW) }
}

/// The time after which a site comes to front, for the second time where the first is given.
const TIMES: [(Option<Duration>, Duration, bool); 4] = [
    (None, Duration::ZERO, true),
    (None, Duration::from_secs(2 * 86_400), false),
    // When its date has come it is no younger than before.
    (Some(Duration::ZERO), Duration::from_secs(3 * 86_400 + 60), false),
    (Some(Duration::from_secs(2 * 86_400)), Duration::from_secs(3 * 86_400 + 60), false),
];

#[test]
fn a_robots_txt_with_a_date_ahead_is_as_old_as_the_run() {
    for (before, after, holds) in TIMES {
        let mut crawl = Driven::start(Start::Resumed, settings(), &["http://other.test/"]);
        let site = url("http://one.test/").site().key();
        crawl.stored(ahead(), &[]);
        if let Some(before) = before {
            crawl.wait(before);
            crawl.happen(Event::SitesWaiting(vec![site]));
            crawl.happen(Event::Release(vec![site]));
        }
        crawl.wait((NOW + after).since(crawl.now));
        crawl.stored(ahead(), &["http://one.test/"]);
        crawl.happen(Event::SitesChanged { sites: vec![site], taken_over: false });
        crawl.wait(SECOND);
        crawl.resolved("http://one.test/", Ok(&[1]));
        crawl.wait(SECOND);
        let expect = if holds { "http://one.test/" } else { "http://one.test/robots.txt" };
        assert_eq!(crawl.asked(), [expect], "{before:?} {after:?}");
    }
}

#[test]
fn so_is_that_of_a_site_to_which_another_redirects() {
    for (before, after, holds) in TIMES {
        let mut crawl = Driven::start(Start::Resumed, settings(), &["http://first.test/", "http://moved.test/"]);
        crawl.stored(ahead(), &[]);
        let moved = [("Location", "http://one.test/robots.txt")];
        crawl.wait(SECOND);
        for (at, site) in before.map(|before| (before, "first")).into_iter().chain([(after, "moved")]) {
            crawl.wait((NOW + at).since(crawl.now));
            crawl.resolved(&format!("http://{site}.test/"), Ok(&[1]));
            crawl.wait(SECOND);
            crawl.answered(&format!("http://{site}.test/robots.txt"), 302, &moved, "");
            let is_asked = !crawl.targets.is_empty();
            if is_asked {
                crawl.target_resolved("http://one.test/robots.txt", Err(FailureKind::NameServer));
            }
            let holds = if site == "first" { at < DAY } else { holds };
            assert_eq!(is_asked, !holds, "{site} {before:?} {after:?}");
        }
    }
}
