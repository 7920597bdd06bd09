//! The bytes of the front.

use std::time::Duration;

use super::driven::Driven;
use super::settings;
use crate::Settings;

const ROBOTS: &str =
    "User-agent: *\nDisallow: /private/\nDisallow: /search?\nAllow: /search/about$\nDisallow: /*.cgi\n";

/// Room for some ten sites.
const BYTES: usize = 40_000;

#[test]
fn more_sites_than_there_are_bytes_for_are_visited_one_after_another() {
    let seeds: Vec<String> = (0..100).map(|n| format!("http://s{n}.test/")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let settings = Settings { sites_in_front_max: 1_000, front_bytes_max: BYTES, concurrency: 100, ..settings() };
    let mut crawl = Driven::begin(settings, &seeds);
    let mut pages = Vec::new();
    for _ in 0..1_000 {
        for name in crawl.names.clone() {
            let last = name.host().trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number");
            crawl.resolved(&format!("{name}/"), Ok(&[last]));
        }
        for asked in crawl.asked().iter().map(ToString::to_string).collect::<Vec<_>>() {
            if asked.ends_with("robots.txt") {
                crawl.answered(&asked, 200, &[], ROBOTS);
            } else {
                crawl.answered(&asked, 404, &[], "");
                pages.push(asked);
            }
        }
        let (bytes, sites) = (crawl.state.front_bytes(), crawl.state.sites_in_front());
        assert!(bytes <= BYTES && bytes == crawl.state.front_bytes_summed(), "{bytes} bytes, {sites} sites");
        crawl.wait(Duration::from_millis(250));
    }
    assert!(crawl.state.front_bytes_peak() > BYTES / 2, "{} bytes", crawl.state.front_bytes_peak());
    pages.sort_unstable();
    pages.dedup();
    assert_eq!(pages.len(), seeds.len());
}
