//! The report as text, as JSON, and as the bytes of a page.

use model::{Aside, Candidate, Failure, FailureKind, Outcome, SiteRecord, Timestamp};
use report::{html, text};
use store::{Batch, Store};

use crate::crawl::{Crawl, Page, url};

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
fn sites_in_trouble_are_named_with_reason_and_date() {
    let crawl = Crawl::of(&["http://a.test/"], &[Page::html("http://a.test/", &[])]);
    let site = |host: &str, due: &str| {
        let due_at = Timestamp::from_rfc3339(due).expect("a time");
        let reason = Failure { kind: FailureKind::Connect, detail: format!("connect to {host}: refused") };
        let aside = Some(Aside { until: due_at, round: 1, reason });
        SiteRecord { due_at, aside, pages_fetched: 4, ..SiteRecord::new(url(&format!("http://{host}/")).site()) }
    };
    let mut sites = vec![site("late.test", "2026-11-30T14:29:00Z"), site("soon.test", "2026-11-29T14:29:00Z")];
    let found = ["http://late.test/", "http://soon.test/"].map(|seed| Candidate::seed(url(seed))).to_vec();
    // It has no URL that waits, as after `steer DIR remove`.
    sites.push(site("removed.test", "2026-11-28T14:29:00Z"));
    crawl.store.commit(&Batch { sites, found, ..Batch::default() }).expect("a commit");
    let statistics = crawl.statistics();
    let text = text(&statistics);
    assert!(text.contains("asked again from"), "{text}");
    let row = "http://soon.test 2026-11-29T14:29:00.000Z 4 connect to soon.test: refused";
    assert!(text.lines().any(|line| line.split_whitespace().eq(row.split(' '))), "{text}");
    let told = serde_json::to_value(&statistics).expect("JSON");
    let told = &told["sites_in_trouble"];
    assert_eq!((&told["total"], &told["rows"][1]["site"]), (&2.into(), &"http://late.test".into()));
    let page = String::from_utf8(html(&statistics).expect("a page")).expect("UTF-8");
    assert!(page.contains("Sites in trouble") && page.contains("connect to late.test: refused"), "{page}");
}

#[test]
fn an_empty_crawl_has_a_report() {
    let statistics = Crawl::of(&[], &[]).without_dataset();
    let text = text(&statistics);
    assert!(text.starts_with("No seeds: nothing was crawled.\n"), "{text}");
    assert!(!html(&statistics).expect("a page").is_empty());
    assert!(serde_json::to_value(&statistics).expect("JSON")["links"].is_null());
}
