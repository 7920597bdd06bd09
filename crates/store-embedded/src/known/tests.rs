//! What is remembered, with fingerprints of any kind.

use model::Distance;
use weburl::{SiteKey, UrlKey};

use super::*;

impl KnownTable {
    fn of(&self, key: UrlKey) -> Option<Remembered> {
        self.get(self.fingerprint(key))
    }

    fn add(&mut self, key: UrlKey, remembered: Remembered) {
        self.insert(self.fingerprint(key), remembered);
    }

    fn change(&mut self, key: UrlKey, remembered: Remembered) {
        self.update(self.fingerprint(key), remembered);
    }
}

fn waiting(depth: u32, generation: u8) -> Remembered {
    let way = Way::Page { distance: Distance { depth, redirects: 0 }, is_in_queue: true };
    Remembered { way, generation: Generation::from_byte(generation) }
}

fn visited(depth: u32, redirects: u8) -> Remembered {
    let way = Way::Page { distance: Distance { depth, redirects }, is_in_queue: false };
    Remembered { way, generation: None }
}

const SHARED: Remembered = Remembered { way: Way::Shared, generation: None };

fn key(site: u64, url: u64) -> UrlKey {
    UrlKey { site: SiteKey(site), url }
}

/// All URLs in four shards, their hashes as they are: as unevenly spread as a test likes.
const PLAIN: Fingerprints = Fingerprints::Given(|key| ((key.url % 4) as u16, key.url));
const ONE_FOR_ALL: Fingerprints = Fingerprints::Given(|_| (7, 7));

/// Many in one shard, unevenly spread; the least and the greatest hash; neighbours of what is known.
fn urls() -> Vec<u64> {
    (0..2_000_u64).map(|n| n * n * 8 + 4).chain([0, u64::MAX, u64::MAX - 4, 1 << 48, (1 << 48) - 4]).collect()
}

#[test]
fn what_was_inserted_is_known_and_nothing_else() {
    for fingerprints in [Fingerprints::keyed(), PLAIN] {
        let mut known = KnownTable::new(fingerprints);
        for url in urls().iter().rev() {
            assert_eq!(known.of(key(1, *url)), None);
            known.add(key(1, *url), waiting(1, u8::MAX));
        }
        urls().iter().step_by(2).for_each(|url| known.change(key(1, *url), visited(2, 1)));
        is_known(&known);
    }
}

/// What [`what_was_inserted_is_known_and_nothing_else`] has made known.
fn is_known(known: &KnownTable) {
    for (n, url) in urls().iter().enumerate() {
        let expect = if n % 2 == 0 { visited(2, 1) } else { waiting(1, u8::MAX) };
        assert_eq!(known.of(key(1, *url)), Some(expect), "{url}");
        let neighbour = url ^ 4;
        assert!(urls().contains(&neighbour) || known.of(key(1, neighbour)).is_none(), "{neighbour}");
    }
}

#[test]
fn what_was_loaded_is_known_and_nothing_else() {
    for fingerprints in [Fingerprints::keyed(), PLAIN] {
        let mut loading = Loading::new(fingerprints);
        for (n, url) in urls().iter().enumerate() {
            loading.add(key(1, *url), if n % 2 == 0 { visited(2, 1) } else { waiting(1, u8::MAX) });
        }
        let mut known = loading.finish();
        is_known(&known);
        known.add(key(1, 5), visited(0, 0));
        assert_eq!(known.of(key(1, 5)), Some(visited(0, 0)));
        is_known(&known);
    }
}

/// By the hash of the URL alone the two would be one.
#[test]
fn the_site_counts() {
    let mut known = KnownTable::new(Fingerprints::keyed());
    known.add(key(1, 2), visited(0, 0));
    assert_eq!(known.of(key(2, 2)), None);
    assert_eq!(known.of(key(2, 1)), None);
}

#[test]
fn each_store_has_a_secret_of_its_own() {
    let [one, other] = [(); 2].map(|()| Fingerprints::keyed());
    assert_ne!(one.of(key(1, 2)), other.of(key(1, 2)));
    assert_eq!(one.of(key(1, 2)), one.clone().of(key(1, 2)));
}

#[test]
fn urls_that_share_a_fingerprint_must_be_looked_up() {
    let mut known = KnownTable::new(ONE_FOR_ALL);
    known.add(key(1, 1), waiting(1, 1));
    known.change(key(1, 1), visited(1, 0));
    assert_eq!(known.of(key(1, 1)), Some(visited(1, 0)));
    known.add(key(2, 2), waiting(1, 1));
    known.change(key(1, 1), visited(0, 0));
    assert_eq!(known.of(key(1, 1)), Some(SHARED));
    let mut loading = Loading::new(ONE_FOR_ALL);
    (0..3).for_each(|n| loading.add(key(n, n), waiting(1, 1)));
    assert_eq!(loading.finish().of(key(1, 1)), Some(SHARED));
}
