//! An older backup of the database of a crawl by one process: what the archive has beyond it is set aside and adopted, and nothing is
//! fetched again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use testdb::Postgres;
use testkit::crawled::Crawled;
use testweb::{Pages, Web};

const PAGES: usize = 40;
/// Fetched before the backup.
const EARLY: &str = "12";
const ALL: &str = "1000";

/// Columns of the place in the archive, and of which of several equal payloads came first.
const OF_THE_PLACE: [&str; 4] = ["warc_file", "warc_offset", "warc_length", "payload_at"];

/// Pages that lead to the next two.
fn web() -> Web {
    let links = |n: usize| [2 * n + 1, 2 * n + 2].map(|n| format!("<a href=/{n}>{n}</a>")).concat();
    let page = |n: usize| format!("<title>Page {n}</title>{}", if n < PAGES / 2 { links(n) } else { String::new() });
    let pages = (1..=PAGES).fold(Pages::new().html("/", page(0)), |pages, n| pages.html(format!("/{n}"), page(n)));
    Web::new().site("small.test", pages)
}

fn rows(crawled: &Crawled) -> BTreeMap<String, Value> {
    let rows = crawled.run("export", &["jsonl"]).stdout;
    let row = |line: &str| {
        let mut row: Value = serde_json::from_str(line).expect("an object a line");
        let columns = row.as_object_mut().expect("an object");
        columns.retain(|column, _| !OF_THE_PLACE.contains(&column.as_str()));
        (row["url"].as_str().expect("a URL").to_owned(), row)
    };
    rows.lines().map(row).collect()
}

/// The bytes of all segments, whether they are set aside or not.
fn archived(crawled: &Crawled) -> u64 {
    let archive = Path::new(crawled.dir()).join("archive");
    let dirs = ["", "orphaned", "orphaned/adopted"].map(|dir| archive.join(dir));
    let files = dirs.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten();
    let files = files.map(|entry| entry.expect("an entry").path());
    let segments = files.filter(|path| path.extension().is_some_and(|ending| ending == "gz"));
    segments.map(|path| path.metadata().expect("a file").len()).sum()
}

#[test]
fn what_an_older_backup_of_the_database_lacks_is_set_aside_and_adopted() {
    let database = Postgres::start();
    let url = database.url();
    let begin = ["--store", &url, "--segment-size", "2KB", "--no-sitemaps", "--max-pages", EARLY];
    let crawled = Crawled::of(web(), "http://small.test/", &begin);
    let backup = database.dump("argiope");
    assert_eq!(crawled.crawl(&["--max-pages", ALL]).code, 0);
    let (expect, bytes, asked) = (rows(&crawled), archived(&crawled), crawled.log().len());
    assert_eq!(expect.len(), PAGES + 1);

    database.restore("argiope", &backup);
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.stdout.contains("sets it aside in archive/orphaned"), "{checked:?}");
    // A crawl that has no more to do than to open the archive.
    let resumed = crawled.crawl(&["--max-pages", EARLY]);
    assert_eq!(resumed.code, 3, "{resumed:?}");
    assert!(resumed.stderr.contains("takes the pages in again instead of fetching them"), "{resumed:?}");
    assert!(resumed.stdout.contains(" set aside in archive/orphaned: `argiope adopt "), "{resumed:?}");
    assert!(crawled.run("status", &[]).stdout.contains(" set aside in archive/orphaned"));
    assert_eq!((archived(&crawled), crawled.log().len()), (bytes, asked), "nothing is lost, nothing is asked for");

    let adopted = crawled.run("adopt", &[]);
    assert!(adopted.code == 0 && adopted.stdout.contains(" adopted from "), "{adopted:?}");
    assert_eq!(crawled.crawl(&["--max-pages", ALL]).code, 0);
    assert_eq!(rows(&crawled), expect);
    let mut requests = BTreeMap::<String, usize>::new();
    crawled.log().into_iter().for_each(|entry| *requests.entry(entry.target).or_default() += 1);
    requests.retain(|target, count| *count > 1 && target != "/robots.txt");
    assert!(requests.is_empty(), "asked for more than once: {requests:?}");
    assert_eq!(crawled.run("check", &[]).code, 0);
    assert!(!crawled.run("status", &[]).stdout.contains("set aside"));
}
