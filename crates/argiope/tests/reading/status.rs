//! `argiope status`.

use serde_json::json;
use store_embedded::{EmbeddedStore, Options};
use tempfile::TempDir;

use testkit::crawled::Crawled;
use testkit::ran::argiope;

#[test]
fn a_finished_crawl_is_told_in_text_and_json() {
    let crawled = Crawled::small();
    let ran = crawled.run("status", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "finished: every URL found has its outcome");
    assert!(lines[1].starts_with("6 pages and documents fetched ("), "{}", lines[1]);
    assert!(lines[1].ends_with(") of 12 URLs on 1 site"), "{}", lines[1]);
    assert!(lines.contains(&"1 seed: http://small.test/"), "{lines:?}");
    // Each of these URLs is in one of the lines: what is no page says so.
    let numbers =
        lines[2..].iter().take_while(|line| line.starts_with("  ")).filter(|line| !line.contains("   limit: "));
    let sum: u64 = numbers.map(|line| line.split_whitespace().nth(1).expect(line).parse::<u64>().expect(line)).sum();
    assert_eq!(sum, 12, "{lines:?}");
    assert!(lines.contains(&"  sitemaps                  1   URLs, but no pages"), "{lines:?}");
    let status = crawled.run("status", &["--json"]).json();
    assert_eq!(status["end"], "finished");
    assert_eq!(status["frontier"], 0);
    let outcomes = json!({"html": 4, "binary": 1, "duplicate": 1, "redirect": 1, "http_error": 1, "disallowed": 1,
        "excluded": 1, "trap": 1});
    assert_eq!(status["outcomes"], outcomes);
    assert_eq!(status["sitemaps"], 1);
    assert_eq!(status["seeds"], json!(["http://small.test/"]));
    let bytes = std::fs::metadata(&crawled.segments()[0]).expect("a segment").len();
    assert_eq!(status["segments"][0]["bytes"], bytes);
    assert_eq!(status["archive_bytes"], bytes);
}

#[test]
fn a_crawl_with_work_left_is_pending() {
    let crawled = Crawled::with(&["--max-pages", "1"]);
    let status = crawled.run("status", &["--json"]).json();
    assert_eq!(status["end"], "pending");
    let text = crawled.run("status", &[]).stdout;
    assert!(text.starts_with(&format!("pending: `argiope crawl -o {}` goes on\n", crawled.dir())), "{text}");
}

#[test]
fn what_a_site_may_not_have_yet_is_left() {
    let crawled = Crawled::with(&["--max-pages-per-site", "2"]);
    let again = crawled.crawl(&[]);
    assert_eq!(again.code, 3, "{again:?}");
    assert!(again.stderr.contains("--max-pages-per-site reached, "), "{again:?}");
    assert!(again.stderr.contains(" left in the frontier"), "{again:?}");
    let text = crawled.run("status", &[]).stdout;
    assert!(text.contains("\nat most 2 pages of a site (max-pages-per-site): "), "{text}");
    let larger = crawled.crawl(&["--max-pages-per-site", "20", "--json"]);
    assert_eq!((larger.code, &larger.json()["end"]), (0, &json!("done")), "{larger:?}");
    assert_eq!(crawled.run("status", &["--json"]).json()["end"], "finished");
}

#[test]
fn a_directory_that_another_command_has_open_is_said_to_be_in_use() {
    let crawled = Crawled::small();
    let state = std::path::Path::new(crawled.dir()).join("state");
    let _running = EmbeddedStore::open(&state, Options::default()).expect("nobody has it open");
    let expect = format!(
        "argiope: {} is in use by another command, or by a crawl that cannot be asked: try again when it has ended\n",
        crawled.dir()
    );
    for command in [&["status"][..], &["check"], &["explain", "small.test"], &["export", "jsonl"]] {
        let ran = crawled.run(command[0], &command[1..]);
        assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.as_str()), (1, expect.as_str(), ""), "{command:?}");
    }
}

#[test]
fn a_directory_without_a_crawl_is_refused_in_one_line() {
    let empty = TempDir::new().expect("a directory");
    let empty = empty.path().to_str().expect("UTF-8");
    let missing = format!("{empty}/missing");
    for (dir, problem) in [(empty, "holds no crawl (there is no crawl.toml)"), (&missing, "no such directory")] {
        let ran = argiope(&["status", dir]);
        assert_eq!((ran.code, ran.stderr), (1, format!("argiope: {dir}: {problem}\n")));
    }
    assert_eq!(std::fs::read_dir(empty).expect("still there").count(), 0, "nothing is made by looking");
}

#[test]
fn a_crawl_whose_state_is_gone_is_not_taken_for_an_empty_one() {
    let crawled = Crawled::small();
    let state = std::path::Path::new(crawled.dir()).join("state");
    std::fs::remove_dir_all(&state).expect("removed");
    let ran = crawled.run("status", &[]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        format!(
            "argiope: {0}: the state of the crawl is gone (there is no state/): `argiope adopt {0}` makes another from the archive\n",
            crawled.dir()
        )
    );
    assert!(!state.exists());
}
