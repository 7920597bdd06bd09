//! What comes of a form has a page of its own: a reload of that page, and the way back to it, send no form again.

use std::path::Path;

use crawl::{Changed, CrawlDir};
use serde_json::json;
use testkit::browser::Browser;
use testkit::crawled::Crawled;

use crate::site::{crawled, shown};

/// What is excluded here. It counts when the crawl goes on.
const PATTERN: &str = "*/none/*";

/// The changes that were made, the oldest first.
fn made(crawl: &Crawled) -> Vec<String> {
    let dir = CrawlDir::existing(Path::new(crawl.dir())).expect("a crawl");
    Changed::all_of(&dir).expect("a journal").iter().map(|changed| changed.change.to_string()).collect()
}

fn reload(browser: &mut Browser) {
    browser.navigate(|browser| drop(browser.call("Page.reload", json!({}))));
}

fn go(browser: &mut Browser, steps: i32) {
    browser.navigate(|browser| drop(browser.value(&format!("history.go({steps})"))));
}

#[test]
fn a_reload_and_the_way_back_send_no_form_again() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/steer", 1280, false);
    browser.value("document.querySelector('form:has(input[value=exclude]) textarea').focus()");
    browser.write(PATTERN);
    browser.click_through("form:has(input[value=exclude]) button");
    reload(&mut browser);
    assert!(browser.text("#effect").contains("URLs in the queue"), "{}", browser.text("main"));
    browser.click_through("main form button");
    let exclude = format!("exclude {PATTERN}");
    for _ in 0..2 {
        let told = browser.text("main");
        assert!(told.contains(&exclude) && told.contains("it counts when"), "{told}");
        reload(&mut browser);
    }
    go(&mut browser, -1);
    assert!(browser.text("#effect").contains("URLs in the queue"), "{}", browser.text("main"));
    go(&mut browser, 1);
    browser.assert_quiet();
    assert_eq!(made(&crawl), std::slice::from_ref(&exclude));

    // The same of the undo.
    browser.click_through("main a[href='/steer']");
    browser.click_through(&format!("button[aria-label='Undo: {exclude}']"));
    reload(&mut browser);
    let look = browser.text("main");
    assert!(look.contains("This is done: unset exclude."), "{look}");
    browser.click_through("main form button");
    reload(&mut browser);
    assert!(browser.text("main").contains("unset exclude: noted"), "{}", browser.text("main"));
    go(&mut browser, -1);
    assert!(browser.text("main").contains("No undo: nothing of it is in force."), "{}", browser.text("main"));
    browser.assert_quiet();
    assert_eq!(made(&crawl), [exclude, "unset exclude".to_owned()]);
}

#[test]
fn the_way_back_finds_a_form_as_it_was_left() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/steer", 1280, false);
    let field = "form:has(input[value=exclude]) textarea";
    browser.value(&format!("document.querySelector('{field}').focus()"));
    // No pattern: it is refused, and has to be mended.
    browser.write("/x/");
    browser.click_through("form:has(input[value=exclude]) button");
    assert!(browser.text("[role=alert]").contains("matches no URL"), "{}", browser.text("main"));
    go(&mut browser, -1);
    browser.until(&format!("document.querySelector('{field}')?.value === '/x/'"));
    browser.assert_quiet();
}

#[test]
fn two_people_look_at_two_changes() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browsers = ["*/one/*", "*/other/*"].map(|pattern| {
        let mut browser = Browser::start();
        browser.open(&ui.origin(), "/steer", 1280, false);
        browser.value("document.querySelector('form:has(input[value=exclude]) textarea').focus()");
        browser.write(pattern);
        browser.click_through("form:has(input[value=exclude]) button");
        browser
    });
    // The one who came first sees that change still, and makes that one.
    reload(&mut browsers[0]);
    for (browser, pattern) in browsers.iter_mut().zip(["*/one/*", "*/other/*"]) {
        assert!(browser.text("main").contains(&format!("exclude {pattern}")), "{}", browser.text("main"));
        browser.click_through("main form button");
        browser.assert_quiet();
    }
    assert_eq!(made(&crawl), ["exclude */one/*", "exclude */other/*"]);
}
