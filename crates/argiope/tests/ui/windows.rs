//! Many windows of a crawl at once: each shows its numbers, and is used.

use serde_json::json;
use testkit::browser::Browser;
use testkit::endless::Endless;
use testkit::ui::Ui;

/// Windows beside the first: as many as a browser has connections to a host (HTTP/1.1).
const WINDOWS: usize = 6;
/// What is waited for comes before that, in milliseconds.
const TIME_MAX: u32 = 60_000;

/// Whether something comes to pass in time.
fn comes(browser: &mut Browser, condition: &str) -> bool {
    let looked = format!(
        "new Promise((done) => {{ const look = () => {{ if ({condition}) done(true); else setTimeout(look, 50); }};
           look(); setTimeout(() => done(false), {TIME_MAX}); }})"
    );
    browser.value(&looked) == true
}

#[test]
fn more_windows_than_a_browser_has_connections_are_used_at_once() {
    let mut crawl = Endless::start();
    let ui = Ui::start(crawl.dir());
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    browser.value(
        "window.others = []; window.claims = 0;
        new MutationObserver(() => { window.claims += document.getElementById('stale').hidden ? 0 : 1; })
            .observe(document.getElementById('stale'), { attributes: true });",
    );
    for _ in 0..WINDOWS {
        let open =
            json!({ "expression": "window.others.push(window.open('/', '_blank', 'popup')), 0", "userGesture": true });
        browser.call("Runtime.evaluate", open);
    }
    // A rate takes several samples.
    let is_shown = "window.others.every((other) => other.document.readyState === 'complete' && !other.document.hidden
        && other.document.querySelector('[data-live=rate]')?.parentElement.hidden === false)";
    assert!(comes(&mut browser, is_shown), "a window does not show the numbers");
    browser.value("window.answered = 0; fetch('/steer').then((answer) => { window.answered = answer.status; })");
    assert!(comes(&mut browser, "window.answered === 200"), "the browser has no connection left");
    assert_eq!(browser.value("window.claims"), 0, "a window says that nobody answers");
    browser.assert_quiet();
    crawl.end();
}

#[test]
fn a_window_says_that_nobody_answers() {
    let mut crawl = Endless::start();
    let ui = Ui::start(crawl.dir());
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    assert!(comes(&mut browser, "document.querySelector('[data-live=rate]').parentElement.hidden === false"));
    assert_eq!(browser.value("document.getElementById('stale').hidden"), true);
    drop(ui);
    assert!(comes(&mut browser, "!document.getElementById('stale').hidden"), "the numbers are old");
    crawl.end();
}
