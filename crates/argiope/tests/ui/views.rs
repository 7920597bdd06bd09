//! Saved views of the table of URLs in a browser.

use testkit::axe::violations;
use testkit::browser::Browser;
use testkit::screens::{PHONE, assert_unowned};

use crate::site::{SCREENS, crawled, crawled_two, shown};

/// A name that attacks the page.
const HOSTILE_NAME: &str = "</a><script>window.owned=8</script>\"'><img src=x onerror=window.owned=9>";

/// Judges a page.
type Judge = fn(&mut Browser);

fn by_rules(browser: &mut Browser) {
    assert_eq!(violations(browser), Vec::<String>::new());
}

/// Saves the table as it is, by the keyboard alone.
fn save(browser: &mut Browser, name: &str, judge: Judge) {
    browser.tab_to("details.views summary");
    browser.key("Enter");
    browser.tab_to("input[name=name]");
    judge(browser);
    browser.write(name);
    browser.follow();
}

fn check(browser: &mut Browser, origin: &str, judge: Judge) {
    browser.open(origin, "/urls?state=http_error&sort=-size", PHONE, true);
    save(browser, HOSTILE_NAME, judge);
    browser.assert_quiet();
    assert_eq!(browser.text("section.views a[aria-current]"), HOSTILE_NAME);
    let wide = browser.value("document.documentElement.scrollWidth").as_u64().expect("a width");
    assert!(wide <= u64::from(PHONE), "{wide}");
    judge(browser);
    browser.open(origin, "/urls", 1280, false);
    assert_eq!(browser.value("document.querySelectorAll('main tbody tr').length > 1"), true);
    browser.click_through("section.views a");
    assert_eq!(browser.value("document.querySelectorAll('main tbody tr').length"), 1);
    assert_eq!(browser.value("document.querySelector('select[name=sort]').value"), "-size");
    browser.tab_to("section.views button");
    browser.follow();
    assert_eq!(browser.value("document.querySelector('section.views')"), serde_json::Value::Null);
    assert_eq!(browser.value("document.querySelector('select[name=state]').value"), "http_error");
    browser.assert_quiet();
}

#[test]
fn a_view_is_saved_opened_and_deleted() {
    let crawl = crawled();
    let ui = shown(&crawl);
    check(&mut Browser::start(), &ui.origin(), by_rules);
}

#[test]
fn a_view_is_saved_opened_and_deleted_without_scripts() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.without_scripts();
    // The judge is a script itself.
    check(&mut browser, &ui.origin(), |_| ());
}

#[test]
fn the_name_of_a_view_becomes_no_markup() {
    let crawl = crawled_two();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/urls", 1280, false);
    save(&mut browser, HOSTILE_NAME, by_rules);
    assert_unowned(&ui, &SCREENS);
}
