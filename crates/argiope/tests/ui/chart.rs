//! The chart of a crawl since it began, by pointer and keys.

use std::path::Path;

use testkit::browser::Browser;

use crate::site::{crawled, shown};

/// Settled when the chart is there.
const DRAWN: &str = "new Promise((done) => { const look = () => {
    if (document.getElementById('chart').hidden) requestAnimationFrame(look); else done(true); }; look(); })";

/// Minutes of a week.
const MINUTES: u64 = 10_080;

/// Lets a crawl have so many minutes behind it. In each, one page more was fetched than in the one before.
fn write_history(dir: &Path, minutes: u64) {
    let moment = |n: u64| {
        let (at, pages, bytes, queue) = (BEGAN + 60 * n, n * n, n * 1_000_000, 100 + n);
        format!(
            "{{\"at\":{at},\"pages\":{pages},\"bytes\":{bytes},\"in_flight\":{},\"sites_waiting\":{queue},\
             \"sites_aside\":{},\"paused\":false}}\n",
            n % 7,
            n / 10
        )
    };
    std::fs::write(dir.join("history.jsonl"), (0..minutes).map(moment).collect::<String>()).expect("written");
}

/// When it began, in seconds since 1970.
const BEGAN: u64 = 1_795_680_000;

#[test]
fn a_past_minute_is_chosen_by_keys_and_by_dragging() {
    let crawl = crawled();
    write_history(Path::new(crawl.dir()), 20);
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    assert_eq!(browser.value(DRAWN), true);
    assert!(browser.text("#at").contains(": 0.6 pages a second, 19.0 MB in all"), "{}", browser.text("#at"));
    let said = browser.value("[...document.querySelectorAll('#chart canvas')].map((line) => line.ariaLabel)");
    let expect = [
        "Pages a second: at the end 0.6, at most 0.6",
        "Fetches under way: at the end 5, at most 6",
        "Sites in the queue: at the end 119, at most 119",
        "Sites in trouble: at the end 1, at most 1",
    ];
    assert_eq!(said, serde_json::json!(expect));
    browser.tab_to("#moment");
    browser.key("Home");
    let first = "2026-11-26 08:01:00 UTC: 0.0 pages a second, 1.0 MB in all, 1 fetches under way, \
                 101 sites in the queue, 0 sites in trouble";
    assert_eq!(browser.text("#at"), first);
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
    const column = (of) => Array.from({ length: 51 }, (_, n) => of(n));
    const minutes = { at: column((n) => 60 * n), left_out: column(() => 0), pages: column((n) => 600 * n), bytes: column(() => 0) };
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
    // The queue takes as long as the rate of the last ten minutes says.
    assert_eq!(browser.text("[data-live=ends]"), "≥ 1 s");
    browser.value("happens([{ ...sampled(3022, 30052), waiting: 100000 }])");
    assert_eq!(browser.text("[data-live=ends]"), "≥ 2 h 51 min");
    browser.value("happens([{ ...sampled(3023, 30054), waiting: 0 }])");
    assert_eq!(browser.value("document.querySelector('[data-live=ends]').parentElement.hidden"), true);
    // 50 minutes, and the seconds in which somebody watched.
    assert_eq!(browser.value("document.getElementById('moment').max"), (50 + 4 + 22 - 1).to_string());
    browser.tab_to("#moment");
    browser.key("Home");
    assert!(browser.text("#at").starts_with("1970-01-01 00:01:00 UTC: 10.0"), "{}", browser.text("#at"));
    crawl.end();
}

#[test]
fn any_minute_of_a_week_is_chosen_though_the_chart_has_fewer_points() {
    let crawl = crawled();
    write_history(Path::new(crawl.dir()), MINUTES);
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    assert_eq!(browser.value(DRAWN), true);
    let points = "Number(document.getElementById('moment').max)";
    let few = browser.value(points).as_u64().expect("a number");
    assert!((200..500).contains(&few), "{few} points of the chart");
    // In the middle of the week, by the pointer: the minutes around it come.
    let [x, y, width, _] = browser.place("#chart canvas");
    let click = || serde_json::json!({ "button": "left", "clickCount": 1 });
    browser.mouse("mousePressed", x + width / 2.0, y + 5.0, click());
    browser.mouse("mouseReleased", x + width / 2.0, y + 5.0, click());
    browser.until(&format!("{points} > {few}"));
    // And one minute after the other by keys.
    let at = |browser: &mut Browser| {
        let text = browser.text("#at");
        let minute = text.split(' ').nth(1).and_then(|time| time.split(':').nth(1)).expect("a minute");
        minute.parse::<u64>().expect("a number")
    };
    browser.tab_to("#moment");
    let mut before = at(&mut browser);
    for _ in 0..10 {
        browser.key("ArrowLeft");
        let now = at(&mut browser);
        assert_eq!((now + 1) % 60, before, "{}", browser.text("#at"));
        before = now;
    }
    browser.assert_quiet();
}

/// What is transferred for the first screen, at most, in bytes.
const FIRST_SCREEN_BYTES_MAX: u64 = 150_000;

#[test]
fn the_first_screen_of_a_running_crawl_with_a_week_behind_it_is_light() {
    let mut crawl = testkit::endless::Endless::start();
    write_history(crawl.dir(), MINUTES);
    let ui = testkit::ui::Ui::start(crawl.dir());
    // Somebody has watched before.
    testkit::ui::until_sampled(&ui, 3);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    assert_eq!(browser.value(DRAWN), true);
    // The history and two events are there.
    browser.until("!document.querySelector('[data-live=rate]').parentElement.hidden");
    let bytes = browser.bytes_loaded();
    assert!((1_000..=FIRST_SCREEN_BYTES_MAX).contains(&bytes), "{bytes} bytes");
    let encoded = browser.value(
        "fetch('/history.json').then(async (answer) => [answer.headers.get('content-encoding'), (await answer.json()).at.length])",
    );
    assert_eq!(encoded[0], "gzip", "{encoded}");
    browser.assert_quiet();
    crawl.end();
}
