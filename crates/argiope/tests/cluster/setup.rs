//! How a crawl is set up: nothing is committed before everything was tried, all servers and workers agree, and one may start over.

use std::fs;
use std::path::Path;

use service::access::Proof;
use service::joining::{Joining, Placement, ask};
use tempfile::TempDir;
use testdb::Postgres;

use crate::served::{Served, one_line};
use testkit::ran::argiope;

const PORTS: [&str; 5] = ["server", "--clients", "127.0.0.1:0", "--workers", "127.0.0.1:0"];

fn refused(database: &str, arguments: &[&str]) -> String {
    one_line(&argiope(&[&PORTS[..], &["--store", database], arguments].concat()))
}

fn joining(server: &Served) -> Joining {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(ask(&server.workers, &Proof::default())).expect("it answers")
}

/// How many crawls are set up in a schema.
fn count_set_up(database: &Postgres, schema: &str) -> i64 {
    database.client().query_one(&format!("SELECT count(*) FROM {schema}.crawl"), &[]).expect("the schema").get(0)
}

/// The id in the message that names the way out.
fn id_in(message: &str) -> String {
    let id = message.split("--reset ").nth(1).and_then(|rest| rest.split(' ').next());
    id.unwrap_or_else(|| panic!("no way out: {message}")).to_owned()
}

#[test]
fn nothing_is_committed_before_the_archive_was_tried() {
    let (database, dir) = (Postgres::start(), TempDir::new().expect("a directory"));
    let file = dir.path().join("file");
    fs::write(&file, "").expect("a file");
    // What cannot be written to, not even by root: a path that leads through a file, and one where the probe's name is taken.
    let taken = dir.path().join("taken");
    fs::create_dir_all(taken.join("write-probe").join("something")).expect("directories");
    for (wrong, why) in [(file.join("crawl"), "cannot be opened"), (taken, "cannot be written")] {
        let line = refused(&database.url(), &["--archive", &format!("file://{}", wrong.display()), "--depth", "3"]);
        assert!(line.contains(why), "{line}");
        assert_eq!(count_set_up(&database, "argiope"), 0);
    }
    // Everything may be said again, and otherwise.
    let right = format!("file://{}", dir.path().join("right").display());
    let server = Served::start(&database, &["--archive", &right, "--depth", "4"]);
    assert!(joining(&server).settings.contains("\ndepth = 4\n"));
    assert_eq!(joining(&server).archive, right);
}

#[test]
fn an_archive_of_another_crawl_is_refused() {
    let (database, dir) = (Postgres::start(), TempDir::new().expect("a directory"));
    let archive = format!("file://{}", dir.path().display());
    let _first = Served::start(&database, &["--archive", &archive]);
    let line = refused(&database.url(), &["--archive", &archive, "--store-schema", "second"]);
    assert!(line.contains("is the archive of another crawl ("), "{line}");
    assert_eq!(count_set_up(&database, "second"), 0);
}

/// What a page of the documentation has in SQL behind this heading.
fn documented_sql(page: &str, heading: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = fs::read_to_string(path).expect("the page");
    let behind = text.split_once(heading).expect("the heading").1;
    let sql = behind.split_once("```sql\n").and_then(|(_, sql)| sql.split_once("```")).expect("a block");
    sql.0.to_owned()
}

#[test]
fn the_queries_of_the_documentation_are_right_and_an_onlooker_may_make_them() {
    let database = Postgres::start();
    let onlooker = "CREATE ROLE onlooker; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO onlooker;
         ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO onlooker";
    database.client().batch_execute(onlooker).expect("a superuser");
    let _served = Served::first(&database, &[]);
    for (page, heading, queries) in
        [("deployment.md", "\n## Monitoring\n", 6), ("postgres.md", "\n## What the tables mean\n", 4)]
    {
        let sql = documented_sql(page, heading);
        let mut client = database.client();
        client.batch_execute("SET ROLE onlooker").expect("the role");
        let statements: Vec<&str> = sql.split(';').filter(|statement| !statement.trim().is_empty()).collect();
        assert_eq!(statements.iter().filter(|statement| statement.contains("SELECT")).count(), queries, "{page}");
        for statement in statements {
            client.batch_execute(statement).unwrap_or_else(|error| panic!("{page}: {statement}: {error:?}"));
        }
    }
}

#[test]
fn the_role_of_the_documentation_starts_over() {
    let (database, dir) = (Postgres::start(), TempDir::new().expect("a directory"));
    // As docs/deployment.md has it: the role owns its schema, and may make no other.
    database
        .client()
        .batch_execute(
            "CREATE ROLE crawler LOGIN; REVOKE ALL ON DATABASE postgres FROM PUBLIC;
             GRANT CONNECT ON DATABASE postgres TO crawler; CREATE SCHEMA argiope AUTHORIZATION crawler;
             CREATE ROLE onlooker; GRANT USAGE ON SCHEMA argiope TO onlooker;
             ALTER DEFAULT PRIVILEGES FOR ROLE crawler IN SCHEMA argiope GRANT SELECT ON TABLES TO onlooker;",
        )
        .expect("a superuser");
    let url = database.url_of("crawler");
    let archive = |name: &str| format!("file://{}", dir.path().join(name).display());
    let (typo, right) = (archive("tpyo"), archive("right"));
    let mut arguments = vec!["--store", &url, "--archive", &typo, "--depth", "33"];
    Served::start_as(&arguments).terminate();
    let line = refused(&url, &["--archive", &right]);
    assert!(line.starts_with("--archive ") && line.contains(&typo), "{line}");
    let id = id_in(&line);
    assert_eq!(id_in(&refused(&url, &["--depth", "3"])), id, "whatever is other than it was");

    arguments = vec!["--store", &url, "--archive", &right, "--depth", "3", "--reset", &id];
    let server = Served::start_as(&arguments);
    let told = joining(&server);
    assert_eq!(told.archive, right);
    assert!(told.settings.contains("\ndepth = 3\n") && told.crawl_id != id);
    server.add("http://a.test/");
    let still_running = refused(&url, &["--reset", &told.crawl_id]);
    assert!(still_running.contains("is in use"), "{still_running}");
    server.terminate();
    // The same command line once more, as a supervisor would run it, forgets nothing.
    let line = refused(&url, &arguments[2..]);
    assert!(line.contains("nothing was deleted") && line.contains(&told.crawl_id), "{line}");
    let server = Served::start_as(&arguments[..6]);
    assert_eq!(server.asked(&["stats"])["urls"], 1);
    server.terminate();
    let client = &mut database.client();
    client.batch_execute("SET ROLE onlooker; SELECT FROM argiope.url").expect("rights stay");

    // An archive without pages may be used again.
    Served::start_as(&["--store", &url, "--archive", &right, "--reset", &told.crawl_id]).terminate();
}

#[test]
fn the_lease_and_the_placement_are_those_of_the_first_server() {
    // The archive outlives the first server: the later ones write to it.
    let (database, dir) = (Postgres::start(), TempDir::new().expect("a directory"));
    let archive = format!("file://{}", dir.path().display());
    let first = Served::start(&database, &["--archive", &archive, "--lease", "40s", "--placement", "hash"]);
    let agreed = |server: &Served| {
        let told = joining(server);
        (told.lease_seconds, told.placement)
    };
    assert_eq!(agreed(&first), (40.0, Placement::Hash));
    assert_eq!(agreed(&Served::start(&database, &[])), (40.0, Placement::Hash));
    assert_eq!(agreed(&Served::start(&database, &["--lease", "40s"])), (40.0, Placement::Hash));
    let line = refused(&database.url(), &["--lease", "15s", "--placement", "latency"]);
    assert!(line.contains("other settings of lease (40s), placement (hash): give the original ones"), "{line}");
    // Of a crawl of an earlier program the first server of this one says it.
    drop(first);
    let mut client = database.client();
    let earlier = "UPDATE argiope.crawl SET lease_seconds = NULL, placement = NULL, bottom = NULL";
    client.batch_execute(earlier).expect("the schema");
    assert_eq!(agreed(&Served::start(&database, &["--lease", "20s"])), (20.0, Placement::Latency));
    assert_eq!(agreed(&Served::start(&database, &[])), (20.0, Placement::Latency));
}

#[test]
fn a_worker_that_lacks_something_does_not_join() {
    let database = Postgres::start();
    let server = Served::first(&database, &["--render", "always"]);
    let ran = argiope(&["worker", &server.workers, "--progress", "none", "--browser", "/nowhere/chromium"]);
    let line = one_line(&ran);
    assert!(line.contains("/nowhere/chromium"), "{line}");
    let workers: i64 = database.client().query_one("SELECT count(*) FROM argiope.worker", &[]).expect("a table").get(0);
    assert_eq!(workers, 0, "others would wait for the end of its lease");
}
