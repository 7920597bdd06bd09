//! The order of sites and of their URLs, from one page to the next.

use std::collections::BTreeSet;

use testkit::browser::Browser;
use testkit::crawled::Crawled;
use testweb::{Reply, Request, Web, from_fn};

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
    // No other column has an index.
    browser.open(origin, "/urls?sort=size", 1280, false);
    assert!(browser.text("[role=alert]").contains("other columns have no index"), "{}", browser.text("main"));
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
