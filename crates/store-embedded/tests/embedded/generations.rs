//! The queue in generations.

use std::collections::{BTreeMap, BTreeSet};

use fjall::{Database, KeyspaceCreateOptions};
use store::{CrawlView, Store};
use store_embedded::{EmbeddedStore, Options};
use testkit::batches::{content, expected, numbered};

const GENERATION_URLS: u64 = 100;
const BATCHES: u64 = 60;

/// The places in the queue by the table that has them.
fn places(dir: &std::path::Path) -> BTreeMap<String, BTreeSet<Vec<u8>>> {
    let engine = Database::builder(dir.join("engine")).open().expect("open the engine");
    let names = engine.list_keyspace_names().into_iter().filter(|name| name.starts_with("queue"));
    let places = |name: &str| {
        let table = engine.keyspace(name, KeyspaceCreateOptions::default).expect("a table");
        table.iter().map(|entry| entry.key().expect("a key").to_vec()).collect()
    };
    names.map(|name| (name.to_string(), places(&name))).collect()
}

#[test]
fn a_url_is_in_one_generation_and_they_are_begun_when_the_youngest_is_full() {
    let dir = tempfile::tempdir().expect("a directory");
    let open = || {
        let options = Options { generation_urls: GENERATION_URLS, ..Options::default() };
        EmbeddedStore::open(dir.path(), options).expect("open")
    };
    let store = open();
    (1..=BATCHES / 2).for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None));
    drop(store);
    let half = places(dir.path());
    let store = open();
    (BATCHES / 2 + 1..=BATCHES).for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None));
    assert_eq!(content(&store), expected(BATCHES));
    let totals = store.totals().expect("totals");
    drop(store);
    let places = places(dir.path());
    assert!(half.len() > 1 && places.len() > half.len(), "{} and {} tables", half.len(), places.len());
    // A URL is written at most four times: when it is found, when a shorter way is, which also removes it, and when it is visited.
    assert!(places.len() as u64 <= 1 + totals.urls * 4 / GENERATION_URLS, "{} tables", places.len());
    let all: BTreeSet<_> = places.values().flatten().collect();
    assert_eq!(all.len(), places.values().map(BTreeSet::len).sum::<usize>());
    assert_eq!(all.len() as u64, totals.pending);
}
