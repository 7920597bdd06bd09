//! Pages that look as if they had vanished are requested again before they count as gone or moved.

use std::time::Duration;

use model::{Outcome, Queued, Timestamp, Visit};

use super::again::known;
use super::driven::{Driven, url};
use super::settings;
use crate::{End, Settings};

const SECOND: Duration = Duration::from_secs(1);
const PAGE: &str = "http://a.test/1";
const OTHER: &str = "http://a.test/2";
/// Longer than all waits together.
const SECONDS_MAX: u64 = 600;

/// A run over these known pages, whose site has no robots.txt.
fn crawl(settings: Settings, pages: Vec<Queued>) -> Driven {
    let mut crawl = Driven::of_queue(settings, url(PAGE).site(), pages);
    crawl.wait(SECOND);
    crawl.resolved(PAGE, Ok(&[1]));
    crawl.answered("http://a.test/robots.txt", 404, &[], "");
    crawl
}

/// Answers the requests for the page with these, one after the other, and those for others with 304, until the run ends. Gives the seconds at
/// which the page was requested.
fn answer(crawl: &mut Driven, answers: &[u16]) -> Vec<u64> {
    let (began, mut requests) = (crawl.now, Vec::new());
    for _ in 0..SECONDS_MAX {
        match crawl.asked().first().map(|asked| (*asked).to_owned()) {
            Some(asked) if asked == PAGE => {
                let Some(status) = answers.get(requests.len()) else { return requests };
                requests.push(crawl.now.since(began).as_secs());
                crawl.answered(PAGE, *status, &[("Location", "/elsewhere")], "");
            }
            Some(other) => crawl.answered(&other, 304, &[], ""),
            None if crawl.end.is_some() => break,
            None => crawl.wait(SECOND),
        }
    }
    requests
}

fn visit_of(crawl: &Driven, page: &str) -> Option<Visit> {
    let mut visits = crawl.recorded.iter().filter_map(|record| record.visit.as_ref());
    visits.find(|visit| visit.key == url(page).key()).cloned()
}

/// The page, with a last visit that had this status.
fn page_with(status: u16) -> Queued {
    let mut page = known("1");
    if let Some(last) = page.again.as_deref_mut().filter(|_| status != 200) {
        let outcome = if status == 301 { Outcome::Redirect } else { Outcome::HttpError };
        *last = Visit {
            status,
            attempts: 1,
            content_at: Some(Timestamp(5)),
            ..Visit::without_fetch(last.key, outcome, String::new(), Timestamp(6))
        };
    }
    page
}

#[test]
fn a_page_counts_as_gone_or_moved_only_after_requests_with_growing_waits() {
    for (last, answers, attempts_max, requests, changes) in [
        (200, &[404, 404, 404][..], 4, 3, 1),
        (200, &[410, 404, 410], 4, 3, 1),
        (200, &[301, 301, 301], 4, 3, 1),
        (200, &[404, 301, 404], 4, 3, 1),
        // It is there.
        (200, &[404, 304], 4, 2, 0),
        (200, &[404, 404, 304], 4, 3, 0),
        (200, &[301, 304], 4, 2, 0),
        // A failure is none that it has vanished.
        (200, &[500], 4, 1, 0),
        (503, &[404, 404, 404], 4, 3, 1),
        // It was not there before.
        (404, &[404], 4, 1, 0),
        (404, &[301], 4, 1, 1),
        (301, &[301], 4, 1, 0),
        (301, &[404, 404, 404], 4, 3, 1),
        // As often as any URL may be requested.
        (200, &[404], 1, 1, 1),
        (200, &[404, 404], 2, 2, 1),
    ] {
        let mut settings = settings();
        settings.site_rules.politeness.attempts_max = attempts_max;
        let mut crawl = crawl(settings, vec![page_with(last), known("2")]);
        let at = answer(&mut crawl, answers);
        let case = format!("{last} {answers:?} {attempts_max}");
        assert_eq!((at.len(), &crawl.end), (requests, &Some(End::Done)), "{case}");
        let visit = visit_of(&crawl, PAGE).expect("its end");
        assert_eq!((visit.status, u32::from(visit.attempts)), (answers[requests - 1], requests as u32), "{case}");
        assert_eq!(visit.past.changes, changes, "{case}");
        for (n, waited) in at.windows(2).map(|pair| pair[1] - pair[0]).enumerate() {
            let least = [8, 64][n];
            assert!((least..least + 5).contains(&waited), "{case}: {at:?}");
        }
        assert_eq!(visit_of(&crawl, OTHER).expect("its end").attempts, 1, "{case}");
        assert_eq!(crawl.recorded.iter().filter(|record| record.visit.is_some()).count(), 2, "{case}");
    }
}

#[test]
fn a_run_that_ends_meanwhile_leaves_the_rest_to_the_next_one() {
    let mut first = crawl(settings(), vec![known("1")]);
    assert_eq!(answer(&mut first, &[404]).len(), 1);
    assert!(visit_of(&first, PAGE).is_none() && first.end.is_none());
    let mut next = first.next_run(settings());
    next.wait(SECOND);
    next.resolved(PAGE, Ok(&[1]));
    if next.asked() == ["http://a.test/robots.txt"] {
        next.answered("http://a.test/robots.txt", 404, &[], "");
    }
    let at = answer(&mut next, &[404, 404]);
    assert_eq!((at.len(), &next.end), (2, &Some(End::Done)), "{at:?}");
    let visit = visit_of(&next, PAGE).expect("its end");
    assert_eq!((visit.status, visit.attempts, visit.past.changes), (404, 3, 1));
}

#[test]
fn many_pages_that_have_vanished_are_no_trouble_of_their_site() {
    const PAGES: usize = 40;
    let pages: Vec<Queued> = (0..PAGES).map(|n| known(&n.to_string())).collect();
    let mut crawl = crawl(settings(), pages);
    for _ in 0..2_000 {
        if !crawl.names.is_empty() {
            // Its addresses hold for two minutes.
            crawl.resolved(PAGE, Ok(&[1]));
        }
        match crawl.asked().first().map(|asked| (*asked).to_owned()) {
            Some(asked) => crawl.answered(&asked, 404, &[], ""),
            None if crawl.end.is_some() => break,
            None => crawl.wait(SECOND),
        }
    }
    let visits: Vec<&Visit> = crawl.recorded.iter().filter_map(|record| record.visit.as_ref()).collect();
    assert_eq!((visits.len(), &crawl.end), (PAGES, &Some(End::Done)));
    assert!(visits.iter().all(|visit| (visit.status, visit.attempts) == (404, 3)));
    let records = crawl.recorded.iter().filter_map(|record| record.site_record.as_ref());
    assert!(records.into_iter().all(|site| site.aside.is_none() && site.failures_in_a_row == 0));
}
