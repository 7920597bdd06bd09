//! Which URLs a store takes for known.

use model::{Candidate, Outcome, Timestamp, Visit};
use store::{Batch, CrawlView, Store};
use store_embedded::{EmbeddedStore, Options};
use weburl::{CanonicalRules, CanonicalUrl};

/// The hashes of the two URLs are equal; those of their sites are not.
const SAME_HASH: [&str; 2] = ["http://a.test/17cac9662931dc4a", "http://b.test/80e3e95dedbeeb1d"];

fn candidates() -> [Candidate; 2] {
    let url = |text| CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL");
    SAME_HASH.map(|text| Candidate::seed(url(text)))
}

fn found(candidates: &[Candidate]) -> Batch {
    Batch { found: candidates.to_vec(), ..Batch::default() }
}

#[test]
fn urls_of_two_sites_whose_hashes_are_equal_are_both_found_visited_and_known() {
    let dir = tempfile::tempdir().expect("a directory");
    let open = || EmbeddedStore::open(dir.path(), Options::default()).expect("open");
    let candidates = candidates();
    let keys = candidates.each_ref().map(|candidate| candidate.url.key());
    assert!(keys[0].url == keys[1].url && keys[0].site != keys[1].site);
    let mut store = open();
    for candidate in &candidates {
        let committed = store.commit(&found(std::slice::from_ref(candidate))).expect("commit");
        assert_eq!(committed.fresh, std::slice::from_ref(candidate));
    }
    let visit = |key| Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp(1));
    for is_again in [false, true] {
        if !is_again {
            store.commit(&Batch { visits: keys.map(visit).to_vec(), ..Batch::default() }).expect("commit");
        }
        assert_eq!(store.totals().expect("totals").pending, 0);
        let committed = store.commit(&found(&candidates)).expect("commit");
        assert!(committed.fresh.is_empty() && committed.relaxed.is_empty());
        assert!(keys.iter().all(|key| store.get(*key).expect("get").expect("known").visit.is_some()));
        drop(store);
        store = open();
    }
}
