//! Whatever is committed, the store in PostgreSQL answers like the in-memory store.

use model::{ContentDigest, PayloadDigest};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use store::{Batch, MemoryStore, Store};
use testdb::Postgres;

use crate::place::Place;
use testkit::any_batches::batch;
use testkit::batches::content;

fn check(place: &Place, batches: &[Batch]) {
    let memory = MemoryStore::new();
    let mut store = place.open().expect("open");
    for (n, batch) in batches.iter().enumerate() {
        let expect = memory.commit(batch).expect("commit");
        assert_eq!(store.commit(batch).expect("commit"), expect, "batch {n}");
        assert_eq!(content(&store), content(&memory), "after batch {n}");
        for digest in 0..5 {
            let (content, label) = (ContentDigest::of(&[digest]), Some(PayloadDigest([digest; 20])));
            assert_eq!(store.holder(content, label).expect("holder"), memory.holder(content, label).expect("holder"));
        }
        if n % 8 == 7 {
            drop(store);
            store = place.open().expect("open again");
        }
    }
}

#[test]
fn any_batches_do_the_same() {
    let server = Postgres::start();
    let config =
        ProptestConfig { cases: 24, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() };
    let batches = prop::collection::vec(batch(), 1..25);
    let result = TestRunner::new(config).run(&batches, |batches| {
        check(&Place::on(&server), &batches);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
