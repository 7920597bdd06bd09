//! Where an export may go, and what it says where it cannot.

use std::path::Path;

use testkit::crawled::Crawled;
use testkit::ran::Ran;

const DIRECTORIES: [&str; 4] = ["warc", "parquet", "pages", "markdown"];
const FILES: [&str; 4] = ["jsonl", "cdxj", "warc", "wacz"];

fn export(crawled: &Crawled, format: &str, target: &Path) -> Ran {
    crawled.run("export", &[format, "-o", target.to_str().expect("UTF-8")])
}

/// The file of a format, by its usual name.
fn file(format: &str) -> &'static str {
    if format == "warc" { "x.warc.gz" } else { "x" }
}

#[test]
fn the_directory_of_the_crawl_is_refused() {
    let crawled = Crawled::small();
    for format in FILES.iter().chain(&DIRECTORIES) {
        for target in ["x", "archive/x.warc.gz", "."] {
            let ran = export(&crawled, format, &Path::new(crawled.dir()).join(target));
            assert_eq!(ran.code, 2, "{format} {target} {ran:?}");
            assert!(ran.stderr.contains("is inside the directory of the crawl"), "{ran:?}");
            assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        }
    }
}

#[test]
fn a_directory_with_something_in_it_is_refused() {
    let crawled = Crawled::small();
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("mine"), "").expect("written");
    for format in DIRECTORIES {
        let ran = export(&crawled, format, root.path());
        assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{ran:?}");
        assert!(ran.stderr.contains("is not empty: choose another directory"), "{ran:?}");
    }
    assert_eq!(root.path().read_dir().expect("a directory").count(), 1);
}

#[test]
fn an_empty_directory_is_taken() {
    let crawled = Crawled::small();
    for format in DIRECTORIES {
        let root = tempfile::tempdir().expect("a directory");
        let target = root.path().join("x");
        std::fs::create_dir(&target).expect("a directory");
        let ran = export(&crawled, format, &target);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{format}");
        assert!(target.read_dir().expect("a directory").count() > 0, "{format}");
        assert_eq!(root.path().read_dir().expect("a directory").count(), 1, "{format}");
    }
}

#[test]
fn a_format_that_is_no_text_needs_a_target() {
    let crawled = Crawled::small();
    for format in ["warc", "wacz", "parquet", "pages", "markdown"] {
        let ran = crawled.run("export", &[format]);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (2, "", 1), "{ran:?}");
        assert!(ran.stderr.contains(&format!("{format} needs a target: -o PATH")), "{ran:?}");
    }
}

#[test]
fn without_an_archive_it_is_said_what_is_missing() {
    let crawled = Crawled::with(&["--no-archive"]);
    let root = tempfile::tempdir().expect("a directory");
    for format in ["cdxj", "warc", "wacz", "pages", "markdown", "parquet"] {
        let ran = export(&crawled, format, &root.path().join(file(format)));
        assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{format} {ran:?}");
        let says = if format == "parquet" { "there is no dataset: run `argiope derive " } else { "--no-archive" };
        assert!(ran.stderr.contains(says), "{ran:?}");
    }
    assert_eq!(root.path().read_dir().expect("a directory").count(), 0);
}

#[test]
fn without_a_dataset_it_is_said_how_to_get_one() {
    let crawled = Crawled::with(&["--no-dataset"]);
    let root = tempfile::tempdir().expect("a directory");
    let target = root.path().join("x");
    let ran = export(&crawled, "parquet", &target);
    assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{ran:?}");
    assert!(ran.stderr.contains(&format!("run `argiope derive {}`", crawled.dir())), "{ran:?}");
    assert_eq!(crawled.run("derive", &[]).code, 0);
    assert_eq!(export(&crawled, "parquet", &target).code, 0);
}
