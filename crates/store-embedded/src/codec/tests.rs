//! Round trips, golden bytes and arbitrary bytes.

use model::{Failure, FailureKind, Renewal, RobotsAnswer, RobotsRecord};
use proptest::prelude::*;
use weburl::{CanonicalRules, SiteKey};

use super::*;
use crate::failure::{failure_code, failure_kind};

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
}

fn full_url() -> UrlRecord {
    let candidate = Candidate {
        depth: 300,
        redirects: 2,
        via: Via::Sitemap,
        purpose: Purpose::Sitemap,
        found_on: Some(UrlKey { site: SiteKey(1), url: 2 }),
        ..Candidate::seed(url("http://a.test/"))
    };
    let visit =
        VisitSummary { outcome: Outcome::Binary, length: 128, has_outlinks: true, limits: LimitSet::EMPTY, round: 1 };
    UrlRecord { candidate, attempts: 3, queued: true, again: false, visit: Some(visit) }
}

fn full_visit() -> Visit {
    let key = UrlKey { site: SiteKey(1), url: 2 };
    Visit {
        status: 404,
        content_type: Some("text/html".to_owned()),
        length: 1,
        digest: Some(PayloadDigest([7; 20])),
        duplicate_of: Some(UrlKey { site: SiteKey(3), url: 4 }),
        duplicate_kind: Some(Outcome::Binary),
        target: Some("http://b.test/".to_owned()),
        title: Some(String::new()),
        out_degree: Some(300),
        attempts: 6,
        location: Some(ArchiveLocation { segment: 7, offset: 200, length: 9 }),
        judged_at: Distance { depth: 10, redirects: 11 },
        ..Visit::without_fetch(key, Outcome::Duplicate, "why".to_owned(), Timestamp(5))
    }
}

/// With all that a visit of a later round has besides.
fn later_visit() -> Visit {
    Visit {
        round: 2,
        content_at: Some(Timestamp(3)),
        validators: Validators { etag: Some("e".to_owned()), last_modified: Some("lm".to_owned()) },
        past: Past { visits: 4, changes: 5, first_at: Timestamp(6), changed_at: Timestamp(7), not_modified: 8 },
        ..full_visit()
    }
}

fn full_site() -> SiteRecord {
    SiteRecord {
        address: Some(IpAddr::from([127, 0, 0, 1])),
        due_at: Timestamp(300),
        failures_in_a_row: 2,
        response_time: Duration::new(3, 4),
        pages_fetched: 5,
        sitemaps_read: 6,
        shapes: vec![(7, 8), (u64::MAX, 9)],
        given_up: Some(Failure { kind: FailureKind::Tls, detail: "no".to_owned() }),
        ..SiteRecord::new(Site::from_text("http://a.test").expect("a site"))
    }
}

/// As records were written before shapes had a table.
fn with_shapes(site: &SiteRecord) -> Vec<u8> {
    encode_site(site, &site.shapes)
}

fn robots(answer: RobotsAnswer) -> RobotsRecord {
    RobotsRecord { fetched_at: Timestamp(1), failed_tries: 2, answer, is_cut: false, renewal: None }
}

fn aside() -> Option<Aside> {
    let reason = Failure { kind: FailureKind::Timeout, detail: "slow".to_owned() };
    Some(Aside { until: Timestamp(300), round: 3, reason })
}

fn progress() -> Progress {
    let outcomes = [(Outcome::Html, 300), (Outcome::GivenUp, 1)].into_iter().collect();
    Progress {
        sequence: 1,
        seeds: 2,
        totals: Totals {
            urls: 3,
            pending: 4,
            outcomes,
            bytes: 5,
            sites: 6,
            sitemaps: 7,
            bytes_of_round: 5,
            ..Totals::default()
        },
    }
}

fn with_limits(progress: Progress) -> Progress {
    let limits = [(Limit::Links, 300)].into_iter().collect();
    Progress { totals: Totals { limits, ..progress.totals }, ..progress }
}

fn in_round(progress: Progress) -> Progress {
    let round = Round { number: 2, began_at: Timestamp(9), is_choosing: true };
    Progress {
        totals: Totals { round, again: 300, pages_of_round: 10, bytes_of_round: 0, ..progress.totals },
        ..progress
    }
}

fn with_bytes_of_round(progress: Progress) -> Progress {
    Progress { totals: Totals { bytes_of_round: 11, ..progress.totals }, ..progress }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// If this fails, the format has changed: old stores cannot be read any more.
#[test]
fn golden_bytes() {
    let check = |bytes: Vec<u8>, expect: &str| assert_eq!(hex(&bytes), expect.replace(' ', ""));
    let key = "0000000000000001 0000000000000002";
    check(encode_url(&full_url()), &format!("01 7f ac02 02 03 02 8001 {key} 0e 687474703a2f2f612e746573742f"));
    let plain = UrlRecord {
        candidate: Candidate::seed(url("http://a.test/")),
        attempts: 0,
        queued: false,
        again: false,
        visit: None,
    };
    check(encode_url(&plain), "01 00 00 00 00 0e 687474703a2f2f612e746573742f");
    check(
        encode_visit(&full_visit()),
        "01 7f 03 06 9403 01 05 0a 0b 03 776879 09 746578742f68746d6c 0707070707070707070707070707070707070707 \
         0000000000000003 0000000000000004 0e 687474703a2f2f622e746573742f 00 07 c801 09 ac02 02",
    );
    // As it was written before duplicates had a kind, and before there was an out-degree: that still reads.
    check(
        encode_visit(&Visit { duplicate_kind: None, ..full_visit() }),
        "01 7f 03 06 9403 01 05 0a 0b 03 776879 09 746578742f68746d6c 0707070707070707070707070707070707070707 \
         0000000000000003 0000000000000004 0e 687474703a2f2f622e746573742f 00 07 c801 09 ac02",
    );
    check(
        encode_visit(&Visit { duplicate_kind: None, out_degree: None, ..full_visit() }),
        "01 3f 03 06 9403 01 05 0a 0b 03 776879 09 746578742f68746d6c 0707070707070707070707070707070707070707 \
         0000000000000003 0000000000000004 0e 687474703a2f2f622e746573742f 00 07 c801 09",
    );
    let limits = LimitSet::from(Limit::SitemapBytes);
    check(
        encode_visit(&Visit {
            limits,
            ..Visit::without_fetch(full_visit().key, Outcome::Html, String::new(), Timestamp(5))
        }),
        "01 80 01 00 00 00 05 00 00 00 8080 01",
    );
    let visit = plain.visit.unwrap_or(VisitSummary {
        outcome: Outcome::Html,
        length: 1,
        has_outlinks: false,
        limits,
        round: 1,
    });
    check(
        encode_url(&UrlRecord { visit: Some(visit), ..plain.clone() }),
        "01 02 00 00 00 81 01 8080 01 0e 687474703a2f2f612e746573742f",
    );
    let visit = VisitSummary { limits: LimitSet::EMPTY, round: 3, ..visit };
    check(
        encode_url(&UrlRecord { visit: Some(visit), queued: true, again: true, ..plain }),
        "01 03 00 00 00 41 01 03 01 0e 687474703a2f2f612e746573742f",
    );
    check(
        encode_visit(&Visit { duplicate_kind: None, reason: String::new(), target: None, ..later_visit() }),
        "01 77 03 06 9403 01 05 0a 0b 00 09 746578742f68746d6c 0707070707070707070707070707070707070707 \
         0000000000000003 0000000000000004 00 07 c801 09 ac02 00 0f 03 01 65 02 6c6d 02 04 05 06 07 08",
    );
    let framed = Candidate { via: Via::Frame, purpose: Purpose::Requisite, ..full_url().candidate };
    check(
        encode_url(&UrlRecord { candidate: framed, visit: None, ..full_url() }),
        "01 d9 ac02 02 03 0000000000000001 0000000000000002 0e 687474703a2f2f612e746573742f 01",
    );
    check(encode_outlinks(&["a".to_owned(), String::new()]), "01 02 01 61 00");
    check(
        with_shapes(&full_site()),
        "01 05 0d 687474703a2f2f612e74657374 7f000001 ac02 02 03 04 05 06 02 0000000000000007 08 ffffffffffffffff 09 \
         05 02 6e6f",
    );
    // As it was written before sites were put aside, but for the flag and the end.
    check(
        with_shapes(&SiteRecord { aside: aside(), ..full_site() }),
        "01 0d 0d 687474703a2f2f612e74657374 7f000001 ac02 02 03 04 05 06 02 0000000000000007 08 ffffffffffffffff 09 \
         05 02 6e6f ac02 03 06 04 736c6f77",
    );
    check(
        encode_site(&SiteRecord { aside: aside(), asked_until: Timestamp(301), ..full_site() }, &[]),
        "01 2d 0d 687474703a2f2f612e74657374 7f000001 ac02 02 03 04 05 06 00 05 02 6e6f ac02 03 06 04 736c6f77 ad02",
    );
    check(
        encode_site(&full_site(), &[]),
        "01 05 0d 687474703a2f2f612e74657374 7f000001 ac02 02 03 04 05 06 00 05 02 6e6f",
    );
    check(encode_shape(300), "01 ac02");
    let file = robots(RobotsAnswer::Status { code: 200, body: vec![1, 2].into() });
    check(encode_robots(&file), "01 01 02 00 c801 02 0102");
    let busy = Failure { kind: FailureKind::Busy, detail: String::new() };
    check(encode_robots(&robots(RobotsAnswer::Failed(busy))), "01 01 02 01 0a 00");
    check(encode_segment(&Segment { serial: 9, name: "s".to_owned(), length: 300 }), "01 ac02 01 73");
    check(encode_seed(&url("http://a.test/")), "01 0e 687474703a2f2f612e746573742f");
    check(encode_progress(&progress()), "01 01 02 03 04 05 06 07 02 01 ac02 0f 01");
    check(encode_progress(&with_limits(progress())), "01 01 02 03 04 05 06 07 02 01 ac02 0f 01 01 05 ac02");
    check(encode_progress(&in_round(progress())), "01 01 02 03 04 05 06 07 02 01 ac02 0f 01 00 02 09 01 ac02 0a");
    // Without the bytes of the round, as they were written before they were counted, they are all bytes or none.
    let counted = with_bytes_of_round(in_round(progress()));
    check(encode_progress(&counted), "01 01 02 03 04 05 06 07 02 01 ac02 0f 01 00 02 09 01 ac02 0a 00 00 0b");
}

#[test]
fn records_read_back() {
    assert_eq!(decode_url(&encode_url(&full_url())).expect("url"), full_url());
    for via in VIAS.into_iter().chain([Via::Frame, Via::StyleSheet]) {
        for purpose in PURPOSES {
            let candidate = Candidate { via, purpose, found_on: None, ..full_url().candidate };
            let record = UrlRecord { candidate, visit: None, queued: false, again: false, attempts: 255 };
            assert_eq!(decode_url(&encode_url(&record)).expect("url"), record);
        }
    }
    assert_eq!(decode_visit(full_visit().key, &encode_visit(&full_visit())).expect("visit"), full_visit());
    let no_kind = Visit { duplicate_kind: None, ..later_visit() };
    let with_etag = Validators { last_modified: None, ..later_visit().validators };
    let first = Visit { content_at: None, validators: with_etag, ..full_visit() };
    let worded = Visit { identity: Some(7), wording: Some(9), ..later_visit() };
    let elsewhere = Visit { content_url: Some("http://elsewhere.test/".to_owned()), ..later_visit() };
    let announced = Announced { sitemap: Some(Timestamp(8)), feed: None };
    let announced = Visit { announced, ..full_visit() };
    let sought = Sought { requisites: true, ..Sought::default() };
    let [sought, sought_later] = [full_visit(), later_visit()].map(|visit| Visit { sought, ..visit });
    for visit in [later_visit(), no_kind, first, elsewhere, worded, announced, sought, sought_later] {
        assert_eq!(decode_visit(visit.key, &encode_visit(&visit)).expect("visit"), visit);
    }
    let summary = full_url().visit.map(|visit| VisitSummary { round: 300, ..visit });
    for again in [false, true] {
        let record = UrlRecord { again, visit: summary, ..full_url() };
        assert_eq!(decode_url(&encode_url(&record)).expect("url"), record);
    }
    let v6 = SiteRecord { address: Some(IpAddr::from([1; 16])), given_up: None, ..full_site() };
    let misleading = SiteRecord { misleads: true, ..full_site() };
    let in_trouble = SiteRecord { aside: aside(), given_up: None, ..full_site() };
    let has_asked = SiteRecord { asked_until: Timestamp(301), ..full_site() };
    let both = SiteRecord { asked_until: Timestamp(301), ..in_trouble.clone() };
    for site in [full_site(), v6, misleading, in_trouble, has_asked, both, SiteRecord::new(full_site().site)] {
        assert_eq!(decode_site(&with_shapes(&site)).expect("site"), site);
    }
    // The eleventh format told only that the site had asked for the wait.
    let until = Timestamp::default();
    let earlier = SiteRecord { aside: aside().map(|aside| Aside { until, ..aside }), ..full_site() };
    let read = decode_site(&with_shapes(&earlier)).expect("site");
    assert_eq!(read, SiteRecord { asked_until: full_site().due_at, ..earlier });
    for count in [8, u32::MAX] {
        assert_eq!(decode_shape(&encode_shape(count)).expect("shape"), count);
    }
    let segment = Segment { serial: 9, name: "s".to_owned(), length: 300 };
    assert_eq!(decode_segment(9, &encode_segment(&segment)).expect("segment"), segment);
    for name in ["", ".", "..", "/etc/passwd", "../x.warc.gz", "orphaned/x.warc.gz", "x\0"] {
        let foreign = Segment { name: name.to_owned(), ..segment.clone() };
        let error = decode_segment(9, &encode_segment(&foreign)).expect_err("no file of the archive");
        assert!(error.to_string().contains("is not that of a file"), "{name}: {error}");
    }
    let plain = [progress(), with_limits(progress()), in_round(progress()), in_round(with_limits(progress()))];
    let counted = plain.clone().map(with_bytes_of_round);
    for progress in plain.into_iter().chain(counted) {
        assert_eq!(decode_progress(&encode_progress(&progress)).expect("progress"), progress);
    }
    let limits = [Limit::Links, Limit::SimpleQueries].into_iter().collect();
    let limited = Visit { limits, ..full_visit() };
    assert_eq!(decode_visit(limited.key, &encode_visit(&limited)).expect("visit"), limited);
    let visit = full_url().visit.map(|visit| VisitSummary { limits, ..visit });
    let limited = UrlRecord { visit, ..full_url() };
    assert_eq!(decode_url(&encode_url(&limited)).expect("url"), limited);
    for (is_cut, body) in [(false, vec![1, 2]), (true, vec![1, 2]), (false, vec![7; 9_000]), (true, vec![7; 9_000])] {
        let robots = RobotsRecord { is_cut, ..robots(RobotsAnswer::Status { code: 200, body: body.into() }) };
        assert_eq!(decode_robots(&encode_robots(&robots)).expect("robots"), robots);
        for url in [None, Some(url("http://elsewhere.test/rules.txt"))] {
            let renewal = Some(Box::new(Renewal { not_modified: 7, url, ..Renewal::default() }));
            let robots = RobotsRecord { renewal, ..robots.clone() };
            assert_eq!(decode_robots(&encode_robots(&robots)).expect("robots"), robots);
        }
    }
}

#[test]
fn failure_codes_read_back() {
    for code in 1..=11 {
        assert_eq!(failure_kind(code).map(failure_code), Some(code));
    }
    assert_eq!(failure_kind(0), None);
    assert_eq!(failure_kind(12), None);
}

/// Reads bytes as every kind of record. It is enough that it returns.
fn decode_as_everything(bytes: &[u8]) {
    let _ = decode_url(bytes);
    let _ = decode_visit(full_visit().key, bytes);
    let _ = decode_outlinks(bytes);
    let _ = decode_site(bytes);
    let _ = decode_shape(bytes);
    let _ = decode_robots(bytes);
    let _ = decode_segment(1, bytes);
    let _ = decode_seed(bytes);
    let _ = decode_progress(bytes);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        decode_as_everything(&bytes);
        decode_as_everything(&[&[RECORD_VERSION], &*bytes].concat());
    }

    #[test]
    fn changed_records_never_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), which in 0..4) {
        let mut bytes = match which {
            0 => encode_url(&full_url()),
            1 => encode_visit(&full_visit()),
            2 => with_shapes(&full_site()),
            _ => encode_progress(&progress()),
        };
        let at = at.index(bytes.len());
        bytes[at] = byte;
        decode_as_everything(&bytes);
        decode_as_everything(&bytes[..at]);
    }

    #[test]
    fn outlinks_read_back(outlinks in prop::collection::vec(".*", 0..20)) {
        prop_assert_eq!(decode_outlinks(&encode_outlinks(&outlinks)).expect("outlinks"), outlinks);
    }
}

#[path = "../../../../fuzz/properties/store.rs"]
mod properties;
#[path = "../../../../fuzz/properties/replay.rs"]
mod replay;

#[test]
fn stored_fuzz_inputs_keep_their_properties() {
    replay::replay("store", properties::hold);
}
