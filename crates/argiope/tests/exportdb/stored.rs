//! Crawls whose state is in PostgreSQL: the same rows as with the embedded store, the commands over them, and no password.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use serde_json::Value;
use testdb::{GUARDED, PASSWORD, Postgres};
use testweb::{Reply, Web, from_fn};

use crate::crawled::{ADVANCED, Crawled, TRAP_LIMITS, argiope, command, is_in_trap};

/// Columns that are of the moment, or of the order in which answers came.
const OF_THE_MOMENT: [&str; 5] = ["fetched_at", "payload_at", "warc_file", "warc_offset", "warc_length"];

/// Rows, as far as every crawl has them the same. How far a trap is followed depends on the order of answers.
fn rows(crawled: &Crawled) -> BTreeMap<String, Value> {
    let mut rows = crawled.rows();
    rows.retain(|url, _| !is_in_trap(url));
    for row in rows.values_mut().filter_map(Value::as_object_mut) {
        row.retain(|column, _| !OF_THE_MOMENT.contains(&column.as_str()));
    }
    rows
}

fn fails(arguments: &[&str]) -> String {
    let output = command(arguments).output().expect("the binary starts");
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn a_crawl_with_its_state_in_postgresql_is_the_same_crawl() {
    let server = Postgres::start();
    let one_at_a_time = [&["http://advanced.test/", "--concurrency", "1"][..], &TRAP_LIMITS].concat();
    let embedded = Crawled::of(Web::sandboxes(), &one_at_a_time);
    let url = server.url();
    let stored = Crawled::of(Web::sandboxes(), &[&one_at_a_time[..], &["--store", &url]].concat());
    assert_eq!(rows(&stored), rows(&embedded));
    assert!(rows(&stored).len() > 50);

    let dir = stored.path("crawl");
    let dir = dir.as_str();
    for arguments in [
        &["status", dir][..],
        &["explain", dir, ADVANCED],
        &["check", dir],
        &["report", dir],
        &["rank", dir],
        &["derive", dir, "--all"],
        &["crawl", "-o", dir, "--progress", "none"],
    ] {
        argiope(arguments);
    }
    assert!(!Path::new(dir).join("state/engine").exists());
    let pages = "SELECT url, outcome::text FROM argiope.page WHERE outcome IS NOT NULL";
    let pages = server.client().query(pages, &[]).expect("pages");
    let pages: BTreeMap<String, String> = pages.iter().map(|row| (row.get(0), row.get(1))).collect();
    for (url, row) in rows(&embedded) {
        assert_eq!(pages.get(&url).map(String::as_str), row["outcome"].as_str(), "{url}");
    }

    // One schema is one crawl, and a directory knows its own.
    let other = stored.path("other");
    let crawl = ["crawl", "-o", &other, "http://simple.test/", "--progress", "none", "--store", &url];
    let said = fails(&crawl);
    assert!(said.contains("holds the crawl of another directory: name another schema with --store-schema"), "{said}");
    server.client().batch_execute("DROP SCHEMA argiope CASCADE").expect("dropped");
    let said = fails(&["status", dir]);
    assert!(said.contains("is new, and the state of the crawl in") && said.contains("`argiope adopt "), "{said}");
}

#[test]
fn what_failed_is_fetched_again() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let asked = AtomicU32::new(0);
    let site = from_fn(move |request| match request.target.as_str() {
        "/" => Reply::html("<a href=/failing>failing</a>"),
        "/failing" if asked.fetch_add(1, SeqCst) == 0 => Reply::new(500),
        "/failing" => Reply::html("well"),
        _ => Reply::new(404),
    });
    let web = runtime.block_on(testweb::Server::start(testweb::Config::new(Web::new().site("a.test", site))));
    let web = web.expect("a free port");
    let server = Postgres::start();
    let root = tempfile::tempdir().expect("a directory");
    let dir = root.path().join("crawl").display().to_string();
    let (url, connect_to) = (server.url(), web.connect_to());
    let fixed = ["crawl", "-o", &dir, "--store", &url, "--connect-to", &connect_to, "--progress", "none"];
    let fast = ["--delay", "0", "--ip-delay", "0", "--max-attempts", "1"];
    argiope(&[&fixed[..], &fast, &["http://a.test/"]].concat());
    let outcome = || -> String {
        let page = "SELECT outcome::text FROM argiope.page WHERE url = 'http://a.test/failing'";
        server.client().query_one(page, &[]).expect("a page").get(0)
    };
    assert_eq!(outcome(), "http_error");
    argiope(&[&fixed[..], &["--retry", "http_error"]].concat());
    assert_eq!(outcome(), "html");
    argiope(&["check", &dir]);
}

#[test]
fn a_password_is_used_and_never_kept() {
    let server = Postgres::start();
    let grant = format!("GRANT CREATE ON DATABASE postgres TO {GUARDED}");
    server.client().batch_execute(&grant).expect("granted");
    let url = server.url_of(&format!("{GUARDED}:{PASSWORD}-and-more"));
    let role = format!("ALTER ROLE {GUARDED} PASSWORD '{PASSWORD}-and-more'");
    server.client().batch_execute(&role).expect("altered");
    let stored = Crawled::of(
        Web::sandboxes(),
        &["http://simple.test/", "--store", &url, "--store-schema", "mine", "--max-pages", "3"],
    );
    let dir = stored.path("crawl");
    // Only the directory names the host: so the environment has to.
    let mut kept = command(&["status", "--json", &dir]);
    kept.env("PGPASSWORD", format!("{PASSWORD}-and-more")).env("PGHOST", server.host());
    assert!(kept.output().expect("the binary starts").status.success());
    let found = command(&["status", &dir]).env_remove("PGPASSWORD").env("PGPASSFILE", "/nowhere").output();
    let said = String::from_utf8(found.expect("the binary starts").stderr).expect("UTF-8");
    assert!(said.contains("the server wants a password: give it in PGPASSWORD or ~/.pgpass"), "{said}");
    let grep = std::process::Command::new("grep").args(["-rl", &format!("{PASSWORD}-and-more"), &dir]).output();
    assert_eq!(String::from_utf8_lossy(&grep.expect("grep").stdout), "");
    let settings = std::fs::read_to_string(Path::new(&dir).join("crawl.toml")).expect("settings");
    assert!(settings.contains(&format!("store = \"{}\"", server.url_of(GUARDED))), "{settings}");
    assert!(settings.contains("store-schema = \"mine\""), "{settings}");
}

#[test]
fn an_adoption_that_is_refused_leaves_the_directory_its_state() {
    let server = Postgres::start();
    let url = server.url();
    let stored =
        Crawled::of(Web::sandboxes(), &["http://simple.test/", "--store", &url, "--max-pages", "3", "--no-dataset"]);
    let dir = stored.path("crawl");
    let before = argiope(&["status", &dir]);
    server.client().batch_execute("ALTER SCHEMA argiope RENAME TO kept").expect("renamed");
    let said = fails(&["adopt", &dir]);
    assert!(said.contains("give the seeds of the crawl"), "{said}");
    let back = "DROP SCHEMA argiope CASCADE; ALTER SCHEMA kept RENAME TO argiope";
    server.client().batch_execute(back).expect("renamed");
    assert_eq!(argiope(&["status", &dir]), before);

    server.client().batch_execute("DROP SCHEMA argiope CASCADE").expect("dropped");
    argiope(&["adopt", &dir, "http://simple.test/"]);
    argiope(&["check", &dir]);
}
