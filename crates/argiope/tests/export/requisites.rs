//! `--requisites`: pages of every kind of furniture are archived without a browser, and replay as they were.

use std::collections::BTreeMap;

use testkit::crawled::Crawled;
use testkit::pywb::{Pywb, get};
use testweb::furnished::{self, File};

/// How often each URL was requested.
fn requested(crawled: &Crawled) -> BTreeMap<String, usize> {
    let mut requested = BTreeMap::new();
    for entry in crawled.log() {
        *requested.entry(format!("http://{}{}", entry.host, entry.target)).or_default() += 1;
    }
    requested
}

#[test]
fn all_that_pages_need_is_fetched_once_and_replays_byte_for_byte() {
    let crawled = Crawled::of(furnished::web(), "http://furnished.test/", &["--requisites"]);
    let requested = requested(&crawled);
    let files = furnished::files();
    for File { url, .. } in &files {
        assert_eq!(requested.get(url), Some(&1), "{url}");
    }
    let known = |url: &str| {
        let is_page = furnished::PAGES.iter().any(|path| *url == format!("http://furnished.test{path}"));
        is_page || url == furnished::MOVED || url.ends_with("/robots.txt") || url.ends_with("/sitemap.xml")
    };
    let others: Vec<&String> =
        requested.keys().filter(|url| !known(url) && !files.iter().any(|file| file.url == **url)).collect();
    assert!(others.is_empty(), "{others:?}");

    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    let ran = crawled.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let pywb = Pywb::serve(dir.path(), &wacz);
    for File { url, media_type, body } in files {
        let (status, head, replayed) = get(pywb.port, &format!("/it/2030id_/{url}"));
        assert_eq!(status, "200", "{url}: {head}");
        assert!(head.contains(&format!("content-type: {media_type}")), "{url}: {head}");
        assert!(replayed == body, "{url}: {} bytes of {}", replayed.len(), body.len());
    }
    assert_eq!(get(pywb.port, &format!("/it/2030id_/{}", furnished::MOVED)).0, "301");
}
