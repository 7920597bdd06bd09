//! Near duplicates in the report: the same for the same pages, in whatever order they were recorded.

use std::time::Duration;

use serde_json::Value;
use testkit::crawled::Crawled;
use testweb::{Pages, Reply, Web};

/// Texts, each with [`EDITIONS`] that differ in a word, and one of them on a second site too.
const TEXTS: usize = 12;
const EDITIONS: usize = 3;
const WORDS: usize = 200;
/// Between one answer and the next: long enough that they are recorded in the order of their coming.
const APART: Duration = Duration::from_millis(20);

fn text(number: usize, edition: usize) -> String {
    let word = |at: usize| match at == 10 * edition + 5 {
        true => format!("edition{edition}"),
        false => format!("w{number}x{}", at % 150),
    };
    (0..WORDS).map(word).collect::<Vec<_>>().join(" ")
}

/// The pages of two sites, answered in one order or in the other.
fn web(is_reversed: bool) -> Web {
    let (mut seed, mut other, mut links, mut late) = (Pages::new(), Pages::new(), String::new(), 0);
    let all = 2 * TEXTS * EDITIONS;
    for number in 0..TEXTS {
        for edition in 0..EDITIONS {
            let page = format!("<title>{number}</title><p>{}", text(number, edition));
            let mut reply = || {
                late += 1;
                let turn = if is_reversed { all - late } else { late };
                Reply::html(page.clone()).delay(APART * u32::try_from(turn).expect("few"))
            };
            let path = format!("/{number}/{edition}");
            links += &format!("<a href={path}>x</a>");
            seed = seed.reply(&path, reply());
            if edition == number % EDITIONS {
                links += &format!("<a href=http://other.test{path}>x</a>");
                other = other.reply(&path, reply());
            }
        }
    }
    Web::new().site("seed.test", seed.html("/", links)).site("other.test", other)
}

/// The near duplicates of the report, and the URLs in the order of recording.
fn recorded(is_reversed: bool) -> (Value, Vec<String>) {
    let at_once = ["--concurrency", "128", "--connections-per-site", "128"];
    let whole = ["--scope", "any", "--no-sitemaps"];
    let crawled = Crawled::of(web(is_reversed), "http://seed.test/", &[&at_once[..], &whole].concat());
    let report = crawled.run("report", &["--json"]).json()["duplicates"].clone();
    let mut pages: Vec<(u64, String)> = Vec::new();
    for line in crawled.run("export", &["cdxj"]).stdout.lines() {
        let row: Value = serde_json::from_str(&line[line.find('{').expect("JSON")..]).expect("JSON");
        let offset = row["offset"].as_str().and_then(|offset| offset.parse().ok()).expect("an offset");
        pages.push((offset, row["url"].as_str().expect("a URL").to_owned()));
    }
    pages.sort();
    (report, pages.into_iter().map(|(_, url)| url).collect())
}

#[test]
fn near_duplicates_do_not_depend_on_the_order_of_recording() {
    let [(first, one_order), (second, other_order)] = [false, true].map(recorded);
    assert_eq!(first["near"], second["near"], "{first:#} {second:#}");
    assert_eq!(first["most_resembled"], second["most_resembled"], "{first:#} {second:#}");
    assert!(first["near"]["all_sites"].as_u64() > Some(TEXTS as u64), "{first:#}");
    // It was another order.
    let place = |order: &[String], url: &str| order.iter().position(|other| other == url).expect("recorded");
    let (early, late) = ("http://seed.test/0/0", "http://seed.test/11/2");
    assert!(place(&one_order, early) < place(&one_order, late), "{one_order:?}");
    assert!(place(&other_order, early) > place(&other_order, late), "{other_order:?}");
}
