//! Records of sites.

use super::*;

pub(super) fn records_round_trip(fixture: &dyn Fixture) {
    let store = fixture.open();
    let candidate = Candidate { redirects: 3, via: Via::Redirect, ..page("https://a.test:8443/ž?q=1", 4_000_000_000) };
    let full = Visit {
        key: candidate.url.key(),
        outcome: Outcome::Duplicate,
        reason: "because \u{1F578}".to_owned(),
        status: 599,
        content_type: Some("text/html".to_owned()),
        length: u64::MAX,
        digest: Some(PayloadDigest([9; 20])),
        duplicate_of: Some(UrlKey::of("http://x.test", "http://x.test/")),
        duplicate_kind: Some(Outcome::Binary),
        target: Some("http://y.test/".to_owned()),
        title: Some(String::new()),
        out_degree: Some(300),
        limits: [Limit::Links, Limit::SimpleQueries].into_iter().collect(),
        at: Timestamp(u64::MAX),
        attempts: 255,
        location: Some(model::ArchiveLocation { segment: u32::MAX, offset: u64::MAX, length: 1 }),
        judged_at: Distance { depth: 4_000_000_000, redirects: 3 },
        outlinks: vec!["http://z.test/".to_owned(); 3],
        round: 2,
        content_at: Some(Timestamp(9)),
        content_url: Some("http://elsewhere.test/?é".to_owned()),
        validators: Validators { etag: Some("\"é\"".to_owned()), last_modified: Some("long ago".to_owned()) },
        identity: Some(u64::MAX - 1),
        wording: Some(u64::MAX),
        sought: Sought { images: true, requisites: false, nofollow: true },
        announced: Announced { sitemap: None, feed: Some(Timestamp(11)) },
        past: Past { visits: 3, changes: 2, first_at: Timestamp(1), changed_at: Timestamp(2), not_modified: 4 },
    };
    find(&*store, std::slice::from_ref(&candidate));
    end(&*store, std::slice::from_ref(&full));
    let entry = store.get(full.key).expect("get").expect("known");
    assert_eq!((entry.candidate, entry.visit), (candidate.clone(), Some(full)));
    let site = SiteRecord {
        address: Some("2001:db8::1".parse().expect("an address")),
        due_at: Timestamp(5),
        asked_until: Timestamp(14),
        failures_in_a_row: 6,
        response_time: Duration::from_micros(1_234_567),
        robots: Some(RobotsRecord {
            fetched_at: Timestamp(8),
            failed_tries: 1,
            answer: RobotsAnswer::Status { code: 200, body: vec![0xFF; 500 * 1024].into() },
            is_cut: true,
            renewal: Some(Box::new(Renewal {
                validators: Validators { etag: Some("\"a\0b\"".to_owned()), last_modified: None },
                recorded_at: Timestamp(7),
                not_modified: 3,
                url: Some(url("http://elsewhere.test/rules.txt")),
            })),
        }),
        misleads: true,
        pages_fetched: 10,
        sitemaps_read: 11,
        shapes: vec![(1, 2), (u64::MAX, 3)],
        aside: Some(Aside {
            until: Timestamp(12),
            round: 13,
            reason: Failure { kind: FailureKind::Connect, detail: "refused".to_owned() },
        }),
        given_up: Some(Failure { kind: FailureKind::Tls, detail: "no".to_owned() }),
        ..SiteRecord::new(candidate.url.site())
    };
    store.commit(&Batch { sites: vec![site.clone()], ..Batch::default() }).expect("commit");
    assert_eq!(store.site(site.site.key()).expect("site"), Some(site.clone()));
    let well = SiteRecord { asked_until: Timestamp::default(), aside: None, given_up: None, ..site };
    store.commit(&Batch { sites: vec![well.clone()], ..Batch::default() }).expect("commit");
    assert_eq!(store.site(well.site.key()).expect("site"), Some(well));
}

pub(super) fn shapes(fixture: &dyn Fixture) {
    let store = fixture.open();
    let (a, b) = (url("http://a.test/").site(), url("http://b.test/").site());
    let with =
        |site: &Site, shapes: &[(u64, u32)]| SiteRecord { shapes: shapes.to_vec(), ..SiteRecord::new(site.clone()) };
    let write = |store: &dyn Store, sites: Vec<SiteRecord>| {
        store.commit(&Batch { sites, ..Batch::default() }).expect("commit");
    };
    let read = |store: &dyn Store, site: &Site| store.site(site.key()).expect("site").expect("known").shapes;
    write(&*store, vec![with(&a, &[(u64::MAX, 8), (1 << 63, u32::MAX), (3, 8)]), with(&b, &[(3, 16)])]);
    write(&*store, vec![with(&a, &[])]);
    assert_eq!(read(&*store, &a), [(3, 8), (1 << 63, u32::MAX), (u64::MAX, 8)]);
    // Each of the records of a batch has its own, and the last of a counter counts.
    write(&*store, vec![with(&a, &[(3, 16), (0, 8), (3, 32)]), with(&b, &[]), with(&a, &[(0, 9)]), with(&a, &[])]);
    drop(store);
    let store = fixture.open();
    assert_eq!(read(&*store, &a), [(0, 9), (3, 32), (1 << 63, u32::MAX), (u64::MAX, 8)]);
    assert_eq!(read(&*store, &b), [(3, 16)]);
    let all = store.sites(None, 10).expect("sites");
    assert!(all.len() == 2 && all.iter().all(|record| record.shapes.is_empty()));
}

pub(super) fn robots_stay(fixture: &dyn Fixture) {
    let store = fixture.open();
    let answer = RobotsAnswer::Failed(Failure { kind: FailureKind::Timeout, detail: "slow".to_owned() });
    let robots = Some(RobotsRecord { fetched_at: Timestamp(1), failed_tries: 2, answer, is_cut: false, renewal: None });
    let with = SiteRecord { robots: robots.clone(), ..SiteRecord::new(url("http://a.test/").site()) };
    let without = SiteRecord { robots: None, pages_fetched: 1, ..with.clone() };
    store.commit(&Batch { sites: vec![with], ..Batch::default() }).expect("commit");
    store.commit(&Batch { sites: vec![without.clone()], ..Batch::default() }).expect("commit");
    let read = store.site(without.site.key()).expect("site").expect("known");
    assert_eq!((read.robots, read.pages_fetched), (robots, 1));
}
