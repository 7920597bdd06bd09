//! Sites that may have no more visits.

use std::sync::Arc;
use std::time::Duration;

use frontier::Reason;
use model::{Candidate, Outcome, Queued, Timestamp, Visit};
use store::{Committed, Relaxed};

use super::driven::{Driven, url};
use super::{NOW, Start, record, settings};
use crate::content::Page;
use crate::{End, Event, Finding, Settings, Spent};

const SECOND: Duration = Duration::from_secs(1);

/// Places in front, and other sites.
const PLACES: usize = 3;
const OTHERS: usize = 20;

#[test]
fn a_site_whose_budget_is_spent_is_not_read_again_for_each_link_to_it() {
    let mut settings = Settings { sites_in_front_max: PLACES, ..settings() };
    settings.site_rules.pages_per_site_max = Some(1);
    let others: Vec<String> = (0..OTHERS).map(|n| format!("http://other{n}.test/")).collect();
    let seeds: Vec<&str> = ["http://spent.test/"].into_iter().chain(others.iter().map(String::as_str)).collect();
    let mut crawl = Driven::begin(settings, &seeds);
    let mut pages = 0;
    for _ in 0..200 {
        for name in crawl.names.clone() {
            crawl.resolved(&format!("{name}/"), Ok(&[u8::try_from(name.host().len() + pages).expect("few")]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            if asked.ends_with("robots.txt") {
                crawl.answered(&asked, 404, &[], "");
            } else {
                let link = url(&format!("http://spent.test/{pages}"));
                crawl.found(&asked, Finding::Page(Page { targets: Arc::new([link]), links: 1, ..Page::default() }));
                pages += 1;
            }
        }
        assert!(crawl.state.parked.len() <= PLACES, "{} sites with nothing left", crawl.state.parked.len());
        crawl.wait(Duration::from_secs(1));
    }
    assert_eq!(pages, seeds.len());
    let spent = url("http://spent.test/").key().site;
    assert_eq!(crawl.loads.iter().filter(|site| **site == spent).count(), 1);
}

/// A run with this many pages on one site.
fn run_with_pages(settings: Settings, pages: usize) -> Driven {
    let seeds: Vec<String> = (0..pages).map(|n| format!("http://a.test/{n}")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let mut crawl = Driven::begin(settings, &seeds);
    crawl.resolved("http://a.test/", Ok(&[1]));
    crawl.answered("http://a.test/robots.txt", 404, &[], "");
    crawl.wait(SECOND);
    crawl
}

/// Visits the next page, of ten bytes. False if none is asked for.
fn visit(crawl: &mut Driven) -> bool {
    let Some(asked) = crawl.asked().first().map(ToString::to_string) else { return false };
    crawl.answered(&asked, 200, &[], "ten octets");
    crawl.wait(SECOND);
    true
}

#[test]
fn a_round_that_begins_in_a_run_has_the_budgets_of_one_that_begins_with_it() {
    for (of_round, name) in [
        (Settings { pages_max: Some(3), ..settings() }, "max-pages"),
        (Settings { bytes_max: Some(30), ..settings() }, "max-bytes"),
    ] {
        let mut crawl = run_with_pages(of_round, 10);
        assert!(visit(&mut crawl) && visit(&mut crawl), "{name}");
        crawl.happen(Event::RoundBegan(2));
        // The same round again, as after an error while its URLs were chosen.
        assert!(visit(&mut crawl), "{name}");
        crawl.happen(Event::RoundBegan(2));
        let mut visits = 1;
        while crawl.end.is_none() && visit(&mut crawl) {
            visits += 1;
        }
        assert!(matches!(crawl.end, Some(End::Limit(limit, _)) if limit == name), "{name}: {:?}", crawl.end);
        assert_eq!(visits, 3, "{name}");
        // What is shown goes on.
        assert_eq!((crawl.state.pages(), crawl.state.bytes()), (5, 50), "{name}");
    }
}

#[test]
fn in_a_round_known_pages_are_visited_behind_new_ones_for_which_the_budget_is_spent() {
    const SEED: &str = "http://a.test/";
    let mut settings = settings();
    settings.site_rules.pages_per_site_max = Some(1);
    let mut crawl = Driven::begin(settings, &[SEED]);
    crawl.resolved(SEED, Ok(&[1]));
    crawl.answered("http://a.test/robots.txt", 404, &[], "");
    crawl.wait(SECOND);
    crawl.happen(Event::RoundBegan(2));
    // The new page comes first by its depth.
    let queued = [("new", 1), ("known/1", 2), ("known/2", 2)].map(|(path, depth)| {
        let candidate = Candidate { depth, ..Candidate::seed(url(&format!("{SEED}{path}"))) };
        let last = Visit::without_fetch(candidate.url.key(), Outcome::Html, String::new(), Timestamp(5));
        let again = (depth > 1).then(|| Box::new(Visit { attempts: 1, ..last }));
        Queued { again, ..Queued::first(candidate) }
    });
    let relaxed = queued.into_iter().map(|queued| Relaxed {
        key: queued.candidate.url.key(),
        was: queued.candidate.position(),
        queued: Some(queued),
    });
    let committed = Committed { relaxed: relaxed.collect(), ..Committed::default() };
    crawl.happen(Event::Committed { records: Vec::new(), committed });
    let mut asked = Vec::new();
    while let Some(next) = crawl.asked().first().map(ToString::to_string) {
        crawl.answered(&next, 200, &[], "ten octets");
        crawl.wait(SECOND);
        asked.push(next);
    }
    asked.sort();
    assert_eq!(asked, [SEED, "http://a.test/known/1", "http://a.test/known/2"]);
}

/// One of several workers, with this many pages on one site.
fn worker_with_pages(settings: Settings, pages: usize) -> Driven {
    let mut crawl = Driven::start(Start::Shared, settings, &[]);
    let urls: Vec<String> = (0..pages).map(|n| format!("http://one.test/{n}")).collect();
    crawl.stored(record(NOW), &urls.iter().map(String::as_str).collect::<Vec<_>>());
    crawl.happen(Event::SitesChanged { sites: vec![url("http://one.test/").key().site], taken_over: false });
    crawl.resolved("http://one.test/", Ok(&[1]));
    crawl.wait(SECOND);
    crawl.answered("http://one.test/robots.txt", 404, &[], "");
    crawl.wait(SECOND);
    crawl
}

/// Visits pages until none is asked for.
fn visits(crawl: &mut Driven) -> usize {
    (0..100).take_while(|_| visit(crawl)).count()
}

#[test]
fn what_workers_have_spent_together_holds_each_of_them_up_until_there_is_more() {
    let spent = |round, pages, bytes, lasts| Event::SpentElsewhere(Spent { round, pages, bytes, lasts });
    let set = |settings: Settings| Event::SettingsChanged(Box::new(settings));
    let reason = |crawl: &Driven| {
        let prospect = crawl.state.prospect(crawl.now, url("http://one.test/").key().site);
        prospect.held.map(|held| held.reason)
    };
    let pages = |max| Settings { pages_max: Some(max), ..settings() };
    let bytes = |max| Settings { bytes_max: Some(max), ..settings() };
    let time = |seconds: u32| Settings { time_max: Some(SECOND * seconds), ..settings() };
    for (budget, elsewhere, larger) in
        [(pages(6), spent(1, 3, 0, SECOND), pages(8)), (bytes(60), spent(1, 0, 30, SECOND), bytes(80))]
    {
        let mut crawl = worker_with_pages(budget.clone(), 12);
        crawl.happen(elsewhere);
        assert_eq!(visits(&mut crawl), 3, "{budget:?}");
        assert_eq!((reason(&crawl), crawl.end.clone()), (Some(Reason::CrawlBudget), None));
        // It waits without an alarm that wakes it for nothing.
        crawl.alarm = None;
        crawl.wait(SECOND * 30);
        assert_eq!((visits(&mut crawl), crawl.alarm), (0, None));
        crawl.happen(set(larger));
        crawl.wait(SECOND);
        assert_eq!(visits(&mut crawl), 2);
        // The visits of a lost worker are undone; another round has no part in it.
        crawl.happen(spent(2, 0, 0, SECOND));
        assert_eq!(visits(&mut crawl), 0);
        crawl.happen(spent(1, 2, 20, SECOND));
        crawl.wait(SECOND);
        assert_eq!(visits(&mut crawl), 1);
        crawl.happen(Event::RoundBegan(2));
        crawl.wait(SECOND);
        assert_eq!(visits(&mut crawl), 6, "all that are left, of a budget of 8");
    }
    let mut crawl = worker_with_pages(time(60), 3);
    crawl.happen(spent(1, 0, 0, SECOND * 59));
    assert!(visit(&mut crawl));
    crawl.happen(spent(1, 0, 0, SECOND * 60));
    // What is under way ends.
    assert!(visit(&mut crawl));
    assert_eq!((visits(&mut crawl), reason(&crawl), crawl.end.clone()), (0, Some(Reason::CrawlBudget), None));
    crawl.happen(set(settings()));
    crawl.wait(SECOND);
    assert_eq!(visits(&mut crawl), 1);
}
