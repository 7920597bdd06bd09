//! Known pages are asked for again: what is sent, and what the answers mean.

use std::time::Duration;

use model::{ArchiveLocation, Candidate, Limit, Outcome, Past, PayloadDigest, Queued, Timestamp, Validators, Visit};
use store::{Committed, Relaxed};

use super::driven::{Driven, url};
use super::settings;
use crate::{Event, Settings};

const SEED: &str = "http://a.test/";
const SECOND: Duration = Duration::from_secs(1);

/// A page that was visited once, with an entity tag.
pub(super) fn known(path: &str) -> Queued {
    let candidate = Candidate { depth: 1, ..Candidate::seed(url(&format!("{SEED}{path}"))) };
    let key = candidate.url.key();
    let last = Visit {
        status: 200,
        digest: Some(PayloadDigest([1; 20])),
        length: 7,
        attempts: 1,
        title: Some("a title".to_owned()),
        location: Some(ArchiveLocation { segment: 0, offset: 1, length: 2 }),
        validators: Validators { etag: Some("\"1\"".to_owned()), last_modified: None },
        ..Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp(5))
    };
    Queued { again: Some(Box::new(last)), ..Queued::first(candidate) }
}

/// A crawl whose seed was fetched, and these known pages that wait to be visited again.
fn crawl(settings: Settings, paths: &[&str]) -> Driven {
    crawl_of(settings, paths.iter().map(|path| known(path)).collect())
}

fn crawl_of(settings: Settings, pages: Vec<Queued>) -> Driven {
    let mut crawl = Driven::begin(settings, &[SEED]);
    crawl.resolved(SEED, Ok(&[1]));
    crawl.answered("http://a.test/robots.txt", 404, &[], "");
    crawl.wait(SECOND);
    let relaxed = pages.into_iter().map(|queued| Relaxed {
        key: queued.candidate.url.key(),
        was: queued.candidate.position(),
        queued: Some(queued),
    });
    let committed = Committed { relaxed: relaxed.collect(), ..Committed::default() };
    crawl.happen(Event::Committed { records: Vec::new(), committed });
    crawl.answered(SEED, 200, &[], "");
    crawl.wait(SECOND);
    crawl
}

/// What is asked for, and the entity tag that goes with it.
fn asked(crawl: &Driven) -> Option<(String, Option<String>)> {
    let task = crawl.fetches.first()?;
    Some((task.url.to_string(), task.validators().and_then(|validators| validators.etag.clone())))
}

/// Ends the fetch under way, and gives the visit that it came to, if it did to one.
fn answer(crawl: &mut Driven, status: u16, etag: &str) -> Option<Visit> {
    let before = crawl.recorded.len();
    let (target, _) = asked(crawl).expect("something is asked for");
    crawl.answered(&target, status, &[("ETag", etag)], "");
    crawl.wait(SECOND);
    crawl.recorded[before..].iter().find_map(|record| record.visit.clone())
}

#[test]
fn the_first_page_is_asked_for_in_any_case_and_the_others_only_if_they_have_changed() {
    let mut crawl = crawl(settings(), &["1", "2", "3"]);
    let (first, tag) = asked(&crawl).expect("a page");
    assert_eq!(tag, None, "to see whether the site tells the truth");
    // It has changed, and so has its tag: the site is asked whether it says so.
    let visit = answer(&mut crawl, 200, "\"2\"").expect("a visit");
    assert_eq!((visit.outcome, visit.past.visits, visit.past.changes), (Outcome::Html, 1, 1));
    assert_eq!(visit.validators.etag.as_deref(), Some("\"2\""));
    assert_eq!(asked(&crawl), Some((first, Some("\"1\"".to_owned()))));
    assert_eq!(answer(&mut crawl, 200, "\"2\""), None, "what it answers is not recorded");
    for _ in 0..2 {
        let (_, tag) = asked(&crawl).expect("a page");
        assert_eq!(tag.as_deref(), Some("\"1\""));
        let visit = answer(&mut crawl, 304, "\"1\"").expect("a visit");
        assert_eq!((visit.outcome, visit.status, visit.kind()), (Outcome::NotModified, 304, Some(Outcome::Html)));
        assert_eq!((visit.content_at, visit.title.as_deref()), (Some(Timestamp(5)), Some("a title")));
        assert_eq!((visit.past.visits, visit.past.changes, visit.location), (1, 0, None));
    }
    assert_eq!(asked(&crawl), None);
}

#[test]
fn visits_are_of_the_round_that_began_last_and_each_round_looks_once_whether_a_site_tells_the_truth() {
    let mut crawl = crawl(settings(), &["1", "2", "3", "4"]);
    let sent = |crawl: &Driven| asked(crawl).expect("a page").1.is_some();
    for round in [1, 7] {
        assert!(!sent(&crawl), "round {round}: its first page is asked for in any case");
        assert_eq!(answer(&mut crawl, 200, "\"2\"").expect("a visit").round, round);
        assert_eq!(answer(&mut crawl, 200, "\"2\""), None, "whether it says so");
        assert!(sent(&crawl), "round {round}");
        // What is under way counts for the round that begins.
        crawl.happen(Event::RoundBegan(7));
        assert_eq!(answer(&mut crawl, 304, "\"1\"").expect("a visit").round, 7);
    }
}

#[test]
fn a_site_that_says_nothing_has_changed_where_it_has_is_not_believed() {
    let mut crawl = crawl(settings(), &["1", "2", "3"]);
    answer(&mut crawl, 200, "\"2\"").expect("a visit");
    assert_eq!(answer(&mut crawl, 304, "\"2\""), None);
    let is_noted = crawl.recorded.iter().filter_map(|record| record.site_record.as_ref()).any(|site| site.misleads);
    assert!(is_noted);
    for _ in 0..2 {
        assert_eq!(asked(&crawl).expect("a page").1, None);
        answer(&mut crawl, 200, "\"1\"").expect("a visit");
    }
}

#[test]
fn a_page_that_can_show_nothing_is_no_test_of_its_site() {
    let cut = |visit: &mut Visit| visit.limits = Limit::Length.into();
    let is_gone = |visit: &mut Visit| (visit.outcome, visit.status) = (Outcome::HttpError, 404);
    let failed = |visit: &mut Visit| (visit.outcome, visit.status) = (Outcome::HttpError, 500);
    let is_lost = |visit: &mut Visit| visit.past.not_modified = Past::LOST;
    let is_copy = |visit: &mut Visit| visit.repeat(url("http://a.test/other").key());
    let says_nothing = |visit: &mut Visit| visit.validators = Validators::default();
    let says_all = |visit: &mut Visit| visit.validators.etag = Some("*".to_owned());
    let changes: [&dyn Fn(&mut Visit); 7] = [&cut, &is_gone, &failed, &is_lost, &is_copy, &says_nothing, &says_all];
    for (n, change) in changes.into_iter().enumerate() {
        let mut pages = ["1", "2", "3"].map(known);
        pages.sort_by_key(|queued| queued.candidate.position());
        change(pages[0].again.as_mut().expect("it is known"));
        let mut crawl = crawl_of(settings(), pages.to_vec());
        for (at, is_asked_in_any_case) in [true, true, false].into_iter().enumerate() {
            let (target, tag) = asked(&crawl).expect("a page");
            assert_eq!(target, pages[at].candidate.url.to_string());
            assert_eq!(tag.is_none(), is_asked_in_any_case, "{n}: page {at}");
            answer(&mut crawl, if tag.is_some() { 304 } else { 500 }, "").expect("a visit");
        }
    }
}

#[test]
fn no_site_is_tested_with_what_is_no_entity_tag() {
    let pages = ["1", "2"].map(known).map(|mut queued| {
        // As an earlier version kept it.
        queued.again.as_mut().expect("it is known").validators.etag = Some("*".to_owned());
        queued
    });
    let mut crawl = crawl_of(settings(), pages.to_vec());
    for _ in 0..2 {
        assert_eq!(asked(&crawl).expect("a page").1, None);
        answer(&mut crawl, 200, "\"2\"").expect("a visit");
    }
    assert_eq!(asked(&crawl), None, "an honest server has to answer 304 to it");
}

#[test]
fn a_site_is_tested_though_the_page_that_changed_was_its_last() {
    let mut crawl = crawl(settings(), &["1"]);
    let (last, _) = asked(&crawl).expect("a page");
    answer(&mut crawl, 200, "\"2\"").expect("a visit");
    assert_eq!(asked(&crawl), Some((last, Some("\"1\"".to_owned()))));
    answer(&mut crawl, 304, "\"2\"");
    assert!(crawl.recorded.iter().filter_map(|record| record.site_record.as_ref()).any(|site| site.misleads));
    assert_eq!(asked(&crawl), None);
}

#[test]
fn a_site_that_is_not_believed_is_not_tested_again() {
    let mut crawl = crawl(settings(), &["1", "2", "3"]);
    answer(&mut crawl, 200, "\"2\"").expect("a visit");
    answer(&mut crawl, 304, "\"2\"");
    crawl.happen(Event::RoundBegan(7));
    for _ in 0..2 {
        assert_eq!(asked(&crawl).expect("a page").1, None);
        answer(&mut crawl, 200, "\"3\"").expect("a visit");
    }
    assert_eq!(asked(&crawl), None);
}

#[test]
fn a_304_that_nobody_asked_for_is_an_error() {
    let mut crawl = crawl(settings(), &["1"]);
    let visit = answer(&mut crawl, 304, "\"1\"").expect("a visit");
    assert_eq!((visit.outcome, visit.content_at), (Outcome::HttpError, Some(Timestamp(5))));
}

#[test]
fn a_failure_says_nothing_of_the_content() {
    let mut crawl = crawl(settings(), &["1"]);
    let visit = answer(&mut crawl, 500, "\"1\"").expect("a visit");
    assert_eq!((visit.outcome, visit.content_at), (Outcome::HttpError, Some(Timestamp(5))));
    let tag = visit.validators.etag.as_deref();
    assert_eq!((visit.past.visits, visit.past.changes, tag), (1, 0, Some("\"1\"")), "the tag of the content");
}

#[test]
fn a_page_that_a_browser_shows_is_asked_for_in_any_case() {
    let settings = Settings { render: Some(crate::RenderMode::Auto), ..settings() };
    let mut crawl = crawl(settings, &["1", "2"]);
    for _ in 0..2 {
        assert_eq!(asked(&crawl).expect("a page").1, None);
        answer(&mut crawl, 200, "\"1\"");
    }
}
