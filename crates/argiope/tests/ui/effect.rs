//! What a change affects, before it is made: an estimate of a large crawl, which the exact count replaces.

use std::path::Path;

use model::{Candidate, Via};
use store::{Batch, Store};
use store_embedded::{EmbeddedStore, Options};
use testkit::browser::Browser;
use testkit::crawled::Crawled;
use weburl::CanonicalUrl;

use crate::site::{crawled_with, shown};

/// URLs that wait, beside those of the small site: more than are counted at once, and than a page waits for.
const WAITING: u64 = 150_000;
/// URLs of one site. There are so many sites that a sample of any length has enough of them.
const OF_A_SITE: u64 = 2;
/// URLs of one commit.
const BATCH_URLS: u64 = 15_000;

/// A crawl in which one of two URLs of each site is a print version.
fn large() -> Crawled {
    let crawl = crawled_with(&["--scope", "any"]);
    let state = Path::new(crawl.dir()).join("state");
    let store = EmbeddedStore::open(&state, Options::default()).expect("the state of a crawl that rests");
    let url = |n: u64| {
        let (site, name) = (n / OF_A_SITE, if n.is_multiple_of(OF_A_SITE) { "print" } else { "page" });
        CanonicalUrl::from_canonical(&format!("http://site-{site}.test/{name}")).expect("a URL")
    };
    for from in (0..WAITING).step_by(usize::try_from(BATCH_URLS).expect("a size")) {
        let found =
            (from..from + BATCH_URLS).map(|n| Candidate { depth: 1, via: Via::Link, ..Candidate::seed(url(n)) });
        store.commit(&Batch { found: found.collect(), ..Batch::default() }).expect("a commit");
    }
    crawl
}

/// Asks what the exclusion of these URLs affects.
fn look(browser: &mut Browser, origin: &str, pattern: &str) -> String {
    browser.open(origin, "/steer", 1280, false);
    browser.value("document.querySelector('form:has(input[value=exclude]) textarea').focus()");
    browser.write(pattern);
    browser.click_through("form:has(input[value=exclude]) button");
    browser.text("#effect")
}

/// The estimate of URLs in the queue, and how far it may be from their number.
fn estimated(effect: &str) -> (u64, u64) {
    let words = effect.strip_prefix("An estimate: it would concern about ").expect(effect);
    let (about, rest) = words.split_once(" ± ").expect(effect);
    let error = rest.split(' ').next().expect(effect);
    (about.parse().expect(effect), error.parse().expect(effect))
}

#[test]
fn an_estimate_is_there_first_and_the_exact_count_replaces_it() {
    let crawl = large();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    let first = look(&mut browser, &ui.origin(), "*/print");
    let (about, error) = estimated(&first);
    let exact = WAITING / OF_A_SITE;
    assert!(about.abs_diff(exact) <= error + 10, "{about} ± {error}: {first}");
    assert!(first.contains("It has 95 % confidence") && first.contains("Look again"), "{first}");
    let sites = browser.text("#effect caption");
    assert_eq!(sites, "By site, estimated");
    browser.until("document.getElementById('effect').dataset.reread === undefined");
    let last = browser.text("#effect");
    assert!(last.starts_with(&format!("it would concern {exact} URLs in the queue")), "{last}");
    assert!(!last.contains("estimate") && !last.contains("about") && !last.contains("Look again"), "{last}");
    browser.assert_quiet();
    browser.click_through("main form button");
    assert!(browser.text("main").contains("exclude */print"), "{}", browser.text("main"));
    browser.assert_quiet();
    // The way back sends no form again.
    browser.navigate(|browser| drop(browser.value("history.back()")));
    assert!(browser.text("#effect").contains(" URLs in the queue"), "{}", browser.text("main"));
    browser.assert_quiet();
}

#[test]
fn without_scripts_the_count_is_looked_at_again() {
    let crawl = large();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.without_scripts();
    let mut effect = look(&mut browser, &ui.origin(), "*/print");
    estimated(&effect);
    // The answer waits for news, so this ends with the count.
    while effect.contains("Look again") {
        browser.click_through("#effect a[href^='/steer/answer']");
        effect = browser.text("#effect");
        browser.assert_quiet();
    }
    assert!(effect.starts_with(&format!("it would concern {} URLs in the queue", WAITING / OF_A_SITE)), "{effect}");
    // The next change that somebody looks at has a page of its own.
    let small = look(&mut browser, &ui.origin(), "*/none");
    assert!(small.contains("URLs in the queue"), "{small}");
    browser.assert_quiet();
}

#[test]
fn a_reader_at_a_link_stays_there_while_the_count_goes_on() {
    /// What the script gets waits until the test releases it.
    const HELD: &str = "window.released = new Promise((release) => { window.release = release; });
        const own = window.fetch;
        window.fetch = async (...given) => { await window.released; window.answer = await own(...given); return window.answer; };";
    let crawl = large();
    let ui = shown(&crawl);
    let mut browser = Browser::start();
    browser.call("Page.addScriptToEvaluateOnNewDocument", serde_json::json!({ "source": HELD }));
    look(&mut browser, &ui.origin(), "*/print");
    browser.value("document.querySelector('#effect a').focus()");
    browser.value("window.release()");
    browser.until("window.answer?.bodyUsed === true");
    browser.value("new Promise((over) => setTimeout(over, 300))");
    assert_eq!(browser.value("document.activeElement.closest('#effect') !== null"), true, "the focus is lost");
    browser.value("document.activeElement.blur()");
    browser.until("document.querySelector('#effect').dataset.reread === undefined");
    let effect = browser.text("#effect");
    assert!(effect.starts_with(&format!("it would concern {} URLs in the queue", WAITING / OF_A_SITE)), "{effect}");
    browser.assert_quiet();
}
