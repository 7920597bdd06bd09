//! The machine's own network.

use std::time::Duration;

use model::FailureKind;

use super::driven::Driven;
use super::settings;

const SECOND: Duration = Duration::from_secs(1);
const SITES: [&str; 3] = ["http://a.test/", "http://b.test/", "http://c.test/"];

/// Three sites, of which each has answered once, and is asked again.
fn three_sites() -> Driven {
    let further = SITES.map(|seed| format!("{seed}2"));
    let seeds: Vec<&str> = SITES.into_iter().chain(further.iter().map(String::as_str)).collect();
    let mut crawl = Driven::begin(settings(), &seeds);
    for (seed, last) in SITES.iter().zip(1..) {
        crawl.resolved(seed, Ok(&[last]));
    }
    for _ in 0..2 {
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            crawl.answered(&asked, 404, &[], "");
        }
        crawl.wait(SECOND);
    }
    assert_eq!(crawl.asked().len(), SITES.len(), "{:?}", crawl.asked());
    crawl
}

#[test]
fn where_nothing_comes_back_from_any_site_the_network_is_down_until_something_does() {
    for kind in [FailureKind::Connect, FailureKind::Timeout] {
        let mut crawl = three_sites();
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            assert_eq!(crawl.state.network_down_since(), None, "{kind:?}");
            crawl.failed(&asked, kind);
            crawl.wait(SECOND);
        }
        // Others may have failed again meanwhile; one thing is tried now.
        while crawl.state.network_down_since().is_none() {
            let asked = crawl.asked().first().expect("something is asked").to_string();
            crawl.failed(&asked, kind);
            crawl.wait(SECOND);
        }
        crawl.alarm = None;
        crawl.wait(SECOND * 2);
        assert!(crawl.alarm.is_none_or(|alarm| alarm > crawl.now), "the end of the probe is waited for");
        let asked = crawl.asked().first().expect("a probe").to_string();
        crawl.answered(&asked, 200, &[], "");
        assert_eq!(crawl.state.network_down_since(), None, "{kind:?}");
    }
}

#[test]
fn what_this_program_breaks_says_nothing_of_the_network() {
    let mut crawl = three_sites();
    for _ in 0..20 {
        if let Some(asked) = crawl.asked().first().map(ToString::to_string) {
            crawl.failed(&asked, FailureKind::Internal);
        }
        crawl.wait(SECOND);
    }
    assert_eq!(crawl.state.network_down_since(), None);
}
