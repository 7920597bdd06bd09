//! Commits to a store in which URLs share a fingerprint.

use model::{Candidate, Outcome, Purpose, Timestamp, Visit};
use proptest::prelude::*;
use store::{Batch, CrawlView, Entry, MemoryStore, Store, Totals};
use testkit::any_batches;
use weburl::{CanonicalRules, CanonicalUrl};

use crate::known::Fingerprints;
use crate::read::SEARCHES;
use crate::{EmbeddedStore, Options};

/// All URLs have one fingerprint.
const ONE_FOR_ALL: Fingerprints = Fingerprints::Given(|_| (7, 7));
/// Four URLs of five have one of two fingerprints.
const FEW: Fingerprints = Fingerprints::Given(|key| (0, if key.url % 5 == 0 { key.url } else { key.url % 2 }));

fn found(text: &str, depth: u32) -> Candidate {
    let url = CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL");
    Candidate { depth, ..Candidate::seed(url) }
}

fn find(store: &dyn Store, candidate: &Candidate) -> usize {
    let batch = Batch { found: vec![candidate.clone()], ..Batch::default() };
    store.commit(&batch).expect("commit").fresh.len()
}

#[test]
fn a_url_that_is_known_but_has_no_record_is_unknown() {
    let dir = tempfile::tempdir().expect("a directory");
    let open = || {
        let options = Options { generation_urls: 1, ..Options::default() };
        EmbeddedStore::open_with(dir.path(), options, ONE_FOR_ALL).expect("open")
    };
    let mut store = open();
    // By what is remembered of the first, the second has come nearer: so its record is looked for.
    let candidates = [found("http://a.test/", 2), found("http://b.test/", 1), found("http://c.test/", 2)];
    for candidate in &candidates {
        assert_eq!(find(&store, candidate), 1, "{}", candidate.url);
    }
    let settled = found("http://d.test/", 1);
    let visit = |candidate: &Candidate, outcome| {
        Visit::without_fetch(candidate.url.key(), outcome, String::new(), Timestamp(1))
    };
    let excluded = visit(&settled, Outcome::Excluded);
    store.commit(&Batch { settled: vec![(settled.clone(), excluded)], ..Batch::default() }).expect("commit");
    for _ in 0..2 {
        drop(store);
        store = open();
        let visits = candidates.iter().map(|candidate| visit(candidate, Outcome::Html)).collect();
        store.commit(&Batch { visits, ..Batch::default() }).expect("commit");
        let totals = store.totals().expect("totals");
        assert_eq!((totals.urls, totals.pending), (4, 0));
        assert!(candidates.iter().chain([&settled]).all(|candidate| find(&store, candidate) == 0));
    }
}

#[test]
fn no_commit_of_a_chain_looks_for_a_url_through_the_queue() {
    const PAGES: u32 = 120;
    let dir = tempfile::tempdir().expect("a directory");
    let open = || {
        let options = Options { generation_urls: 50, ..Options::default() };
        EmbeddedStore::open(dir.path(), options).expect("open")
    };
    let page = |number| found(&format!("http://a.test/{number}"), number);
    let item = |number, depth| found(&format!("http://a.test/item/{number}"), depth);
    let (memory, mut store) = (MemoryStore::new(), open());
    let first = Batch { found: vec![page(0)], ..Batch::default() };
    assert_eq!(store.commit(&first).expect("commit"), memory.commit(&first).expect("commit"));
    for number in 0..PAGES {
        let (next, depth) = (page(number + 1), number + 1);
        let key = page(number).url.key();
        let mut found = vec![next, item(number, depth)];
        // Links back, to items that wait, and to items that are not known yet.
        found.extend((0..5).map(|back| Candidate { depth, ..page(number.saturating_sub(back)) }));
        found.extend((0..5).map(|back| item(number / 2 + back, depth)));
        let visit = Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp(1));
        let visit = Visit { judged_at: page(number).distance(), ..visit };
        let batch = Batch { visits: vec![visit], attempts: vec![(key, Purpose::Page, 1)], found, ..Batch::default() };
        assert_eq!(store.commit(&batch).expect("commit"), memory.commit(&batch).expect("commit"), "page {number}");
        if number % 50 == 49 {
            drop(store);
            store = open();
        }
    }
    assert_eq!(content(&store), content(&memory));
    assert_eq!(SEARCHES.get(), 0);
}

fn content(store: &dyn Store) -> (Vec<Entry>, Totals, Vec<usize>) {
    let sites = store.sites_with_pending(None, usize::MAX).expect("sites");
    let queues = sites.into_iter().map(|site| store.pending(site, None, usize::MAX).expect("pending").len());
    (store.scan(None, usize::MAX).expect("scan"), store.totals().expect("totals"), queues.collect())
}

fn check(batches: &[Batch], fingerprints: &Fingerprints) {
    let dir = tempfile::tempdir().expect("a directory");
    let open = || {
        let options = Options { generation_urls: 3, ..Options::default() };
        EmbeddedStore::open_with(dir.path(), options, fingerprints.clone()).expect("open")
    };
    let (memory, mut embedded) = (MemoryStore::new(), open());
    // From when two URLs with one fingerprint are known all that have it are looked up.
    let first = (0..12)
        .map(|n| Batch { found: vec![found(&format!("http://s{}.test/{n}", n % 3), 30 - n)], ..Batch::default() });
    let first: Vec<Batch> = first.collect();
    for (n, batch) in first.iter().chain(batches).enumerate() {
        let expect = memory.commit(batch).expect("commit");
        assert_eq!(embedded.commit(batch).expect("commit"), expect, "batch {n}");
        assert_eq!(content(&embedded), content(&memory), "after batch {n}");
        if n % 8 == 7 {
            drop(embedded);
            embedded = open();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_batches_do_the_same_whatever_fingerprints_urls_share(batches in prop::collection::vec(any_batches::batch(), 1..16)) {
        check(&batches, &ONE_FOR_ALL);
        check(&batches, &FEW);
    }
}
