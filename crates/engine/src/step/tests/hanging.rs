//! Sites that accept requests and never answer.

use std::collections::BTreeMap;
use std::time::Duration;

use model::FailureKind;
use weburl::SiteKey;

use super::driven::{Driven, url};
use super::settings;
use crate::content::Page;
use crate::{Finding, Settings};

const SECOND: Duration = Duration::from_secs(1);
const GOOD: &str = "http://good.test/";

fn key(text: &str) -> SiteKey {
    url(text).site().key()
}

/// Sites whose keys come before that of the good one: where nothing else decides, they have their turns first.
fn before_the_good_one() -> impl Iterator<Item = String> {
    (0..).map(|n| format!("http://hangs{n}.test/")).filter(|site| key(site) < key(GOOD))
}

/// Answers for the good site. Gives the pages that were requested of it.
fn answer_the_good_one(crawl: &mut Driven) -> usize {
    let asked: Vec<String> =
        crawl.asked().iter().filter(|asked| asked.starts_with(GOOD)).map(ToString::to_string).collect();
    let mut pages = 0;
    for asked in asked {
        if asked.ends_with("/robots.txt") {
            crawl.answered(&asked, 404, &[], "");
        } else {
            crawl.found(&asked, Finding::Page(Page::default()));
            pages += 1;
        }
    }
    pages
}

/// Answers for all names: each site is at the address that this says.
fn resolve(crawl: &mut Driven, address: impl Fn(&str) -> u8) {
    for name in crawl.names.iter().map(|name| format!("{name}/")).collect::<Vec<_>>() {
        crawl.resolved(&name, Ok(&[address(&name)]));
    }
}

#[test]
fn each_run_begins_with_sites_that_did_not_hang_in_the_run_before() {
    let hanging: Vec<String> = before_the_good_one().take(3).collect();
    let seeds: Vec<&str> = hanging.iter().map(String::as_str).chain([GOOD]).collect();
    // A request that fails while its run goes on, and one that outlasts it.
    for fails_after in [29, 1_000] {
        let mut crawl = Driven::begin(settings(), &seeds);
        let (mut pages, mut runs) = (0, 1);
        while pages == 0 && runs <= seeds.len() {
            let mut under_way: BTreeMap<String, u64> = BTreeMap::new();
            while crawl.end.is_none() && pages == 0 {
                resolve(&mut crawl, |_| 1);
                pages += answer_the_good_one(&mut crawl);
                for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
                    let seconds = under_way.entry(asked.clone()).or_default();
                    *seconds += 1;
                    if *seconds == fails_after {
                        under_way.remove(&asked);
                        crawl.failed(&asked, FailureKind::Timeout);
                    }
                }
                crawl.wait(SECOND);
            }
            if pages == 0 {
                runs += 1;
                crawl = crawl.next_run(settings());
            }
        }
        assert!(pages == 1 && runs > 1, "after {runs} runs where requests fail after {fails_after} s: {pages} pages");
    }
}

/// Seconds that a silent host takes.
const SILENT_S: u64 = 10;

#[test]
fn silent_hosts_leave_requests_at_once_to_a_site_that_answers() {
    let silent: Vec<String> = before_the_good_one().take(100).collect();
    let pages: Vec<String> = (0..20).map(|n| format!("{GOOD}{n}")).collect();
    let seeds: Vec<&str> = silent.iter().chain(&pages).map(String::as_str).collect();
    let settings = Settings { concurrency: 8, sites_in_front_max: 1_000, ..settings() };
    let mut crawl = Driven::begin(settings, &seeds);
    let (mut under_way, mut fetched, mut most) = (BTreeMap::<String, u64>::new(), Vec::new(), 0);
    for second in 0..400 {
        resolve(&mut crawl, |name| match silent.iter().position(|silent| silent == name) {
            Some(at) => u8::try_from(at + 100).expect("few"),
            None => 1,
        });
        let pages = answer_the_good_one(&mut crawl);
        fetched.extend(std::iter::repeat_n(second, pages));
        most = most.max(crawl.asked().len());
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            let seconds = under_way.entry(asked.clone()).or_default();
            *seconds += 1;
            if *seconds == SILENT_S {
                under_way.remove(&asked);
                crawl.failed(&asked, FailureKind::Timeout);
            }
        }
        crawl.wait(SECOND);
    }
    assert_eq!(most, 6, "a quarter is kept");
    let took = fetched.last().zip(fetched.first()).map(|(last, first)| last - first);
    assert!(fetched.len() == pages.len() && took.is_some_and(|took| took <= 25), "{fetched:?}");
}
