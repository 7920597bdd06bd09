//! Titles, texts, URLs and header fields of the web that would become markup, script or links.

use testkit::browser::Browser;

use crate::site::{HOSTILE_URL, SCREENS, crawled, shown};

/// What hostile content would add to a page: none of these are in a screen but the scripts and links of the interface itself.
const FOREIGN: &str = "[...document.querySelectorAll('img, iframe, object, embed, base, style, svg script, [onerror], [onmouseover]')].length
    + [...document.scripts].filter((it) => !['/ui.js', '/graph.js'].includes(it.getAttribute('src'))).length
    + [...document.links].filter((it) => !/^https?:$/.test(it.protocol)).length
    + (window.owned === undefined ? 0 : 1)";

#[test]
fn nothing_from_the_web_becomes_markup_script_or_link() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    for screen in SCREENS {
        browser.open(&ui.origin(), screen, 1280, false);
        assert_eq!(browser.value(FOREIGN), 0, "{screen}");
        // The policy has stopped nothing, since there was nothing to stop.
        browser.assert_quiet();
    }
    browser.open(&ui.origin(), "/urls", 1280, false);
    let text = browser.text("main");
    assert!(text.contains("<img src=x onerror=window.owned=2>"), "the title is shown as it is: {text}");
    assert!(text.contains("b?q="), "{HOSTILE_URL} is known: {text}");
}

#[test]
fn the_policy_holds_for_what_is_put_into_a_page_afterwards() {
    let crawl = crawled();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    for screen in ["/", "/report"] {
        browser.open(&ui.origin(), screen, 1280, false);
        let ran = browser.value(
            "(() => { const it = document.createElement('script'); it.textContent = 'window.owned = 8'; document.body.append(it);
              const image = document.createElement('img'); image.setAttribute('onerror', 'window.owned = 9'); image.src = 'data:,';
              document.body.append(image); return new Promise((done) => setTimeout(() => done(window.owned), 50)); })()",
        );
        assert!(ran.is_null(), "{screen}: {ran}");
    }
}
