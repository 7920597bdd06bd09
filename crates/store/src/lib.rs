//! What a crawl keeps: the Store trait, the in-memory store, the contract suite.
