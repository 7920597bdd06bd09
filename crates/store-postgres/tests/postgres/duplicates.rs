//! Payloads that several workers have at once: the first commit has the original, all others a duplicate of it.

use std::thread;

use coordination::Worker;
use model::{Outcome, Visit};
use store::{Batch, Store};
use testdb::Postgres;
use weburl::{CanonicalUrl, UrlKey};

use crate::cluster::{LONG, join};
use crate::place::{ALL_SEEDS, Place};
use crate::sealed::{Two, begin, close, content, digest, duplicate, own, queue, recorded, two, visits};

/// What became of a visit: its outcome, and the original if it is a duplicate.
fn became(store: &dyn Store, url: &CanonicalUrl) -> (Outcome, Option<UrlKey>) {
    let visit: Visit = store.get(url.key()).expect("get").expect("known").visit.expect("visited");
    (visit.outcome, visit.duplicate_of)
}

#[test]
fn who_did_not_know_of_an_original_learns_of_it_by_the_commit() {
    let server = Postgres::start();
    let Two { place, one, other, mine, theirs, fence, other_fence } = two(&server, 2, 4);
    let committed =
        one.commit(&fence, ALL_SEEDS, &visits(vec![recorded(&mine[0], 0, 1)])).expect("the first with this payload");
    assert_eq!(committed.duplicates, []);
    // Judged before that: the first of its own with the payload, a duplicate of it, and a rendered page, which is what was seen.
    let batch = visits(vec![
        recorded(&theirs[0], 1, 1),
        duplicate(&theirs[1], 1, 1, &theirs[0]),
        recorded(&theirs[2], 1, 2),
        duplicate(&theirs[3], 1, 2, &theirs[2]),
    ]);
    let rendered = recorded(&mine[1], 0, 2);
    let committed = other.commit(&other_fence, ALL_SEEDS, &batch).expect("the second");
    assert_eq!(committed.duplicates, [(theirs[0].key(), mine[0].key())]);
    let rendered = Batch { holders: Vec::new(), ..visits(vec![rendered]) };
    assert_eq!(one.commit(&fence, ALL_SEEDS, &rendered).expect("committed").duplicates, []);
    assert_eq!(other.holder(content(1), Some(digest(1))).expect("holder"), Some(mine[0].key()));

    let store = close(&place, vec![one, other]);
    for (url, outcome, original) in [
        (&mine[0], Outcome::Html, None),
        (&theirs[0], Outcome::Duplicate, Some(&mine[0])),
        (&theirs[1], Outcome::Duplicate, Some(&mine[0])),
        (&theirs[2], Outcome::Html, None),
        (&theirs[3], Outcome::Duplicate, Some(&theirs[2])),
        (&mine[1], Outcome::Html, None),
    ] {
        assert_eq!(became(&store, url), (outcome, original.map(CanonicalUrl::key)), "{url}");
    }
}

#[test]
fn who_had_the_same_content_first_in_another_coding_changes_no_record() {
    let server = Postgres::start();
    let Two { place, one, other, mine, theirs, fence, other_fence } = two(&server, 1, 2);
    one.commit(&fence, ALL_SEEDS, &visits(vec![recorded(&mine[0], 0, 1)])).expect("the first with this content");
    // Another label: the payload was another, and the record of the second refers to that of the first.
    let batch = visits(vec![recorded(&theirs[0], 1, 2), duplicate(&theirs[1], 1, 2, &theirs[0])]);
    let batch = Batch { holders: vec![(content(1), theirs[0].key())], ..batch };
    assert_eq!(other.commit(&other_fence, ALL_SEEDS, &batch).expect("committed").duplicates, []);
    let store = close(&place, vec![one, other]);
    assert_eq!(became(&store, &theirs[0]), (Outcome::Html, None));
    assert_eq!(became(&store, &theirs[1]), (Outcome::Duplicate, Some(theirs[0].key())));
}

#[test]
fn of_payloads_that_two_commit_at_once_each_has_one_original() {
    const ROUNDS: u8 = 20;
    const PAGES: u64 = 8;
    let server = Postgres::start();
    let place = Place::on(&server);
    let workers = [join(&place, LONG), join(&place, LONG)];
    let pages = [0, 1].map(|n| begin(&workers[usize::from(n > 0)], n, PAGES * u64::from(ROUNDS)));
    let fences = [0, 1].map(|n| {
        let owned = workers[n].ownerless(9).expect("ownerless").into_iter().map(|free| free.group);
        let wanted: Vec<_> = owned.skip(n).take(1).map(|group| (group, workers[n].id())).collect();
        workers[n].assign(&wanted, std::time::Duration::ZERO).expect("assigned");
        own(&workers[n])
    });
    // Both have the same payloads, in another order.
    let batch_of = |n: usize, round: u8| {
        let pages = pages[n].chunks(usize::try_from(PAGES).expect("small")).nth(usize::from(round)).expect("pages");
        let payload = |page: usize| round * 8 + u8::try_from(if n == 0 { page } else { 7 - page }).expect("small");
        let segment = u32::try_from(n).expect("small");
        visits(pages.iter().enumerate().map(|(page, url)| recorded(url, segment, payload(page))).collect())
    };
    let late: usize = (0..ROUNDS)
        .map(|round| {
            let commit = |n: usize| {
                let committed = workers[n].commit(&fences[n], ALL_SEEDS, &batch_of(n, round));
                committed.expect("committed").duplicates.len()
            };
            thread::scope(|scope| {
                let other = scope.spawn(|| commit(1));
                commit(0) + other.join().expect("no panic")
            })
        })
        .sum();
    assert_eq!(late as u64, PAGES * u64::from(ROUNDS), "each of two, once");
    let deadlocks = "SELECT sum(deadlocks)::bigint FROM pg_stat_database";
    assert_eq!(server.client().query_one(deadlocks, &[]).expect("statistics").get::<_, i64>(0), 0);
    let [one, other] = workers;
    let store = close(&place, vec![one, other]);
    for (mine, theirs) in pages[0].iter().zip(pages[1].chunks(8).flat_map(|pages| pages.iter().rev())) {
        let both = [became(&store, mine), became(&store, theirs)];
        let expected = [
            [(Outcome::Html, None), (Outcome::Duplicate, Some(mine.key()))],
            [(Outcome::Duplicate, Some(theirs.key())), (Outcome::Html, None)],
        ];
        assert!(expected.contains(&both), "{mine} {theirs}: {both:?}");
    }
}

#[test]
fn what_was_recognised_late_is_visited_again_when_its_original_is_lost() {
    let server = Postgres::start();
    let Two { place, one, other, mine, theirs, fence, other_fence } = two(&server, 1, 1);
    let lost = one.next_serial().expect("serial");
    let open = other.next_serial().expect("serial");
    one.commit(&fence, ALL_SEEDS, &visits(vec![recorded(&mine[0], lost, 1)])).expect("the first");
    let committed = other.commit(&other_fence, ALL_SEEDS, &visits(vec![recorded(&theirs[0], open, 1)]));
    assert_eq!(committed.expect("the second").duplicates.len(), 1);
    one.gone().expect("gone");
    let store = close(&place, vec![one, other]);
    assert_eq!(queue(&store, &mine[0]), [mine[0].key()]);
    assert_eq!(queue(&store, &theirs[0]), [theirs[0].key()]);
    assert_eq!(store.holder(content(1), Some(digest(1))).expect("holder"), None);
}
