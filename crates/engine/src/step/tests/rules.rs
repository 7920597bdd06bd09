//! Large robots.txt files: read beside the step, in memory as far as there is room.

use std::time::Duration;

use model::Outcome;

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
