//! The interface without a mouse.

use testkit::axe::violations;
use testkit::browser::Browser;

use crate::site::{crawled, shown};

#[test]
fn from_the_filter_to_the_story_of_a_url_to_a_change() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/urls", 1280, false);
    browser.key("Tab");
    assert_eq!(browser.value("document.activeElement.className"), "skip", "the first stop leads past the navigation");
    browser.tab_to("input[name=match]");
    browser.write("*/gone");
    browser.follow();
    assert_eq!(browser.value("document.querySelectorAll('tbody tr').length"), 1);
    browser.tab_to("a.url");
    browser.follow();
    assert!(browser.text(".story").contains("http_error"), "{}", browser.text(".story"));
    browser.tab_to("nav a[href='/steer']");
    browser.follow();
    browser.tab_to("form:has(input[value=exclude]) textarea");
    browser.write("*/gone");
    browser.tab_to("button");
    browser.follow();
    let effect = browser.text("main");
    assert!(effect.contains("it would concern 0 URLs in the queue"), "{effect}");
    assert_eq!(violations(&mut browser), Vec::<String>::new());
    browser.tab_to("main button");
    browser.follow();
    assert!(browser.text("main").contains("it counts when"), "{}", browser.text("main"));
    assert_eq!(violations(&mut browser), Vec::<String>::new());
    assert!(ui.page("/steer").contains("exclude */gone"));
}
