//! `argiope explain DIR URL`: what other pages call it.

use serde_json::{Value, json};
use testweb::{Pages, Web};

use crate::crawled::{ADVANCED, Crawled, argiope};

fn explain(crawled: &Crawled, url: &str) -> (String, Value) {
    let text = argiope(&["explain", &crawled.path("crawl"), url]);
    let json = argiope(&["explain", &crawled.path("crawl"), url, "--json"]);
    let text = String::from_utf8(text).expect("UTF-8");
    (text, serde_json::from_slice(&json).expect("JSON"))
}

#[test]
fn a_url_has_the_texts_of_the_links_to_it() {
    let crawled = Crawled::advanced();
    let (text, json) = explain(&crawled, "http://advanced.test/links/~tilde.html");
    let source = format!("{ADVANCED}/links/spelling.html");
    let linked = json!({
        "count": 2,
        "texts": [{"text": "an escaped tilde", "source": source}, {"text": "a tilde", "source": source}],
    });
    assert_eq!(json["linked_as"], linked);
    let lines = format!("\nLinked as\n  \"an escaped tilde\" on {source}\n  \"a tilde\" on {source}\n");
    assert!(text.contains(&lines), "{text}");

    let (_, json) = explain(&crawled, "http://advanced.test/links/never-meta.html");
    assert_eq!(json["known"], false);
    assert_eq!(json["linked_as"]["texts"][0]["text"], "not to be followed", "also where the crawl did not take it up");

    let (text, json) = explain(&crawled, "http://advanced.test/");
    assert_eq!(json["linked_as"], json!({"count": 0, "texts": []}));
    assert!(!text.contains("Linked as"), "{text}");
}

#[test]
fn only_the_first_texts_are_shown_to_people() {
    let links: String = (1..=25).map(|n| format!("<a href=/a>number {n}</a>\n")).collect();
    let web = Web::new().site("small.test", Pages::new().html("/", links).html("/a", "A"));
    let crawled = Crawled::of(web, &["http://small.test/"]);
    let (text, json) = explain(&crawled, "http://small.test/a");
    assert_eq!(json["linked_as"]["texts"].as_array().map(Vec::len), Some(25));
    assert!(text.contains("  \"number 20\" on http://small.test/\n  … 5 more\n"), "{text}");
}
