//! The interface without a mouse.

use testkit::screens::by_keyboard;

use crate::site::{crawled, shown};

#[test]
fn from_the_filter_to_the_story_of_a_url_to_a_change() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = by_keyboard(&ui);
    assert!(browser.text("main").contains("it counts when"), "{}", browser.text("main"));
    assert!(ui.page("/steer").contains("exclude */gone"));
}
