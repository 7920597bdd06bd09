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
