//! A change is taken back once, however often somebody clicks, and what it replaced is in force again.

use std::path::Path;

use testkit::browser::Browser;
use testkit::crawled::Crawled;

use crate::site::{crawled, shown};

/// Clicks twice before the browser has left the page.
const TWO_CLICKS: &str =
    "(() => { const it = document.querySelector('main form button'); it.click(); it.click(); return it.innerText; })()";

/// The form of the journal that takes the last change back.
const UNDO: &str = "button[aria-label='Undo: delay ui.test=2s']";

/// What takes it back.
const BACK: &str = "set delay-for = [\"ui.test=4s\"]";

/// The settings in force. A comment above them names what the last change replaced.
fn settings(crawl: &Crawled) -> String {
    let file = std::fs::read_to_string(Path::new(crawl.dir()).join("crawl.toml")).expect("the settings");
    file.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// The changes of the journal, the last one first, without their dates and buttons.
fn journal(browser: &mut Browser, origin: &str) -> Vec<String> {
    browser.open(origin, "/steer", 1280, false);
    let text = browser.value(
        "[...document.querySelectorAll('.journal li')].map((it) => {
            const copy = it.cloneNode(true);
            copy.querySelectorAll('time, form, .count').forEach((part) => part.remove());
            return copy.textContent.trim(); })",
    );
    text.as_array().expect("a list").iter().map(|change| change.as_str().expect("a change").to_owned()).collect()
}

/// A crawl with a delay that was changed twice.
fn delayed() -> Crawled {
    let crawl = crawled();
    for delay in ["4s", "2s"] {
        let ran = crawl.run("steer", &["delay", delay, "ui.test"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    crawl
}

#[test]
fn the_value_before_comes_back_and_a_second_click_does_nothing() {
    let crawl = delayed();
    let ui = shown(&crawl);
    let [mut one, mut other] = [Browser::start(), Browser::start()];
    // Two people look at the same undo.
    for browser in [&mut one, &mut other] {
        browser.open(&ui.origin(), "/steer", 1280, false);
        browser.click_through(UNDO);
        let shown = browser.text("main");
        assert!(shown.contains(&format!("This is done: {BACK}.")), "{shown}");
        browser.assert_quiet();
    }
    assert!(settings(&crawl).contains("ui.test=2s"), "what is shown is not made");
    one.navigate(|browser| drop(browser.value(TWO_CLICKS)));
    one.assert_quiet();
    assert!(
        settings(&crawl).contains("ui.test=4s") && !settings(&crawl).contains("ui.test=2s"),
        "{}",
        settings(&crawl)
    );
    let once = [BACK, "delay ui.test=2s", "delay ui.test=4s"];
    assert_eq!(journal(&mut one, &ui.origin()), once);
    one.assert_quiet();
    // The other one comes late.
    other.click_through("main form button");
    let late = other.text("[role=alert]");
    assert_eq!(late, "delay ui.test=2s: no undo: nothing of it is in force");
    assert_eq!(journal(&mut other, &ui.origin()), once);
    assert!(settings(&crawl).contains("ui.test=4s"), "{}", settings(&crawl));
}

#[test]
fn a_change_is_taken_back_without_scripts() {
    let crawl = delayed();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.without_scripts();
    browser.open(&ui.origin(), "/steer", 390, true);
    browser.click_through(UNDO);
    // Cancel changes nothing.
    browser.click_through("main a[href='/steer']");
    assert!(settings(&crawl).contains("ui.test=2s"));
    browser.click_through(UNDO);
    browser.click_through("main form button");
    assert!(browser.text("main").contains(BACK), "{}", browser.text("main"));
    assert!(settings(&crawl).contains("ui.test=4s"), "{}", settings(&crawl));
    assert_eq!(journal(&mut browser, &ui.origin()).len(), 3);
    browser.assert_quiet();
}
