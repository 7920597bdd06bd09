//! Every screen for everybody: wide and narrow, light and dark, by the rules of axe-core, and not heavy.

use testkit::axe::violations;
use testkit::browser::Browser;
use testkit::screens::{DESKTOP, PHONE, assert_told, assert_usable};

use crate::site::{crawled, screens, shown};

/// What is transferred for the first screen, at most, in bytes.
const FIRST_SCREEN_BYTES_MAX: u64 = 150_000;

/// Opens every screen in a window of this width.
fn check(width: u32, dark: bool) {
    let crawl = crawled();
    let ui = shown(&crawl);
    assert_usable(&ui, &screens(&ui), width, dark);
}

#[test]
fn every_screen_can_be_used_on_a_desktop() {
    check(DESKTOP, false);
}

#[test]
fn every_screen_can_be_used_in_the_dark() {
    check(DESKTOP, true);
}

#[test]
fn every_screen_can_be_used_on_a_phone() {
    check(PHONE, false);
}

#[test]
fn the_addresses_of_the_latest_pages_can_be_read_on_a_phone() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", PHONE, false);
    let widths = "[...document.querySelectorAll('.rows td > .url')].map((url) => url.getBoundingClientRect().width)";
    let narrowest = browser.value(&format!("Math.min(...{widths})")).as_f64().expect("latest pages");
    assert!(narrowest >= 200.0, "{narrowest} pixels");
}

#[test]
fn the_judge_finds_a_fault_where_there_is_one() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/steer", 1280, false);
    browser
        .value("document.querySelector('textarea').closest('label').replaceWith(document.createElement('textarea'))");
    let broken = violations(&mut browser);
    assert!(broken.iter().any(|rule| rule.starts_with("label: ")), "{broken:?}");
}

#[test]
fn the_first_screen_is_light() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    let bytes = browser.bytes_loaded();
    assert!((1_000..=FIRST_SCREEN_BYTES_MAX).contains(&bytes), "{bytes} bytes");
}

#[test]
fn what_cannot_be_shown_is_a_page_for_everybody() {
    let crawl = crawled();
    let failures =
        [("/nothing", "there is no such page"), ("/urls?state=fine", "is no state"), ("/url?u=none.test", "none.test")];
    assert_told(&shown(&crawl), &failures);
}
