//! Pages with many links.

use std::sync::Arc;
use std::time::Duration;

use super::driven::{CONTENT_BYTES, Driven, url};
use super::settings;
use crate::content::Page;
use crate::{Finding, Settings};

const AT_ONCE: usize = 10;
const LINKS: usize = 35;

/// A crawl whose one site has just answered with this.
fn crawl(finding: Finding) -> Driven {
    let settings = Settings { links_at_once: AT_ONCE, depth_max: Some(5), ..settings() };
    let mut crawl = Driven::begin(settings, &["http://one.test/", "http://two.test/"]);
    crawl.resolved("http://one.test/", Ok(&[1]));
    crawl.answered("http://one.test/robots.txt", 404, &[], "");
    crawl.wait(Duration::from_secs(2));
    crawl.recorded.clear();
    crawl.found("http://one.test/", finding);
    crawl
}

fn urls(text: &str) -> Vec<weburl::CanonicalUrl> {
    (0..LINKS).map(|n| url(&format!("http://one.test/{text}{n}"))).collect()
}

/// What came of it, part by part: something else happens after the first.
fn check(finding: Finding, out_degree: Option<u32>, outlinks: usize) {
    let mut crawl = crawl(finding);
    crawl.resolved("http://two.test/", Ok(&[2]));
    while crawl.alarm.take() == Some(crawl.now) {
        crawl.wait(Duration::ZERO);
    }
    let found: Vec<usize> = crawl.recorded.iter().map(|record| record.found.len()).filter(|found| *found > 0).collect();
    assert_eq!(found, [10, 10, 10, 5]);
    let content_bytes = (crawl.content_bytes_peak, crawl.state.content_bytes());
    assert_eq!(content_bytes, (CONTENT_BYTES as u64, 0), "they count once, until all of it is recorded");
    let mut visits = crawl.recorded.iter().filter_map(|record| record.visit.as_ref());
    let visit = visits.next().expect("a visit");
    assert_eq!((visit.out_degree, visit.outlinks.len(), visits.next().is_some()), (out_degree, outlinks, false));
    let last = crawl.recorded.last().expect("records");
    assert!(last.visit.is_some() && last.ends.is_some() && last.site_record.is_some(), "with all links, or after them");
    assert_eq!(crawl.asked(), ["http://two.test/robots.txt"], "it did not wait for them");
}

#[test]
fn a_page_with_many_links_is_judged_in_parts_and_recorded_with_the_last() {
    let page = Page { targets: Arc::from(urls("page")), links: LINKS, ..Page::default() };
    check(Finding::Page(page), Some(35), LINKS);
}

#[test]
fn so_is_a_sitemap() {
    let (pages, sitemaps) = (urls("page")[..17].to_vec(), urls("map")[17..].to_vec());
    check(Finding::Sitemap { pages, sitemaps, announced: Vec::new() }, None, 0);
}

#[test]
fn few_links_are_judged_at_once() {
    let page = Page { targets: Arc::from(&urls("page")[..AT_ONCE]), links: AT_ONCE, ..Page::default() };
    let crawl = crawl(Finding::Page(page));
    assert_eq!((crawl.recorded.len(), crawl.recorded[0].found.len()), (1, AT_ONCE));
}
