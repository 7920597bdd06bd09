//! A page that workers fetch at several URLs at once: one of them is the original, for all who look.

use testdb::until;
use testweb::{Pages, Web};

use crate::lab::{Lab, Laid};
use testkit::ran::argiope;
use testkit::tables::pages;

const HOSTS: [&str; 4] = ["a.test", "b.test", "c.test", "d.test"];

#[test]
fn of_copies_that_workers_record_at_once_one_is_the_original() {
    let copy = || Pages::new().html("/", "<title>copy</title>the same everywhere");
    let web = HOSTS.iter().fold(Web::new(), |web, host| web.site(host, copy()));
    let mut lab = Lab::new(Laid::apart(web, &HOSTS), &[]);
    let workers = [lab.worker(), lab.worker()];
    for (at, worker) in workers.iter().cycle().take(HOSTS.len()).enumerate() {
        lab.give(worker, &format!("127.0.0.{}", at + 2));
    }
    // Each commit that has a first with its payload stops just before it says so, until the lock is free.
    let mut client = lab.database.lock().expect("nobody panicked").client();
    let stop = "CREATE FUNCTION argiope.stop() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END';
        CREATE TRIGGER stop BEFORE INSERT ON argiope.holder FOR EACH ROW EXECUTE FUNCTION argiope.stop();
        SELECT pg_advisory_lock(1)";
    client.batch_execute(stop).expect("made");
    for host in HOSTS {
        lab.served.add(host);
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%commit(%'";
    until("both workers have a first", || lab.number(waiting) == 2);
    client.batch_execute("SELECT pg_advisory_unlock(1)").expect("unlocked");
    until("all are visited", || lab.number("SELECT count(*) FROM argiope.visit") == 4);

    let original = "(SELECT site_key FROM argiope.visit WHERE outcome = 'html')";
    assert_eq!(
        lab.number(&format!(
            "SELECT count(*) FROM argiope.visit WHERE outcome = 'duplicate' AND duplicate_of_site = {original}"
        )),
        3
    );
    let originals = lab.query("SELECT url FROM argiope.page WHERE outcome = 'html'");
    let original: String = originals[0].get(0);
    for worker in workers {
        assert_eq!(worker.leave().0, Some(0));
    }
    lab.served.kill();
    let shared = lab.shared();
    let dir = shared.to_str().expect("UTF-8");
    let written = pages(dir);
    for (url, row) in &written {
        let is_original = *url == original;
        assert_eq!(row["outcome"], if is_original { "html" } else { "duplicate" }, "{url}");
        assert_eq!(row.get("duplicate_of"), Some(&original).filter(|_| !is_original), "{url}");
        assert_eq!(row.contains_key("text"), is_original, "{url}");
    }
    std::fs::remove_dir_all(shared.join("dataset")).expect("removed");
    for command in ["derive", "check"] {
        let ran = argiope(&[command, dir]);
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
    assert_eq!(pages(dir), written, "derived from state and archive it is the same");
    let report = argiope(&["report", dir, "--json"]).json();
    assert_eq!(report["duplicates"]["exact"]["all_sites"], 3, "{report}");
    assert_eq!(report["duplicates"]["most_copied"]["rows"][0]["copies"], 3, "{report}");
}
