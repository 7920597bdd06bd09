//! Names are resolved again, and what comes of it.

use std::time::Duration;

use model::{FailureKind, Outcome};

use super::super::{ADDRESS_KEPT_MAX, RESOLVE_FAILED_AGAIN_AFTER};
use super::driven::{Driven, HOLDS};
use super::settings;
use crate::Settings;

const SITE: &str = "http://one.test/";
const LITTLE: Duration = Duration::from_secs(2);

/// A crawl whose one site has answered, and has links to pages for as long as it is asked.
fn crawl() -> Driven {
    // Days pass within a test.
    let settings = Settings { patience: 10 * ADDRESS_KEPT_MAX, ..settings() };
    let mut crawl = Driven::begin(settings, &[SITE, "http://one.test/1", "http://one.test/2", "http://one.test/3"]);
    crawl.resolved(SITE, Ok(&[1]));
    crawl.answered("http://one.test/robots.txt", 404, &[], "");
    crawl.wait(LITTLE);
    crawl
}

/// Ends the visit under way and waits so long. Where the next one went, if there is one.
fn visit_after(crawl: &mut Driven, wait: Duration) -> Option<String> {
    let under_way = crawl.fetches.first().expect("a visit").url.to_string();
    crawl.answered(&under_way, 404, &[], "");
    crawl.wait(wait);
    crawl.fetches.first().map(|task| task.address.expect("an address").to_string())
}

#[test]
fn a_name_is_resolved_again_when_its_addresses_hold_no_longer() {
    let mut crawl = crawl();
    assert_eq!(visit_after(&mut crawl, LITTLE).as_deref(), Some("10.0.0.1"));
    assert_eq!(visit_after(&mut crawl, HOLDS), None, "the name comes first");
    crawl.resolved(SITE, Ok(&[2]));
    crawl.wait(LITTLE);
    assert_eq!(crawl.fetches[0].address.map(|address| address.to_string()).as_deref(), Some("10.0.0.2"));
    assert_eq!(visit_after(&mut crawl, LITTLE).as_deref(), Some("10.0.0.2"));
}

#[test]
fn a_site_keeps_its_address_where_its_name_cannot_be_resolved_again() {
    for kind in [FailureKind::NameServer, FailureKind::NameNotFound, FailureKind::Internal] {
        let mut crawl = crawl();
        assert_eq!(visit_after(&mut crawl, HOLDS), None, "the name comes first");
        crawl.resolved(SITE, Err(kind));
        crawl.wait(Duration::ZERO);
        assert_eq!(
            crawl.fetches[0].address.map(|address| address.to_string()).as_deref(),
            Some("10.0.0.1"),
            "{kind:?}"
        );
        assert_eq!(
            visit_after(&mut crawl, LITTLE).as_deref(),
            Some("10.0.0.1"),
            "{kind:?}: it is not asked again at once"
        );
        assert_eq!(visit_after(&mut crawl, RESOLVE_FAILED_AGAIN_AFTER), None, "{kind:?}: it is asked again");
        crawl.resolved(SITE, Ok(&[3]));
        crawl.wait(LITTLE);
        assert_eq!(
            crawl.fetches[0].address.map(|address| address.to_string()).as_deref(),
            Some("10.0.0.3"),
            "{kind:?}"
        );
    }
}

#[test]
fn a_site_that_has_answered_waits_for_its_name() {
    let mut crawl = crawl();
    let under_way = crawl.fetches.first().expect("a visit").url.to_string();
    crawl.answered(&under_way, 200, &[], "");
    crawl.wait(ADDRESS_KEPT_MAX);
    crawl.resolved(SITE, Err(FailureKind::NameNotFound));
    crawl.wait(LITTLE);
    assert_eq!(crawl.asked(), [""; 0]);
    crawl.wait(Duration::from_secs(60));
    crawl.resolved(SITE, Ok(&[2]));
    crawl.wait(LITTLE);
    assert!(visit_after(&mut crawl, LITTLE).is_some(), "its pages are still there");
    let ended = crawl.recorded.iter().filter_map(|record| record.visit.as_ref()).map(|visit| visit.outcome);
    assert!(ended.clone().all(|outcome| outcome != Outcome::DomainError), "{:?}", ended.collect::<Vec<_>>());
}

#[test]
fn no_site_keeps_an_address_for_ever_nor_one_that_it_may_not_have() {
    for (kind, wait) in [(FailureKind::NameNotFound, ADDRESS_KEPT_MAX), (FailureKind::AddressDenied, HOLDS)] {
        let mut crawl = crawl();
        assert_eq!(visit_after(&mut crawl, wait), None, "the name comes first");
        crawl.resolved(SITE, Err(kind));
        crawl.wait(LITTLE);
        assert_eq!(crawl.asked(), [""; 0], "{kind:?}: its pages are not asked for");
    }
}
