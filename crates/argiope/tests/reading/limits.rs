//! Every report shows the limits and traps that a crawl reached.

use std::collections::BTreeMap;

use dataset::schema::Table;
use dataset::{Column, Layout};
use serde_json::{Value, json};
use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;

const SITE: &str = "http://limits.test";

/// Links beyond what pages were cut at before, to very few targets; the last leads on.
const REPEATS: usize = 12_000;

fn sitemap(urls: &[&str]) -> Reply {
    let urls: String = urls.iter().map(|url| format!("<url><loc>{SITE}{url}</loc></url>")).collect();
    Reply::new(200).header("Content-Type", "text/xml").body(format!("<urlset>{urls}</urlset>"))
}

fn crawled() -> Crawled {
    let repeats: String = (0..REPEATS).map(|n| format!("<a href=\"/same{}#{n}\">x</a>", n % 3)).collect();
    // The first day is new, two more may say the same, and three are left out.
    let day = |day: u32| format!("/calendar/2026/11/{day}");
    let days: String = (1..=6).map(|n| format!("<a href={}>x</a>", day(n))).collect();
    let nothing: String =
        (b'a'..=b'z').map(|letter| format!("<p>{} ", char::from(letter).to_string().repeat(7))).collect();
    let pages = (1..=6).fold(Pages::new(), |pages, n| pages.html(day(n), format!("{nothing}{days}")));
    let pages = pages
        .text("/robots.txt", format!("Sitemap: {SITE}/sitemap.xml\n{}", "# more\n".repeat(80_000)))
        .reply("/sitemap.xml", sitemap(&["/listed", "/not-listed"]))
        .html("/", "<a href=/contents>x</a> <a href=/a/a/a/a/a>x</a> <a href=/days>x</a> <a href=/turn0>x</a>")
        .html("/contents", format!("{repeats}<a href=/behind>behind</a>"))
        .html("/behind", "<title>Behind 12,000 links</title>")
        .html("/days", days)
        .reply("/turn0", Reply::redirect(302, "/turn1"))
        .reply("/turn1", Reply::redirect(302, "/turn2"));
    let limits = ["--max-sitemap-entries", "1", "--max-calendar-pages", "2", "--max-redirects", "1"];
    Crawled::of(Web::new().site("limits.test", pages), &format!("{SITE}/"), &limits)
}

fn named(rows: &Value) -> BTreeMap<String, u64> {
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| (row["name"].as_str().expect("a name").to_owned(), row["all_sites"].as_u64().expect("a count")))
        .collect()
}

#[test]
fn each_limit_is_in_the_summary_the_report_and_the_story_of_its_url() {
    let crawled = crawled();
    let expect = json!({
        "redirects": 1, "sitemap_entries": 1, "robots_txt": 1, "repeated_segments": 1, "calendar": 3,
    });
    // Read from the state, as after a restart.
    let status = crawled.run("status", &["--json"]).json();
    assert_eq!(status["limits"], expect);
    let text = crawled.run("status", &[]).stdout;
    assert!(
        text.contains("calendar          3   limit: URLs not fetched by --max-calendar-pages, nor what lies behind\n"),
        "{text}"
    );
    let report = crawled.run("report", &["--json"]).json();
    assert_eq!(json!(named(&report["limits"]["rows"])), expect);
    let text = crawled.run("report", &[]).stdout;
    assert!(text.contains("Limits reached") && text.contains("robots.txt files cut at 500 KiB"), "{text}");

    let story = |path: &str, arguments: &[&str]| {
        crawled.run("explain", &[&[format!("{SITE}{path}").as_str()], arguments].concat())
    };
    let of_day = |day: u32| story(&format!("/calendar/2026/11/{day}"), &["--json"]).json()["limits"].clone();
    assert_eq!((1..=6).filter(|day| of_day(*day) == json!(["calendar"])).count(), 3);
    assert_eq!(story("/sitemap.xml", &["--json"]).json()["limits"], json!(["sitemap_entries"]));
    assert_eq!(story("/behind", &["--json"]).json()["limits"], json!([]));
    let text = story("/turn1", &[]).stdout;
    assert!(text.contains("left out      by the limit redirects: redirects not followed"), "{text}");
    let host = crawled.run("explain", &["limits.test"]).stdout;
    assert!(host.contains("longer than the part that is read"), "{host}");
}

#[test]
fn repeats_of_a_target_hide_no_other() {
    let crawled = crawled();
    let behind = crawled.run("explain", &[&format!("{SITE}/behind"), "--json"]).json();
    assert_eq!(behind["row"]["outcome"], "html");
}

#[test]
fn what_a_page_lost_stands_in_its_row() {
    let links: String = (0..30).map(|n| format!("<a href=/{n}>x</a><a href=/{n}#again>x</a>")).collect();
    let pages = Pages::new()
        .html("/", format!("<title>{}</title><a href=/cut>x</a>{links}", "t".repeat(2_000)))
        .html("/cut", format!("{}<a href=/unseen>x</a>", "x".repeat(3_000)));
    let limits = ["--max-links-per-page", "10", "--max-body-bytes", "6KB"];
    let crawled = Crawled::of(Web::new().site("limits.test", pages), &format!("{SITE}/"), &limits);
    let mut truncated = BTreeMap::new();
    let layout = Layout::at(std::path::Path::new(crawled.dir()).join("dataset"));
    for batch in layout.batches(Table::Pages, &["url", "truncated"]).expect("a dataset") {
        let batch = batch.expect("rows");
        for row in 0..batch.num_rows() {
            truncated.insert(
                batch.text("url", row).expect("a URL").to_owned(),
                batch.text("truncated", row).map(str::to_owned),
            );
        }
    }
    assert_eq!(truncated[&format!("{SITE}/")].as_deref(), Some("links, link_repeats, title"));
    assert_eq!(truncated[&format!("{SITE}/cut")], None);
    let limits = crawled.run("status", &["--json"]).json()["limits"].clone();
    assert_eq!(limits, json!({"links": 1, "link_repeats": 1, "title": 1}));
}

#[test]
fn a_limit_that_leaves_nothing_is_a_failure_where_nothing_was_fetched() {
    let reply = Reply::new(404).body("There is no such page.");
    let web = Web::new().site("limits.test", Pages::new().reply("/", reply));
    let crawled = Crawled::of(web, &format!("{SITE}/"), &["--max-bytes", "1B", "--no-sitemaps"]);
    let ran = crawled.crawl(&[]);
    assert!(ran.code == 1 && ran.stderr.contains(&format!("{SITE}/: ")), "{ran:?}");
    assert_eq!(crawled.run("status", &["--json"]).json()["frontier"], 0);
}
