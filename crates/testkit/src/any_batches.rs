//! Any batches over a few URLs, so that every way of meeting again comes up.

use model::{
    Announcement, Announcer, ArchiveLocation, Candidate, ContentDigest, Distance, LimitSet, Outcome, Purpose, Round,
    SiteRecord, Timestamp, Via, Visit,
};
use proptest::prelude::*;
use store::{Batch, Moved, Segment};
use weburl::{CanonicalRules, CanonicalUrl};

/// Few enough that every way of meeting again comes up.
const URLS: u8 = 12;

fn url(n: u8) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("http://s{}.test/{n}", n % 3), &CanonicalRules::default()).expect("a URL")
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let purpose = prop_oneof![8 => Just(Purpose::Page), 1 => Just(Purpose::Sitemap), 2 => Just(Purpose::Requisite)];
    (0..URLS, distance(), purpose).prop_map(|(n, Distance { depth, redirects }, purpose)| Candidate {
        depth,
        redirects,
        purpose,
        via: [Via::Link, Via::Frame, Via::StyleSheet][usize::from(n % 3)],
        ..Candidate::seed(url(n))
    })
}

fn visit() -> impl Strategy<Value = Visit> {
    (0..URLS, 1..=16u8, 0..1000u64, distance(), prop::collection::vec("[a-z]{0,8}", 0..3)).prop_map(
        |(n, outcome, length, judged_at, outlinks)| {
            let outcome = Outcome::from_code(outcome).expect("an outcome");
            let visit = Visit::without_fetch(url(n).key(), outcome, "because".to_owned(), Timestamp(length));
            let limits = LimitSet::from_bits(length % 8);
            let round = u32::try_from(length % 2 + 1).expect("a small number");
            Visit { length, judged_at, outlinks, limits, round, attempts: n, ..visit }
        },
    )
}

/// Mostly near, where the ways of one URL meet; at times so far that a commit does not remember it.
fn distance() -> impl Strategy<Value = Distance> {
    (prop_oneof![3 => 0..4u32, 1 => 29..34u32], prop_oneof![9 => 0..2u8, 1 => 3..5u8])
        .prop_map(|(depth, redirects)| Distance { depth, redirects })
}

/// Any batch.
pub fn batch() -> impl Strategy<Value = Batch> {
    let settled = (candidate(), visit()).prop_map(|(candidate, visit)| {
        let key = candidate.url.key();
        (candidate, Visit { key, ..visit })
    });
    let urls = (
        prop::collection::vec(candidate(), 0..6),
        prop::collection::vec(settled, 0..2),
        prop::collection::vec(visit(), 0..4),
        prop::collection::vec((0..URLS, distance()), 0..3),
        prop::collection::vec((0..URLS, any::<u8>()), 0..3),
        prop::collection::vec(0..URLS, 0..4),
    );
    let others = (
        prop::collection::vec((0..5u8, 0..URLS), 0..3),
        prop::collection::vec((0..3u8, any::<u64>()), 0..3),
        prop::collection::vec(0..URLS, 0..3),
        prop::collection::vec((0..4u32, any::<u64>()), 0..3),
        prop::collection::vec(announcement(), 0..4),
        prop::collection::vec(moved(), 0..3),
    );
    let rounds = (
        // Rounds never go back.
        prop::option::weighted(0.2, (Just(3), any::<bool>())),
        any::<bool>(),
        prop::collection::vec(0..URLS, 0..3),
        prop::collection::vec(0..URLS, 0..3),
    );
    (urls, rounds, others).prop_map(
        |(urls, (round, pages_are_few, again, kept), (holders, sites, seeds, segments, announced, moved))| {
            let (found, settled, visits, judged, attempts, reopened) = urls;
            let began_at = Timestamp(5);
            Batch {
                moved,
                round: round.map(|(number, is_choosing)| Round { number, began_at, is_choosing }),
                again: again.into_iter().map(|n| url(n).key()).collect(),
                kept: kept.into_iter().map(|n| (url(n).key(), Purpose::Page)).collect(),
                reopened: reopened.into_iter().map(|n| url(n).key()).collect(),
                found,
                pages_are_few,
                settled,
                visits,
                judged_again: judged.into_iter().map(|(n, distance)| (url(n).key(), distance)).collect(),
                attempts: attempts.into_iter().map(|(n, count)| (url(n).key(), Purpose::Page, count)).collect(),
                announced,
                holders: holders.into_iter().map(|(digest, n)| (ContentDigest::of(&[digest]), url(n).key())).collect(),
                sites: sites.into_iter().map(|(n, pages_fetched)| site(n, pages_fetched)).collect(),
                seeds: seeds.into_iter().map(url).collect(),
                segments: segments.into_iter().map(|(serial, length)| segment(serial, length)).collect(),
            }
        },
    )
}

fn announcement() -> impl Strategy<Value = Announcement> {
    let by = prop_oneof![Just(Announcer::Sitemap), Just(Announcer::Feed)];
    (0..URLS, by, 0..1500u64).prop_map(|(n, by, at)| Announcement { key: url(n).key(), by, at: Timestamp(at) })
}

fn moved() -> impl Strategy<Value = Moved> {
    (0..URLS, 0..1000u64, prop::option::of(any::<u32>())).prop_map(|(n, at, segment)| {
        let location = segment.map(|segment| ArchiveLocation { segment, offset: at, length: 1 });
        Moved { key: url(n).key(), at: Timestamp(at), location }
    })
}

fn site(n: u8, pages_fetched: u64) -> SiteRecord {
    let shapes = (0..pages_fetched % 3).map(|shape| (shape, u32::from(n))).collect();
    SiteRecord { pages_fetched, shapes, ..SiteRecord::new(url(n).site()) }
}

fn segment(serial: u32, length: u64) -> Segment {
    Segment { serial, name: format!("{serial}"), length }
}
