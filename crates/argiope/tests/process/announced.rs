//! What sitemaps and feeds say of known pages stays with the visits before, and their lists are read again.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use model::{Announced, Timestamp};

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
