//! Several crawls on one page: each row leads to its crawl, and shows its end.

use std::path::Path;

use testkit::axe::violations;
use testkit::browser::Browser;
use testkit::endless::Endless;
use testkit::screens::{DESKTOP, PHONE, assert_usable, assert_walkable};
use testkit::ui::Ui;

use crate::site::crawled;

/// The state in the row of a crawl.
fn state(browser: &mut Browser, number: usize) -> String {
    browser.text(&format!("#crawls tbody tr:nth-child({number}) td:nth-child(2)"))
}

#[test]
fn each_row_leads_to_its_crawl_and_back() {
    let (rests, mut runs) = (crawled(), Endless::start());
    let dirs = [Path::new(rests.dir()).to_owned(), runs.dir().to_owned()];
    let ui = Ui::start_all(&[&dirs[0], &dirs[1]]);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    assert_eq!(state(&mut browser, 1), "finished");
    assert!(state(&mut browser, 2).starts_with("running"), "{}", state(&mut browser, 2));
    assert_eq!(violations(&mut browser), Vec::<String>::new());
    for (number, dir, seed) in [(1, &dirs[0], "http://ui.test/"), (2, &dirs[1], "http://endless.test/")] {
        let row = format!("#crawls tbody tr:nth-child({number}) a");
        assert_eq!(browser.text(&row), dir.display().to_string());
        browser.click_through(&row);
        assert_eq!(browser.text("h1"), dir.display().to_string());
        assert!(browser.text("#rest").contains(seed), "{}", browser.text("#rest"));
        browser.assert_quiet();
        // A screen of that crawl, and not of the other.
        browser.click_through(&format!("nav a[href='/{number}/urls']"));
        let urls = browser.text("main tbody");
        assert!(urls.lines().all(|line| !line.contains("http://") || line.contains(seed)), "{urls}");
        assert!(urls.contains(seed), "{urls}");
        browser.assert_quiet();
        browser.click_through("nav a[href='/']");
        assert_eq!(browser.text("h1"), "Crawls");
        browser.assert_quiet();
    }
    // The overview of a crawl that ends loads itself again.
    browser.click_through("#crawls tbody tr:nth-child(2) a");
    assert!(browser.text(".state").starts_with("A crawl is running."), "{}", browser.text(".state"));
    browser.navigate(|_| runs.end());
    assert!(browser.text(".state").starts_with("Finished"), "{}", browser.text(".state"));
    browser.assert_quiet();
}

#[test]
fn several_crawls_can_be_used_by_everybody() {
    let (rests, mut runs) = (crawled(), Endless::start());
    let dirs = [Path::new(rests.dir()).to_owned(), runs.dir().to_owned()];
    let ui = Ui::start_all(&[&dirs[0], &dirs[1]]);
    let screens = ["/", "/1", "/2", "/1/urls", "/2/steer"];
    for (width, dark) in [(PHONE, false), (PHONE, true), (DESKTOP, true)] {
        assert_usable(&ui, &screens, width, dark);
    }
    assert_walkable(&ui, &["/", "/1", "/1/urls"]);
    runs.end();
}

#[test]
fn a_row_shows_the_end_of_its_crawl() {
    let [mut one, mut two] = [Endless::start(), Endless::start()];
    let ui = Ui::start_all(&[one.dir(), two.dir()]);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", 1280, false);
    assert!(state(&mut browser, 1).starts_with("running"), "{}", state(&mut browser, 1));
    one.end();
    browser.until("document.querySelector('#crawls tbody tr td:nth-child(2)').innerText === 'finished'");
    assert!(state(&mut browser, 2).starts_with("running"), "{}", state(&mut browser, 2));
    browser.assert_quiet();
    // Without scripts the page shows it when it is opened again.
    let mut plain = Browser::start();
    plain.without_scripts();
    plain.open(&ui.origin(), "/", 1280, false);
    assert!(state(&mut plain, 1) == "finished" && state(&mut plain, 2).starts_with("running"));
    two.end();
    plain.open(&ui.origin(), "/", 1280, false);
    assert_eq!(state(&mut plain, 2), "finished");
    plain.click_through("a[href='/2']");
    assert!(plain.text(".state").starts_with("Finished"), "{}", plain.text(".state"));
    plain.assert_quiet();
}

#[test]
fn a_reader_who_comes_to_a_row_stays_there_and_the_rows_are_requested_once_at_a_time() {
    /// Counts the requests of the script, and holds their answers until the test releases them.
    const HELD: &str = "window.asked = 0; window.released = new Promise((release) => { window.release = release; });
        const own = window.fetch;
        window.fetch = async (...given) => {
            window.asked += 1;
            await window.released;
            window.answer = await own(...given);
            return window.answer;
        };";
    /// The script requests the rows again within this time, if at all.
    const A_WHILE: &str = "new Promise((over) => setTimeout(() => over(window.asked), 6000))";
    let (one, other) = (crawled(), crawled());
    let ui = Ui::start_all(&[Path::new(one.dir()), Path::new(other.dir())]);
    let mut browser = Browser::start();
    browser.call("Page.addScriptToEvaluateOnNewDocument", serde_json::json!({ "source": HELD }));
    browser.open(&ui.origin(), "/", 1280, false);
    browser.until("window.asked === 1");
    assert_eq!(browser.value(A_WHILE), 1);
    browser.value("document.querySelector('#crawls tbody a').focus()");
    browser.value("window.release()");
    browser.until("window.answer?.bodyUsed === true");
    browser.value("new Promise((over) => setTimeout(over, 300))");
    assert_eq!(browser.value("document.activeElement.closest('#crawls') !== null"), true, "the focus is lost");
    browser.assert_quiet();
}
