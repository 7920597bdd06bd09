//! The page in a real browser: filled, sortable, safe, readable in the light, in the dark and on a phone.

use std::path::PathBuf;

use model::Outcome;
use report::html;
use serde_json::json;
use tempfile::TempDir;
use testkit::browser::Browser;

use crate::crawl::{Crawl, Page};
use crate::shown::HOSTILE;

const LIGHT: [u8; 3] = [0xff, 0xff, 0xff];
const DARK: [u8; 3] = [0x14, 0x17, 0x1a];
/// The first three colours of sites.
const COLOURS: [[u8; 3]; 3] = [[0x3a, 0x7f, 0xc4], [0xd9, 0x82, 0x2b], [0x3a, 0x9a, 0x5b]];

struct Report {
    path: PathBuf,
    _dir: TempDir,
}

fn report(crawl: &Crawl) -> Report {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("report.html");
    std::fs::write(&path, html(&crawl.statistics()).expect("a page")).expect("a file");
    Report { path, _dir: dir }
}

/// Five sites whose pages link within the site, to its start, and now and then to the next site.
fn sites() -> Crawl {
    let mut pages = Vec::new();
    for site in 0..5_u64 {
        let at = |page: u64| format!("http://site{site}.test/{page}");
        for page in 0..(60 - site * 10) {
            let mut links = vec![at(0), at(page / 3), at((page * 7 + 1) % 40)];
            if page % 10 == 0 {
                links.push(format!("http://site{}.test/0", (site + 1) % 5));
            }
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            let title = format!("Page {page} of site {site}");
            let after_seconds = page * 3 + site;
            let images = (usize::try_from(page % 5).expect("few"), 0);
            pages.push(
                Page { after_seconds, images, depth: 1 + u32::from(page > 9), ..Page::html(&at(page), &links) }
                    .titled(&title),
            );
        }
        pages.push(Page::new(&at(1000), Outcome::HttpError, 404, Some("text/html")));
        pages.push(Page { kind: "pdf", ..Page::new(&at(1001), Outcome::Binary, 200, Some("application/pdf")) });
        pages.push(Page::new(&at(1002), Outcome::Disallowed, 0, None));
    }
    Crawl::of(&["http://site0.test/0"], &pages)
}

/// The first column of a table, as shown.
fn column(browser: &mut Browser, table: &str, column: u32) -> Vec<String> {
    let cells =
        format!("[...document.querySelectorAll('#{table} tbody td:nth-child({column})')].map((it) => it.innerText)");
    let cells = browser.value(&cells);
    cells.as_array().expect("cells").iter().map(|cell| cell.as_str().expect("a text").to_owned()).collect()
}

fn order(browser: &mut Browser, table: &str, column: u32) -> String {
    let order = format!("document.querySelector('#{table} th:nth-child({column})').getAttribute('aria-sort')");
    browser.value(&order).as_str().expect("an order").to_owned()
}

#[test]
fn the_tables_are_filled_and_sort_by_click_and_by_key() {
    let (mut browser, report) = (Browser::start(), report(&sites()));
    browser.show(&report.path, 1200, false);
    let overview = browser.text("#overview table");
    assert!(overview.lines().any(|line| line.split_whitespace().eq(["HTML", "pages", "60", "200"])), "{overview}");
    for table in [
        "sites",
        "types",
        "errors-by-kind",
        "errors-by-site",
        "disallowed-by-site",
        "binary-by-type",
        "images",
        "links",
    ] {
        assert!(!column(&mut browser, table, 1).is_empty(), "{table}");
    }
    let ranked: Vec<String> = (0..5).map(|site| format!("http://site{site}.test")).collect();
    let reversed: Vec<String> = ranked.iter().rev().cloned().collect();
    assert_eq!(column(&mut browser, "sites", 1), ranked);
    assert_eq!(order(&mut browser, "sites", 3), "none");
    browser.click("#sites th:nth-child(3) button");
    assert_eq!((order(&mut browser, "sites", 3), column(&mut browser, "sites", 1)), ("descending".to_owned(), ranked));
    browser.value("document.querySelector('#sites th:nth-child(3) button').focus()");
    browser.key("Enter");
    assert_eq!(
        (order(&mut browser, "sites", 3), column(&mut browser, "sites", 1)),
        ("ascending".to_owned(), reversed.clone())
    );
    browser.click("#sites th:nth-child(1) button");
    browser.click("#sites th:nth-child(1) button");
    assert_eq!(
        (order(&mut browser, "sites", 1), order(&mut browser, "sites", 3)),
        ("descending".to_owned(), "none".to_owned())
    );
    assert_eq!(column(&mut browser, "sites", 1), reversed);
    assert_eq!(column(&mut browser, "most-linked", 1).len(), 25);
    browser.click("#most-linked .more");
    assert!(column(&mut browser, "most-linked", 1).len() > 100);
    browser.assert_quiet();
}

#[test]
fn charts_say_in_words_what_they_show() {
    let (mut browser, report) = (Browser::start(), report(&sites()));
    browser.show(&report.path, 1200, false);
    let labels =
        browser.value("[...document.querySelectorAll('svg[role=img]')].map((it) => it.getAttribute('aria-label'))");
    let labels: Vec<&str> = labels.as_array().expect("labels").iter().filter_map(|label| label.as_str()).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert!(labels[0].starts_with("Pages a second from 2027-01-15T08:00:00"), "{labels:?}");
    assert!(labels.iter().any(|label| label.starts_with("Pages by type: html 200, ")), "{labels:?}");
    assert!(browser.value("document.querySelectorAll('#speed rect').length").as_u64() > Some(50));
}

#[test]
fn the_picture_is_looked_at_with_mouse_keys_and_search() {
    let (mut browser, report) = (Browser::start(), report(&sites()));
    browser.show(&report.path, 1200, false);
    assert_eq!(column(&mut browser, "picture", 1).len(), 25);
    browser.value("document.querySelector('canvas').focus()");
    browser.key("ArrowRight");
    let about = browser.text(".about");
    assert!(
        about.contains("Page 0 of site 0")
            && about.contains("http://site0.test/0")
            && about.contains("pages link to it"),
        "{about}"
    );
    browser.key("Escape");
    assert!(browser.text(".about").starts_with("Point at a page"));
    // Where the first page is drawn: its place in the data, within the padding.
    let [left, top, width, height] = browser.place("canvas");
    let point = browser.value("(() => { const page = JSON.parse(document.getElementById('data').textContent).picture.pages[0]; return [page.x, page.y]; })()");
    let at = |share: f64, size: f64| 28.0 + share * (size - 56.0);
    let (x, y) = (left + at(point[0].as_f64().expect("x"), width), top + at(point[1].as_f64().expect("y"), height));
    browser.mouse("mouseMoved", x, y, json!({}));
    assert!(browser.text(".about").starts_with("Page 0 of site 0"), "{}", browser.text(".about"));
    browser.shot("picture-hover");
    // The wheel zooms on the point below it, which stays where it is; dragging moves everything.
    browser.mouse("mouseWheel", x, y, json!({ "deltaX": 0, "deltaY": -600 }));
    browser.mouse("mouseMoved", x, y, json!({}));
    assert!(browser.text(".about").starts_with("Page 0 of site 0"), "after zooming");
    assert_eq!(browser.value("document.querySelector('canvas').className"), "zoomed");
    browser.shot("picture-zoomed");
    let (to_x, to_y) = (left + width / 2.0 + 60.0, top + height / 2.0 + 40.0);
    browser.mouse("mousePressed", to_x - 60.0, to_y - 40.0, json!({ "button": "left", "clickCount": 1 }));
    browser.mouse("mouseMoved", to_x, to_y, json!({ "button": "left", "buttons": 1 }));
    browser.mouse("mouseReleased", to_x, to_y, json!({ "button": "left", "clickCount": 1 }));
    browser.mouse("mouseMoved", x + 60.0, y + 40.0, json!({}));
    assert!(browser.text(".about").starts_with("Page 0 of site 0"), "after dragging: {}", browser.text(".about"));
    browser.click("#picture .tools button:nth-of-type(3)");
    assert_eq!(browser.value("document.querySelector('canvas').className"), "");
    browser.value("document.querySelector('#picture input').focus()");
    browser.write("SITE2.test/0");
    assert!(browser.text("#picture .tools").contains("1 of 100"), "{}", browser.text("#picture .tools"));
    assert!(browser.text(".about").starts_with("Page 0 of site 2"), "the only match is shown");
    browser.shot("picture-search");
    browser.assert_quiet();
}

#[test]
fn light_dark_and_narrow() {
    let (mut browser, report) = (Browser::start(), report(&sites()));
    for (name, width, dark, back) in [
        ("light", 1200, false, LIGHT),
        ("dark", 1200, true, DARK),
        ("phone", 390, false, LIGHT),
        ("phone-dark", 360, true, DARK),
    ] {
        browser.show(&report.path, width, dark);
        let shot = browser.shot(name);
        assert_eq!(shot.width, width, "{name}");
        let whole = [0, 0, shot.width, shot.height];
        let share = shot.share(back, whole);
        assert!((0.5..0.99).contains(&share), "{name}: the background is {share} of the top of the page");
        let wide = browser.value("document.documentElement.scrollWidth").as_u64().expect("a width");
        assert!(wide <= u64::from(width), "{name}: the page is {wide} wide");
        let [left, top, box_width, box_height] = browser.place("canvas");
        browser.settle();
        let shot = browser.shot(&format!("{name}-picture"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of the window")]
        let region = [left.max(0.0), top.max(0.0), box_width, box_height].map(|value| value as u32);
        assert!(shot.share(back, region) > 0.3, "{name}");
        for colour in COLOURS {
            assert!(shot.share(colour, region) > 0.001, "{name}: {colour:?} is in the picture");
        }
        browser.assert_quiet();
        for section in ["speed", "types", "sites", "most-linked"] {
            browser.place(&format!("#{section}"));
            browser.settle();
            browser.shot(&format!("{name}-{section}"));
        }
    }
}

#[test]
fn hostile_titles_and_urls_stay_text() {
    let links = ["http://a.test/b", "http://a.test/?<img src=x onerror=alert(1)>"];
    let crawl = Crawl::of(
        &["http://a.test/"],
        &[
            Page::html("http://a.test/", &links).titled(HOSTILE),
            Page::html("http://a.test/b", &["http://a.test/", links[1]]).titled("javascript:document.title='owned'"),
            Page::html(links[1], &["http://a.test/"]).titled("{{script}}${alert(1)}\u{2028}\"'`"),
            Page::new("http://a.test/c", Outcome::Binary, 200, Some("a/b<img src=x onerror=alert(1)>")),
        ],
    );
    let report = report(&crawl);
    let mut browser = Browser::start();
    browser.show(&report.path, 1200, false);
    assert_eq!(browser.value("document.title"), "Crawl report");
    assert_eq!(browser.value("document.querySelectorAll('img, iframe, object, embed, form, base').length"), 0);
    assert_eq!(browser.value("document.scripts.length"), 2);
    assert_eq!(browser.value("[...document.links].filter((it) => !/^(https?:|file:.*#)/.test(it.href)).length"), 0);
    assert_eq!(
        browser.value("[...document.links].filter((it) => /^http/.test(it.href) && it.rel !== 'noopener noreferrer nofollow').length"),
        0
    );
    let titles = column(&mut browser, "most-linked", 3);
    assert!(titles.iter().any(|title| title.starts_with("</script><img src=x onerror=")), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("{{script}}${alert(1)}")), "{titles:?}");
    browser.assert_quiet();
    // The policy holds even for what is put into the page afterwards.
    let ran = browser.value(
        "(() => { const it = document.createElement('script'); it.textContent = 'window.owned = 1'; document.body.append(it);
          return window.owned === undefined && !document.querySelector('[onerror]'); })()",
    );
    assert_eq!(ran, true);
    let page = std::fs::read_to_string(&report.path).expect("a page");
    assert!(!page.contains("unsafe-inline") && !page.contains("unsafe-eval"));
}

#[test]
fn a_crawl_of_nothing_has_a_page() {
    let report = report(&Crawl::of(&[], &[]));
    let mut browser = Browser::start();
    browser.show(&report.path, 390, false);
    assert!(browser.text("header").contains("No seeds: nothing was crawled."));
    assert_eq!(browser.value("document.documentElement.dataset.ready"), "yes");
    browser.assert_quiet();
    browser.shot("empty");
}
