//! How much of real documentation is in its Markdown: the first heading of each page, and the words of its content.
//! `cargo nextest run -p argiope-export --test markdown --no-capture` prints the figures; with `ARGIOPE_EVERY=1` those of all pages.

use std::collections::HashMap;
use std::path::Path;

use extract::Limits;
use testkit::documents::html_files;

/// Every so many pages one is taken, so that the test of an unoptimised build takes seconds.
const EVERY: usize = 60;
/// Says another number.
const EVERY_IN: &str = "ARGIOPE_EVERY";

/// Documentation, with what stands in its pages in front of the content and behind it.
const PACKAGES: [(&str, &str, &str); 3] = [
    ("/usr/share/doc/python3-doc/html", "<div class=\"body\" role=\"main\">", "<div class=\"clearer\">"),
    ("/usr/share/doc/postgresql-doc-15/html", "</table><hr />", "class=\"navfooter\""),
    ("/usr/share/doc/openjdk-17-doc/api", "<main role=\"main\">", "</main>"),
];

fn words(text: &str) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

/// The share of the words of one text that are in another.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn recall(of: &str, within: &str) -> f64 {
    let (expect, found) = (words(of), words(within));
    let all: usize = expect.values().sum();
    let kept: usize = expect.iter().map(|(word, count)| *count.min(found.get(word).unwrap_or(&0))).sum();
    if all == 0 { 1.0 } else { kept as f64 / all as f64 }
}

fn text_of(html: &str) -> String {
    extract::html::extract(html.as_bytes(), None, &Limits::default()).text
}

/// The text of the first heading that has one.
fn first_heading(html: &str) -> Option<String> {
    let tags = html.match_indices("<h").filter(|(at, _)| html[at + 2..].starts_with(|c| ('1'..='6').contains(&c)));
    let mut texts = tags.filter_map(|(at, _)| Some(text_of(&html[at..at + html[at..].find("</h")?])));
    texts.find(|text| text.chars().any(char::is_alphanumeric))
}

#[test]
fn documentation_keeps_its_headings_and_its_words() {
    let every = std::env::var(EVERY_IN).map_or(EVERY, |every| every.parse().expect("a number of pages"));
    let (mut pages, mut lost_headings, mut lost_words) = (0, Vec::new(), Vec::new());
    for (dir, begin, end) in PACKAGES {
        for file in html_files(Path::new(dir)).into_iter().step_by(every) {
            let bytes = std::fs::read(&file).expect("a file");
            let html = String::from_utf8_lossy(&bytes);
            let Some((_, content)) = html.split_once(begin) else { continue };
            let content = content.split(end).next().unwrap_or_default();
            let page = export::markdown::page(&bytes, Some("text/html; charset=utf-8"), "http://docs.test/");
            pages += 1;
            let mut headings = page.markdown.lines().filter(|line| line.starts_with('#'));
            if first_heading(content).is_some_and(|first| !headings.any(|heading| recall(&first, heading) == 1.0)) {
                lost_headings.push(file.clone());
            }
            let recall = recall(&text_of(content), &page.markdown);
            if recall < 0.9 {
                lost_words.push((file, recall));
            }
        }
    }
    println!(
        "{pages} pages; first heading lost: {lost_headings:?}; less than nine tenths of the words: {lost_words:?}"
    );
    assert!(pages > 150, "{pages} pages");
    assert!(lost_headings.is_empty(), "{lost_headings:?}");
    assert!(lost_words.len() * 100 <= pages, "{lost_words:?}");
}
