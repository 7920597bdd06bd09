//! Sitemaps far past their limits.

use testweb::hostile::SITEMAP_BOMB_HOST;
use testweb::{Pages, Web};

use super::{crawl, sandbox};
use crate::crawl::{Crawl, Found, outcome, serve};

async fn bombed(options: &[&str]) -> Found {
    let server = sandbox().await;
    let seed = format!("http://{SITEMAP_BOMB_HOST}/");
    crawl(Crawl::of(&server, &[&seed]).with(options)).await
}

fn count(found: &Found, prefix: &str, wanted: &str) -> usize {
    let entries = found.pages.iter().chain(&found.sitemaps);
    let prefix = format!("http://{SITEMAP_BOMB_HOST}{prefix}");
    entries.filter(|(url, entry)| url.starts_with(&prefix) && outcome(entry) == wanted).count()
}

/// The first so many entries of each sitemap count: the index has 100,000, the list 1,000,000, the bomb the same one
/// again and again.
#[tokio::test(flavor = "multi_thread")]
async fn entries_and_nesting_are_bounded() {
    let found = bombed(&["--max-sitemap-entries", "60"]).await;
    assert_eq!(count(&found, "/child/", "binary"), 60);
    assert_eq!(count(&found, "/page/", "html"), 60);
    assert_eq!(count(&found, "/again.html", "html"), 1);
    assert_eq!(count(&found, "/nested/", "binary"), 4, "three indexes above a sitemap");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sitemaps_of_a_site_are_bounded() {
    let found = bombed(&["--max-sitemap-entries", "60", "--max-sitemaps-per-site", "10"]).await;
    let read = found.sitemaps.values().filter(|entry| outcome(entry) == "binary").count();
    assert_eq!(read, 10);
    let told = found
        .sitemaps
        .values()
        .filter_map(|entry| entry.visit.as_ref())
        .filter(|visit| visit.reason == "more than 10 sitemaps");
    assert_eq!(told.count(), found.sitemaps.len() - 10);
}

/// A server that answers with its login page whatever it is asked for. The page is in the crawl, however often it answered for sitemaps before.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_no_duplicate_of_an_answer_for_a_sitemap() {
    const LOGIN: &str = "<title>Log in</title><p>Log in with many words.";
    let robots = "Sitemap: http://soft.test/a.xml\nSitemap: http://soft.test/b.xml\n";
    let pages = Pages::new().text("/robots.txt", robots);
    let pages = ["/a.xml", "/b.xml", "/login"].into_iter().fold(pages, |pages, path| pages.html(path, LOGIN));
    // The sitemaps come first, since the way to the page is long.
    let next = |n: u32| if n < 9 { format!("<a href=/{}>on</a>", n + 1) } else { "<a href=/login>in</a>".to_owned() };
    let pages = (0..10).fold(pages, |pages, n| pages.html(format!("/{n}"), next(n)));
    let server = serve(Web::new().site("soft.test", pages)).await;
    let found = crawl(Crawl::of(&server, &["http://soft.test/0"])).await;
    assert_eq!(outcome(&found.pages["http://soft.test/login"]), "html");
    let mut of_sitemaps: Vec<_> = found.sitemaps.values().map(outcome).collect();
    of_sitemaps.sort();
    assert_eq!(of_sitemaps, ["binary", "duplicate"], "two answers for sitemaps are one content");
}
