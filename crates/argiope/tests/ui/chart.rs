//! The chart of a crawl since it began, by pointer and keys.

use std::path::Path;

use testkit::browser::Browser;

use crate::site::{crawled, shown};

/// Settled when the chart is there.
const DRAWN: &str = "new Promise((done) => { const look = () => {
    if (document.getElementById('chart').hidden) requestAnimationFrame(look); else done(true); }; look(); })";

#[test]
fn a_past_minute_is_chosen_by_keys_and_by_dragging() {
    let crawl = crawled();
    let moment = |n: u64| {
        let (at, pages, bytes) = (1_795_680_000 + 60 * n, n * n, n * 1_000_000);
        format!(
            "{{\"at\":{at},\"pages\":{pages},\"bytes\":{bytes},\"in_flight\":1,\"sites_waiting\":1,\"sites_aside\":0,\"paused\":false}}\n"
        )
    };
    std::fs::write(Path::new(crawl.dir()).join("history.jsonl"), (0..20).map(moment).collect::<String>())
        .expect("written");
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    assert_eq!(browser.value(DRAWN), true);
    assert!(browser.text("#at").contains(": 0.6 pages a second, 19.0 MB in all"), "{}", browser.text("#at"));
    browser.tab_to("#moment");
    browser.key("Home");
    assert!(browser.text("#at").starts_with("2026-11-26 08:01:00 UTC: 0.0"), "{}", browser.text("#at"));
    let [x, y, width, _] = browser.place("#chart canvas");
    browser.mouse("mousePressed", x + 5.0, y + 5.0, serde_json::json!({ "button": "left", "clickCount": 1 }));
    browser.mouse("mouseMoved", x + width - 1.0, y + 5.0, serde_json::json!({ "button": "left", "buttons": 1 }));
    browser.mouse("mouseReleased", x + width - 1.0, y + 5.0, serde_json::json!({ "button": "left", "clickCount": 1 }));
    assert!(browser.text("#at").contains("19.0 MB in all"), "{}", browser.text("#at"));
    browser.assert_quiet();
    assert_eq!(testkit::axe::violations(&mut browser), Vec::<String>::new());
}

/// In place of the events and the history of the crawl.
const EVENTS: &str = "window.EventSource = class { constructor() { window.source = this; } close() {} };
    const real = window.fetch;
    // Ten pages a second, in every minute.
    const minutes = Array.from({ length: 51 }, (_, n) => ({ at: 60 * n, pages: 600 * n, bytes: 0 }));
    window.fetch = (path) =>
        String(path).endsWith('/history.json') ? Promise.resolve(new Response(JSON.stringify(minutes))) : real(path);
    window.sampled = (at, visited) =>
        ({ at, visited, running: true, fetched: visited, waiting: 1, again: 0, urls: 1, sites: 1, bytes: 0, size: '', waits: '' });
    window.happens = (samples) => window.source.onmessage({ data: JSON.stringify(samples) });";

#[test]
fn time_in_which_nobody_watched_is_in_the_chart_and_not_in_the_rate() {
    let mut crawl = testkit::endless::Endless::start();
    let ui = testkit::ui::Ui::start(crawl.dir());
    let mut browser = Browser::start();
    browser.call("Page.addScriptToEvaluateOnNewDocument", serde_json::json!({ "source": EVENTS }));
    browser.open(&ui.origin(), "/", 1280, false);
    assert_eq!(browser.value(DRAWN), true);
    let is_hidden = "document.querySelector('[data-live=rate]').parentElement.hidden";
    // Somebody watched from second 600 on, and now we do, from second 3,001 on: two pages a second.
    browser.value("happens([0, 1, 2, 3, 4].map((n) => sampled(600 + n, 6000 + 10 * n)))");
    browser.value("happens([sampled(3001, 30010)])");
    assert_eq!(browser.value(is_hidden), true, "one sample says nothing of a rate");
    for n in 1..=20 {
        browser.value(&format!("happens([sampled({}, {})])", 3001 + n, 30010 + 2 * n));
        assert_eq!(browser.text("[data-live=rate]"), "2.0", "after {n} s");
    }
    // 50 minutes, and the seconds in which somebody watched.
    assert_eq!(browser.value("document.getElementById('moment').max"), (50 + 4 + 20 - 1).to_string());
    browser.tab_to("#moment");
    browser.key("Home");
    assert!(browser.text("#at").starts_with("1970-01-01 00:01:00 UTC: 10.0"), "{}", browser.text("#at"));
    crawl.end();
}
