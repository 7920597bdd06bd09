//! `paint ORIGIN PATH...`: milliseconds from a request to the first paint in Chromium, and bytes that were transferred, of each page.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]

use testkit::browser::Browser;

/// When the page was first painted, after the browser began to load it.
const FIRST_PAINT: &str = "new Promise((done) => { const look = () => {
    const [first] = performance.getEntriesByType('paint');
    if (first) done(first.startTime); else requestAnimationFrame(look); }; look(); })";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let origin = arguments.next().expect("usage: paint ORIGIN PATH...");
    let mut browser = Browser::start();
    for path in arguments {
        browser.open(&origin, &path, 1280, false);
        let bytes = browser.bytes_loaded();
        let first = browser.value(FIRST_PAINT).as_f64().expect("a time");
        println!("{path} {first:.0} {bytes}");
    }
}
