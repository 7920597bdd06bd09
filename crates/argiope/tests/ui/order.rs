//! The order of sites and of their URLs, from one page to the next.

use std::collections::BTreeSet;
use std::path::Path;

use model::Candidate;
use store::{Batch, Store};
use store_embedded::{EmbeddedStore, Options};
use testkit::browser::Browser;
use testkit::crawled::Crawled;
use testweb::{Reply, Request, Web, from_fn};
use weburl::CanonicalUrl;

use crate::site::shown;

/// Sites beside the first: more than a page of the table has.
const SITES: usize = 120;

/// The texts of the first cells of the table.
const FIRST_CELLS: &str = "[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[0].innerText.trim())";
/// The texts of its second cells.
const SECOND_CELLS: &str =
    "[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[1].innerText.trim())";

/// A crawl of many sites. Every third one has no start page.
fn many() -> Crawled {
    let links: String = (0..SITES).map(|site| format!("<a href=http://s{site}.many.test/>{site}</a>")).collect();
    let mut web = Web::new().site("many.test", from_fn(move |_: &Request| Reply::html(links.clone())));
    for site in 0..SITES {
        let answer = move |request: &Request| match request.path() {
            "/" if site % 3 > 0 => Reply::html(format!("<title>{site}</title>")),
            _ => Reply::new(404),
        };
        web = web.site(&format!("s{site}.many.test"), from_fn(answer));
    }
    Crawled::of(web, "http://many.test/", &["--no-sitemaps", "--scope", "any"])
}

fn cells(browser: &mut Browser, cells: &str) -> Vec<String> {
    let cells = browser.value(cells);
    cells.as_array().expect("a list").iter().map(|cell| cell.as_str().expect("a text").to_owned()).collect()
}

/// The cells of all pages of a table, by the links from one to the next.
fn all_pages(browser: &mut Browser, of: &str) -> Vec<Vec<String>> {
    let mut pages = vec![cells(browser, of)];
    while browser.value("document.querySelector('a[rel=next]') !== null") == true {
        browser.click_through("a[rel=next]");
        browser.assert_quiet();
        pages.push(cells(browser, of));
    }
    pages
}

fn check(browser: &mut Browser, origin: &str) {
    // Every site once, in an order that stays.
    browser.open(origin, "/sites", 1280, false);
    let sites = all_pages(browser, FIRST_CELLS);
    assert_eq!(sites.iter().map(Vec::len).collect::<Vec<_>>(), [100, SITES + 1 - 100]);
    let sites = sites.concat();
    assert_eq!(sites.iter().collect::<BTreeSet<_>>().len(), SITES + 1, "{sites:?}");
    // URLs are in the order of their sites, and by state if one likes.
    browser.open(origin, "/urls", 1280, false);
    let urls = all_pages(browser, FIRST_CELLS).concat();
    let of_sites: Vec<String> = urls.iter().map(|url| url.trim_end_matches('/').to_owned()).collect();
    assert_eq!(of_sites, sites);
    browser.open(origin, "/urls", 1280, false);
    browser.value("document.querySelector('select[name=sort]').value = 'state'");
    browser.click_through("form.filter button");
    assert_eq!(browser.value("document.querySelector('select[name=sort]').value"), "state");
    browser.assert_quiet();
    let states = all_pages(browser, SECOND_CELLS).concat();
    let failed = SITES.div_ceil(3);
    let expected = [vec!["html"; SITES + 1 - failed], vec!["http_error"; failed]].concat();
    assert_eq!(states, expected);
    by_column(browser, origin);
}

/// The head of a column.
fn head(column: usize) -> String {
    format!("main thead th:nth-child({column})")
}

/// Sorts by columns, through their heads.
fn by_column(browser: &mut Browser, origin: &str) {
    browser.open(origin, "/urls", 1280, false);
    assert_eq!(browser.value("document.querySelectorAll('th[aria-sort]').length"), 0);
    browser.click_through(&format!("{} a", head(1)));
    assert_eq!(browser.value("document.querySelector('th[aria-sort]').innerText.trim()"), "URL");
    assert_eq!(browser.value("document.querySelector('select[name=sort]').value"), "url");
    let ascending = all_pages(browser, FIRST_CELLS);
    assert_eq!(ascending.iter().map(Vec::len).collect::<Vec<_>>(), [100, SITES + 1 - 100]);
    let mut ascending = ascending.concat();
    assert!(ascending.is_sorted() && ascending.iter().collect::<BTreeSet<_>>().len() == SITES + 1, "{ascending:?}");
    // The second click on the same head turns the order round, from the first page on.
    browser.click_through(&format!("{} a", head(1)));
    assert_eq!(browser.value("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "descending");
    ascending.reverse();
    assert_eq!(all_pages(browser, FIRST_CELLS).concat(), ascending);
    // By status; the filter stays.
    browser.open(origin, "/urls?match=*many.test/&state=http_error", 1280, false);
    browser.click_through(&format!("{} a", head(3)));
    assert_eq!(browser.value("document.querySelector('input[name=match]').value"), "*many.test/");
    assert!(
        browser.text("main").contains(&format!("{} URLs by status", SITES.div_ceil(3))),
        "{}",
        browser.text("main")
    );
    browser.assert_quiet();
    // Back to the order of sites.
    browser.click_through("p[role=status] a");
    assert_eq!(browser.value("document.querySelectorAll('th[aria-sort]').length"), 0);
    assert_eq!(cells(browser, FIRST_CELLS).len(), SITES.div_ceil(3));
    browser.open(origin, "/urls?sort=weight", 1280, false);
    assert!(browser.text("[role=alert]").contains("is no order of URLs"), "{}", browser.text("main"));
}

#[test]
fn the_head_of_a_column_sorts_by_the_keyboard() {
    let crawl = many();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/urls", 1280, false);
    browser.tab_to("thead th:nth-child(6) a");
    browser.follow();
    assert_eq!(browser.value("document.querySelector('th[aria-sort=ascending]').innerText.trim()"), "Depth");
    assert_eq!(cells(&mut browser, FIRST_CELLS)[0], "http://many.test/");
    browser.tab_to("thead th[aria-sort] a");
    browser.follow();
    assert!(cells(&mut browser, FIRST_CELLS).iter().all(|url| url != "http://many.test/"));
}

/// A crawl with more URLs than an answer looks at, and than a page waits for.
fn large() -> Crawled {
    const WAITING: usize = 40_000;
    let crawl = many();
    let state = Path::new(crawl.dir()).join("state");
    let store = EmbeddedStore::open(&state, Options::default()).expect("the state of a crawl that rests");
    let url = |n: usize| CanonicalUrl::from_canonical(&format!("http://many.test/{n}")).expect("a URL");
    let found = (0..WAITING).map(|n| Candidate { depth: 9, ..Candidate::seed(url(n)) });
    store.commit(&Batch { found: found.collect(), ..Batch::default() }).expect("a commit");
    drop(store);
    crawl
}

#[test]
fn a_large_table_is_opened_when_it_is_sorted() {
    let crawl = large();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/urls?depth=0&sort=-size", 1280, false);
    browser.until("document.querySelectorAll('main tbody tr').length === 1");
    assert_eq!(cells(&mut browser, FIRST_CELLS), ["http://many.test/"]);
    assert!(browser.text("main").contains("1 URL by size"), "{}", browser.text("main"));
    browser.assert_quiet();
}

#[test]
fn a_table_that_is_sorted_waits_for_a_reader_in_a_field_and_is_not_requested_meanwhile() {
    /// Counts the requests of the script, which wait until the test releases them.
    const COUNTED: &str = "window.asked = 0; window.released = new Promise((release) => { window.release = release; });
        const own = window.fetch;
        window.fetch = async (...given) => { window.asked += 1; await window.released; return own(...given); };";
    /// The script requests a page again within this time, if at all.
    const A_WHILE: &str = "new Promise((over) => setTimeout(() => over(window.asked), 1500))";
    let crawl = large();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.call("Page.addScriptToEvaluateOnNewDocument", serde_json::json!({ "source": COUNTED }));
    let path = "/urls?depth=0&sort=-size";
    browser.open(&ui.origin(), path, 1280, false);
    browser.value("document.querySelector('input[name=match]').focus()");
    while ui.page(path).contains("id=\"awaited\"") {}
    browser.value("window.release()");
    let asked = browser.value(A_WHILE);
    assert_eq!(browser.value(A_WHILE), asked);
    assert_eq!(browser.value("document.activeElement.name"), "match");
    assert_eq!(browser.value("document.getElementById('awaited') !== null"), true);
    browser.value("document.activeElement.blur()");
    browser.until("document.querySelectorAll('main tbody tr').length === 1");
    assert_eq!(cells(&mut browser, FIRST_CELLS), ["http://many.test/"]);
    browser.assert_quiet();
}

#[test]
fn why_a_table_was_not_sorted_is_shown_though_it_is_told_once() {
    /// In place of the first answer to the script.
    const FAILS: &str = "window.fetch = async () => {
        window.fetch = () => new Promise(() => {});
        return new Response('<main><h1>That did not work</h1><p role=alert>the disk is full</p></main>', { status: 500 }); };";
    let crawl = large();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.call("Page.addScriptToEvaluateOnNewDocument", serde_json::json!({ "source": FAILS }));
    browser.open(&ui.origin(), "/urls?depth=0&sort=-size", 1280, false);
    browser.until("document.querySelector('main [role=alert]') !== null");
    assert_eq!(browser.text("main [role=alert]"), "the disk is full");
    browser.assert_quiet();
}

#[test]
fn a_page_goes_on_waiting_where_nobody_answers_for_a_moment() {
    /// The first request of the script finds nobody.
    const AWAY: &str = "const own = window.fetch;
        window.fetch = async () => { window.fetch = own; throw new TypeError('nobody answers'); };";
    let crawl = large();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.call("Page.addScriptToEvaluateOnNewDocument", serde_json::json!({ "source": AWAY }));
    browser.open(&ui.origin(), "/urls?depth=0&sort=-size", 1280, false);
    browser.until("document.querySelectorAll('main tbody tr').length === 1");
    browser.assert_quiet();
}

#[test]
fn sites_and_urls_are_in_order_over_all_pages() {
    let crawl = many();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    check(&mut browser, &ui.origin());
}

#[test]
fn sites_and_urls_are_in_order_without_scripts() {
    let crawl = many();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.without_scripts();
    check(&mut browser, &ui.origin());
}
