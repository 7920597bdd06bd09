//! Large robots.txt files: read beside the step, in memory as far as there is room.

use std::time::Duration;

use frontier::Reason;
use model::{Fetched, Headers, Outcome, Response, RobotsAnswer};

use super::super::robots_txt::answer_of;
use super::super::{Prospect, Turn, Wait};
use super::driven::{Driven, url};
use super::settings;
use crate::Settings;

const A: &str = "User-agent: *\nDisallow: /private\nSitemap: http://a.test/map.xml\n";
const B: &str = "User-agent: *\nDisallow: /secret\n";

/// A crawl in which every robots.txt is large, and there is room for the rules of one site.
fn crawl(seeds: &[&str]) -> Driven {
    let settings = Settings { large_robots_bytes: 0, rules_bytes_max: 0, sitemaps: true, ..settings() };
    let mut crawl = Driven::begin(settings, seeds);
    crawl.wait(Duration::ZERO);
    crawl
}

#[test]
fn a_file_is_recorded_with_what_it_names_and_read_again_when_its_rules_have_left_memory() {
    let mut crawl = crawl(&["http://a.test/", "http://a.test/private", "http://b.test/", "http://b.test/secret"]);
    for (site, address, file) in [("http://a.test/", 1, A), ("http://b.test/", 2, B)] {
        crawl.resolved(site, Ok(&[address]));
        crawl.answered(&format!("{site}robots.txt"), 200, &[], file);
    }
    let map = url("http://a.test/map.xml");
    let named = crawl.recorded.iter().find(|record| record.found.iter().any(|found| found.url == map));
    let site = named.and_then(|record| record.site_record.as_ref()).expect("the sitemap is recorded");
    assert!(site.robots.is_some(), "with the file that names it");
    for _ in 0..20 {
        crawl.wait(Duration::from_secs(1));
        while let Some(task) = crawl.fetches.first() {
            let fetched = task.url.to_string();
            crawl.answered(&fetched, 200, &[], "");
        }
    }
    let visits = || crawl.recorded.iter().filter_map(|record| record.visit.as_ref());
    let outcome = |text: &str| visits().find(|visit| visit.key == url(text).key()).map(|visit| visit.outcome);
    for forbidden in ["http://a.test/private", "http://b.test/secret"] {
        assert_eq!(outcome(forbidden), Some(Outcome::Disallowed), "{forbidden}");
    }
    assert!(outcome("http://a.test/").is_some() && outcome("http://a.test/map.xml").is_some());
    let of_a = crawl.rules_read.iter().filter(|site| **site == map.site().key()).count();
    assert!(of_a > 1, "they have left memory for those of the other site");
}

#[test]
fn a_part_of_a_file_says_nothing_of_what_is_allowed() {
    let answer = |status, range: &str, settings: &Settings| {
        let response = Response {
            status,
            headers: Headers(vec![("Content-Range".to_owned(), range.to_owned())]),
            body: b"User-agent: *\n".to_vec().into(),
            truncated: None,
            is_undecoded: false,
            note: None,
        };
        answer_of(Fetched::Response(response), settings)
    };
    let is_file = |answer| matches!(answer, RobotsAnswer::Status { code: 200 | 206, .. });
    let as_usual = settings();
    assert!(!is_file(answer(206, "bytes 0-13/40", &as_usual)));
    assert!(is_file(answer(206, "bytes 0-13/14", &as_usual)), "all of it");
    assert!(is_file(answer(200, "bytes 0-13/40", &as_usual)), "the field says nothing there");
    let once = Settings { robots_once: true, ..settings() };
    assert!(is_file(answer(206, "bytes 0-13/40", &once)), "there is no other request");
}

#[test]
fn a_file_is_requested_with_its_validators_after_a_day_and_holds_on_if_it_has_not_changed() {
    let pages: Vec<String> = (0..6).map(|n| format!("http://a.test/{n}")).collect();
    let seeds = pages.iter().map(String::as_str).chain(["http://a.test/private"]);
    let mut crawl = crawl(&seeds.collect::<Vec<_>>());
    crawl.resolved("http://a.test/", Ok(&[1]));
    crawl.answered("http://a.test/robots.txt", 200, &[("ETag", "\"1\"")], A);
    let mut sent = Vec::new();
    for _ in 0..20 {
        crawl.wait(Duration::from_secs(8 * 3_600));
        if !crawl.names.is_empty() {
            crawl.resolved("http://a.test/", Ok(&[1]));
        }
        while let Some(task) = crawl.fetches.first() {
            let (fetched, is_robots) = (task.url.to_string(), task.url.path() == "/robots.txt");
            if is_robots {
                sent.push(task.validators().and_then(|validators| validators.etag.clone()));
            }
            crawl.answered(&fetched, if is_robots { 304 } else { 200 }, &[], "");
        }
    }
    assert!(!sent.is_empty() && sent.iter().all(|etag| etag.as_deref() == Some("\"1\"")), "{sent:?}");
    let visits = crawl.recorded.iter().filter_map(|record| record.visit.as_ref());
    let disallowed: Vec<_> = visits.filter(|visit| visit.outcome == Outcome::Disallowed).collect();
    assert_eq!(disallowed.len(), 1, "{disallowed:?}");
    let renewed = crawl.recorded.iter().filter(|record| record.unchanged_since.is_some()).count();
    assert_eq!(renewed, sent.len(), "each leaves a revisit record");
}

#[test]
fn a_file_that_breaks_its_reader_counts_as_a_failure_of_its_site() {
    let mut crawl = crawl(&["http://a.test/"]);
    crawl.breaks_rules = true;
    crawl.resolved("http://a.test/", Ok(&[1]));
    let mut asked = 0;
    for _ in 0..600 {
        while let Some(task) = crawl.fetches.first() {
            assert_eq!(task.url, url("http://a.test/robots.txt"));
            asked += 1;
            crawl.answered("http://a.test/robots.txt", 200, &[], A);
        }
        crawl.wait(Duration::from_secs(1));
    }
    assert!((2..10).contains(&asked), "{asked} requests in ten minutes");
    assert!(
        crawl
            .recorded
            .iter()
            .all(|record| record.visit.is_none() && record.found.iter().all(|found| found.url.path() == "/"))
    );
}

const SMALL: &str = "User-agent: *\nDisallow: /x\n";
const LARGE: &str = "User-agent: *\nDisallow: /secret\nDisallow: /and/so/on\nSitemap: /named.xml\n";

/// Sites with large rules and so many pages besides the first, and one with small rules that has pages all the time. No read ends before
/// the test says so.
fn beside_small(
    concurrency: usize,
    rules_read_at_once_max: usize,
    large: usize,
    pages: usize,
) -> (Driven, Vec<String>) {
    let settings = Settings {
        large_robots_bytes: LARGE.len(),
        rules_bytes_max: 0,
        rules_read_at_once_max,
        concurrency,
        sites_in_front_max: 100,
        sitemaps: true,
        ..settings()
    };
    let sites: Vec<String> = (0..large).map(|n| format!("http://large{n}.test/")).collect();
    let forbidden = sites.iter().map(|site| format!("{site}secret"));
    let others = sites.iter().flat_map(|site| (0..pages).map(move |page| format!("{site}{page}")));
    let small = (0..100).map(|n| format!("http://small.test/{n}"));
    let seeds: Vec<String> = sites.iter().cloned().chain(forbidden).chain(others).chain(small).collect();
    let mut crawl = Driven::begin(settings, &seeds.iter().map(String::as_str).collect::<Vec<_>>());
    crawl.holds_rules = true;
    crawl.wait(Duration::ZERO);
    (crawl, sites)
}

/// Answers for all names, each with an address of its own, and all that is being fetched. Gives how many pages of the small site that was.
fn answer_all(crawl: &mut Driven, concurrency: usize) -> usize {
    let mut small = 0;
    for name in crawl.names.clone() {
        let digits: String = name.as_str().chars().filter(char::is_ascii_digit).collect();
        crawl.resolved(&format!("{name}/"), Ok(&[digits.parse().unwrap_or(250)]));
    }
    assert!(crawl.fetches.len() <= concurrency);
    for task in crawl.fetches.clone() {
        let (text, is_small) = (task.url.to_string(), task.url.host() == "small.test");
        let file = if is_small { SMALL } else { LARGE };
        let is_robots = task.url.path() == "/robots.txt";
        small += usize::from(is_small && !is_robots);
        crawl.answered(&text, 200, &[], if is_robots { file } else { "" });
    }
    small
}

#[test]
fn sites_whose_large_rules_are_being_read_keep_nobody_else_waiting() {
    let check = |concurrency: usize, at_once: usize, large: usize| {
        let case = format!("{concurrency} at once, {at_once} read");
        let (mut crawl, sites) = beside_small(concurrency, at_once, large, 0);
        let mut small = 0;
        for _ in 0..100 {
            small += answer_all(&mut crawl, concurrency);
            crawl.wait(Duration::from_secs(1));
            assert!(crawl.reads.len() <= 2 * at_once, "{case}: {} files are in memory", crawl.reads.len());
        }
        assert!(small > 50, "{case}: {small} pages in 100 s");
        assert!(!crawl.reads.is_empty() && crawl.rules_read.is_empty(), "{case}");
        // Now they are read, one after the other, while the small site goes on.
        for _ in 0..300 {
            crawl.end_read();
            answer_all(&mut crawl, concurrency);
            crawl.wait(Duration::from_secs(1));
        }
        for site in &sites {
            let visits = || crawl.recorded.iter().filter_map(|record| record.visit.as_ref());
            let outcome = |text: &str| visits().find(|visit| visit.key == url(text).key()).map(|visit| visit.outcome);
            assert!(outcome(site).is_some(), "{case}: {site}");
            assert_eq!(outcome(&format!("{site}secret")), Some(Outcome::Disallowed), "{case}: {site}");
            assert!(outcome(&format!("{site}named.xml")).is_some(), "{case}: {site}");
        }
    };
    check(1, 1, 5);
    check(1, 8, 20);
    check(4, 2, 20);
    check(64, 8, 40);
}

#[test]
fn a_site_in_line_is_said_to_wait_for_its_robots_txt() {
    let (mut crawl, sites) = beside_small(64, 1, 4, 0);
    for _ in 0..4 {
        answer_all(&mut crawl, 64);
        crawl.wait(Duration::from_secs(1));
    }
    assert_eq!(crawl.reads.len(), 2, "a new file, and that of one turn");
    let prospects = sites.iter().map(|site| crawl.state.prospect(crawl.now, url(site).key().site));
    let prospects: Vec<Prospect> = prospects.collect();
    let in_line = prospects.iter().filter(|prospect| prospect.turn == Some(Turn::ReadRules));
    assert!(in_line.count() >= 2, "{prospects:?}");
    for prospect in &prospects {
        assert_eq!(prospect.held, Some(Reason::Robots.into()), "{prospects:?}");
    }
    let waits = crawl.state.waits(crawl.now);
    assert_eq!(waits.0.get(&Reason::Robots), Some(&Wait { sites: 4, until: None }), "{waits:?}");
}

/// Sites that need their rules again for each page have them in turn, whenever a read ends.
#[test]
fn sites_whose_rules_must_be_read_wait_in_line() {
    let check = |large: usize, at_once: usize, tick_ms: usize, read_ms: usize| {
        let (mut crawl, sites) = beside_small(64, at_once, large, 100);
        for at in (0..40_000).step_by(tick_ms) {
            answer_all(&mut crawl, 64);
            if at % read_ms < tick_ms {
                crawl.end_read();
            }
            crawl.wait(Duration::from_millis(tick_ms as u64));
        }
        let case = format!("{at_once} of {large} at once, one ends every {read_ms} ms, looked at every {tick_ms} ms");
        for site in &sites {
            let key = url(site).key().site;
            let reads = crawl.rules_read.iter().enumerate().filter(|(_, read)| **read == key).map(|(at, _)| at);
            let reads: Vec<usize> = reads.collect();
            let longest = reads.windows(2).map(|pair| pair[1] - pair[0]).max();
            assert!(longest.is_some_and(|longest| longest <= large + at_once), "{case}: {site} {reads:?}");
        }
    };
    check(5, 1, 10, 290);
    check(10, 1, 70, 140);
    check(20, 8, 10, 70);
    check(40, 8, 30, 60);
}

#[test]
fn a_file_that_must_wait_to_be_read_is_recorded_at_once_with_the_sitemaps_that_it_names() {
    let (mut crawl, sites) = beside_small(64, 1, 3, 0);
    for _ in 0..4 {
        answer_all(&mut crawl, 64);
        crawl.wait(Duration::from_secs(1));
    }
    assert!(crawl.rules_read.is_empty());
    let recorded = sites.iter().map(|site| {
        let map = url(&format!("{site}named.xml"));
        let named = crawl.recorded.iter().find(|record| record.found.iter().any(|found| found.url == map));
        named.is_some_and(|record| record.site_record.as_ref().is_some_and(|site| site.robots.is_some()))
    });
    let recorded: Vec<bool> = recorded.collect();
    assert_eq!(recorded.iter().filter(|is_recorded| **is_recorded).count(), 2, "the first is being read: {recorded:?}");
}
