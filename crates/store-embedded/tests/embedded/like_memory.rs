//! Whatever is committed, the embedded store answers like the in-memory store.

use model::{ContentDigest, PayloadDigest};
use proptest::prelude::*;
use store::{Batch, CrawlView, Entry, MemoryStore, Store};
use store_embedded::{EmbeddedStore, Options};

use testkit::any_batches::batch;
use testkit::batches::content;

/// All URLs, three at a time, so that reading begins again in the middle of a site.
fn by_steps(store: &dyn Store) -> Vec<Vec<Entry>> {
    let next = |read: &Vec<Entry>| store.scan(read.last().map(|entry| entry.candidate.url.key()), 3).expect("scan");
    let steps = std::iter::successors(Some(next(&Vec::new())), |read| Some(next(read)));
    steps.take_while(|read| !read.is_empty()).collect()
}

fn check(batches: &[Batch]) {
    let dir = tempfile::tempdir().expect("a directory");
    let open = || {
        let options = Options { write_buffer_bytes: 4 << 10, generation_urls: 3, ..Options::default() };
        EmbeddedStore::open(dir.path(), options).expect("open")
    };
    let memory = MemoryStore::new();
    let mut embedded = open();
    for (n, batch) in batches.iter().enumerate() {
        let expect = memory.commit(batch).expect("commit");
        assert_eq!(embedded.commit(batch).expect("commit"), expect, "batch {n}");
        assert_eq!(content(&embedded), content(&memory), "after batch {n}");
        assert_eq!(by_steps(&embedded), by_steps(&memory), "after batch {n}");
        for candidate in batches.iter().flat_map(|batch| &batch.found) {
            let key = candidate.url.key();
            assert_eq!(embedded.get(key).expect("get"), memory.get(key).expect("get"), "after batch {n}");
        }
        for digest in 0..5 {
            let (content, label) = (ContentDigest::of(&[digest]), Some(PayloadDigest([digest; 20])));
            assert_eq!(
                embedded.holder(content, label).expect("holder"),
                memory.holder(content, label).expect("holder")
            );
        }
        if n % 8 == 7 {
            drop(embedded);
            embedded = open();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_batches_do_the_same(batches in prop::collection::vec(batch(), 1..25)) {
        check(&batches);
    }
}
