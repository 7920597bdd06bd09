//! Opening: one process at a time, one format, and what is said where it is refused.

use database::Address;
use model::{ContentDigest, PayloadDigest};
use store::{Batch, CrawlView, Store, StoreError};
use store_postgres::PostgresStore;
use testdb::{GUARDED, PASSWORD, Postgres};

use crate::batches::{content, expected, numbered};
use crate::place::Place;

#[test]
fn a_second_open_is_refused_until_the_first_is_closed() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let first = place.open().expect("open");
    assert!(first.is_new());
    first.commit(&numbered(1)).expect("commit");
    let error = place.open().err().expect("not to open");
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    assert_eq!(error.to_string(), format!("{} is in use by another process", place_in_words(&place)));
    let elsewhere = Place::on(&server);
    drop(elsewhere.open().expect("another schema is another store"));
    let id = first.crawl_id().expect("an id");
    drop(first);
    let again = place.open().expect("open again");
    assert_eq!((again.crawl_id().expect("an id"), again.is_new()), (id, false));
    assert!(content(&again) == expected(1));
}

#[test]
fn who_lost_the_lock_cannot_overwrite_what_another_wrote() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let first = place.open().expect("open");
    first.commit(&numbered(1)).expect("commit");
    // As if the server had taken the connection for dead while this process was asleep, and another had gone on.
    place.execute("UPDATE writer SET process = gen_random_uuid()");
    let error = first.commit(&numbered(2)).expect_err("refused");
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    assert!(first.commit(&numbered(2)).is_err(), "a store that failed stays closed");
    drop(first);
    assert!(content(&place.open().expect("open")) == expected(1));
}

/// Makes of a store one of the tenth format, which had one visit of each URL.
const WITHOUT_ROUNDS: &str = "UPDATE meta SET version = 10;
    ALTER TABLE meta DROP round, DROP round_began_at, DROP is_choosing; ALTER TABLE url DROP again;
    ALTER TABLE visit DROP round, DROP more; ALTER TABLE nearer DROP again; DROP TABLE earlier_visit;
    ALTER TABLE site DROP misleads";

#[test]
fn a_store_of_the_tenth_format_goes_on() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    (1..=3).for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None, "batch {number}"));
    drop(store);
    place.execute(WITHOUT_ROUNDS);
    let store = place.open().expect("open");
    assert!(content(&store) == expected(3));
    (4..=9).for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None, "batch {number}"));
    assert!(content(&store) == expected(9));
}

/// The fourth format knew contents by the label of their payload alone, and no kind of duplicates.
#[test]
fn a_store_of_the_fourth_format_goes_on_and_contents_are_found_by_their_label() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    store.commit(&numbered(1)).expect("commit");
    drop(store);
    place.execute(WITHOUT_ROUNDS);
    place.execute(
        "DROP INDEX holder_of_url; ALTER TABLE visit DROP duplicate_kind; UPDATE meta SET version = 4;
         DROP TABLE secret; ALTER TABLE crawl DROP secrets; ALTER TABLE robots DROP segment;
         ALTER TABLE site DROP aside_until, DROP aside_round, DROP aside_reason, DROP aside_detail,
             ADD shapes bytea NOT NULL DEFAULT '';
         UPDATE site s SET shapes = (SELECT string_agg(int8send(c.shape) || int4send(c.count::integer), '')
             FROM site_shapes c WHERE c.site_key = s.site_key);
         DROP TABLE site_shapes;
         UPDATE holder SET digest = decode(repeat('08', 20), 'hex')",
    );
    let store = place.open().expect("open");
    let holder = |of: &[u8], label| store.holder(ContentDigest::of(of), PayloadDigest([label; 20])).expect("holder");
    let before = holder(b"another", 8);
    assert!(before.is_some());
    assert_eq!(holder(b"another", 9), None);
    store.commit(&numbered(2)).expect("commit");
    assert!(content(&store) == expected(2));
    let now = numbered(2).holders[0].1;
    store.commit(&Batch { holders: vec![(ContentDigest::of(b"another"), now)], ..Batch::default() }).expect("commit");
    assert_eq!(holder(b"another", 8), Some(now), "the content says more");
}

/// The seventh format had no sites aside, and counters of shapes in the row of their site.
#[test]
fn a_store_of_the_seventh_format_goes_on() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    (1..=3).for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None, "batch {number}"));
    drop(store);
    place.execute(WITHOUT_ROUNDS);
    place.execute(
        "UPDATE meta SET version = 7;
         ALTER TABLE site DROP aside_until, DROP aside_round, DROP aside_reason, DROP aside_detail,
             ADD shapes bytea NOT NULL DEFAULT '';
         UPDATE site s SET shapes = (SELECT string_agg(int8send(c.shape) || int4send(c.count::integer), '')
             FROM site_shapes c WHERE c.site_key = s.site_key);
         DROP TABLE site_shapes",
    );
    let store = place.open().expect("open");
    assert!(content(&store) == expected(3));
    store.commit(&numbered(4)).expect("commit");
    assert!(content(&store) == expected(4));
}

#[test]
fn what_cannot_be_used_is_named() {
    let server = Postgres::start();
    let check = |url: &str, place: &Place, expect: &str| {
        let address = Address::parse(url).expect("an address");
        let error = PostgresStore::open(&address, &place.schema).err().expect("not to open");
        let said = error.to_string();
        assert!(said.contains(expect) && !said.contains('\n') && !said.contains("wrong-password"), "{said}");
    };
    let place = Place::on(&server);
    check(
        &server.url_of(&format!("{GUARDED}:wrong-password")),
        &place,
        "password authentication failed for user \"guarded\"",
    );
    check(&server.url_of(GUARDED), &place, "the server wants a password");
    check(&server.url_of(&format!("{GUARDED}:{PASSWORD}")), &place, "permission denied for database");
    check(&server.url().replace("/postgres", "/gone"), &place, "database \"gone\" does not exist");
    check("postgres://tester@127.0.0.1:1/postgres", &place, "Connection refused");

    let newer = Place::on(&server);
    drop(newer.open().expect("open"));
    newer.execute("UPDATE meta SET version = 12");
    let error = newer.open().err().expect("not to open");
    assert!(matches!(error, StoreError::Version { found: 12, expected: 11, .. }), "{error}");

    let foreign = Place::on(&server);
    foreign.execute(&format!("CREATE SCHEMA {0}; CREATE TABLE {0}.url (x int)", foreign.schema));
    check(&server.url(), &foreign, "holds tables that are no crawl's");

    let mut client = server.client();
    client.batch_execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0").expect("a database");
    check(&server.url().replace("/postgres", "/latin"), &place, "has encoding LATIN1");
}

fn place_in_words(place: &Place) -> String {
    format!("schema {} of {}", place.schema, place.address.name())
}
