//! What is lost of a dataset is made again, the same.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dataset::schema::Table;
use testweb::{Reply, Web, from_fn};

use crate::webs::crawl_every_outcome;
use testkit::crawled::Crawled;
use testkit::python::script;
use testkit::tables::{Row, rows, rows_of_all_visits};

/// The place of the pages among the tables.
const PAGES: usize = Table::ALL.len() - 1;

fn all_rows(dir: &str) -> [Vec<Row>; Table::ALL.len()] {
    Table::ALL.map(|table| rows(dir, table))
}

fn files(dir: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for table in Table::ALL {
        let dir = PathBuf::from(dir).join("dataset").join(table.as_str());
        files.extend(std::fs::read_dir(dir).expect("a table").map(|entry| entry.expect("an entry").path()));
    }
    files.sort();
    files
}

#[test]
fn a_dataset_that_was_deleted_is_derived_the_same() {
    let crawled = crawl_every_outcome(&["--segment-size", "4KB"]);
    assert!(crawled.segments().len() > 2, "several segments");
    let (before, files_before) = (all_rows(crawled.dir()), files(crawled.dir()));
    std::fs::remove_dir_all(PathBuf::from(crawled.dir()).join("dataset")).expect("removed");
    let ran = crawled.run("derive", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(all_rows(crawled.dir()), before);
    assert_eq!(files(crawled.dir()), files_before);
    assert!(crawled.run("derive", &[]).stdout.contains("nothing is missing"));
}

#[test]
fn rows_of_visits_that_found_nothing_changed_are_derived_the_same() {
    let links: String = (0..20).map(|page| format!("<a href=/{page}>{page}</a>")).collect();
    let site = from_fn(move |request| {
        let tag = format!("\"{}\"", request.path());
        let is_same = request.header("if-none-match") == Some(tag.as_str());
        let page = format!("<title>{}</title>{links}", request.path());
        if is_same { Reply::new(304) } else { Reply::html(page) }.header("ETag", tag)
    });
    let crawled = Crawled::of(Web::new().site("small.test", site), "http://small.test/", &[]);
    for _ in 0..2 {
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
    }
    let before = rows_of_all_visits(crawled.dir(), Table::Pages);
    assert!(before.iter().filter(|row| row["outcome"] == "not_modified").count() > 20, "{before:?}");
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(rows_of_all_visits(crawled.dir(), Table::Pages), before);
}

#[test]
fn unfinished_files_disturb_no_reader_and_go_with_the_next_run() {
    let crawled = crawl_every_outcome(&[]);
    let table = PathBuf::from(crawled.dir()).join("dataset/pages");
    let unfinished = ["_argiope-20260101000000-00009.unfinished", "argiope-20260101000000-00009.unfinished"];
    std::fs::write(table.join(unfinished[0]), "half").expect("written");
    let count = "import sys, pandas\nprint(len(pandas.read_parquet(sys.argv[1], columns=['url'])))";
    let read = script(&["pandas", "pyarrow"], count, &[table.to_str().expect("UTF-8")]);
    assert_eq!(read.trim(), rows(crawled.dir(), Table::Pages).len().to_string());
    std::fs::write(table.join(unfinished[1]), "as an earlier version left it").expect("written");
    assert_eq!(crawled.crawl(&[]).code, 0);
    assert_eq!(unfinished.map(|name| table.join(name).exists()), [false, false]);
}

#[test]
fn with_unwanted_content_too() {
    let crawled = crawl_every_outcome(&["--documents", "--images"]);
    let before = all_rows(crawled.dir());
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(all_rows(crawled.dir()), before);
}

#[test]
fn parts_of_pages_are_derived_the_same_requested_or_not() {
    for (header, outcome) in [(&["--header", "Range: bytes=0-99"][..], "html"), (&[], "http_error")] {
        let site = from_fn(|request| match request.path() {
            "/robots.txt" => Reply::error(404, ""),
            "/" => Reply::html("<a href=/page>page</a>"),
            path => {
                let part = format!("<title>{path}</title><p>The spider waits. <a href=/>back</a>");
                Reply::new(206)
                    .header("Content-Type", "text/html")
                    .header("Content-Range", format!("bytes 0-{}/1000", part.len() - 1))
                    .body(part)
            }
        });
        let crawled = Crawled::of(Web::new().site("small.test", site), "http://small.test/", header);
        let before = all_rows(crawled.dir());
        let part = before[PAGES].iter().find(|row| row["url"] == "http://small.test/page").expect("a row");
        assert_eq!(part["outcome"], outcome, "{part:?}");
        assert_eq!(crawled.run("derive", &["--all"]).code, 0);
        assert_eq!(all_rows(crawled.dir()), before, "{header:?}");
    }
}

#[test]
fn each_file_that_is_missing_or_damaged_is_made_again() {
    let crawled = crawl_every_outcome(&["--segment-size", "4KB"]);
    let before = all_rows(crawled.dir());
    for (at, file) in files(crawled.dir()).into_iter().enumerate() {
        match at % 3 {
            0 => std::fs::remove_file(&file).expect("removed"),
            1 => std::fs::write(&file, "PAR1 it is not").expect("written"),
            _ => {
                let bytes = std::fs::read(&file).expect("a file");
                std::fs::write(&file, &bytes[..bytes.len() / 2]).expect("written");
            }
        }
        let ran = crawled.run("derive", &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(all_rows(crawled.dir()), before, "{}", file.display());
    }
}

#[test]
fn a_crawl_that_goes_on_goes_on_with_its_dataset() {
    let low_yield = ["--low-yield-window", "20", "--max-low-yield-pages", "20"];
    let flags = [&low_yield[..], &["--max-pages", "7"]].concat();
    let in_parts = Crawled::of(Web::sandboxes(), "http://advanced.test/", &flags);
    for _ in 0..3 {
        let _ = in_parts.crawl(&["--max-pages", "14"]);
    }
    assert_eq!(in_parts.crawl(&["--max-pages", "100000"]).code, 0);
    let ran = in_parts.run("status", &["--json"]);
    assert_eq!(ran.json()["frontier"], 0, "{ran:?}");
    let before = all_rows(in_parts.dir());
    assert_eq!(in_parts.run("derive", &["--all"]).code, 0);
    assert_eq!(all_rows(in_parts.dir()), before);
    let at_once = Crawled::of(Web::sandboxes(), "http://advanced.test/", &low_yield);
    // The traps are endless and cut somewhere.
    let urls = |rows: &[Row]| {
        let urls = rows.iter().map(|row| row["url"].clone());
        urls.filter(|url| !url.contains("/traps/")).collect::<BTreeSet<_>>()
    };
    assert_eq!(urls(&before[PAGES]), urls(&all_rows(at_once.dir())[PAGES]));
}

#[test]
fn a_crawl_without_dataset_gets_one_when_asked() {
    let crawled = crawl_every_outcome(&["--no-dataset"]);
    assert!(!PathBuf::from(crawled.dir()).join("dataset").exists());
    assert_eq!(crawled.run("derive", &[]).code, 0);
    assert!(!rows(crawled.dir(), Table::Pages).is_empty());
}

#[test]
fn without_an_archive_there_is_nothing_to_derive_from() {
    let crawled = Crawled::with(&["--no-archive"]);
    let ran = crawled.run("derive", &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("--no-archive"), "{ran:?}");
}
