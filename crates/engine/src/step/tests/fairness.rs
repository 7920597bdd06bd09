//! Who has a place in front where there are more sites than places.

use std::time::Duration;

use super::driven::Driven;
use super::settings;

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
