//! Sitemaps: read for seeds that go as deep as the crawl goes, and not for those with a depth of their own.

use std::fmt::Write;

use serde_json::json;
use testdb::until;
use testweb::{Pages, Reply, Web};

use crate::lab::{Lab, Laid};

/// Pages that nothing but the sitemap leads to.
const LISTED: usize = 58;

/// A site of so many pages, and of two that are linked to.
fn site(host: &str) -> Pages {
    let mut map = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">".to_owned();
    let mut pages = Pages::new()
        .text("/robots.txt", format!("User-agent: *\nAllow: /\nSitemap: http://{host}/map.xml\n"))
        .html("/", "<a href=/linked>linked</a>")
        .html("/linked", "linked");
    for page in 0..LISTED {
        write!(map, "<url><loc>http://{host}/{page}</loc></url>").expect("a string");
        pages = pages.html(format!("/{page}"), format!("page {page}"));
    }
    pages.reply("/map.xml", Reply::new(200).header("Content-Type", "application/xml").body(map + "</urlset>"))
}

fn web() -> Laid {
    let hosts = ["one.test", "two.test", "three.test"];
    Laid::of(hosts.into_iter().fold(Web::new(), |web, host| web.site(host, site(host))))
}

#[test]
fn a_crawl_reads_sitemaps_unless_a_depth_is_given() {
    let lab = Lab::with_sitemaps(web(), &[]);
    let _worker = lab.worker();
    let maps_read = || lab.web.log().iter().filter(|entry| entry.target == "/map.xml").count();
    let all = json!(LISTED + 2);
    assert_eq!(lab.served.asked(&["crawl", "http://one.test/"])["fetched"], all, "as by one process");
    assert_eq!(maps_read(), 1);
    let site = |host: &str| format!("argiope.site WHERE site = 'http://{host}'");
    assert_eq!(lab.number(&format!("SELECT sitemaps_read FROM {}", site("one.test"))), 1);

    // A depth of its own: links and nothing else.
    for (depth, fetched) in [(0, 1), (1, 2), (5, 2)] {
        assert_eq!(lab.served.crawl("http://two.test/", depth)["fetched"], json!(fetched), "depth {depth}");
    }
    assert_eq!(maps_read(), 1);
    // The site's robots.txt is known by now, and its queue is empty.
    lab.served.add("http://two.test/");
    until("the sitemap is read", || {
        lab.pages().len() == 2 * (LISTED + 2) && lab.served.asked(&["stats"])["waiting"] == 0
    });
    assert_eq!(maps_read(), 2);
    assert_eq!(lab.served.asked(&["crawl", "http://two.test/"])["fetched"], all, "sitemaps are no pages");
    let owner = lab.served.asked(&["workers"])["workers"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(lab.served.asked(&["domains", &owner])["domains"][0]["fetched"], all);
    assert_eq!(lab.served.crawl("http://three.test/", 0)["fetched"], 1);
    assert_eq!(maps_read(), 2);
}

#[test]
fn a_server_with_a_depth_reads_no_sitemaps() {
    for (arguments, expect) in [
        (&["--depth", "3"][..], "sitemaps = false"),
        (&["--depth", "3", "--sitemaps"], "sitemaps = true"),
        (&["--no-sitemaps"], "sitemaps = false"),
    ] {
        let lab = Lab::with_sitemaps(web(), arguments);
        let settings: String = lab.query("SELECT settings FROM argiope.crawl")[0].get(0);
        assert!(settings.lines().any(|line| line == expect), "{arguments:?}: {settings}");
    }
}
