//! robots.txt that redirects to another site.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{FailureKind, Outcome};

use super::driven::{Driven, url};
use super::settings;
use crate::{Event, Settings};

const SECOND: Duration = Duration::from_secs(1);

/// The target fails once, and then has its robots.txt before the other comes back for it, while its name is still being looked up for the other.
#[test]
fn what_a_site_has_fetched_for_itself_is_not_fetched_again_for_another() {
    let mut crawl = Driven::begin(settings(), &["http://moved.test/", "http://slow.test/", "http://target.test/"]);
    crawl.resolved("http://moved.test/", Ok(&[1]));
    crawl.resolved("http://target.test/", Ok(&[2]));
    crawl.answered("http://moved.test/robots.txt", 302, &[("Location", "http://target.test/robots.txt")], "");
    // Its address has one visit at a time.
    crawl.resolved("http://slow.test/", Ok(&[1]));
    crawl.wait(SECOND / 2);
    crawl.failed("http://target.test/robots.txt", FailureKind::Disconnected);
    crawl.wait(SECOND);
    crawl.answered("http://target.test/robots.txt", 200, &[], "User-agent: *\nDisallow: /private\n");
    crawl.answered("http://slow.test/robots.txt", 404, &[], "");
    crawl.wait(SECOND);
    crawl.answered("http://slow.test/", 404, &[], "");
    crawl.wait(SECOND);
    crawl.target_resolved("http://target.test/robots.txt", Ok(&[2]));
    crawl.wait(SECOND);
    assert_eq!(crawl.asked(), ["http://moved.test/", "http://target.test/"]);
}

/// While an errand is under way, a site without a place is let go of only when the errand has ended. By then it may be on hold no more.
#[test]
fn a_site_that_is_on_hold_no_more_is_not_let_go_of_when_an_errand_ends() {
    let mut crawl = Driven::begin(settings(), &["http://moved.test/"]);
    crawl.resolved("http://moved.test/", Ok(&[1]));
    crawl.answered("http://moved.test/robots.txt", 302, &[("Location", "http://target.test/robots.txt")], "");
    crawl.target_resolved("http://target.test/robots.txt", Ok(&[2]));
    assert_eq!(crawl.asked(), ["http://target.test/robots.txt"]);
    let later = url("http://later.test/");
    for held_sites in [BTreeSet::from([later.site().key()]), BTreeSet::new()] {
        crawl.happen(Event::SettingsChanged(Box::new(Settings { held_sites, ..settings() })));
    }
    crawl.answered("http://target.test/robots.txt", 200, &[], RULES);
    crawl.happen(Event::NewSeeds(vec![later.clone()]));
    crawl.wait(SECOND);
    assert!(crawl.names.contains(&later.site()), "{:?}", crawl.names);
}

/// RFC 9309 §2.4: what was fetched earlier holds while the file cannot be had.
#[test]
fn an_earlier_file_holds_where_it_is_redirected_to_what_cannot_be_asked() {
    let elsewhere = "http://nowhere.test/robots.txt";
    for (had_earlier, kind, is_fetched) in [
        (true, FailureKind::NameNotFound, true),
        (true, FailureKind::AddressDenied, true),
        (false, FailureKind::NameNotFound, false),
    ] {
        let mut crawl = Driven::begin(settings(), &["http://a.test/1", "http://a.test/2", "http://a.test/private"]);
        crawl.resolved("http://a.test/", Ok(&[1]));
        if had_earlier {
            crawl.answered("http://a.test/robots.txt", 200, &[], RULES);
            crawl.wait(SECOND * 2);
            let under_way = crawl.fetches.first().expect("a visit").url.to_string();
            crawl.wait(robots::ROBOTS_CACHE_MAX);
            crawl.answered(&under_way, 404, &[], "");
            crawl.wait(SECOND * 2);
            crawl.resolved("http://a.test/", Ok(&[1]));
            crawl.wait(SECOND * 2);
        }
        crawl.answered("http://a.test/robots.txt", 302, &[("Location", elsewhere)], "");
        crawl.target_resolved(elsewhere, Err(kind));
        crawl.wait(SECOND * 2);
        let pages: Vec<String> = crawl.asked().iter().map(ToString::to_string).collect();
        assert_eq!(pages.len(), usize::from(is_fetched), "{had_earlier} {kind:?}: {pages:?}");
        let ended: Vec<Outcome> =
            crawl.recorded.iter().filter_map(|record| record.visit.as_ref()).map(|visit| visit.outcome).collect();
        let of_site = |outcome: &Outcome| matches!(outcome, Outcome::DomainError | Outcome::Excluded);
        assert!(!ended.iter().any(of_site), "{had_earlier} {kind:?}: {ended:?}");
    }
}

const FILE: &str = "http://target.test/rules.txt";
const RULES: &str = "User-agent: *\nDisallow: /private\n";

/// Lets a week pass in which robots.txt of a.test leads to another URL. Gives the entity tags that were sent there, and to robots.txt itself.
fn a_week(crawl: &mut Driven, file: &str, is_here: bool) -> [Vec<Option<String>>; 2] {
    let mut sent = [Vec::new(), Vec::new()];
    for _ in 0..20 {
        crawl.wait(Duration::from_secs(8 * 3_600));
        if !crawl.names.is_empty() {
            crawl.resolved("http://a.test/", Ok(&[1]));
        }
        if !crawl.targets.is_empty() {
            crawl.target_resolved(file, Ok(&[2]));
        }
        while let Some(task) = crawl.fetches.first() {
            let (asked, tag) = (task.url.clone(), task.validators().and_then(|sent| sent.etag.clone()));
            if let Some(condition) = &task.condition {
                assert_eq!(condition.url, url(file));
            }
            let (status, body) = if tag.is_some() { (304, "") } else { (200, RULES) };
            match asked.path() {
                "/robots.txt" if is_here => {
                    sent[0].push(tag);
                    crawl.answered_at(asked.as_str(), file, status, &[("ETag", "\"1\"")], body);
                }
                "/robots.txt" => {
                    sent[1].push(tag);
                    crawl.answered(asked.as_str(), 302, &[("Location", file)], "");
                }
                _ if asked == url(file) => {
                    sent[0].push(tag);
                    crawl.answered(asked.as_str(), status, &[("ETag", "\"1\"")], body);
                }
                _ => crawl.answered(asked.as_str(), 200, &[], ""),
            }
            if !crawl.targets.is_empty() {
                crawl.target_resolved(file, Ok(&[2]));
            }
        }
    }
    sent
}

#[test]
fn a_file_behind_a_redirect_is_requested_with_its_validators() {
    let pages = (0..6).map(|n| format!("http://a.test/{n}")).chain(["http://a.test/private".to_owned()]);
    let seeds: Vec<String> = pages.collect();
    for (file, is_here) in [(FILE, false), ("http://a.test/rules.txt", true)] {
        let mut crawl = Driven::begin(settings(), &seeds.iter().map(String::as_str).collect::<Vec<_>>());
        let [of_file, of_redirect] = a_week(&mut crawl, file, is_here);
        let (first, later) = of_file.split_first().expect("a request");
        assert!(first.is_none() && later.len() > 1, "{of_file:?}");
        assert!(later.iter().all(|tag| tag.as_deref() == Some("\"1\"")), "{of_file:?}");
        assert!(of_redirect.iter().all(Option::is_none), "{of_redirect:?}");
        let renewed = crawl.recorded.iter().filter(|record| record.unchanged_since.is_some()).count();
        assert_eq!(renewed, later.len(), "each leaves a revisit record");
        let visits = crawl.recorded.iter().filter_map(|record| record.visit.as_ref());
        let disallowed = visits.filter(|visit| visit.outcome == Outcome::Disallowed).count();
        assert_eq!(disallowed, 1, "the rules hold on");
    }
}
