//! The embedded store keeps the contract.

use std::sync::Arc;

use store::{Store, contract};
use store_embedded::{EmbeddedStore, Options};
use tempfile::TempDir;

struct Directory {
    dir: TempDir,
}

impl contract::Fixture for Directory {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(EmbeddedStore::open(self.dir.path(), Options::default()).expect("open"))
    }
}

#[test]
fn the_embedded_store_keeps_the_contract() {
    contract::check_all(&|| Box::new(Directory { dir: TempDir::new().expect("a directory") }));
}
