//! The pace of all sites together.

use std::time::Duration;

use super::driven::Driven;
use super::settings;
use crate::{End, Settings};

const TENTH: Duration = Duration::from_millis(100);

#[test]
fn requests_to_all_sites_together_keep_the_pace() {
    let sites: Vec<String> = (0..6).map(|n| format!("http://{n}.test/")).collect();
    let seeds: Vec<&str> = sites.iter().map(String::as_str).collect();
    for (pace, seconds) in [(0, 0..=2), (2, 22..=26)] {
        let mut crawl = Driven::begin(Settings { pace: Duration::from_secs(pace), ..settings() }, &seeds);
        for (n, seed) in (1..).zip(&seeds) {
            crawl.resolved(seed, Ok(&[n]));
        }
        let (began, mut starts) = (crawl.now, Vec::new());
        for _ in 0..1_000 {
            starts.resize(starts.len() + crawl.fetches.len(), crawl.now.since(began));
            for asked in crawl.asked().into_iter().map(str::to_owned).collect::<Vec<_>>() {
                crawl.answered(&asked, 404, &[], "");
            }
            if crawl.end.is_some() {
                break;
            }
            if crawl.fetches.is_empty() {
                assert!(crawl.alarm.is_some(), "it waits for something");
                crawl.wait(TENTH);
            }
        }
        // A robots.txt and a page of each.
        assert_eq!((starts.len(), &crawl.end), (12, &Some(End::Done)), "{starts:?}");
        let last = starts.last().map(Duration::as_secs).unwrap_or_default();
        assert!(seconds.contains(&last), "{pace}: {starts:?}");
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= Duration::from_secs(pace)), "{starts:?}");
    }
}
