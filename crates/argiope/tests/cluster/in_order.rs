//! The URLs of a server in the order of a column, by the API, by `argiope client urls` and in the table of the interface.

use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use testdb::{Postgres, until};
use testkit::ui::Ui;

use crate::served::Served;

/// URLs of the crawl: more than an answer looks at, and more than are kept in an order.
const URLS: usize = 10_050;
/// URLs of an order that can be asked for.
const KEPT: usize = 10_000;

/// A server of a crawl with so many URLs, which wait. Every fifth one is of another site.
fn waiting() -> (Postgres, Served) {
    let database = Postgres::start();
    let served = Served::first(&database, &[]);
    served.add_all(&urls());
    (database, served)
}

/// The URLs in their order.
fn urls() -> Vec<String> {
    let mut urls: Vec<String> =
        (0..URLS).map(|n| format!("http://{}.test/{n:05}", if n % 5 == 0 { "b" } else { "a" })).collect();
    urls.sort();
    urls
}

fn listed(answer: &Value) -> Vec<&str> {
    let urls = answer["urls"].as_array().expect("URLs");
    urls.iter().map(|url| url["url"].as_str().expect("a URL")).collect()
}

/// The address of the next page.
fn next(page: &str) -> Option<String> {
    let (_, rest) = page.split_once("rel=\"next\" href=\"")?;
    rest.split('"').next().map(|link| link.replace("&amp;", "&"))
}

#[test]
fn the_first_urls_of_an_order_are_the_same_everywhere() {
    let (_database, served) = waiting();
    let all = urls();
    let backwards: Vec<&str> = all.iter().rev().map(String::as_str).collect();

    // The command waits until all URLs were looked at.
    let told = served.asked(&["urls", "--order", "-url", "--limit", "20000"]);
    assert_eq!(listed(&told), backwards[..KEPT]);
    let in_order = json!({"complete": true, "looked_at": 0, "found": URLS, "kept": KEPT});
    assert_eq!((&told["in_order"], &told["next"]), (&in_order, &json!("")));
    let words = served.client(&["urls", "--order=-url", "--limit", "2"]).stdout;
    let [one, two] = [backwards[0], backwards[1]].map(|url| format!("{:>16}  {url}\n", "waiting"));
    assert_eq!(words, format!("{one}{two}2 URLs of 10050; the first 10000 can be shown\n"));

    // Pages of the API, by how many are before them.
    let page = |behind: usize| {
        let request = json!({"order": "-url", "behind": behind, "limit": 7});
        let (status, page) = served.post("Urls", &request);
        assert_eq!(status, 200, "{page}");
        listed(&page).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!([page(0), page(4_998)].concat(), [&backwards[..7], &backwards[4_998..5_005]].concat());
    assert_eq!(page(KEPT - 2), backwards[KEPT - 2..KEPT]);
    assert_eq!(page(KEPT), Vec::<String>::new());

    // The table of the interface, by its links.
    let ui = Ui::start_with(&[&served.clients]);
    let table = "/urls?sort=-url&site=a.test";
    until("the table to be sorted", || !ui.page(table).contains("id=\"awaited\""));
    let of_site: Vec<&str> = backwards.iter().copied().filter(|url| url.starts_with("http://a.test/")).collect();
    let first = ui.page(table);
    assert!(first.contains(&format!("{} URLs by url, 1 to 100. ", of_site.len())), "{first}");
    assert!(first.contains("aria-sort=\"descending\"") && first.contains(of_site[99]), "{first}");
    assert!(!first.contains(of_site[100]), "{first}");
    let second = ui.page(&next(&first).expect("a next page"));
    assert!(second.contains(of_site[100]) && !second.contains(of_site[99]), "{second}");
    // A file has all of them, in the order of sites.
    assert_eq!(ui.page("/urls.csv?sort=-url&site=b.test").lines().count(), 1 + URLS.div_ceil(5));
}

#[test]
fn a_url_is_found_by_its_key_and_wrong_requests_are_refused() {
    let (_database, served) = waiting();
    let url = "http://a.test/00001";
    // The SHA-1 of the URL with its port, as the table `crawl` of a key-value store has it.
    let digest = Sha1::digest(b"http://a.test:80/00001");
    let sha1: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let ui = Ui::start_with(&[&served.clients]);
    for key in [sha1.as_str(), &sha1[..8]] {
        let found = served.asked(&["urls", "--key", key]);
        assert_eq!(listed(&found), [url], "{key}");
        // The page may have to look on.
        let mut page = ui.page(&format!("/urls?key={key}"));
        while let Some(next) = next(&page).filter(|_| !page.contains(&format!(">{url}</a>"))) {
            page = ui.page(&next);
        }
        assert!(page.contains(&format!(">{url}</a>")), "{page}");
    }
    for (request, why) in [
        (json!({"order": "weight"}), "the order: `weight` is no order of URLs; possible are url, state, "),
        (json!({"order": "url", "after": url}), "after: in an order, `behind` counts the URLs before a page"),
        (json!({"behind": 1}), "behind: it counts URLs of an order, and there is none"),
        (json!({"key": "xyz"}), "the key: "),
    ] {
        let (status, refused) = served.post("Urls", &request);
        let said = refused["error"].as_str().expect("a message");
        assert!(status == 400 && said.starts_with(why), "{request}: {status} {said}");
    }
    let ran = served.client(&["urls", "--order", "size", "--after", url]);
    assert!(ran.code == 2 && ran.stderr.contains("cannot be used with '--after <URL>'"), "{ran:?}");
}
