//! Every screen for everybody: wide and narrow, light and dark, by the rules of axe-core, and not heavy.

use std::collections::BTreeSet;

use testkit::axe::violations;
use testkit::browser::Browser;
use testkit::endless::Endless;
use testkit::screens::{DESKTOP, PHONE, assert_complete, assert_told, assert_usable, assert_walkable};
use testkit::ui::{Ui, fields_of};
use ui::commands::{COMMANDS, FIELDS_ALONE, FIELDS_OF_DIRECTORY, fields, is_listed};

use crate::site::{crawled, crawled_two, screens, shown};

/// What is transferred for the first screen, at most, in bytes.
const FIRST_SCREEN_BYTES_MAX: u64 = 150_000;

/// The files of a page that the browser did not have.
const TRANSFERRED: &str =
    "performance.getEntriesByType('resource').filter((it) => it.transferSize > 0).map((it) => it.name)";

/// Opens every screen in a window of this width.
fn check(width: u32, dark: bool) {
    let crawl = crawled_two();
    let ui = shown(&crawl);
    assert_usable(&ui, &screens(&ui), width, dark);
}

#[test]
fn every_screen_of_the_router_is_among_those() {
    let crawl = crawled_two();
    let ui = shown(&crawl);
    assert_complete(include_str!("../../../ui/src/lib.rs"), &screens(&ui));
    let overlap = ui.page("/graph/overlap?one=http%3A%2F%2Fui.test%2F&other=http%3A%2F%2Fother.test%2F");
    assert!(overlap.contains("Overlap: 2 links."), "{overlap}");
}

#[test]
fn every_link_field_and_button_is_reached_by_the_tab_key() {
    let crawl = crawled_two();
    let ui = shown(&crawl);
    assert_walkable(&ui, &screens(&ui));
}

#[test]
fn the_walk_finds_what_is_not_reached_and_a_focus_that_is_not_visible() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/search", DESKTOP, false);
    assert_eq!(browser.walk(), Vec::<String>::new());
    browser.open(&ui.origin(), "/search", DESKTOP, false);
    browser.value(
        "document.querySelector('nav a').tabIndex = -1; document.querySelector('main input').style.outline = 'none'",
    );
    let faults = browser.walk();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("the focus is not visible: <input"), "{faults:?}");
    assert!(faults[1].starts_with("not reached: <a href=\"/\""), "{faults:?}");
}

#[test]
fn the_screens_of_a_running_crawl_can_be_used_by_everybody() {
    let mut crawl = Endless::start();
    let ui = Ui::start(crawl.dir());
    let running = ["/", "/url?u=http%3A%2F%2Fendless.test%2F", "/url?u=endless.test", "/sites", "/urls", "/steer"];
    for (width, dark) in [(DESKTOP, false), (DESKTOP, true), (PHONE, false)] {
        assert_usable(&ui, &running, width, dark);
    }
    crawl.end();
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
    let crawl = crawled_two();
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
