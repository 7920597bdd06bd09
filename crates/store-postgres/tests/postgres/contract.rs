//! The store in PostgreSQL keeps the contract.

use std::sync::Arc;

use store::{Store, contract};
use testdb::Postgres;

use crate::place::Place;

impl contract::Fixture for Place {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Place::open(self).expect("open"))
    }
}

#[test]
fn the_store_in_postgresql_keeps_the_contract() {
    let server = Postgres::start();
    contract::check_all(&|| Box::new(Place::on(&server)));
}
