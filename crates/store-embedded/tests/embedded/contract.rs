//! The embedded store keeps the contract.

use std::sync::Arc;

use store::{Store, contract};
use store_embedded::{EmbeddedStore, Options};
use tempfile::TempDir;

struct Directory {
    dir: TempDir,
    options: Options,
}

impl contract::Fixture for Directory {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(EmbeddedStore::open(self.dir.path(), self.options.clone()).expect("open"))
    }
}

fn check(options: &Options) {
    let directory = || Directory { dir: TempDir::new().expect("a directory"), options: options.clone() };
    contract::check_all(&|| Box::new(directory()));
}

#[test]
fn the_embedded_store_keeps_the_contract() {
    check(&Options::default());
}

#[test]
fn it_keeps_the_contract_with_many_generations() {
    check(&Options { generation_urls: 2, ..Options::default() });
}
