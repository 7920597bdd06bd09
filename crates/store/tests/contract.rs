//! The in-memory store keeps the contract.

use std::sync::Arc;

use store::{MemoryStore, Store, contract};

struct Memory(Arc<MemoryStore>);

impl contract::Fixture for Memory {
    fn open(&self) -> Arc<dyn Store> {
        self.0.clone()
    }
}

#[test]
fn the_memory_store_keeps_the_contract() {
    contract::check_all(&|| Box::new(Memory(Arc::default())));
}
