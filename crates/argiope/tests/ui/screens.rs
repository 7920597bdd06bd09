//! Every screen for everybody: wide and narrow, light and dark, by the rules of axe-core, and not heavy.

use std::collections::BTreeSet;

use testkit::axe::violations;
use testkit::browser::Browser;
use testkit::screens::{DESKTOP, PHONE, assert_told, assert_usable};
use testkit::ui::fields_of;
use ui::commands::{COMMANDS, FIELDS_ALONE, FIELDS_OF_DIRECTORY, fields, is_listed};

use crate::site::{crawled, screens, shown};

/// What is transferred for the first screen, at most, in bytes.
const FIRST_SCREEN_BYTES_MAX: u64 = 150_000;

/// The files of a page that the browser did not have.
const TRANSFERRED: &str =
    "performance.getEntriesByType('resource').filter((it) => it.transferSize > 0).map((it) => it.name)";

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
fn every_option_of_a_command_is_a_field_and_every_field_is_listed() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let has: BTreeSet<(String, String)> =
        screens(&ui).iter().flat_map(|screen| fields_of(&ui.get(screen).body)).collect();
    let listed: BTreeSet<(String, String)> =
        fields(&COMMANDS).map(|(path, name)| (path.to_owned(), name.to_owned())).collect();
    assert_eq!(listed.difference(&has).collect::<Vec<_>>(), Vec::<&(String, String)>::new(), "options without a field");
    let is_alone =
        |path: &str, name: &str| is_listed(&FIELDS_ALONE, path, name) || is_listed(&FIELDS_OF_DIRECTORY, path, name);
    let alone: Vec<_> = has.difference(&listed).filter(|(path, name)| !is_alone(path, name)).collect();
    assert_eq!(alone, Vec::<&(String, String)>::new(), "fields without an option");
}

#[test]
fn the_first_screen_is_light() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    let bytes = browser.bytes_loaded();
    assert!((1_000..=FIRST_SCREEN_BYTES_MAX).contains(&bytes), "{bytes} bytes");
    // Style and script are not transferred again for another screen.
    browser.open(&ui.origin(), "/steer", 1280, false);
    assert_eq!(browser.value(TRANSFERRED), serde_json::json!([]));
}

#[test]
fn what_cannot_be_shown_is_a_page_for_everybody() {
    let crawl = crawled();
    let failures =
        [("/nothing", "there is no such page"), ("/urls?state=fine", "is no state"), ("/url?u=none.test", "none.test")];
    assert_told(&shown(&crawl), &failures);
}
