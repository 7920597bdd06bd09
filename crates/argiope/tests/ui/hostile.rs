//! Titles, texts, URLs and header fields of the web that would become markup, script or links.

use testkit::browser::Browser;
use testkit::screens::assert_unowned;

use crate::site::{crawled, crawled_two, screens, shown};

#[test]
fn nothing_from_the_web_becomes_markup_script_or_link() {
    let crawl = crawled_two();
    let ui = shown(&crawl);
    assert_unowned(&ui, &screens(&ui));
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/urls", 1280, false);
    let text = browser.text("main");
    assert!(text.contains("<img src=x onerror=window.owned=2>"), "the title is shown as it is: {text}");
    assert!(text.contains("b?q="), "the hostile URL is known: {text}");
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
