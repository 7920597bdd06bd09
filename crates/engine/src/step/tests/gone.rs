//! Sites that are let go of with URLs that failed, and come back; and those that were given up.

use std::net::IpAddr;
use std::time::Duration;

use model::FailureKind;

use super::driven::{Driven, url};
use super::{NOW, Start, record, settings};
use crate::Event;

const SITE: &str = "http://one.test/";
const PAGES: [&str; 3] = ["http://one.test/1", "http://one.test/2", "http://one.test/3"];
const A_WHILE: Duration = Duration::from_secs(3);

/// A run that shares its sites with others, and has one whose pages have all failed once.
fn shared() -> Driven {
    let mut crawl = Driven::start(Start::Shared, settings(), &[]);
    crawl.stored(record(NOW), &[]);
    crawl.failed_before(&PAGES);
    crawl
}

/// The site becomes this run's own, or again. What is asked of it.
fn comes(crawl: &mut Driven, taken_over: bool, last: u8) -> Vec<String> {
    let site = url(SITE).site().key();
    crawl.happen(Event::SitesChanged { sites: vec![site], taken_over });
    crawl.wait(A_WHILE);
    crawl.resolved(SITE, Ok(&[last]));
    if crawl.asked() == ["http://one.test/robots.txt"] {
        crawl.answered("http://one.test/robots.txt", 404, &[], "");
    }
    crawl.wait(A_WHILE);
    crawl.asked().into_iter().map(str::to_owned).collect()
}

#[test]
fn a_site_that_goes_to_and_fro_between_addresses_goes_on_with_its_other_urls() {
    let mut crawl = shared();
    let mut asked = Vec::new();
    for turn in 0..PAGES.len() {
        let last = if turn % 2 == 0 { 1 } else { 2 };
        let page = comes(&mut crawl, true, last).pop().expect("a page");
        crawl.failed(&page, FailureKind::Timeout);
        asked.push(page);
        crawl.wait(A_WHILE * 10);
        crawl.names.pop().expect("it is looked for elsewhere");
        let address = Some(IpAddr::from([10, 0, 0, 3 - last]));
        crawl.happen(Event::Elsewhere { site: url(SITE).site().key(), address });
    }
    asked.sort_unstable();
    assert_eq!(asked, PAGES);
}

#[test]
fn a_site_that_was_given_up_is_asked_again_where_its_record_says_so_by_now() {
    let mut crawl = Driven::start(Start::Shared, settings(), &[]);
    crawl.stored(record(NOW), &[PAGES[0]]);
    let changed = || Event::SitesChanged { sites: vec![url(SITE).site().key()], taken_over: false };
    crawl.happen(changed());
    crawl.resolved(SITE, Err(FailureKind::NameNotFound));
    let records = crawl.recorded.iter().filter_map(|record| record.site_record.as_ref());
    assert!(records.last().is_some_and(|record| record.given_up.is_some()));
    // As a round does it.
    crawl.stored(record(NOW), &[PAGES[1]]);
    crawl.happen(changed());
    crawl.resolved(SITE, Ok(&[1]));
    crawl.wait(A_WHILE);
    assert_eq!(crawl.asked(), ["http://one.test/robots.txt"]);
}
