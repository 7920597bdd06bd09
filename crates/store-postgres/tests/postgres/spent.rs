//! What workers spend of the budgets of a crawl.

use std::time::Duration;

use coordination::{Spending, Worker};
use model::{Outcome, Round, Timestamp, Visit};
use store::{Batch, Store};
use store_postgres::cluster::{Control, PostgresWorker};
use testdb::Postgres;

use crate::cluster::GRACE;
use crate::control::setup;
use crate::place::{ALL_SEEDS, Place};
use crate::sealed::{Two, duplicate, recorded, two, visits};

/// Bytes of each visit.
const BYTES: u64 = 10;

fn open(place: &Place) -> Control {
    Control::open(&place.address, &place.schema).expect("opened")
}

/// Pages and bytes; what the others have spent is asked of a worker.
fn spent(spending: Spending) -> (u32, u64, u64) {
    (spending.round, spending.pages, spending.bytes)
}

fn elsewhere(worker: &PostgresWorker) -> (u32, u64, u64) {
    spent(worker.spent_elsewhere().expect("counted"))
}

fn long(visit: Visit) -> Visit {
    Visit { length: BYTES, ..visit }
}

#[test]
fn what_workers_spend_is_counted_once_by_round_and_what_is_lost_is_not() {
    let server = Postgres::start();
    let Two { place, one, other, mine, theirs, fence, other_fence } = two(&server, 6, 3);
    let control = open(&place);
    assert_eq!(control.spent().expect("counted"), Spending::default(), "nothing is set up");
    control.set_up(&setup("depth = 3", 20)).expect("set up");
    let [sealed, open_one, others] = [&one, &one, &other].map(|worker| worker.next_serial().expect("serial"));
    let commit = |worker: &PostgresWorker, fence: &[_], batch: Vec<Visit>| {
        worker.commit(fence, ALL_SEEDS, &visits(batch.into_iter().map(long).collect())).expect("commit");
    };
    let failed = Visit { outcome: Outcome::HttpError, ..recorded(&mine[1], sealed, 0) };
    commit(&one, &fence, vec![recorded(&mine[0], sealed, 0), failed]);
    commit(&one, &fence, vec![recorded(&mine[2], sealed, 1)]);
    one.seal(sealed).expect("sealed");
    commit(&one, &fence, vec![recorded(&mine[3], open_one, 2)]);
    let copy = duplicate(&theirs[1], others, 0, &mine[0]);
    commit(&other, &other_fence, vec![recorded(&theirs[0], others, 3), copy]);
    let all = || spent(control.spent().expect("counted"));
    assert_eq!((elsewhere(&one), elsewhere(&other), all()), ((1, 2, 20), (1, 3, 40), (1, 5, 60)));

    // Segments of earlier formats are counted when the store is opened.
    place.execute("DROP TABLE spent; ALTER TABLE crawl DROP began_at; UPDATE meta SET version = 23");
    drop(open(&place));
    assert_eq!((elsewhere(&one), all()), ((1, 2, 20), (1, 5, 60)));

    place.execute(&format!("UPDATE worker SET lease_until = '-infinity' WHERE worker = {}", one.id().0));
    assert_eq!(other.reap(GRACE).expect("reap"), [one.id()]);
    assert_eq!((elsewhere(&other), all()), ((1, 2, 30), (1, 4, 50)), "the page that was not sealed is lost");

    // A round begins with nothing spent.
    let lasts = control.spent().expect("counted").lasts;
    assert!(lasts > Duration::ZERO);
    let round = Round { number: 2, began_at: Timestamp(1), is_choosing: false };
    control.commit(&Batch { round: Some(round), ..Batch::default() }).expect("a round");
    assert_eq!(all(), (2, 0, 0));
    let seen = Visit { outcome: Outcome::NotModified, round: 2, at: Timestamp(2), ..recorded(&theirs[2], others, 4) };
    commit(&other, &other_fence, vec![seen]);
    assert_eq!(all(), (2, 1, 0), "a page that is as it was is fetched, and has no bytes");
    assert!(control.spent().expect("counted").lasts >= lasts, "the set-up is later than that round claims");
}
