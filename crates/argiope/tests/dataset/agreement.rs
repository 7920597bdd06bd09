//! State, archive, JSONL and Parquet tell the same story of a crawl in which everything happens.

use std::collections::{BTreeMap, BTreeSet};

use dataset::schema::Table;
use model::Timestamp;
use serde_json::Value;

use crate::webs::crawl_every_outcome;
use testkit::tables::{Row, pages, rows};

/// The JSONL rows by URL.
fn jsonl(text: &str) -> BTreeMap<String, Value> {
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    rows.map(|row| (row["url"].as_str().expect("a URL").to_owned(), row)).collect()
}

#[test]
fn every_outcome_is_the_same_in_every_form() {
    let crawled = crawl_every_outcome(&[]);
    let exported = jsonl(&crawled.run("export", &["jsonl"]).stdout);
    let pages = pages(crawled.dir());

    let outcomes: BTreeSet<&str> = pages.values().map(|row| row["outcome"].as_str()).collect();
    // The one needs a browser, the other a second round.
    let elsewhere = ["render_error", "not_modified"];
    let all = model::Outcome::ALL.iter().map(|outcome| outcome.as_str()).filter(|outcome| !elsewhere.contains(outcome));
    assert_eq!(outcomes, all.collect::<BTreeSet<_>>());

    assert_eq!(pages.keys().collect::<Vec<_>>(), exported.keys().collect::<Vec<_>>());
    for (url, row) in &exported {
        for (column, value) in row.as_object().expect("an object") {
            let expect = match value {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            let found = pages[url].get(column).cloned();
            match (column.as_str(), found, expect) {
                // Microseconds there, milliseconds here.
                ("fetched_at" | "payload_at", Some(found), Some(expect)) => {
                    let micros: u64 = found.parse().expect("a number");
                    assert_eq!(Timestamp(micros).to_rfc3339(), expect, "{url}");
                }
                (_, found, expect) => assert_eq!(found, expect, "{column} of {url}"),
            }
        }
    }
}

#[test]
fn every_record_that_pages_point_to_is_in_the_archive() {
    let crawled = crawl_every_outcome(&[]);
    let pages = pages(crawled.dir());
    let mut in_archive: BTreeSet<(String, u64)> = BTreeSet::new();
    for segment in crawled.segments() {
        let name = segment.file_name().expect("a name").to_string_lossy().into_owned();
        let mut reader = warc::Reader::open(&segment, 0).expect("a segment");
        while let Some(record) = reader.next_record().expect("a sound archive") {
            let kind = record.header().record_type();
            if matches!(kind, Some(warc::RecordType::Response | warc::RecordType::Revisit)) {
                in_archive.insert((name.clone(), record.offset()));
            }
            record.finish().expect("a whole record");
        }
    }
    let recorded: Vec<&Row> = pages.values().filter(|row| row.contains_key("warc_file")).collect();
    assert!(recorded.len() >= 8, "{recorded:?}");
    for row in recorded {
        let place = (row["warc_file"].clone(), row["warc_offset"].parse().expect("a number"));
        assert!(in_archive.remove(&place), "{row:?}");
    }
}

#[test]
fn links_and_images_belong_to_pages() {
    let crawled = crawl_every_outcome(&[]);
    let pages = pages(crawled.dir());
    for table in [Table::Links, Table::Images] {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for row in rows(crawled.dir(), table) {
            assert_eq!(row["source_key"], pages[&row["source"]]["url_key"]);
            if row.get("kind").is_none_or(|kind| kind != "redirect") {
                *counts.entry(row["source"].clone()).or_default() += 1;
            }
        }
        for (url, row) in &pages {
            let expect = row.get(table.as_str()).map_or(0, |count| count.parse().expect("a number"));
            assert_eq!(counts.get(url).copied().unwrap_or(0), expect, "{} of {url}", table.as_str());
        }
    }
}
