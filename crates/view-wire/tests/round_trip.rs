//! What a view says comes through as it is.

#![expect(clippy::expect_used, reason = "a test may panic")]

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use model::{
    ArchiveLocation, Aside, Candidate, Failure, FailureKind, Limit, Outcome, PayloadDigest, RobotsAnswer, RobotsRecord,
    SiteRecord, Timestamp, Visit,
};
use store::{Batch, CrawlView, MemoryStore, Segment, Slice, Store, StoreError};
use view_wire::{RemoteView, serve};
use weburl::{CanonicalRules, CanonicalUrl};

/// More URLs than are sent at once.
const URLS: usize = 3_000;

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
}

fn page(n: usize) -> CanonicalUrl {
    url(&format!("http://a.test/{n}?q=ü&x=%00"))
}

/// A state in which every field says something.
fn store() -> MemoryStore {
    let store = MemoryStore::new();
    let found: Vec<Candidate> = (0..URLS).map(|n| Candidate::seed(page(n))).collect();
    let visits = (0..URLS / 2).map(|n| Visit {
        status: 200,
        content_type: Some("text/html; charset=\"ü\"".to_owned()),
        title: Some("a\0b".to_owned()),
        digest: Some(PayloadDigest([7; 20])),
        location: (n % 2 == 0).then_some(ArchiveLocation { segment: 1, offset: n as u64, length: u64::MAX }),
        limits: Limit::Links.into(),
        outlinks: vec!["http://b.test/".to_owned()],
        out_degree: Some(u32::MAX),
        ..Visit::without_fetch(page(n).key(), Outcome::Html, "why".to_owned(), Timestamp(n as u64))
    });
    let failure = Failure { kind: FailureKind::Busy, detail: "status 503".to_owned() };
    let answers =
        [RobotsAnswer::Status { code: 200, body: b"\xff\0".as_slice().into() }, RobotsAnswer::Failed(failure.clone())];
    let sites = ["http://a.test/", "https://[2001:db8::1]:444/"].iter().zip(answers).map(|(site, answer)| SiteRecord {
        address: Some([10, 0, 0, 1].into()),
        response_time: Duration::from_nanos(123_456_789_012),
        robots: Some(RobotsRecord { fetched_at: Timestamp(1), failed_tries: 2, answer, is_cut: true, renewal: None }),
        shapes: vec![(1, 2), (u64::MAX, u32::MAX)],
        aside: Some(Aside { until: Timestamp::MAX, round: 3, reason: failure.clone() }),
        given_up: Some(failure.clone()),
        ..SiteRecord::new(url(site).site())
    });
    let batch = Batch {
        found,
        visits: visits.collect(),
        sites: sites.collect(),
        seeds: vec![page(0)],
        segments: vec![Segment { serial: 1, name: "a.warc.gz".to_owned(), length: 9 }],
        ..Batch::default()
    };
    store.commit(&batch).expect("a commit");
    store
}

#[test]
fn every_answer_comes_through_as_it_is() {
    let store = store();
    let (mut here, there) = UnixStream::pair().expect("a pair");
    std::thread::scope(|scope| {
        let served = scope.spawn(|| serve(&mut here, &store, &|asked| asked.strip_prefix("echo ").map(str::to_owned)));
        let remote = RemoteView::new(there).expect("a view");
        let site = page(0).key().site;
        assert_eq!(remote.scan(None, usize::MAX).expect("entries"), store.scan(None, usize::MAX).expect("entries"));
        assert_eq!(remote.scan(None, URLS).expect("entries").len(), URLS);
        let after = remote.scan(None, 5).expect("entries").last().map(|entry| entry.candidate.url.key());
        assert_eq!(remote.scan(after, 7).expect("entries"), store.scan(after, 7).expect("entries"));
        for outcome in [None, Some(Outcome::Html), Some(Outcome::Trap)] {
            let (found, expect) = (remote.in_state(outcome, None, URLS), store.in_state(outcome, None, URLS));
            assert_eq!(found.expect("entries"), expect.expect("entries"));
        }
        let (mut outlines, mut from) = (Vec::new(), None);
        loop {
            let window = remote.outlines(None, from.as_ref(), URLS).expect("outlines").expect("a fast way");
            outlines.extend(window.urls);
            from = window.next;
            if from.is_none() {
                break;
            }
        }
        assert_eq!(outlines, store.outlines(None, None, URLS + 1).expect("outlines").expect("a fast way").urls);
        let slice = Some(Slice::one_of(100));
        assert_eq!(remote.outlines(slice, None, 50).expect("some"), store.outlines(slice, None, 50).expect("some"));
        assert_eq!(remote.unrecorded(None, URLS).expect("entries"), store.unrecorded(None, URLS).expect("entries"));
        assert_eq!(
            remote.pending(site, None, URLS).expect("a queue"),
            store.pending(site, None, URLS).expect("a queue")
        );
        assert_eq!(remote.sites(None, 10).expect("sites"), store.sites(None, 10).expect("sites"));
        assert_eq!(remote.site(site).expect("a site"), store.site(site).expect("a site"));
        for key in [page(0).key(), page(URLS).key()] {
            assert_eq!(remote.get(key).expect("an answer"), store.get(key).expect("an answer"));
        }
        assert_eq!(remote.seeds().expect("seeds"), store.seeds().expect("seeds"));
        assert_eq!(remote.segments().expect("segments"), store.segments().expect("segments"));
        assert_eq!(remote.totals().expect("totals"), store.totals().expect("totals"));
        assert_eq!(remote.crawl_id().expect("an id"), store.crawl_id().expect("an id"));
        assert_eq!(remote.ask_scheduler("echo me".to_owned()).expect("an answer").as_deref(), Some("me"));
        assert_eq!(remote.ask_scheduler("else".to_owned()).expect("an answer"), None);
        drop(remote);
        served.join().expect("no panic").expect("a good end");
    });
}

/// A crawl that is slow goes on: to ask it once more, as one does of a crawl that has ended, would take as long again.
#[test]
fn an_answer_that_comes_too_late_is_no_end_of_the_crawl_and_answers_nothing_else() {
    let (mut here, there) = UnixStream::pair().expect("a pair");
    let (waits, store) = (there.try_clone().expect("a socket"), MemoryStore::new());
    let (asked, is_asked) = std::sync::mpsc::sync_channel(1);
    std::thread::scope(|scope| {
        let served = scope.spawn(move || {
            serve(&mut here, &store, &|question| {
                // Until the other side has given up.
                is_asked.recv().ok()?;
                Some(question.to_owned())
            })
        });
        let remote = RemoteView::new(there).expect("a view");
        waits.set_read_timeout(Some(Duration::from_millis(50))).expect("set");
        drop(waits);
        for why in ["the crawl has not answered in time", "it has failed to answer before"] {
            let error = remote.ask_scheduler("first".to_owned()).expect_err("no answer");
            assert!(matches!(error, StoreError::Backend { .. }), "{error:?}");
            assert_eq!(error.to_string(), format!("asking the running crawl: {why}"));
        }
        asked.send(()).expect("it waits");
        served.join().expect("no panic").expect_err("nobody takes the answer");
    });
}

#[test]
fn another_program_is_refused() {
    for greeting in [&b""[..], b"\x02\0\0\0\x01x", b"HTTP/1.1 200 OK\r\n\r\n"] {
        let (mut here, there) = UnixStream::pair().expect("a pair");
        here.write_all(greeting).expect("written");
        drop(here);
        assert!(RemoteView::new(there).is_err(), "{greeting:?}");
    }
}

#[test]
fn a_segment_outside_the_archive_is_not_taken_over() {
    let store = MemoryStore::new();
    let segment = Segment { serial: 1, name: "../../.bashrc".to_owned(), length: 9 };
    store.commit(&Batch { segments: vec![segment], ..Batch::default() }).expect("a commit");
    let (mut here, there) = UnixStream::pair().expect("a pair");
    std::thread::scope(|scope| {
        let served = scope.spawn(|| serve(&mut here, &store, &|_| None));
        let remote = RemoteView::new(there).expect("a view");
        remote.segments().expect_err("refused");
        drop(remote);
        served.join().expect("no panic").expect("a good end");
    });
}
