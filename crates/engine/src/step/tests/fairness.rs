//! Who has a place in front where there are more sites than places.

use std::time::Duration;

use weburl::CanonicalUrl;

use super::driven::{Driven, url};
use super::settings;
use crate::content::Page;
use crate::{Event, Finding, Settings};

/// Sites on one address, whose server never answers.
const FARM: usize = 200;

/// Each on an address of its own.
const HONEST: [&str; 5] = ["http://a.test/", "http://b.test/", "http://c.test/", "http://d.test/", "http://e.test/"];

#[test]
fn many_sites_on_one_address_leave_places_to_others() {
    let farm: Vec<String> = (0..FARM).map(|n| format!("http://farm{n}.test/")).collect();
    let seeds: Vec<&str> = farm.iter().map(String::as_str).chain(HONEST).collect();
    // Ten places in front.
    let mut crawl = Driven::begin(settings(), &seeds);
    let mut pages = Vec::new();
    for _ in 0..1_000 {
        for name in crawl.names.clone() {
            let at = HONEST.iter().position(|seed| *seed == format!("{name}/"));
            let last = u8::try_from(at.map_or(1, |at| at + 2)).expect("few");
            crawl.resolved(&format!("{name}/"), Ok(&[last]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            if !asked.contains("farm") {
                crawl.answered(&asked, 404, &[], "");
                pages.extend((!asked.ends_with("robots.txt")).then_some(asked));
            }
        }
        crawl.wait(Duration::from_millis(250));
    }
    pages.sort_unstable();
    assert_eq!(pages, HONEST);
    let on_farm = crawl.asked().iter().filter(|url| url.contains("farm")).count();
    assert_eq!(on_farm, 1, "one visit at a time on an address");
}

/// A domain has more hosts than there are places, and its name server never answers.
#[test]
fn sites_that_wait_for_their_names_leave_places_to_others() {
    let farm: Vec<String> = (0..FARM).map(|n| format!("http://{n}.farm.test/")).collect();
    let seeds: Vec<&str> = farm.iter().map(String::as_str).chain(HONEST).collect();
    let mut crawl = Driven::begin(settings(), &seeds);
    let mut pages = Vec::new();
    for _ in 0..1_000 {
        for (last, seed) in (1..).zip(HONEST) {
            if crawl.names.iter().any(|name| format!("{name}/") == seed) {
                crawl.resolved(seed, Ok(&[last]));
            }
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            crawl.answered(&asked, 404, &[], "");
            pages.extend((!asked.ends_with("robots.txt")).then_some(asked));
        }
        crawl.wait(Duration::from_millis(250));
    }
    pages.sort_unstable();
    assert_eq!(pages, HONEST);
    assert!(!crawl.names.is_empty() && crawl.names.len() < HONEST.len(), "{} look-ups at once", crawl.names.len());
}

/// Sites of other domains and addresses than that of the seed, with many pages each.
const OTHERS: usize = 60;

/// A seed that comes when all places are taken, and many sites wait for one, has the next place.
#[test]
fn a_late_seed_comes_before_all_who_wait() {
    // A site leaves after two visits if others wait.
    let settings = Settings { turns_in_front_max: 2, ..settings() };
    let mut crawl = Driven::begin(settings, &["http://hub.test/"]);
    let others: Vec<String> = (0..OTHERS).map(|n| format!("http://other{n}.test/")).collect();
    let (mut pages, mut before) = (Vec::new(), None);
    while !pages.iter().any(|page| page == "http://late.test/") && pages.len() < 1_000 {
        for name in crawl.names.clone() {
            let number = name.host().trim_start_matches("other").trim_end_matches(".test").parse();
            crawl.resolved(&format!("{name}/"), Ok(&[number.unwrap_or(200)]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            if asked.ends_with("robots.txt") {
                crawl.answered(&asked, 404, &[], "");
                continue;
            }
            let links: Vec<CanonicalUrl> = match asked.as_str() {
                "http://hub.test/" => others.iter().map(|other| url(other)).collect(),
                page if page.ends_with(".test/") => (0..5).map(|n| url(&format!("{page}{n}"))).collect(),
                _ => Vec::new(),
            };
            let page = Page { links: links.len(), targets: links.into(), ..Page::default() };
            crawl.found(&asked, Finding::Page(page));
            pages.push(asked);
        }
        if before.is_none() && pages.len() >= 10 {
            crawl.happen(Event::NewSeeds(vec![url("http://late.test/")]));
            before = Some(pages.len());
        }
        crawl.wait(Duration::from_millis(250));
    }
    let late = pages.iter().position(|page| page == "http://late.test/").expect("it is visited");
    pages.truncate(late);
    let (before, meanwhile) = pages.split_at(before.expect("it was given"));
    // Only those that had a place already, or were about to have one, were visited meanwhile.
    let came = others.iter().filter(|other| meanwhile.contains(other)).count();
    let wait = others.iter().filter(|other| !pages.contains(other)).count();
    assert!(came <= 10 && wait > OTHERS / 2, "{before:?} {meanwhile:?}");
}
