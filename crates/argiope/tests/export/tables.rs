//! `parquet`: DuckDB and pyarrow read the tables that were exported.

use std::path::Path;

use serde_json::Value;

use testkit::crawled::Crawled;
use testkit::python::script;

const TABLES: [&str; 3] = ["pages", "links", "images"];

fn export(crawled: &Crawled, target: &Path, arguments: &[&str]) {
    let ran = crawled.run("export", &[&["parquet", "-o", target.to_str().expect("UTF-8")], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

/// How many rows DuckDB and pyarrow find in each table; they must agree.
fn counts(dataset: &Path) -> [u64; 3] {
    let count = "import sys, json, duckdb, pyarrow.dataset as ds\n\
        for table in ('pages', 'links', 'images'):\n\
        \x20   path = sys.argv[1] + '/' + table\n\
        \x20   a = duckdb.sql(f\"select count(*) from '{path}/*.parquet'\").fetchall()[0][0]\n\
        \x20   b = ds.dataset(path, format='parquet').to_table().num_rows\n\
        \x20   assert a == b, (table, a, b)\n\
        \x20   print(a)\n";
    let printed = script(&["duckdb", "pyarrow"], count, &[dataset.to_str().expect("UTF-8")]);
    let counts: Vec<u64> = printed.lines().map(|line| line.parse().expect("a number")).collect();
    counts.try_into().expect("three tables")
}

/// What a query says, as JSON; `{}` in it stands for the directory.
fn query(dataset: &Path, sql: &str) -> Value {
    let script_text = "import sys, json, duckdb\n\
        print(json.dumps(duckdb.sql(sys.argv[2].replace('{}', sys.argv[1])).fetchall()))\n";
    let printed = script(&["duckdb"], script_text, &[dataset.to_str().expect("UTF-8"), sql]);
    serde_json::from_str(&printed).expect("JSON")
}

#[test]
fn duckdb_and_pyarrow_read_every_row() {
    let crawled = Crawled::small();
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("tables");
    export(&crawled, &target, &[]);
    let own = Path::new(crawled.dir()).join("dataset");
    assert_eq!(counts(&target), counts(&own));
    assert!(counts(&target).iter().take(2).all(|rows| *rows > 5), "{:?}", counts(&target));
    for table in TABLES {
        let same = format!(
            "select count(*) from (from '{}/{table}/*.parquet' except all from '{}/{table}/*.parquet')",
            own.display(),
            target.display()
        );
        assert_eq!(query(&target, &same)[0][0], 0, "{table}");
    }
}

#[test]
fn links_and_images_are_those_of_admitted_pages() {
    let crawled = Crawled::small();
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("tables");
    export(&crawled, &target, &["--outcome", "redirect", "--outcome", "duplicate"]);
    let urls = query(&target, "select url from '{}/pages/*.parquet' order by url");
    assert_eq!(urls, serde_json::json!([["http://small.test/b"], ["http://small.test/copy"]]));
    let own = Path::new(crawled.dir()).join("dataset");
    let of_pages = "select source, target, kind from '{}/links/*.parquet' \
        where source in ('http://small.test/b', 'http://small.test/copy') order by all";
    let all = "select source, target, kind from '{}/links/*.parquet' order by all";
    assert_eq!(query(&target, all), query(&own, of_pages));
    assert_ne!(query(&target, all), serde_json::json!([]));
}

#[test]
fn a_filter_that_admits_nothing_leaves_tables_without_rows() {
    let crawled = Crawled::small();
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("tables");
    export(&crawled, &target, &["--since", "9999-01-01"]);
    assert_eq!(counts(&target), [0, 0, 0]);
}
