//! What sitemaps and feeds say of known pages stays with the visits before, and their lists are read again.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{Announced, Timestamp};
use testweb::{Reply, Request, Web};

use crate::again::{Says, Site, ask, run, visits};
use crate::binary::BINARY;
use crate::served::Served;

const FEED: &str = "http://one.test/feed";

/// A sitemap and a feed, each with a date for one page.
fn set_lists(site: &Site, sitemap: (&str, &str), feed: (&str, &str)) {
    let entry =
        |page: &str, date: &str| format!("<url><loc>http://one.test{page}</loc><lastmod>{date}</lastmod></url>");
    let entries = entry("/2", "2025-01-01") + &entry(sitemap.0, sitemap.1);
    site.set("/sitemap.xml", Says::Nothing, &format!("<urlset>{entries}</urlset>"));
    let item = format!("<item><link>http://one.test{}</link><pubDate>{}</pubDate></item>", feed.0, feed.1);
    site.set("/feed", Says::Nothing, &format!("<rss><channel>{item}</channel></rss>"));
}

fn announced(dir: &Path, page: &str) -> Vec<Announced> {
    visits(dir)[&format!("http://one.test/{page}")].iter().map(|visit| visit.announced).collect()
}

/// A round, or the first, with the sitemaps that robots.txt names.
fn round(served: &Served, dir: &Path, more: &[&str]) {
    let mut command = Command::new(BINARY);
    command.args(["crawl", "--progress", "none", "--delay", "0", "--ip-delay", "0"]);
    run(command.args(served.flags()).args(more).arg("-o").arg(dir)).expect_code(0);
}

#[test]
fn what_is_said_of_a_page_stays_with_the_visit_before() {
    let site = Site::new(Says::Nothing, 3);
    site.set("/robots.txt", Says::Nothing, &format!("Sitemap: http://one.test/sitemap.xml\nSitemap: {FEED}"));
    set_lists(&site, ("/1", "2025-01-01"), ("/0", "Wed, 01 Jan 2025 00:00:00 GMT"));
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    round(&served, &dir, &["http://one.test/"]);
    assert_eq!(announced(&dir, "1"), [Announced::default()], "it was said before the visit");

    let visited_at = visits(&dir)["http://one.test/1"][0].at;
    let date = (visited_at + Duration::from_secs(1)).to_rfc3339();
    set_lists(&site, ("/1", &date), ("/1", &date));
    round(&served, &dir, &["--again", "--only", "*/sitemap.xml", "--only", FEED]);
    let said = announced(&dir, "1")[0];
    for at in [said.sitemap, said.feed] {
        let after = at.map(|at: Timestamp| at.since(visited_at)).unwrap_or_default();
        assert!(!after.is_zero() && after <= Duration::from_secs(1), "{said:?}");
    }
    assert!(announced(&dir, "0")[0].is_empty() && announced(&dir, "2")[0].is_empty());

    // The next visit begins with nothing said, and the lists have their turn in a watch.
    round(&served, &dir, &["--again", "--only", "*/1"]);
    assert_eq!(announced(&dir, "1"), [said, Announced::default()]);
    ask("check", &dir, &[]);
    site.asked();
    std::thread::sleep(Duration::from_millis(1_100));
    let mut watch = Command::new(BINARY);
    watch.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "20/s", "--rounds", "1"]);
    run(&mut watch).expect_code(0);
    let asked: Vec<String> = site.asked().into_iter().map(|(path, ..)| path).collect();
    assert!(["/sitemap.xml", "/feed", "/1"].iter().all(|path| asked.iter().any(|asked| asked == path)), "{asked:?}");
}

/// A site whose feed names pages that no page links to.
fn with_feed(entries: &'static str, is_followed: &'static AtomicBool) -> Served {
    let reply = move |request: &Request| match request.path() {
        "/" => Reply::html("<link rel=alternate type=application/rss+xml href=/feed><p>Hello."),
        "/feed" => {
            let feed = Reply::new(200).header("Content-Type", "application/rss+xml");
            let feed = if is_followed.load(Ordering::Relaxed) { feed } else { feed.header("X-Robots-Tag", "nofollow") };
            feed.body(format!("<rss><channel>{entries}</channel></rss>"))
        }
        path @ ("/1" | "/2") => Reply::html(format!("<p>Page {path}.")),
        path => Reply::error(404, path),
    };
    Served::start(Web::new().site("one.test", testweb::from_fn(reply)))
}

#[test]
fn pages_that_only_a_feed_names_are_found_in_any_round() {
    static IS_FOLLOWED: AtomicBool = AtomicBool::new(false);
    let served = with_feed("<item><link>/1</link></item><item><link>http://one.test/2</link></item>", &IS_FOLLOWED);
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    round(&served, &dir, &["http://one.test/", "--no-sitemaps"]);
    let feed = visits(&dir)[FEED].clone();
    assert_eq!((feed.len(), feed[0].reason.as_str()), (1, "links not followed: nofollow"));
    assert!(!visits(&dir).contains_key("http://one.test/1"));
    IS_FOLLOWED.store(true, Ordering::Relaxed);
    round(&served, &dir, &["--again"]);
    let found = visits(&dir);
    for page in ["http://one.test/1", "http://one.test/2"] {
        assert_eq!(
            found[page].iter().map(|visit| (visit.status, visit.round)).collect::<Vec<_>>(),
            [(200, 2)],
            "{page}"
        );
    }
    let new = ask("changes", &dir, &[]);
    assert_eq!(new.matches("new      ").count(), 2, "{new}");
    assert!(ask("explain", &dir, &["http://one.test/1"]).contains(FEED));
    ask("check", &dir, &[]);
}
