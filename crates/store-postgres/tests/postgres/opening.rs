//! Opening: one process at a time, one format, and what is said where it is refused.

use std::collections::BTreeMap;

use database::Address;
use model::{ContentDigest, Outcome, PayloadDigest, Round, Timestamp, Visit};
use store::{Batch, CrawlView, Segment, Store, StoreError, Totals};
use store_postgres::PostgresStore;
use testdb::{GUARDED, PASSWORD, Postgres};
use weburl::{CanonicalRules, CanonicalUrl};

use crate::place::Place;
use testkit::batches::{content, expected, numbered};

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
    DROP VIEW any_visit; ALTER TABLE meta DROP round, DROP round_began_at, DROP is_choosing, DROP committed_at; ALTER TABLE url DROP again;
    ALTER TABLE visit DROP round, DROP content_at, DROP more; DROP TABLE earlier_visit; ALTER TABLE site DROP misleads, DROP asked_until;
    ALTER TABLE robots DROP renewal;
    CREATE TABLE nearer (writer bigint); ALTER TABLE writer ADD fresh_site bigint[], ADD fresh_url bigint[];
    DROP TABLE spent, taken_back, change; ALTER TABLE worker DROP changes, DROP is_lost; ALTER TABLE writer DROP committed_at; ALTER TABLE hint DROP of_record; DROP INDEX site_aside;
    ALTER TABLE crawl DROP in_force, DROP changes, DROP began_at, ADD is_paused boolean NOT NULL DEFAULT false";

/// The tables of the tenth format, as its program made them.
const TENTH_FORMAT: [&str; 10] = [
    include_str!("../../src/migrations/1.sql"),
    include_str!("../../src/migrations/2.sql"),
    include_str!("../../src/migrations/3.sql"),
    include_str!("../../src/migrations/4.sql"),
    include_str!("../../src/migrations/5.sql"),
    include_str!("../../src/migrations/6.sql"),
    include_str!("../../src/migrations/7.sql"),
    include_str!("../../src/migrations/8.sql"),
    include_str!("../../src/migrations/9.sql"),
    include_str!("../../src/migrations/10.sql"),
];

#[test]
fn a_store_of_the_tenth_format_goes_on_and_its_pages_are_visited_again() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let urls = [1, 2].map(|n| CanonicalUrl::parse(&format!("http://a.test/{n}"), &CanonicalRules::default()));
    let [visited, queued] = urls.map(|url| url.expect("a URL").key());
    let signed = |number: u64| (number ^ (1 << 63)).cast_signed();
    let (site, one, two) = (signed(visited.site.0), signed(visited.url), signed(queued.url));
    place.execute(&format!(
        "CREATE SCHEMA {0}; CREATE TABLE meta (version integer NOT NULL, crawl_id text NOT NULL);
         COMMENT ON TABLE meta IS 'argiope'; INSERT INTO meta VALUES (10, 'the tenth'); {1};
         INSERT INTO url (site_key, url_key, depth, purpose, via, redirects, settled, url) VALUES
             ({site}, {one}, 0, 'page', 'seed', 0, false, 'http://a.test/1'),
             ({site}, {two}, 1, 'page', 'link', 0, false, 'http://a.test/2');
         INSERT INTO queue VALUES ({site}, 2, {two});
         INSERT INTO visit (site_key, url_key, fetched_at, length, judged_depth, outcome, status, attempts, judged_redirects, reason)
             VALUES ({site}, {one}, 7, 40, 0, 'html', 200, 1, 0, '')",
        place.schema,
        TENTH_FORMAT.join(";")
    ));
    let store = place.open().expect("open");
    assert_eq!(store.crawl_id().expect("an id"), "the tenth");
    let first = store.get(visited).expect("get").expect("known").visit.expect("visited");
    let expected = Visit {
        length: 40,
        status: 200,
        attempts: 1,
        ..Visit::without_fetch(visited, Outcome::Html, String::new(), Timestamp(7))
    };
    assert_eq!(first, expected);
    let totals = store.totals().expect("totals");
    let outcomes = BTreeMap::from([(Outcome::Html, 1)]);
    assert_eq!(totals, Totals { urls: 2, pending: 1, outcomes, bytes: 40, bytes_of_round: 40, ..Totals::default() });

    let round = Round { number: 2, began_at: Timestamp(8), is_choosing: false };
    let batch = Batch { round: Some(round.clone()), again: vec![visited], ..Batch::default() };
    store.commit(&batch).expect("commit");
    let second = Visit {
        outcome: Outcome::NotModified,
        content_at: Some(first.at),
        round: 2,
        at: Timestamp(9),
        ..first.clone()
    };
    store.commit(&Batch { visits: vec![second.clone()], ..Batch::default() }).expect("commit");
    drop(store);
    let store = place.open().expect("open again");
    assert_eq!(store.get(visited).expect("get").expect("known").visit, Some(second));
    assert_eq!(store.earlier(visited).expect("earlier"), [first]);
    let totals = store.totals().expect("totals");
    assert_eq!((totals.pending, totals.round, totals.again, totals.pages_of_round), (1, round, 0, 1));
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
    let holder =
        |of: &[u8], label| store.holder(ContentDigest::of(of), Some(PayloadDigest([label; 20]))).expect("holder");
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
    newer.execute("UPDATE meta SET version = 25");
    let error = newer.open().err().expect("not to open");
    assert!(matches!(error, StoreError::Version { found: 25, expected: 24, .. }), "{error}");

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

#[test]
fn a_segment_outside_the_archive_is_refused() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    for (serial, name) in (1..).zip(["/etc/passwd", "../x.warc.gz", ".."]) {
        let segment = Segment { serial, name: name.to_owned(), length: 9 };
        store.commit(&Batch { segments: vec![segment], ..Batch::default() }).expect("a commit");
        let error = store.segments().expect_err("refused").to_string();
        assert!(error.contains("the name of a segment is not that of a file"), "{name}: {error}");
    }
}
