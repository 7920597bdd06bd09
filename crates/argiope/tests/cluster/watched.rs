//! A database that notes down who owned what and who wrote what, to be compared with who asked.

use std::collections::BTreeMap;

use testweb::LogEntry;

use crate::lab::Lab;
use testkit::judge::address_of;

/// How often the database's clock is compared with that of the web's log.
const COMPARISONS: usize = 5;

/// What the database notes by itself, in the order in which it happens.
///
/// Triggers run in the transaction that they are about, while it holds the row: nothing is missed, and nothing of the same group is noted
/// out of order. A commit raises the number of its writer, so the transaction says who wrote.
const NOTES: &str = "
    CREATE SCHEMA watched;
    CREATE TABLE watched.owner (
        number bigint GENERATED ALWAYS AS IDENTITY, at timestamptz DEFAULT clock_timestamp(),
        name text, owner bigint, epoch bigint, not_before timestamptz, lease_before timestamptz);
    CREATE TABLE watched.lease (worker bigint, at timestamptz DEFAULT clock_timestamp(), until timestamptz);
    CREATE TABLE watched.visit (transaction xid8 DEFAULT pg_current_xact_id(), name text, owner bigint);
    CREATE TABLE watched.commit (transaction xid8 DEFAULT pg_current_xact_id(), worker bigint);
    CREATE FUNCTION watched.owner() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO watched.owner (name, owner, epoch, not_before, lease_before)
            VALUES (NEW.name, NEW.owner, NEW.epoch, NEW.not_before,
                (SELECT w.lease_until FROM argiope.worker w WHERE w.worker = OLD.owner));
        RETURN NULL;
    END $$;
    CREATE FUNCTION watched.lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO watched.lease (worker, until) VALUES (NEW.worker, NEW.lease_until);
        RETURN NULL;
    END $$;
    CREATE FUNCTION watched.visit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO watched.visit (name, owner) SELECT g.name, g.owner
            FROM argiope.site s JOIN argiope.politeness_group g ON g.name = s.politeness_group WHERE s.site_key = NEW.site_key;
        RETURN NULL;
    END $$;
    CREATE FUNCTION watched.commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO watched.commit (worker) VALUES (NEW.writer);
        RETURN NULL;
    END $$;
    CREATE TRIGGER watched AFTER INSERT OR UPDATE ON argiope.politeness_group FOR EACH ROW EXECUTE FUNCTION watched.owner();
    CREATE TRIGGER watched AFTER INSERT OR UPDATE ON argiope.worker FOR EACH ROW EXECUTE FUNCTION watched.lease();
    CREATE TRIGGER watched AFTER INSERT OR UPDATE ON argiope.visit FOR EACH ROW EXECUTE FUNCTION watched.visit();
    CREATE TRIGGER watched AFTER UPDATE ON argiope.writer FOR EACH ROW EXECUTE FUNCTION watched.commit();";

/// How long a request may be on its way: the others wait for a third of a lease, which is 2 seconds, before they take over.
const ON_ITS_WAY_US_MAX: i64 = 600_000;

/// When somebody may do something, in microseconds of the database's clock.
#[derive(Clone, Copy)]
struct Interval {
    from: i64,
    to: i64,
}

impl Interval {
    /// Whether a time is in it that is known to lie between these two.
    fn may_have(self, earliest: i64, latest: i64) -> bool {
        self.from <= latest && earliest < self.to
    }
}

/// What was noted, and what it takes to compare it with the web's log.
pub struct Watch {
    /// What is to be added to a time of the web's log for one of the database, at least and at most.
    clocks_apart: (i64, i64),
}

impl Watch {
    /// Has the database take notes from now on. Nobody has joined yet.
    pub fn over(lab: &Lab) -> Self {
        lab.execute(NOTES);
        Watch { clocks_apart: compared(lab) }
    }

    /// Requests by who owned the address at that moment and had a lease, and by others. `doors` are the workers' names.
    pub fn by_owners_and_others(
        &self,
        lab: &Lab,
        log: &[LogEntry],
        doors: &[String],
    ) -> (Vec<LogEntry>, Vec<LogEntry>) {
        let now = compared(lab);
        let least = self.clocks_apart.0.min(now.0);
        let most = self.clocks_apart.1.max(now.1);
        let (owners, leases) = (owners(lab), leases(lab));
        let is_owners = |entry: &LogEntry| {
            let at = i64::try_from(entry.start_us).expect("soon");
            let holds = |interval: &Interval| interval.may_have(at + least, at + most);
            let has_lease = |worker: &i64| leases.get(worker).is_some_and(|all| all.iter().any(holds));
            let owned = owners.get(&(address_of(entry), doors[lab.web.door_of(entry)].clone()));
            owned.is_some_and(|all| all.iter().any(|(worker, owned)| holds(owned) && has_lease(worker)))
        };
        log.iter().cloned().partition(is_owners)
    }

    /// Groups never go back to an epoch, and each owner has an epoch of its own; they are taken from nobody whose lease lasts, where nobody
    /// leaves; each visit was written by who owned its group at that moment.
    pub fn check(&self, lab: &Lab) {
        let back = "SELECT count(*) FROM (SELECT owner, epoch, max(epoch) OVER earlier AS reached,
                max(epoch) FILTER (WHERE owner IS NOT NULL) OVER earlier AS owned
            FROM watched.owner WINDOW earlier AS (PARTITION BY name ORDER BY number
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) o
            WHERE epoch < reached OR owner IS NOT NULL AND epoch <= owned";
        assert_eq!(lab.number(back), 0, "an epoch goes back or is used twice");
        let taken = "SELECT count(*) FROM watched.owner WHERE owner IS NULL AND lease_before >= at";
        assert_eq!(lab.number(taken), 0, "a group is taken from who may ask it");
        let visits = "SELECT count(*) FROM watched.visit v LEFT JOIN watched.commit c USING (transaction)";
        assert!(lab.number(visits) > 0, "visits are noted");
        let by_others = format!("{visits} WHERE v.owner IS DISTINCT FROM c.worker");
        assert_eq!(lab.number(&by_others), 0, "who does not own a group writes");
    }

    /// How groups came to other owners so far.
    pub fn changes(&self, lab: &Lab) -> Changes {
        let number = |owner: &str| {
            lab.number(&format!(
                "SELECT count(*) FROM watched.owner WHERE lease_before IS NOT NULL AND owner IS {owner}"
            ))
        };
        Changes { in_order: number("NOT NULL"), by_force: number("NULL") }
    }
}

/// How often groups came to another owner.
#[derive(Debug)]
pub struct Changes {
    /// From the hands of the owner before.
    pub in_order: i64,
    /// From a worker that was lost.
    pub by_force: i64,
}

/// What is to be added to a time of the web's log for one of the database, at least and at most.
fn compared(lab: &Lab) -> (i64, i64) {
    let mut client = lab.database.lock().expect("nobody panicked").client();
    let web_us = || i64::try_from(lab.web.now_us()).expect("soon");
    let mut compare = || {
        let before = web_us();
        let row = client.query_one("SELECT (extract(epoch FROM clock_timestamp()) * 1e6)::bigint", &[]);
        let there: i64 = row.expect("the time").get(0);
        (there - web_us(), there - before)
    };
    let all: Vec<(i64, i64)> = (0..COMPARISONS).map(|_| compare()).collect();
    all.into_iter().min_by_key(|(least, most)| most - least).expect("some")
}

/// Which worker owned what when, by group and by the name of its process.
fn owners(lab: &Lab) -> BTreeMap<(String, String), Vec<(i64, Interval)>> {
    let intervals = "SELECT o.name, w.name, o.owner, from_us, to_us FROM (
            SELECT name, owner, (extract(epoch FROM greatest(at, not_before)) * 1e6)::bigint AS from_us,
                coalesce((extract(epoch FROM lead(at) OVER (PARTITION BY name ORDER BY number)) * 1e6)::bigint, ~(1::bigint << 63)) AS to_us
            FROM watched.owner) o JOIN argiope.worker w ON w.worker = o.owner";
    let mut owners: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in lab.query(intervals) {
        let interval = Interval { from: row.get(3), to: row.get(4) };
        owners.entry((row.get(0), row.get(1))).or_default().push((row.get(2), interval));
    }
    owners
}

/// When the leases of workers lasted.
fn leases(lab: &Lab) -> BTreeMap<i64, Vec<Interval>> {
    let intervals =
        "SELECT worker, (extract(epoch FROM at) * 1e6)::bigint, (extract(epoch FROM greatest(at, until)) * 1e6)::bigint
        FROM watched.lease";
    let mut leases: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in lab.query(intervals) {
        let until: i64 = row.get(2);
        leases.entry(row.get(0)).or_default().push(Interval { from: row.get(1), to: until + ON_ITS_WAY_US_MAX });
    }
    leases
}
