//! Sites that may have no more visits.

use std::sync::Arc;
use std::time::Duration;

use super::driven::{Driven, url};
use super::settings;
use crate::content::Page;
use crate::{Finding, Settings};

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
