//! What is changed from outside counts at once.

use std::time::Duration;

use model::Outcome;
use weburl::Pattern;

use super::driven::{Driven, url};
use super::settings;
use crate::{Event, Settings};

const SEEDS: [&str; 5] =
    ["http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/1", "http://b.test/2"];

/// A crawl of two sites without robots.txt, in which nothing was fetched yet.
fn crawl(settings: Settings) -> Driven {
    let mut crawl = Driven::begin(settings, &SEEDS);
    crawl.wait(Duration::ZERO);
    for (site, address) in [("http://a.test/", 1), ("http://b.test/", 2)] {
        crawl.resolved(site, Ok(&[address]));
    }
    crawl
}

fn without_robots() -> Settings {
    let mut settings = settings();
    settings.site_rules.matching = None;
    settings
}

fn change(crawl: &mut Driven, settings: &Settings) {
    crawl.happen(Event::SettingsChanged(Box::new(settings.clone())));
}

/// Answers all that is asked for, for so many seconds.
fn answer_all(crawl: &mut Driven, seconds: u64) {
    for _ in 0..seconds {
        while let Some(name) = crawl.names.first() {
            let site = format!("{name}/");
            let address = if site == "http://a.test/" { 1 } else { 2 };
            crawl.resolved(&site, Ok(&[address]));
        }
        while let Some(task) = crawl.fetches.first() {
            let fetched = task.url.to_string();
            crawl.answered(&fetched, 200, &[], "");
        }
        crawl.wait(Duration::from_secs(1));
    }
}

/// What is being fetched of a site.
fn asked_of(crawl: &Driven, site: &str) -> Option<String> {
    crawl.asked().into_iter().find(|url| url.starts_with(site)).map(ToString::to_string)
}

fn answer_one_of(crawl: &mut Driven, site: &str, status: u16, headers: &[(&str, &str)]) {
    let fetched = asked_of(crawl, site).expect("something is asked for");
    crawl.answered(&fetched, status, headers, "");
}

fn outcomes(crawl: &Driven) -> Vec<(String, Outcome)> {
    let visits = crawl.recorded.iter().filter_map(|record| record.visit.as_ref());
    let named = |key| SEEDS.iter().find(|seed| url(seed).key() == key).map(ToString::to_string);
    let mut outcomes: Vec<_> = visits.filter_map(|visit| Some((named(visit.key)?, visit.outcome))).collect();
    outcomes.sort();
    outcomes
}

#[test]
fn a_pause_begins_nothing_and_ends_nothing_and_all_is_fetched_after_it() {
    let settings = without_robots();
    let mut crawl = crawl(settings.clone());
    assert_eq!(crawl.asked().len(), 2);
    change(&mut crawl, &Settings { paused: true, ..settings.clone() });
    // What is under way still comes.
    answer_all(&mut crawl, 1_000);
    assert_eq!(outcomes(&crawl).len(), 2);
    assert!(crawl.end.is_none(), "{:?}", crawl.end);
    change(&mut crawl, &settings);
    answer_all(&mut crawl, 10);
    assert_eq!(outcomes(&crawl).len(), SEEDS.len());
    assert!(crawl.end.is_some());
}

#[test]
fn a_pause_before_the_first_page_is_no_sign_of_a_missing_network() {
    let settings = Settings { paused: true, ..without_robots() };
    let mut crawl = Driven::begin(settings.clone(), &SEEDS);
    crawl.wait(Duration::from_secs(3_600));
    assert!(crawl.end.is_none() && crawl.names.is_empty());
    change(&mut crawl, &Settings { paused: false, ..settings });
    crawl.wait(Duration::from_secs(30));
    assert!(crawl.end.is_none());
    assert_eq!(crawl.names.len(), 2);
}

#[test]
fn an_exclude_counts_for_the_queue() {
    let mut settings = without_robots();
    let mut crawl = crawl(settings.clone());
    // Of each site one that is not asked for yet.
    let waiting: Vec<&str> = ["http://a.test/", "http://b.test/"]
        .map(|site| {
            SEEDS.into_iter().rfind(|seed| seed.starts_with(site) && !crawl.asked().contains(seed)).expect("one")
        })
        .into();
    settings.filter.exclude.extend(waiting.iter().map(|url| Pattern::new(url).expect("a pattern")));
    change(&mut crawl, &settings);
    answer_all(&mut crawl, 10);
    let excluded: Vec<_> =
        outcomes(&crawl).into_iter().filter(|(_, outcome)| *outcome == Outcome::Excluded).map(|(url, _)| url).collect();
    assert_eq!(excluded, waiting);
    assert_eq!(outcomes(&crawl).len(), SEEDS.len());
}

#[test]
fn nothing_is_asked_of_a_site_on_hold_and_the_rest_of_it_is_fetched_afterwards() {
    let settings = without_robots();
    let mut crawl = crawl(settings.clone());
    let held_sites = [url("http://a.test/").key().site].into();
    change(&mut crawl, &Settings { held_sites, ..settings.clone() });
    let more = vec![url("http://a.test/4")];
    crawl.happen(Event::NewSeeds(more));
    answer_all(&mut crawl, 20);
    let of_a = |crawl: &Driven| outcomes(crawl).iter().filter(|(url, _)| url.starts_with("http://a.test/")).count();
    assert_eq!((of_a(&crawl), outcomes(&crawl).len()), (1, 3), "what was under way, and all of the other");
    // With nothing else to do the run has ended by now; so the change is made before that.
    let mut crawl = self::crawl(settings.clone());
    let held_sites = [url("http://a.test/").key().site].into();
    change(&mut crawl, &Settings { held_sites, ..settings.clone() });
    answer_one_of(&mut crawl, "http://a.test/", 200, &[]);
    for taken_over in [false, true] {
        crawl.happen(Event::SitesChanged { sites: vec![url("http://a.test/").key().site], taken_over });
        crawl.wait(Duration::from_secs(5));
        assert_eq!(asked_of(&crawl, "http://a.test/"), None);
    }
    change(&mut crawl, &settings);
    answer_all(&mut crawl, 20);
    assert_eq!(outcomes(&crawl).len(), SEEDS.len());
}

#[test]
fn a_delay_counts_for_the_visit_that_is_waited_for() {
    for (before, after, due) in [(60, 1, 1), (1, 60, 60)] {
        let mut settings = without_robots();
        settings.site_rules.politeness.delay = Duration::from_secs(before);
        let mut crawl = crawl(settings.clone());
        answer_one_of(&mut crawl, "http://a.test/", 200, &[]);
        settings.site_rules.politeness.delay_for =
            [(url("http://a.test/").key().site, Duration::from_secs(after))].into();
        change(&mut crawl, &settings);
        crawl.wait(Duration::from_millis(due * 1_000 - 10));
        assert_eq!(asked_of(&crawl, "http://a.test/"), None, "{before} {after}");
        crawl.wait(Duration::from_millis(10));
        assert!(asked_of(&crawl, "http://a.test/").is_some(), "{before} {after}");
    }
}

#[test]
fn what_a_server_asked_for_outlives_a_shorter_delay() {
    let mut settings = without_robots();
    let mut crawl = crawl(settings.clone());
    answer_one_of(&mut crawl, "http://a.test/", 503, &[("Retry-After", "100")]);
    settings.site_rules.politeness.delay = Duration::ZERO;
    change(&mut crawl, &settings);
    crawl.wait(Duration::from_secs(99));
    assert!(crawl.asked().iter().all(|url| url.starts_with("http://b.test/")), "{:?}", crawl.asked());
}

#[test]
fn a_larger_budget_lets_sites_go_on() {
    let mut settings = without_robots();
    settings.site_rules.pages_per_site_max = Some(1);
    let mut crawl = crawl(settings.clone());
    answer_one_of(&mut crawl, "http://a.test/", 200, &[]);
    crawl.wait(Duration::from_secs(5));
    assert_eq!(asked_of(&crawl, "http://a.test/"), None);
    settings.site_rules.pages_per_site_max = None;
    change(&mut crawl, &settings);
    answer_all(&mut crawl, 20);
    assert_eq!(outcomes(&crawl).len(), SEEDS.len());
}

#[test]
fn an_exclude_counts_for_sites_whose_budget_is_spent_before_or_after_it() {
    for is_spent_first in [true, false] {
        let mut settings = without_robots();
        settings.site_rules.pages_per_site_max = Some(1);
        let mut crawl = crawl(settings.clone());
        // Of the site with three seeds, one is asked for, one waits for ever, and one is to be excluded.
        let waiting: Vec<&str> = SEEDS
            .into_iter()
            .filter(|seed| seed.starts_with("http://a.test/") && !crawl.asked().contains(seed))
            .collect();
        let [_, excluded] = waiting[..] else { panic!("{waiting:?}") };
        if is_spent_first {
            answer_all(&mut crawl, 0);
            answer_one_of(&mut crawl, "http://a.test/", 200, &[]);
            crawl.wait(Duration::from_secs(5));
        }
        settings.filter.exclude.push(Pattern::new(excluded).expect("a pattern"));
        change(&mut crawl, &settings);
        if !is_spent_first {
            answer_one_of(&mut crawl, "http://a.test/", 200, &[]);
        }
        crawl.wait(Duration::from_secs(5));
        let of_a: Vec<_> = outcomes(&crawl).into_iter().filter(|(url, _)| url.starts_with("http://a.test/")).collect();
        assert!(of_a.len() == 2 && of_a.contains(&(excluded.to_owned(), Outcome::Excluded)), "{of_a:?}");
        // The other one is read again when the budget has grown.
        settings.site_rules.pages_per_site_max = None;
        change(&mut crawl, &settings);
        answer_all(&mut crawl, 20);
        assert_eq!(outcomes(&crawl).len(), SEEDS.len(), "{is_spent_first}");
        assert!(crawl.end.is_some());
    }
}

#[test]
fn a_spent_site_is_looked_through_once_and_takes_no_place() {
    let mut settings = Settings { sites_in_front_max: 1, ..without_robots() };
    settings.site_rules.pages_per_site_max = Some(1);
    let mut crawl = Driven::begin(settings.clone(), &SEEDS);
    settings.filter.exclude.push(Pattern::new("http://c.test/*").expect("a pattern"));
    change(&mut crawl, &settings);
    answer_all(&mut crawl, 60);
    assert_eq!(outcomes(&crawl).len(), 2, "one of each site");
    assert!(crawl.end.is_some(), "the run ends, whatever waits");
}

#[test]
fn new_seeds_are_recorded_and_fetched() {
    let mut crawl = crawl(without_robots());
    crawl.happen(Event::NewSeeds(vec![url("http://c.test/")]));
    assert!(crawl.recorded.iter().any(|record| record.seeds == [url("http://c.test/")]));
    crawl.resolved("http://c.test/", Ok(&[3]));
    assert!(crawl.asked().contains(&"http://c.test/"));
}
