//! Secrets of a crawl by several workers: each worker has them, and nobody who asks the server or reads the archive.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use service::access::Proof;
use service::joining::ask;
use testdb::{Postgres, until};
use testweb::{Heard, Pages, Web};

use crate::lab::{Lab, Laid};
use crate::served::Served;
use testkit::ran::argiope;

/// What is to be found nowhere.
const SECRET: &str = "S3CRET";

/// The files below a directory that have a text, in what is gzipped in them too.
fn holding(dir: &Path, text: &str) -> Vec<String> {
    let mut holding = Vec::new();
    for entry in dir.read_dir().expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            holding.extend(self::holding(&path, text));
            continue;
        }
        let mut bytes = std::fs::read(&path).expect("a file");
        let mut unpacked = Vec::new();
        // What is not gzipped has no more to show.
        let _ = flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked);
        bytes.extend(unpacked);
        if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            holding.push(path.display().to_string());
        }
    }
    holding
}

fn bearing(heard: &Heard, field: &str, host: &str) -> (usize, usize) {
    heard.bearing(field).get(&format!("http://{host}")).copied().unwrap_or_default()
}

#[test]
fn workers_have_the_secrets_and_nobody_else() {
    let heard = Heard::default();
    let seed = Pages::new().html("/", "<a href=http://sub.seed.test/>s</a>").html("/b", "<p>b");
    let web = Web::new()
        .site("seed.test", heard.at(seed))
        .site("late.test", heard.at(Pages::new().html("/", "<p>late")))
        .site("*", heard.at(Pages::new().html("/", "<p>foreign")));
    let home = tempfile::tempdir().expect("a directory");
    let logins = home.path().join("logins.toml");
    let text = "[login.api]\nfor = [\"http://api.test/*\"]\nbearer = \"S3CRET-B\"\n";
    std::fs::write(&logins, text).expect("written");
    std::fs::set_permissions(&logins, PermissionsExt::from_mode(0o600)).expect("set");
    let logins = logins.display().to_string();
    let secrets = ["--header", "Cookie: id=S3CRET-C", "--header-for", "http://late.test/*", "X-Api-Key: S3CRET-K"];
    let secrets = [&secrets[..], &["--login", &logins]].concat();
    let mut lab = Lab::new(Laid::of(web), &secrets);
    let worker = lab.worker();
    lab.served.asked(&["crawl", "http://ana:S3CRET-S@seed.test/", "--depth", "2"]);
    lab.served.add("http://late.test/");
    lab.served.add("http://api.test/");
    until("all is crawled", || lab.number("SELECT count(*) FROM argiope.queue") == 0);
    let all = |host: &str| {
        let (_, all) = bearing(&heard, "user-agent", host);
        assert!(all > 0, "{host} was asked");
        (all, all)
    };
    let none = |host: &str| (0, all(host).1);
    for (field, expect) in [
        ("authorization", [all("seed.test"), none("sub.seed.test"), none("late.test")]),
        ("cookie", [all("seed.test"), none("sub.seed.test"), all("late.test")]),
        ("x-api-key", [none("seed.test"), none("sub.seed.test"), all("late.test")]),
    ] {
        assert_eq!(
            ["seed.test", "sub.seed.test", "late.test"].map(|host| bearing(&heard, field, host)),
            expect,
            "{field}"
        );
    }

    assert_eq!(bearing(&heard, "authorization", "api.test"), all("api.test"), "the bearer token");

    // Another password, for a worker that crawls already.
    let before = all("seed.test").1;
    lab.served.asked(&["crawl", "http://ana:S3CRET-2@seed.test/b", "--depth", "0"]);
    until("the page is asked for", || all("seed.test").1 > before);
    let last = heard.requests().into_iter().rfind(|request| request.target == "/b").expect("asked for");
    assert_eq!(last.header("authorization"), Some("Basic YW5hOlMzQ1JFVC0y"), "ana:S3CRET-2");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let told = runtime.block_on(ask(&lab.served.workers, &Proof::default())).expect("it answers");
    let told = serde_json::to_string(&told).expect("JSON");
    assert!(told.contains("Cookie: ***") && !told.contains(SECRET), "{told}");
    let (_, stats) = lab.served.post("Stats", &json!({}));
    let (_, explained) = lab.served.post("Explain", &json!({"url": "http://ana:S3CRET-S@seed.test/"}));
    let (_, refused) = lab.served.post("AddSeeds", &json!({"urls": ["http://ana:S3CRET-S@seed.test:99999/"]}));
    assert!(refused.to_string().contains("http://***@seed.test:99999/"), "{refused}");
    let settings: String = lab.query("SELECT settings FROM argiope.crawl")[0].get(0);
    let said = worker.said();
    assert!(![stats.to_string(), explained.to_string(), refused.to_string(), settings, said].concat().contains(SECRET));
    worker.leave();
    let shared = lab.shared();
    assert_eq!(holding(shared.parent().expect("the lab's"), SECRET), [""; 0]);
    assert!(!holding(&shared, "Cookie: ***").is_empty(), "the records say that there was a field");

    // A server that starts again has them too, and is not told them again.
    lab.served.kill();
    let archive = format!("file://{}", shared.display());
    let arguments = lab.web.arguments();
    let usual = ["--archive", &archive, "--deny-private=false"];
    let again = Served::start(&lab.database.lock().expect("nobody panicked"), &[&usual[..], &arguments].concat());
    lab.served = again;
    let worker = lab.worker();
    let before = all("late.test").1;
    lab.served.asked(&["crawl", "http://late.test/again", "--depth", "0"]);
    assert!(all("late.test").1 > before);
    assert_eq!(bearing(&heard, "x-api-key", "late.test"), all("late.test"));
    worker.leave();
}

/// The role of docs/deployment.md that may read all tables.
#[test]
fn who_may_read_the_state_may_not_read_the_secrets() {
    let database = Postgres::start();
    let onlooker = "CREATE ROLE onlooker; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO onlooker, PUBLIC";
    database.client().batch_execute(onlooker).expect("the statements are right");
    let _served = Served::first(&database, &["--header", "Cookie: S3CRET"]);
    let may = |table: &str| -> bool {
        let asked = "SELECT has_table_privilege('onlooker', $1, 'SELECT')";
        database.client().query_one(asked, &[&table]).expect("the statement is right").get(0)
    };
    assert!(may("argiope.url") && may("argiope.crawl"));
    assert!(!may("argiope.secret"));
}

#[test]
fn keys_in_the_address_of_the_archive_are_refused() {
    for archive in [
        "s3://KEY:S3CRET@bucket/crawl",
        "s3://KEY/S3CRET@bucket/crawl",
        "webdav://KEY:S3CRET@host/crawl",
        "file://KEY:S3CRET@/crawl",
        "s3://bucket/crawl?aws_secret_access_key=S3CRET",
        "az://container/crawl?sig=S3CRET",
    ] {
        // The database is not asked: there is none.
        let store = ["server", "--store", "postgres://me@127.0.0.1:1/none", "--archive", archive];
        let ran = argiope(&[&store[..], &["--workers", "127.0.0.1:0", "--clients", "127.0.0.1:0"]].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("keys belong in the environment") && !ran.stderr.contains(SECRET), "{ran:?}");
    }
}

#[test]
fn a_jar_of_cookies_is_refused() {
    let database = Postgres::start();
    let store = database.url();
    let ports = ["--workers", "127.0.0.1:0", "--clients", "127.0.0.1:0"];
    let usual = ["server", "--store", &store, "--archive", "file:///nowhere", "--cookie-jar"];
    let ran = argiope(&[&usual[..], &ports].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("are for a crawl by one process: workers share no jar of cookies"), "{ran:?}");
}
