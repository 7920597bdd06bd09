//! `chunks`: pages in pieces, read by DuckDB and pandas.

use serde_json::{Value, json};
use testweb::{Pages, Web};

use testkit::crawled::Crawled;
use testkit::python::script;

/// A page with two sections, of which the second is long.
fn page(title: &str) -> String {
    let sentence = "The spider sits in the middle of its web and waits there for what the wind may bring it. ";
    let long = sentence.repeat(6);
    format!(
        "<html lang=en><head><title>{title}</title></head><body><nav><a href=/>Home</a></nav><main><h1>{title}</h1>\
         <p>{sentence}</p><h2>The web</h2><p>{long}</p><p>{long}</p></main></body></html>"
    )
}

fn crawled() -> Crawled {
    let pages = Pages::new()
        .html("/", "<a href=/a>a</a><a href=/b>b</a>")
        .html("/a", page("Spiders of the garden"))
        .html("/b", page("Spiders of the house"));
    Crawled::of(Web::new().site("small.test", pages), "http://small.test/", &[])
}

#[test]
fn pages_are_cut_at_headings() {
    let crawled = crawled();
    let ran = crawled.run("export", &["chunks", "--chunk-chars", "400", "--site", "small.test"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let chunks: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for chunk in &chunks {
        let text = chunk["text"].as_str().expect("a text");
        assert!(text.chars().count() <= 400 && chunk["characters"] == text.chars().count(), "{chunk}");
        assert!(chunk["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{chunk}");
    }
    let of = |url: &str| chunks.iter().filter(|chunk| chunk["url"] == url).collect::<Vec<_>>();
    let first = of("http://small.test/a");
    assert!(first.len() > 2, "{chunks:?}");
    assert_eq!(first[0]["headings"], json!(["Spiders of the garden"]));
    assert_eq!((&first[0]["title"], &first[0]["language"]), (&json!("Spiders of the garden"), &json!("en")));
    assert_eq!(first[1]["headings"], json!(["Spiders of the garden", "The web"]));
    for (position, chunk) in first.iter().enumerate() {
        assert_eq!((&chunk["position"], &chunk["chunks"]), (&json!(position), &json!(first.len())));
    }
    // What stands on both pages is marked on the second, and in each page from the second time on.
    let marked = chunks.iter().filter(|chunk| !chunk["near_duplicate_of"].is_null()).count();
    assert!(marked > of("http://small.test/b").len() / 2, "{chunks:?}");
}

#[test]
fn duckdb_and_pandas_read_the_pieces() {
    let crawled = crawled();
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("chunks.parquet");
    let ran = crawled.run("export", &["chunks", "--chunk-chars", "400", "-o", target.to_str().expect("UTF-8")]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    let lines = crawled.run("export", &["chunks", "--chunk-chars", "400"]).stdout;
    let read = "import sys, json, duckdb, pandas\n\
        rows = duckdb.sql(f\"select url, position, headings, text, near_duplicate_of from '{sys.argv[1]}'\").fetchall()\n\
        frame = pandas.read_parquet(sys.argv[1])\n\
        assert [row[3] for row in rows] == list(frame['text']), frame\n\
        assert [list(row[2]) for row in rows] == [list(path) for path in frame['headings']], frame\n\
        print(json.dumps(rows))\n";
    let printed = script(&["duckdb", "pandas", "pyarrow"], read, &[target.to_str().expect("UTF-8")]);
    let rows: Vec<Value> = serde_json::from_str(&printed).expect("JSON");
    let of_lines = lines.lines().map(|line| {
        let chunk: Value = serde_json::from_str(line).expect("JSON");
        json!([chunk["url"], chunk["position"], chunk["headings"], chunk["text"], chunk["near_duplicate_of"]["url"]])
    });
    assert_eq!(rows, of_lines.collect::<Vec<_>>());
}

#[test]
fn a_size_that_is_too_small_is_an_error_of_usage() {
    let crawled = crawled();
    assert_eq!(crawled.run("export", &["chunks", "--chunk-chars", "31"]).code, 2);
    assert_eq!(crawled.run("export", &["chunks", "--chunk-chars", "99", "--chunk-tokens", "99"]).code, 2);
}
