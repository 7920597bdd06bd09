//! `frames ORIGIN PATH SECONDS`: how many frames a second Chromium paints without a GPU while the picture of the link graph moves: points, links,
//! frames a second, and the longest frame in milliseconds.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]

use testkit::browser::Browser;

/// Settled when the picture is there.
const DRAWN: &str = "new Promise((done) => { const look = () => {
    if (document.getElementById('graph').dataset.ready) done(true); else requestAnimationFrame(look); }; look(); })";
/// What the picture has.
const SIZE: &str = "fetch(document.getElementById('graph').dataset.src).then((it) => it.json())
    .then(({ vertices, links }) => [vertices.length, links.length])";
/// Moves the picture to and fro by its keys, a step a frame, and gives the time of each frame.
const MOVED: &str = "new Promise((done) => {
    const [graph, times] = [document.getElementById('graph'), []];
    const step = (now) => {
        times.push(now);
        if (now - times[0] > 1000 * SECONDS) { done(times); return; }
        graph.dispatchEvent(new KeyboardEvent('keydown', { key: times.length % 16 < 8 ? 'ArrowLeft' : 'ArrowRight' }));
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step); })";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("usage: frames ORIGIN PATH SECONDS");
    let (origin, path, seconds) = (next(), next(), next());
    let mut browser = Browser::start();
    browser.open(&origin, &path, 1280, false);
    browser.value(DRAWN);
    let size = browser.value(SIZE);
    let times = browser.value(&MOVED.replace("SECONDS", &seconds));
    let times: Vec<f64> = times.as_array().expect("times").iter().filter_map(serde_json::Value::as_f64).collect();
    let frames: Vec<f64> = times.windows(2).map(|ends| ends[1] - ends[0]).collect();
    let (all, longest) = (frames.iter().sum::<f64>(), frames.iter().copied().fold(0.0, f64::max));
    println!("{} {} {:.1} {longest:.0}", size[0], size[1], 1_000.0 * frames.len() as f64 / all);
}
