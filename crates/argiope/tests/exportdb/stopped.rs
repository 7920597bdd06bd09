//! An export into a database that is killed leaves what was there.

use std::process::Stdio;

use postgres::Client;
use testweb::{Pages, Web};

use crate::crawled::{Crawled, command};
use testdb::{Postgres, until};

fn schemas(client: &mut Client) -> Vec<String> {
    let sql = "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE '%crawldb%' ORDER BY 1";
    client.query(sql, &[]).expect("schemas").iter().map(|row| row.get(0)).collect()
}

/// Starts an export, waits until it waits for a lock, and kills it.
fn kill_waiting(crawled: &Crawled, server: &Postgres) {
    // What it leaves of its own goes with this.
    let temporary = tempfile::tempdir().expect("a directory");
    let mut export = command(&["export", &crawled.path("crawl"), "crawldb", "-o", &server.address()])
        .env("TMPDIR", temporary.path())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut watching = server.client();
    until("the export waits for a lock", || {
        let waiting = watching.query_one("SELECT count(*) FROM pg_locks WHERE NOT granted", &[]).expect("locks");
        waiting.get::<_, i64>(0) > 0
    });
    export.kill().expect("it runs");
    export.wait().expect("it ends");
}

/// Waits until no other connection is left: the server notices a killed client only when it has something to say to it.
fn until_alone(server: &Postgres) {
    let mut watching = server.client();
    until("the killed export's connection is gone", || {
        let others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle'
                      AND pid <> pg_backend_pid()";
        watching.query_one(others, &[]).expect("connections").get::<_, i64>(0) == 0
    });
}

#[test]
fn a_killed_export_leaves_what_was_there() {
    let web = Web::new().site("small.test", Pages::new().html("/", "<a href=/a>a</a>").html("/a", "A"));
    let crawled = Crawled::of(web, &["http://small.test/"]);
    let server = Postgres::start();

    // Nobody else can make a schema of this name until the transaction ends, so the export waits before its last step.
    let mut holding = server.client();
    let mut transaction = holding.transaction().expect("a transaction");
    transaction.batch_execute("CREATE SCHEMA crawldb").expect("a schema");
    kill_waiting(&crawled, &server);
    transaction.rollback().expect("an end");
    drop(holding);
    until_alone(&server);
    let mut client = server.client();
    assert_eq!(schemas(&mut client), Vec::<String>::new(), "the first export left nothing");

    crawled.export("crawldb", &["-o", &server.address()]);
    client.batch_execute("UPDATE crawldb.page SET html_content = 'old'").expect("an update");
    let mut holding = server.client();
    let mut transaction = holding.transaction().expect("a transaction");
    transaction.batch_execute("LOCK TABLE crawldb.page IN ACCESS SHARE MODE").expect("a lock");
    kill_waiting(&crawled, &server);
    transaction.rollback().expect("an end");
    drop(holding);
    until_alone(&server);
    assert_eq!(schemas(&mut client), ["crawldb"]);
    let old = "SELECT count(*) FROM crawldb.page WHERE html_content = 'old'";
    assert_eq!(client.query_one(old, &[]).expect("pages").get::<_, i64>(0), 2, "the old pages are there");

    crawled.export("crawldb", &["-o", &server.address()]);
    assert_eq!(client.query_one(old, &[]).expect("pages").get::<_, i64>(0), 0, "the new pages are there");
    assert_eq!(schemas(&mut client), ["crawldb"]);
}
