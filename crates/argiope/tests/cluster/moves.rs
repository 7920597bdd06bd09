//! Sites whose address is found late, or dies: they go to the owner of their new address, which is asked no sooner.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use testdb::until;
use testweb::{LogEntry, Named};

use crate::lab::{DELAY, Lab, Laid, SEED};
use crate::workers::{beyond, check_polite};
use testkit::judge::{address_of, check_gaps, site_of};

const SITES: u64 = 4;
const PAGES: u64 = 200;

const FIRST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const SECOND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Has the database note whether each site that moves takes a robots.txt with it that is sealed.
const MOVED: &str = "
    CREATE TABLE argiope.moved (site text, is_sealed boolean);
    CREATE FUNCTION argiope.moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO argiope.moved SELECT NEW.site, g.is_sealed
            FROM argiope.robots r JOIN argiope.segment g ON g.serial = r.segment WHERE r.site_key = NEW.site_key;
        RETURN NULL;
    END $$;
    CREATE TRIGGER moved AFTER UPDATE OF politeness_group ON argiope.site FOR EACH ROW
        WHEN (OLD.politeness_group <> NEW.politeness_group) EXECUTE FUNCTION argiope.moved();";

fn groups(lab: &Lab) -> Vec<(String, String)> {
    let rows = lab.query("SELECT site, politeness_group FROM argiope.site ORDER BY site");
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// All sites on the first address.
fn all_on_first() -> Vec<(String, String)> {
    (0..SITES).map(|site| (format!("http://s{site:04}.synthetic.test"), FIRST.to_string())).collect()
}

#[test]
fn sites_whose_address_dies_move_to_where_their_names_lead() {
    let laid = Laid::named(SITES, PAGES, FIRST);
    let dying = laid.also(SITES, PAGES, SECOND);
    let is_dead = Arc::new(AtomicBool::new(false));
    let moved = is_dead.clone();
    let names = laid.name_server(move |name| {
        let moves = name.starts_with("s0001") || name.starts_with("s0003");
        Named::At(if moves && !moved.load(SeqCst) { SECOND } else { FIRST })
    });
    let lab = Lab::new(laid, &["--dns-servers", &names.address().to_string()]);
    lab.execute(MOVED);
    let _workers = [lab.worker(), lab.worker(), lab.worker()];
    lab.served.add(SEED);
    until("the second address is asked", || dying.requests() > 20);
    is_dead.store(true, SeqCst);
    // By one clock. What was under way has no end.
    let later = i128::from(lab.web.web.now_us()) - i128::from(dying.now_us());
    let shifted = |time: u64| u64::try_from(i128::from(time) + later).expect("it began later");
    let before: Vec<LogEntry> = dying
        .log()
        .into_iter()
        .filter_map(|entry| {
            Some(LogEntry { start_us: shifted(entry.start_us), end_us: Some(shifted(entry.end_us?)), ..entry })
        })
        .collect();
    lab.web.shut_down(dying);

    let answer = lab.crawl();
    assert_eq!((&answer["fetched"], &answer["failed"]), (&PAGES.into(), &0.into()), "{answer}");
    assert_eq!(groups(&lab), all_on_first());
    let moved = |which: &str| lab.number(&format!("SELECT count(*) FROM argiope.moved {which}"));
    assert!(moved("") > 0 && moved("WHERE NOT is_sealed") == 0, "the next owner relies on what is sealed");
    check_gaps(&before, address_of, DELAY);
    check_polite(&lab.web.log());
    let mut log = [before, lab.web.log()].concat();
    // The next owner of a site has the robots.txt from the one before.
    let robots: Vec<LogEntry> = log.extract_if(.., |entry| entry.target == "/robots.txt").collect();
    let twice = beyond(&robots, 1);
    assert!(twice.is_empty(), "asked for twice: {twice:#?}");
    log.sort_by_key(|entry| entry.start_us);
    check_gaps(&log, site_of, DELAY);
    let moved = |entry: &LogEntry| address_of(entry) == FIRST.to_string() && site_of(entry).contains("s0001");
    assert!(log.iter().any(moved), "it was asked at the other address");
}

#[test]
fn a_site_placed_without_an_address_joins_those_at_its_address_before_it_is_asked() {
    let laid = Laid::named(SITES, PAGES, FIRST);
    let database = Arc::new(OnceLock::<String>::new());
    let known = database.clone();
    // Nobody answers for one of the names until its site is a group by itself.
    let is_alone = move || {
        let mut client = postgres::Client::connect(known.get()?, postgres::NoTls).ok()?;
        let site = "SELECT FROM argiope.site WHERE politeness_group = 'http://s0003.synthetic.test'";
        client.query_opt(site, &[]).ok()?
    };
    let names = laid.name_server(move |name| {
        // On a thread of its own: a connection brings a runtime.
        let is_alone = || std::thread::scope(|scope| scope.spawn(&is_alone).join().expect("no panic"));
        if name.starts_with("s0003") && is_alone().is_none() { Named::Fails } else { Named::At(FIRST) }
    });
    let lab = Lab::new(laid, &["--dns-servers", &names.address().to_string()]);
    database.set(lab.database.lock().expect("nobody panicked").address()).expect("once");
    let _workers = [lab.worker(), lab.worker(), lab.worker()];
    let answer = lab.crawl();
    assert_eq!((&answer["fetched"], &answer["failed"]), (&PAGES.into(), &0.into()), "{answer}");
    assert_eq!(groups(&lab), all_on_first());
    assert_eq!(lab.number("SELECT count(*) FROM argiope.politeness_group WHERE name LIKE 'http:%'"), 1);
    check_polite(&lab.web.log());
}
