//! The two records outside RFC 9309 that we read: Crawl-delay, of our group, and Sitemap, of the file.

use std::time::Duration;

use robots::{CRAWL_DELAY_MAX, RobotsTxt, SITEMAP_URL_BYTES_MAX, SITEMAPS_MAX, Undefined};

#[track_caller]
fn check_delay(file: &str, seconds: Option<f64>) {
    let robots = RobotsTxt::parse(file.as_bytes(), "argiope");
    assert_eq!(robots.crawl_delay(), seconds.map(Duration::from_secs_f64), "{file}");
}

#[test]
fn a_delay_may_stand_anywhere_in_our_group() {
    check_delay("User-agent: argiope\nCrawl-delay: 2\nDisallow: /a\n", Some(2.0));
    check_delay("User-agent: argiope\nDisallow: /a\nCrawl-delay: 2\nAllow: /b\n", Some(2.0));
    check_delay("User-agent: argiope\nDisallow: /a\n\n# x\nCrawl-delay: 2\n", Some(2.0));
    check_delay("User-agent: argiope\nCrawl-delay: 2", Some(2.0));
    check_delay("User-agent: argiope\nSitemap: /s\nUser-agent: other\nCrawl-delay: 2\n", Some(2.0));
    check_delay("User-agent: *\ncrawl-delay:0.05\n", Some(0.05));
    check_delay("User-agent: *\nCrawl-delay: 0\n", Some(0.0));
}

#[test]
fn a_delay_is_for_the_agents_named_right_above_it() {
    let each_its_own =
        "User-agent: slow\nCrawl-delay: 60\n\nUser-agent: argiope\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /a\n";
    check_delay(each_its_own, Some(2.0));
    check_delay("User-agent: slow\nCrawl-delay: 60\n\nUser-agent: *\nDisallow: /a\n", None);
    check_delay("User-agent: argiope\nCrawl-delay: 2\nUser-agent: other\nDisallow: /a\n", Some(2.0));
    check_delay("User-agent: argiope\nUser-agent: other\nCrawl-delay: 2\n", Some(2.0));
    check_delay("User-agent: argiope\nDisallow: /a\nUser-agent: other\nCrawl-delay: 2\n", None);
    check_delay("Crawl-delay: 2\nUser-agent: argiope\n", None);
    check_delay("User-agent: argiope\nCrawl-delay: 2\nUser-agent: slow\nCrawl-delay: 60\n", Some(2.0));
    check_delay(
        "User-agent: slow\nCrawl-delay: 60\nUser-agent: argiope\nUser-agent: other\nCrawl-delay: 2\n",
        Some(2.0),
    );
}

#[test]
fn the_delay_for_everybody_counts_only_without_a_group_of_our_own() {
    check_delay("User-agent: *\nCrawl-delay: 5\n", Some(5.0));
    check_delay("User-agent: *\nCrawl-delay: 5\nDisallow:\nUser-agent: argiope\nDisallow: /a\n", None);
    check_delay("User-agent: argiope\nDisallow: /a\nUser-agent: *\nCrawl-delay: 5\n", None);
}

#[test]
fn of_several_delays_the_longest_counts() {
    check_delay("User-agent: *\nCrawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2\n", Some(3.0));
    check_delay("User-agent: *\nCrawl-delay: 3\nDisallow: /\nUser-agent: *\nCrawl-delay: 1\n", Some(3.0));
}

#[test]
fn a_delay_that_is_no_number_is_none() {
    for value in ["", "soon", "-1", "NaN", "infinity", "1.2.3"] {
        check_delay(&format!("User-agent: *\nCrawl-delay: {value}\n"), None);
    }
    check_delay("User-agent: *\nCrawl-delay: 99999999999999999999\n", Some(CRAWL_DELAY_MAX.as_secs_f64()));
}

#[track_caller]
fn check_sitemaps(file: &str, expect: &[&str]) {
    assert_eq!(RobotsTxt::parse(file.as_bytes(), "argiope").sitemaps(), expect, "{file}");
    assert_eq!(robots::sitemaps(file.as_bytes()), expect, "{file}");
}

#[test]
fn sitemaps_are_of_the_whole_file_and_as_written() {
    check_sitemaps("Sitemap: https://a.example/1.xml\n", &["https://a.example/1.xml"]);
    check_sitemaps(
        "SITEMAP:/1.xml\nUser-agent: other\nSitemap: 2.xml # two\nDisallow: /\nsite-map: http://B.example/ü.xml\n",
        &["/1.xml", "2.xml", "http://B.example/ü.xml"],
    );
    check_sitemaps("Sitemap:\nSitemap: \t\nSitemap: # none\n", &[]);
}

#[test]
fn sitemaps_are_bounded_in_number_and_length() {
    let many: String = (0..SITEMAPS_MAX + 10).map(|i| format!("Sitemap: /{i}.xml\n")).collect();
    let robots = RobotsTxt::parse(many.as_bytes(), "argiope");
    assert_eq!(robots.sitemaps().len(), SITEMAPS_MAX);
    assert_eq!(robots.sitemaps()[0], "/0.xml");
    assert_eq!(robots::sitemaps(many.as_bytes()), robots.sitemaps());

    let longest = "a".repeat(SITEMAP_URL_BYTES_MAX);
    check_sitemaps(&format!("Sitemap: {longest}\nSitemap: {longest}a\nSitemap: /b\n"), &[&longest, "/b"]);
}

#[test]
fn without_a_file_there_is_neither() {
    for robots in [RobotsTxt::allow_all(), RobotsTxt::disallow_all(Undefined::Unreachable)] {
        assert_eq!(robots.crawl_delay(), None);
        assert!(robots.sitemaps().is_empty());
        assert_eq!(robots.heap_bytes(), 0);
    }
}
