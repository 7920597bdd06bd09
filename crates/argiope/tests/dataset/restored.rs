//! Parts of a dataset that come from an older copy, or are deleted, are noticed and made again.

use std::path::{Path, PathBuf};

use dataset::schema::Table;
use testkit::crawled::Crawled;
use testkit::tables::{Row, rows, rows_of_all_visits};

/// A crawl of three rounds; its directory `dataset` after the first one lies beside it as `older`.
fn of_three_rounds(arguments: &[&str]) -> (Crawled, PathBuf) {
    let crawled = Crawled::with(arguments);
    let older = Path::new(crawled.dir()).join("older");
    copy(&dataset(&crawled), &older);
    for _ in 0..2 {
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
    }
    (crawled, older)
}

fn dataset(crawled: &Crawled) -> PathBuf {
    Path::new(crawled.dir()).join("dataset")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).expect("copied")),
        }
    }
}

/// The rows that count, which a question reads.
fn current(crawled: &Crawled) -> [Vec<Row>; Table::ALL.len()] {
    Table::ALL.map(|table| rows(crawled.dir(), table))
}

/// How often a word is found, as a question says it that may complete the dataset.
fn found(crawled: &Crawled) -> String {
    crawled.run("search", &["title", "--regex"]).stderr
}

/// Changes the dataset, and asks; then `derive` has nothing more to do.
#[track_caller]
fn check(crawled: &Crawled, change: impl Fn(), completes: &dyn Fn()) {
    let before = current(crawled);
    change();
    completes();
    assert_eq!(current(crawled), before);
    let derived = crawled.run("derive", &[]);
    assert!(derived.stdout.contains("nothing is missing"), "{derived:?}");
    let all = rows_of_all_visits(crawled.dir(), Table::Pages);
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!((current(crawled), rows_of_all_visits(crawled.dir(), Table::Pages)), (before, all));
}

fn remove_lists(dataset: &Path) {
    for entry in std::fs::read_dir(dataset.join("superseded")).expect("lists") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "keys") {
            std::fs::remove_file(path).expect("removed");
        }
    }
}

#[test]
fn lists_of_superseded_rows_that_are_gone_or_older_are_made_again() {
    let (crawled, older) = of_three_rounds(&[]);
    let dataset = dataset(&crawled);
    let lists = dataset.join("superseded");
    let derive = || assert_eq!(crawled.run("derive", &[]).code, 0);
    let said = found(&crawled);
    let ask = || assert_eq!(found(&crawled), said);
    check(&crawled, || remove_lists(&dataset), &derive);
    check(&crawled, || remove_lists(&dataset), &ask);
    check(&crawled, || std::fs::remove_dir_all(&lists).expect("removed"), &derive);
    let restore = || {
        std::fs::remove_dir_all(&lists).expect("removed");
        copy(&older.join("superseded"), &lists);
    };
    check(&crawled, restore, &derive);
    check(&crawled, restore, &ask);
    // As an earlier version left it.
    let unsaid = || {
        remove_lists(&dataset);
        std::fs::remove_file(lists.join("settled")).expect("removed");
    };
    check(&crawled, unsaid, &derive);
}

#[test]
fn an_older_dataset_is_completed() {
    let (crawled, older) = of_three_rounds(&[]);
    let dataset = dataset(&crawled);
    let restore = || {
        std::fs::remove_dir_all(&dataset).expect("removed");
        copy(&older, &dataset);
    };
    check(&crawled, restore, &|| assert_eq!(crawled.run("derive", &[]).code, 0));
    // A crawl that goes on does the same.
    restore();
    assert_eq!(crawled.crawl(&["--again"]).code, 0);
    let rows = current(&crawled);
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(current(&crawled), rows);
}

/// A run that finds everything settled does not look at the whole state: nothing of an earlier segment is written again.
#[test]
fn what_is_settled_stays_believed() {
    let (crawled, _) = of_three_rounds(&[]);
    let settled = dataset(&crawled).join("superseded/settled");
    let inode = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&settled).expect("a file"));
    let before = inode();
    let _ = found(&crawled);
    assert!(crawled.run("derive", &[]).stdout.contains("nothing is missing"));
    assert_eq!(inode(), before, "nobody settles it again");
}

/// Files that end within a record of their segment are of another one: its rows are made again from the beginning.
#[test]
fn files_of_another_segment_are_replaced() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let names: Vec<String> = crawled
        .segments()
        .iter()
        .map(|path| path.file_name().expect("a name").to_string_lossy().replace(".warc.gz", ".parquet"))
        .collect();
    let swap = || {
        for table in Table::ALL {
            let dir = dataset(&crawled).join(table.as_str());
            let (one, other, aside) = (dir.join(&names[0]), dir.join(&names[1]), dir.join("aside"));
            for (from, to) in [(&one, &aside), (&other, &one), (&aside, &other)] {
                std::fs::rename(from, to).expect("renamed");
            }
        }
    };
    check(&crawled, swap, &|| {
        let derived = crawled.run("derive", &[]);
        assert_eq!(derived.code, 0, "{derived:?}");
    });
}

/// A run with `--no-dataset` leaves the dataset of the run before behind: a question completes it, and who does not complete it says so.
#[test]
fn a_dataset_that_a_run_left_behind_is_completed_or_named() {
    let crawled = Crawled::with(&[]);
    for _ in 0..2 {
        assert_eq!(crawled.crawl(&["--again", "--no-dataset"]).code, 0);
        let report = crawled.run("report", &["--json"]).json();
        assert!(report["missing"].as_str().is_some_and(|text| text.contains("does not reach")), "{report}");
        let exported = crawled.run("export", &["kvs"]);
        assert!(exported.code == 1 && exported.stderr.contains("does not reach to the end of"), "{exported:?}");
        let _ = found(&crawled);
        assert!(crawled.run("derive", &[]).stdout.contains("nothing is missing"));
        assert_eq!(crawled.run("report", &["--json"]).json()["missing"], serde_json::Value::Null);
        assert_eq!(crawled.run("export", &["kvs"]).code, 0);
    }
    let completed = current(&crawled);
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(current(&crawled), completed);
}
