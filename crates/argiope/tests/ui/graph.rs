//! The picture of the link graph: drawn, moved, pointed at, and left for the story of a point.

use serde_json::json;
use testkit::browser::Browser;

use crate::site::{crawled, shown};

/// Settled when the picture is there.
const DRAWN: &str = "new Promise((done) => { const look = () => {
    if (document.getElementById('graph').dataset.ready) done(true); else requestAnimationFrame(look); }; look(); })";
/// Pixels that something was drawn on.
const PAINTED: &str = "(() => { const it = document.getElementById('graph');
    const { data } = it.getContext('2d').getImageData(0, 0, it.width, it.height);
    return data.filter((value, at) => at % 4 === 3 && value > 0).length; })()";
/// Where the first point is in the window.
const FIRST: &str =
    "fetch(document.getElementById('graph').dataset.src).then((it) => it.json()).then(({ vertices }) => {
    const box = document.getElementById('graph').getBoundingClientRect();
    const at = (share, size, whole) => (24 + share * (size - 48)) / size * whole;
    const [x, y] = vertices[0].at;
    return [box.left + at(x, 1200, box.width), box.top + at(y, 800, box.height), vertices[0].name]; })";

#[test]
fn a_point_is_named_and_leads_to_its_story() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/graph?of=pages", 1280, false);
    assert_eq!(browser.value(DRAWN), true);
    assert!(browser.value(PAINTED).as_u64() > Some(100), "points and links are drawn");
    browser.place("#graph");
    let first = browser.value(FIRST);
    let (x, y) = (first[0].as_f64().expect("x"), first[1].as_f64().expect("y"));
    browser.mouse("mouseMoved", x, y, json!({}));
    let name = first[2].as_str().expect("a name");
    assert!(browser.text("#pointed").starts_with(name), "{name}: {}", browser.text("#pointed"));
    // The wheel zooms on the point below it.
    browser.mouse("mouseWheel", x, y, json!({ "deltaX": 0, "deltaY": -600 }));
    browser.mouse("mouseMoved", x + 1.0, y, json!({}));
    assert!(browser.text("#pointed").starts_with(name), "after zooming");
    // Keys move it away, and back.
    browser.value("document.getElementById('graph').focus()");
    for key in ["ArrowLeft", "ArrowRight", "+", "0"] {
        browser.key(key);
    }
    browser.assert_quiet();
    let links = browser.value("[...document.querySelectorAll('tbody a.url')].map((it) => it.textContent)");
    assert_eq!(links[0], name, "the list begins with the highest rank");
}

#[test]
fn a_picture_that_is_drawn_once_more_is_waited_for() {
    /// The picture does not hold any more when the page asks for it.
    const DRAWN_AGAIN: &str = "const own = window.fetch; let asked = 0;
        window.fetch = (...given) => { asked += 1; return asked < 3 ? Promise.resolve(new Response('', { status: 202 })) : own(...given); };";
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": DRAWN_AGAIN }));
    browser.open(&ui.origin(), "/graph?of=pages", 1280, false);
    assert_eq!(browser.value(DRAWN), true);
    assert!(browser.value(PAINTED).as_u64() > Some(100), "points and links are drawn");
    browser.assert_quiet();
}
