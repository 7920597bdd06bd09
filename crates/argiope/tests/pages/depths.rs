//! The simple sandbox from several seeds at depths 0 to 5: what a breadth-first search finds, and not a page more.

use std::collections::BTreeMap;

use testweb::{Web, simple};

use crate::run::Course;

/// The pages within `depth` links of a seed, each with its distance.
fn expected(seed: &str, depth: u32) -> Vec<(String, u32)> {
    let mut depths = BTreeMap::from([(seed, 0)]);
    for at in 0..depth {
        let front: Vec<&str> = depths.iter().filter(|(_, depth)| **depth == at).map(|(path, _)| *path).collect();
        for page in simple::PAGES.iter().filter(|page| front.contains(&page.path)) {
            for link in page.links {
                depths.entry(link.split('#').next().unwrap()).or_insert(at + 1);
            }
        }
    }
    depths.into_iter().map(|(path, depth)| (format!("http://simple.test{path}"), depth)).collect()
}

/// Depths 0 to 5 from a seed.
fn check(seed: &str) {
    let course = Course::on(Web::sandboxes());
    for depth in 0..=5 {
        let dir = format!("data{depth}");
        course.make(&dir);
        let url = format!("http://simple.test{seed}");
        course.run_well(&[&url, &dir, &depth.to_string()]);
        assert_eq!(course.visited(&dir), expected(seed, depth), "{seed} {depth}");
        let pages = course.pages(&dir);
        assert_eq!(pages[0].url, url, "0 is the seed's page");
        assert!(pages.is_sorted_by_key(|page| page.depth), "{pages:?}");
    }
}

#[test]
fn depths_from_the_home_page() {
    check("/");
}

#[test]
fn depths_from_a_page_in_the_middle() {
    check("/venom.html");
}

#[test]
fn depths_from_a_page_far_away() {
    check("/jumping.html");
}

#[test]
fn all_ten_pages_hold_what_the_server_sent() {
    let course = Course::on(Web::sandboxes());
    course.run_well(&["http://simple.test/", "data", "10"]);
    let pages = course.pages("data");
    assert_eq!(pages.len(), 10);
    for page in pages {
        let target = page.url.strip_prefix("http://simple.test").expect("of the site");
        assert_eq!(page.html, course.body("simple.test", target), "{}", page.url);
    }
}

#[test]
fn many_fetches_at_once_find_the_same() {
    let course = Course::on(Web::sandboxes());
    let flags = ["--concurrency", "8", "--connections-per-site", "8", "--ip-delay", "0"];
    course.run_well(&[&["http://simple.test/", "data", "4"], &flags[..]].concat());
    assert_eq!(course.visited("data"), expected("/", 4));
}
