//! The screens of the interface as everybody meets them: wide, narrow and dark, by the rules of axe-core, with content that attacks them.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::axe::violations;
use crate::browser::Browser;
use crate::ui::Ui;

/// Widths of a window, in CSS pixels.
pub const DESKTOP: u32 = 1280;
pub const PHONE: u32 = 390;

/// The pause before a page is asked for again that has to be made first.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What hostile content would add to a page: none of these are in a screen but the scripts and links of the interface itself.
const FOREIGN: &str = "[...document.querySelectorAll('img, iframe, object, embed, base, style, svg script, [onerror], [onmouseover]')].length
    + [...document.scripts].filter((it) => !(/^\\/(ui|graph)\\.js\\?v=[0-9a-f]{16}$/).test(it.getAttribute('src'))).length
    + [...document.links].filter((it) => !/^https?:$/.test(it.protocol)).length
    + (window.owned === undefined ? 0 : 1)";

/// Checks that screens can be used in a window of this width.
pub fn assert_usable(ui: &Ui, screens: &[impl AsRef<str>], width: u32, dark: bool) {
    let mut browser = Browser::start();
    for screen in screens.iter().map(AsRef::as_ref) {
        browser.open(&ui.origin(), screen, width, dark);
        browser.assert_quiet();
        let wide = browser.value("document.documentElement.scrollWidth").as_u64().expect("a width");
        assert!(wide <= u64::from(width), "{screen} is {wide} wide in a window of {width}");
        let broken = violations(&mut browser);
        assert!(broken.is_empty(), "{screen}:\n{}", broken.join("\n"));
    }
}

/// Checks that every link, field and button of screens is reached by the Tab key and shows that it has the focus.
pub fn assert_walkable(ui: &Ui, screens: &[impl AsRef<str>]) {
    let mut browser = Browser::start();
    for screen in screens.iter().map(AsRef::as_ref) {
        // What has to be made first is there when the walk begins.
        while ui.page(screen).contains("id=\"awaited\"") {
            std::thread::sleep(LOOK_EVERY);
        }
        browser.open(&ui.origin(), screen, DESKTOP, false);
        let faults = browser.walk();
        assert!(faults.is_empty(), "{screen}:\n{}", faults.join("\n"));
    }
}

/// Paths that are no screens: what a page loads, files, and streams of events.
const NO_SCREENS: [&str; 13] = [
    "/urls.csv",
    "/urls.jsonl",
    "/urls.parquet",
    "/url/picture",
    "/graph.json",
    "/graph.js",
    "/report.csv",
    "/report.html",
    "/history.json",
    "/events",
    "/ui.css",
    "/ui.js",
    "/icon.svg",
];

/// Checks that a list has every screen of a router, whose source this is.
pub fn assert_complete(router: &str, screens: &[impl AsRef<str>]) {
    let listed: BTreeSet<&str> = screens.iter().filter_map(|screen| screen.as_ref().split('?').next()).collect();
    let routes = router.lines().filter_map(|line| line.trim().strip_prefix(".route(\"")?.split_once("\", get("));
    let paths: BTreeSet<&str> = routes.map(|(path, _)| path).collect();
    assert!(paths.len() > NO_SCREENS.len(), "{paths:?}");
    assert!(NO_SCREENS.iter().all(|path| paths.contains(path)), "{paths:?}");
    let missing: Vec<_> = paths.iter().filter(|path| !listed.contains(*path) && !NO_SCREENS.contains(path)).collect();
    assert!(missing.is_empty(), "screens of the router that are not in the list: {missing:?}");
}

/// Checks that nothing from the web has become markup, script or link of screens.
pub fn assert_unowned(ui: &Ui, screens: &[impl AsRef<str>]) {
    let mut browser = Browser::start();
    for screen in screens.iter().map(AsRef::as_ref) {
        browser.open(&ui.origin(), screen, DESKTOP, false);
        assert_eq!(browser.value(FOREIGN), 0, "{screen}");
        // The policy has stopped nothing, since there was nothing to stop.
        browser.assert_quiet();
    }
}

/// Checks that what cannot be shown is a page that can be used, and says why: paths, and what their pages say.
pub fn assert_told(ui: &Ui, failures: &[(&str, &str)]) {
    let mut browser = Browser::start();
    for (path, says) in failures {
        browser.open(&ui.origin(), path, PHONE, true);
        assert!(browser.text("main").contains(says), "{path}: {}", browser.text("main"));
        assert_eq!(violations(&mut browser), Vec::<String>::new(), "{path}");
    }
}

/// Goes from the filter of URLs to a story, to a change, to its effect, and makes it, by the keyboard alone. The crawl has one URL with the path
/// `/gone`, which answered with an error. Leaves the browser at what the change has come to.
pub fn by_keyboard(ui: &Ui) -> Browser {
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/urls", DESKTOP, false);
    browser.key("Tab");
    assert_eq!(browser.value("document.activeElement.className"), "skip", "the first stop leads past the navigation");
    browser.tab_to("input[name=match]");
    browser.write("*/gone");
    browser.follow();
    assert_eq!(browser.value("document.querySelectorAll('tbody tr').length"), 1);
    browser.tab_to("a.url");
    browser.follow();
    assert!(browser.text(".story").contains("http_error"), "{}", browser.text(".story"));
    browser.tab_to("nav a[href='/steer']");
    browser.follow();
    browser.tab_to("form:has(input[value=exclude]) textarea");
    browser.write("*/gone");
    browser.tab_to("button");
    browser.follow();
    let effect = browser.text("main");
    assert!(effect.contains("it would concern 0 URLs in the queue"), "{effect}");
    assert_eq!(violations(&mut browser), Vec::<String>::new());
    browser.tab_to("main button");
    browser.follow();
    assert_eq!(violations(&mut browser), Vec::<String>::new());
    browser
}
