//! Opening: one process at a time, one format, and what a killed first start leaves behind.

use std::fs;

use model::{ContentDigest, PayloadDigest, SiteRecord};
use store::{Batch, CrawlView, Store, StoreError};
use store_embedded::{EmbeddedStore, Options};
use testkit::batches::{content, expected, numbered};

fn open(dir: &std::path::Path) -> Result<EmbeddedStore, StoreError> {
    EmbeddedStore::open(dir, Options::default())
}

#[test]
fn a_second_open_is_refused_until_the_first_is_closed() {
    let dir = tempfile::tempdir().expect("a directory");
    let first = open(dir.path()).expect("open");
    let error = open(dir.path()).err().expect("not to open");
    assert_eq!(error.to_string(), format!("{} is in use by another process", dir.path().display()));
    assert!(matches!(error, StoreError::InUse { .. }));
    drop(first);
    open(dir.path()).expect("open again");
}

#[test]
fn another_format_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(open(dir.path()).expect("open"));
    let engine = fjall::Database::builder(dir.path().join("engine")).open().expect("open the engine");
    let meta = engine.keyspace("meta", fjall::KeyspaceCreateOptions::default).expect("the table");
    meta.insert("format", 13u32.to_be_bytes()).expect("insert");
    drop((meta, engine));
    let error = open(dir.path()).err().expect("not to open");
    assert!(matches!(error, StoreError::Version { found: 13, expected: 12, .. }), "{error}");
    fs::write(dir.path().join("engine/version"), b"FJL\x02").expect("write");
    let error = open(dir.path()).err().expect("not to open");
    assert!(matches!(error, StoreError::Version { found: 2, expected: 3, .. }), "{error}");
    let to_reader = EmbeddedStore::open_to_read(dir.path(), &Options::default()).err().expect("not to open");
    assert_eq!(to_reader.to_string(), error.to_string());
}

/// What the first format looked like: the records of URLs that wait were in the table of URLs.
fn in_first_format(dir: &std::path::Path) {
    let engine = fjall::Database::builder(dir.join("engine")).open().expect("open the engine");
    let table = |name| engine.keyspace(name, fjall::KeyspaceCreateOptions::default).expect("the table");
    let (queue, urls, meta) = (table("queue"), table("urls"), table("meta"));
    let entries = queue.iter().map(|entry| entry.into_inner().expect("an entry"));
    let waiting: Vec<_> = entries.filter(|(_, record)| !record.is_empty()).collect();
    assert!(!waiting.is_empty());
    let mut batch = engine.batch();
    for (place, record) in waiting {
        let key: Vec<u8> = place[..8].iter().chain(&place[12..]).copied().collect();
        batch.insert(&urls, key, record);
        batch.insert(&queue, place, []);
    }
    // Every batch writes to this table: one with a later batch would count as there by halves.
    batch.insert(&meta, "format", 1u32.to_be_bytes());
    batch.commit().expect("commit");
    engine.persist(fjall::PersistMode::SyncAll).expect("persist");
}

/// The second format was as it is now while there is one generation of the queue.
fn in_second_format(dir: &std::path::Path) {
    in_format(dir, 2);
}

/// The third format was as it is now while no visit has reached a limit.
fn in_third_format(dir: &std::path::Path) {
    in_format(dir, 3);
}

/// The fourth format was as it is now while no site is aside, and robots.txt was had whenever it was asked for.
fn in_fourth_format(dir: &std::path::Path) {
    in_format(dir, 4);
}

/// The fifth format had no table of earlier visits, and was as it is now in the first round.
#[test]
fn a_store_of_the_fifth_format_goes_on() {
    let dir = tempfile::tempdir().expect("a directory");
    let commit = |numbers: std::ops::RangeInclusive<u64>| {
        let store = open(dir.path()).expect("open");
        numbers.for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None, "batch {number}"));
    };
    commit(1..=3);
    let engine = fjall::Database::builder(dir.path().join("engine")).open().expect("open the engine");
    let earlier = engine.keyspace("earlier", fjall::KeyspaceCreateOptions::default).expect("the table");
    engine.delete_keyspace(earlier).expect("deleted");
    drop(engine);
    in_format(dir.path(), 5);
    let view = EmbeddedStore::open_to_read(dir.path(), &Options::default()).expect("read");
    assert_eq!(content(&view), expected(3));
    drop(view);
    commit(4..=12);
    assert_eq!((version(dir.path()), content(&open(dir.path()).expect("open"))), (12, expected(12)));
}

/// The tenth format had no table by outcome. Such a store gets none, since it would not have the visits before.
#[test]
fn a_store_of_the_tenth_format_finds_no_urls_by_outcome() {
    let dir = tempfile::tempdir().expect("a directory");
    let html = Some(model::Outcome::Html);
    let found = || open(dir.path()).expect("open").in_state(html, None, 1).expect("a state").is_some();
    assert!(found());
    let engine = fjall::Database::builder(dir.path().join("engine")).open().expect("open the engine");
    let table = |name| engine.keyspace(name, fjall::KeyspaceCreateOptions::default).expect("the table");
    table("meta").remove("by-outcome").expect("removed");
    engine.delete_keyspace(table("by-outcome")).expect("deleted");
    engine.persist(fjall::PersistMode::SyncAll).expect("persist");
    drop(engine);
    in_format(dir.path(), 10);
    let store = open(dir.path()).expect("open");
    assert_ne!(store.commit(&numbered(1)).ok(), None);
    drop(store);
    assert!(!found());
}

fn in_format(dir: &std::path::Path, version: u32) {
    let engine = fjall::Database::builder(dir.join("engine")).open().expect("open the engine");
    let queues = engine.list_keyspace_names().into_iter().filter(|name| name.starts_with("queue"));
    assert_eq!(queues.count(), 1);
    let meta = engine.keyspace("meta", fjall::KeyspaceCreateOptions::default).expect("the table");
    meta.insert("format", version.to_be_bytes()).expect("insert");
    engine.persist(fjall::PersistMode::SyncAll).expect("persist");
}

fn version(dir: &std::path::Path) -> u32 {
    let engine = fjall::Database::builder(dir.join("engine")).open().expect("open the engine");
    let meta = engine.keyspace("meta", fjall::KeyspaceCreateOptions::default).expect("the table");
    let version = meta.get("format").expect("read").expect("a version");
    u32::from_be_bytes(version.as_ref().try_into().expect("four bytes"))
}

/// A store goes on with several generations where one of another format ended.
fn goes_on_from(format: fn(&std::path::Path)) {
    let dir = tempfile::tempdir().expect("a directory");
    let open = |generation_urls| EmbeddedStore::open(dir.path(), Options { generation_urls, ..Options::default() });
    let commit = |numbers: std::ops::RangeInclusive<u64>, generation_urls| {
        let store = open(generation_urls).expect("open");
        numbers.for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None, "batch {number}"));
    };
    commit(1..=6, u64::MAX);
    format(dir.path());
    let before = version(dir.path());
    let view = EmbeddedStore::open_to_read(dir.path(), &Options::default()).expect("read");
    assert_eq!(content(&view), expected(6));
    drop(view);
    assert_eq!(content(&open(1).expect("open")), expected(6));
    assert_eq!(version(dir.path()), before, "a reader changes nothing");
    commit(7..=12, 1);
    assert_eq!(version(dir.path()), 12);
    assert_eq!(content(&open(1).expect("open")), expected(12));
}

/// The seventh format was as it is now while there are no requisites.
#[test]
fn a_store_of_the_seventh_format_goes_on() {
    goes_on_from(|dir| in_format(dir, 7));
}

/// The eighth format was as it is now while sites say nothing of changes.
#[test]
fn a_store_of_the_eighth_format_goes_on() {
    goes_on_from(|dir| in_format(dir, 8));
}

/// The ninth format was as it is now while nothing is fetched as a frame or a style sheet.
#[test]
fn a_store_of_the_ninth_format_goes_on() {
    goes_on_from(|dir| in_format(dir, 9));
}

#[test]
fn a_store_of_the_first_format_goes_on() {
    goes_on_from(in_first_format);
}

#[test]
fn a_store_of_the_second_format_goes_on() {
    goes_on_from(in_second_format);
}

/// The third format knew contents by the label of their payload alone.
#[test]
fn contents_of_the_third_format_are_found_by_their_label() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path()).expect("open");
    store.commit(&numbered(1)).expect("commit");
    let urls = store.scan(None, 2).expect("scan");
    let [before, now] = [0, 1].map(|n| urls[n].candidate.url.key());
    drop(store);
    let (content, label) = (ContentDigest::of(b"content"), PayloadDigest([8; 20]));
    let engine = fjall::Database::builder(dir.path().join("engine")).open().expect("open the engine");
    let table = |name| engine.keyspace(name, fjall::KeyspaceCreateOptions::default).expect("the table");
    let mut batch = engine.batch();
    batch.insert(&table("holders"), label.0, before.to_bytes());
    batch.insert(&table("meta"), "format", 3u32.to_be_bytes());
    batch.commit().expect("commit");
    engine.persist(fjall::PersistMode::SyncAll).expect("persist");
    drop(engine);

    let store = open(dir.path()).expect("open");
    assert_eq!(store.holder(content, Some(label)).expect("holder"), Some(before));
    assert_eq!(store.holder(content, Some(PayloadDigest([9; 20]))).expect("holder"), None);
    store.commit(&Batch { holders: vec![(content, now)], ..Batch::default() }).expect("commit");
    assert_eq!(store.holder(content, Some(label)).expect("holder"), Some(now), "the content says more");
    drop(store);
    assert_eq!(version(dir.path()), 12);
}

#[test]
fn a_store_of_the_third_format_goes_on() {
    goes_on_from(in_third_format);
}

/// The fourth format had the counters of shapes in the record of their site.
#[test]
fn shapes_of_the_fourth_format_are_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let site = weburl::Site::from_text("http://a.test").expect("a site");
    let write = |shapes: &[(u64, u32)]| {
        let sites = vec![SiteRecord { shapes: shapes.to_vec(), ..SiteRecord::new(site.clone()) }];
        let store = open(dir.path()).expect("open");
        store.commit(&Batch { sites, ..Batch::default() }).expect("commit");
    };
    let read = || open(dir.path()).expect("open").site(site.key()).expect("site").expect("known").shapes;
    write(&[]);
    let engine = fjall::Database::builder(dir.path().join("engine")).open().expect("open the engine");
    let table = |name| engine.keyspace(name, fjall::KeyspaceCreateOptions::default).expect("the table");
    let mut record = b"\x01\x00\x0dhttp://a.test\x00\x00\x00\x00\x00\x00\x02".to_vec();
    record.extend([0, 0, 0, 0, 0, 0, 0, 7, 8, 255, 255, 255, 255, 255, 255, 255, 255, 9]);
    let mut batch = engine.batch();
    batch.insert(&table("sites"), site.key().to_bytes(), record);
    batch.insert(&table("meta"), "format", 4u32.to_be_bytes());
    batch.commit().expect("commit");
    engine.persist(fjall::PersistMode::SyncAll).expect("persist");
    drop(engine);

    assert_eq!(read(), [(7, 8), (u64::MAX, 9)]);
    write(&[(7, 16)]);
    assert_eq!(read(), [(7, 16), (u64::MAX, 9)], "what is not written stays");
    write(&[]);
    assert_eq!(read(), [(7, 16), (u64::MAX, 9)]);
    assert_eq!(version(dir.path()), 12);
}

#[test]
fn a_store_of_the_fourth_format_goes_on() {
    goes_on_from(in_fourth_format);
}

#[test]
fn what_a_killed_first_start_left_behind_is_replaced() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(open(dir.path()).expect("open"));
    fs::remove_file(dir.path().join("engine/version")).expect("remove");
    assert!(open(dir.path()).is_err(), "something was acknowledged");
    fs::remove_file(dir.path().join("acknowledged")).expect("remove");
    let store = open(dir.path()).expect("nothing was");
    store.commit(&numbered(1)).expect("commit");
    assert!(content(&store) == expected(1));
}

#[test]
fn a_first_start_killed_within_the_marker_is_replaced_and_damage_is_not() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(open(dir.path()).expect("open"));
    fs::write(dir.path().join("engine/version"), b"").expect("write");
    assert!(open(dir.path()).is_err(), "something was acknowledged");
    fs::remove_file(dir.path().join("acknowledged")).expect("remove");
    drop(open(dir.path()).expect("nothing was"));
}

#[test]
fn what_stands_where_the_engine_is_prepared_does_no_harm() {
    let left = |dir: &std::path::Path| fs::create_dir_all(dir.join("engine.new/keyspaces/0"));
    let file = |dir: &std::path::Path| fs::write(dir.join("engine.new"), "mine");
    for (prepare, stays) in [(&left as &dyn Fn(&std::path::Path) -> std::io::Result<()>, false), (&file, true)] {
        let dir = tempfile::tempdir().expect("a directory");
        prepare(dir.path()).expect("made");
        let store = open(dir.path()).expect("open");
        store.commit(&numbered(1)).expect("commit");
        assert!(content(&store) == expected(1));
        assert_eq!(dir.path().join("engine.new").exists(), stays);
    }
}

#[test]
fn an_engine_that_is_gone_is_noticed() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path()).expect("open");
    store.commit(&numbered(1)).expect("commit");
    drop(store);
    fs::remove_dir_all(dir.path().join("engine")).expect("remove");
    let error = open(dir.path()).err().expect("not to open");
    assert!(matches!(error, StoreError::DamagedFiles { .. }), "{error}");
}

#[test]
fn a_path_that_is_no_directory_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("file");
    fs::write(&file, "").expect("write");
    let error = open(&file).err().expect("not to open");
    assert!(matches!(error, StoreError::Backend { doing: "making the directory", .. }), "{error}");
}
