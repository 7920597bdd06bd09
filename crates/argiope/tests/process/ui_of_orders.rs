//! Tables of more rows than an answer looks at, in any order, asked over HTTP.

use std::path::Path;

use crawl::CrawlDir;
use model::{Candidate, SiteRecord};
use store::Batch;
use testkit::ui::Ui;
use weburl::CanonicalUrl;

use crate::served::Served;
use crate::ui::{crawled, web};

/// URLs and sites beside those of the web: more than an answer looks at, and more URLs than are kept in an order.
const URLS: usize = 12_000;
const SITES: usize = 6_000;

fn large(served: &Served, dir: &Path) {
    crawled(served, dir);
    let held = CrawlDir::existing(dir).unwrap();
    let store = held.open_store(&held.options().unwrap()).unwrap();
    let url = |text: String| CanonicalUrl::from_canonical(&text).unwrap();
    let found = (0..URLS).map(|n| Candidate::seed(url(format!("http://ui.test/more/{n:05}")))).collect();
    let site = |n| SiteRecord { pages_fetched: n, ..SiteRecord::new(url(format!("http://s{n:04}.test/")).site()) };
    let sites = (0..SITES as u64).map(site).collect();
    store.commit(&Batch { found, sites, ..Batch::default() }).unwrap();
}

/// A page of a table when it is sorted.
fn sorted(ui: &Ui, path: &str) -> String {
    loop {
        let page = ui.page(path);
        if !page.contains("id=\"awaited\"") {
            return page;
        }
        assert!(page.contains(" looked at so far, ") && !page.contains("No URL."), "{page}");
    }
}

/// The texts of the first cells of a table.
fn first_cells(page: &str) -> Vec<&str> {
    let rows = page.split_once("<tbody>").unwrap().1.split("<tr>").skip(1);
    rows.map(|row| row.split_once("\">").unwrap().1.split_once("</a>").unwrap().0).collect()
}

#[test]
fn tables_are_sorted_however_many_rows_are_looked_at() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    large(&served, &dir);
    let ui = Ui::start(&dir);

    // A few rows among many.
    for linked in ["", "&linked=yes"] {
        let few = sorted(&ui, &format!("/urls?depth=1&sort=-url{linked}"));
        assert!(few.contains("3 URLs by url. "), "{few}");
        assert_eq!(first_cells(&few), ["http://ui.test/gone", "http://ui.test/b/2?q=%3Cb%3E", "http://ui.test/a/1"]);
        assert_eq!(few.contains("<th>Linked from</th>"), !linked.is_empty());
    }
    // More than are kept: the first ones, page by page.
    let first = sorted(&ui, "/urls?sort=-url");
    assert!(
        first.contains("12004 URLs by url, 1 to 100. ") && first.contains("The first 10000 can be seen."),
        "{first}"
    );
    assert_eq!(first_cells(&first)[..2], ["http://ui.test/more/11999", "http://ui.test/more/11998"]);
    let second = sorted(&ui, "/urls?sort=-url&behind=100");
    assert!(second.contains(", 101 to 200. ") && first_cells(&second)[0] == "http://ui.test/more/11899", "{second}");
    let last = sorted(&ui, "/urls?sort=-url&behind=9900");
    assert!(last.contains(", 9901 to 10000. ") && !last.contains("Next page"), "{last}");

    let by_pages = sorted(&ui, "/sites?sort=pages");
    assert_eq!(first_cells(&by_pages)[..2], ["http://s5999.test", "http://s5998.test"]);
    let next = sorted(&ui, "/sites?sort=pages&behind=100");
    assert!(next.contains(", 101 to 200") && first_cells(&next)[0] == "http://s5899.test", "{next}");
    let named = sorted(&ui, "/sites?name=S123&sort=name");
    assert!(named.contains("10 sites</p>"), "{named}");
    assert_eq!(first_cells(&named), (0..10).map(|n| format!("http://s123{n}.test")).collect::<Vec<_>>());
    let by_state = sorted(&ui, "/sites?name=ui.t&sort=state");
    assert_eq!(first_cells(&by_state), ["http://ui.test"]);
}
