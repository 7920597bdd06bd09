//! The report as text, as JSON, and as the bytes of a page.

use model::Outcome;
use report::{html, text};

use crate::crawl::{Crawl, Page};

/// What ends an element, opens another, and turns a terminal red.
pub const HOSTILE: &str = "</script><img src=x onerror=\"document.title='owned'\">\u{1b}[31m\u{202e}<!--<script>";

#[test]
fn text_has_every_table_and_says_what_is_left_out() {
    let pages: Vec<Page> = (0..30).map(|at| Page::html(&format!("http://s{at}.test/"), &["http://s0.test/"])).collect();
    let text = text(&Crawl::of(&["http://s0.test/"], &pages).statistics());
    for title in
        ["The crawl at a glance", "Pages by site", "Pages by type", "Binary files by type", "Images", "Links", "Speed"]
    {
        assert!(text.lines().any(|line| line.starts_with(title)), "{title}: {text}");
    }
    assert!(text.contains("  and 5 more\n"), "{text}");
    assert!(text.lines().any(|line| line.split_whitespace().eq(["HTML", "pages", "1", "30"])), "{text}");
}

#[test]
fn nothing_from_the_web_reaches_a_terminal_or_ends_an_element() {
    let page = Page::html("http://a.test/", &["http://a.test/b"]).titled(HOSTILE);
    let other = Page::html("http://a.test/b?</script><img src=x>", &["http://a.test/"]).titled(HOSTILE);
    let type_ = Page::new("http://a.test/c", Outcome::Binary, 200, Some("a/b</script><img>\u{1b}[2J"));
    let statistics = Crawl::of(&["http://a.test/"], &[page, other, type_]).statistics();
    let text = text(&statistics);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let page = String::from_utf8(html(&statistics).expect("a page")).expect("UTF-8");
    assert!(!page.contains(['\u{1b}', '\u{202e}']));
    assert_eq!((page.matches("</script").count(), page.matches("<script").count()), (2, 2));
    assert!(!page.contains("<img"));
}

#[test]
fn an_empty_crawl_has_a_report() {
    let statistics = Crawl::of(&[], &[]).without_dataset();
    let text = text(&statistics);
    assert!(text.starts_with("No seeds: nothing was crawled.\n"), "{text}");
    assert!(!html(&statistics).expect("a page").is_empty());
    assert!(serde_json::to_value(&statistics).expect("JSON")["links"].is_null());
}
