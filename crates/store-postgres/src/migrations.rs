//! The schema's tables, made and brought up to date.

use database::Address;
use postgres::Client;
use store::StoreError;

use crate::error::{self, Unusable, backend};
use crate::outcomes::spelled_out;
use crate::schema::Schema;

/// What brings the tables from each version to the next. What is here never changes; a new version is one more.
const MIGRATIONS: [&str; 24] = [
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
    include_str!("migrations/5.sql"),
    include_str!("migrations/6.sql"),
    include_str!("migrations/7.sql"),
    include_str!("migrations/8.sql"),
    include_str!("migrations/9.sql"),
    include_str!("migrations/10.sql"),
    include_str!("migrations/11.sql"),
    include_str!("migrations/12.sql"),
    include_str!("migrations/13.sql"),
    include_str!("migrations/14.sql"),
    include_str!("migrations/15.sql"),
    include_str!("migrations/16.sql"),
    include_str!("migrations/17.sql"),
    include_str!("migrations/18.sql"),
    include_str!("migrations/19.sql"),
    include_str!("migrations/20.sql"),
    include_str!("migrations/21.sql"),
    include_str!("migrations/22.sql"),
    include_str!("migrations/23.sql"),
    include_str!("migrations/24.sql"),
];

/// The functions, created again behind the migrations, with sets of outcomes by name. A change here is a new version too, and so is that
/// of a set.
const FUNCTIONS: [&str; 2] = [include_str!("migrations/functions.sql"), include_str!("migrations/commit.sql")];

/// The oldest server that will do, as its first number.
const SERVER_OLDEST: i32 = 14;

const META: &str = "CREATE TABLE meta (version integer NOT NULL, crawl_id text NOT NULL);
    COMMENT ON TABLE meta IS 'argiope';
    INSERT INTO meta VALUES (0, gen_random_uuid()::text)";

/// The version of the format that this program reads.
pub(crate) fn current() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Refuses a server that will not do.
pub(crate) fn check_server(client: &mut Client, address: &Address) -> Result<(), StoreError> {
    let doing = "asking the server for its version";
    let settings = "SELECT current_setting('server_version_num')::integer / 10000, current_setting('server_version'),
        current_setting('server_encoding')";
    let row = client.query_one(settings, &[]).map_err(|error| error::query(&address.name(), doing, error))?;
    let (major, found, encoding): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
    let database = address.name();
    if major < SERVER_OLDEST {
        return Err(backend("opening the store", Unusable::Server { database, found, oldest: SERVER_OLDEST }));
    }
    if encoding != "UTF8" {
        return Err(backend("opening the store", Unusable::Encoding { database, found: encoding }));
    }
    Ok(())
}

/// Makes the schema, or brings it up to date, in one transaction. Gives the id of the crawl.
pub(crate) fn migrate(client: &mut Client, schema: &Schema, place: &str) -> Result<String, StoreError> {
    let failed = |error| error::query(place, "making the tables", error);
    let mut transaction = client.transaction().map_err(failed)?;
    let found = "SELECT to_regnamespace($1::text) IS NOT NULL,
        EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = to_regnamespace($1::text)),
        coalesce(obj_description(to_regclass($1::text || '.meta'), 'pg_class') = 'argiope', false)";
    let row = transaction.query_one(found, &[&schema.as_str()]).map_err(failed)?;
    let (exists, holds_something, is_ours): (bool, bool, bool) = (row.get(0), row.get(1), row.get(2));
    if holds_something && !is_ours {
        return Err(backend("opening the store", Unusable::Foreign { schema: place.to_owned() }));
    }
    if !exists {
        transaction.batch_execute(&format!("CREATE SCHEMA \"{schema}\"")).map_err(failed)?;
    }
    if !is_ours {
        transaction.batch_execute(META).map_err(failed)?;
    }
    let row = transaction.query_one("SELECT version, crawl_id FROM meta", &[]).map_err(failed)?;
    let (version, crawl_id): (i32, String) = (row.get(0), row.get(1));
    let version = usize::try_from(version).unwrap_or_default();
    if version > MIGRATIONS.len() {
        let (found, expected) = (number(version), number(MIGRATIONS.len()));
        return Err(StoreError::Version { place: place.to_owned(), found, expected });
    }
    for migration in &MIGRATIONS[version..] {
        transaction.batch_execute(migration).map_err(failed)?;
    }
    if version < MIGRATIONS.len() {
        for functions in FUNCTIONS {
            transaction.batch_execute(&spelled_out(functions)).map_err(failed)?;
        }
        transaction.execute("UPDATE meta SET version = $1", &[&current()]).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    Ok(crawl_id)
}

fn number(version: usize) -> u32 {
    u32::try_from(version).unwrap_or(u32::MAX)
}
