//! Places for stores: schemas of a test's server.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use database::Address;
use store::StoreError;
use store_postgres::{PostgresStore, Schema};
use testdb::Postgres;

/// For who has judged what is settled by all seeds there are.
pub const ALL_SEEDS: i64 = i64::MAX;

static SCHEMAS: AtomicU32 = AtomicU32::new(0);

/// A schema that nobody has used.
pub struct Place {
    pub address: Address,
    pub schema: Schema,
}

impl Place {
    /// On a server.
    pub fn on(server: &Postgres) -> Self {
        let schema = format!("test_{}", SCHEMAS.fetch_add(1, Relaxed)).parse().expect("a schema");
        let address = Address::parse(&server.url()).expect("an address");
        Place { address, schema }
    }

    /// Opens the store that is here.
    pub fn open(&self) -> Result<PostgresStore, StoreError> {
        PostgresStore::open(&self.address, &self.schema)
    }

    /// Runs statements as psql would.
    pub fn execute(&self, statements: &str) {
        let mut client = self.address.connect(Some(&format!("-c search_path={}", self.schema))).expect("connect");
        client.batch_execute(statements).expect("the statements are right");
    }
}
