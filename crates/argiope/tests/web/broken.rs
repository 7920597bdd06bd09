//! What the program itself breaks counts as an attempt that failed: no crawl waits for it for ever.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use engine::clock::Clock;
use engine::{CrawlError, End, Progress, Recorder, Shell};
use fetch::Fetcher;
use model::{ContentDigest, PayloadDigest, Position, Queued};
use settings::options::Options;
use settings::plan::Plan;
use settings::units::Span;
use store::{Batch, Committed, CrawlView, Entry, Layer, MemoryStore, Store, StoreError};
use testweb::{Pages, Server, Web};
use weburl::{SiteKey, UrlKey};

use crate::crawl::serve;

/// Long beyond what such a crawl takes on a busy machine: one that hangs is noticed.
const EVER: Duration = Duration::from_secs(120);

async fn site() -> Server {
    let pages = Pages::new().html("/", "<a href=/1>one</a> <a href=/2>two</a>").html("/1", "one").html("/2", "two");
    serve(Web::new().site("one.test", pages)).await
}

/// Crawls the site to its end; where it stood then. The fetcher's clock panics at the broken ones of its readings, counted from 1: a
/// fetch reads it when it begins, for each request, and at its end.
async fn crawl(
    server: &Server,
    broken: impl Fn(u32) -> bool + Send + Sync + 'static,
    store: Arc<dyn Store>,
) -> (Result<End, CrawlError>, Progress) {
    let short = Some(Span(Duration::from_millis(1)));
    let options = Options {
        connect_to: vec![server.connect_to()],
        delay: Some(Span(Duration::ZERO)),
        ip_delay: Some(Span(Duration::ZERO)),
        backoff: short,
        max_backoff: short,
        sitemaps: Some(false),
        ..Options::default()
    };
    let plan = Plan::new(&options).expect("a plan");
    let seeds = plan.seeds(&["http://one.test/".to_owned()]).expect("a seed");
    let clock = Clock::start();
    let read = AtomicU32::new(0);
    let date = move || {
        assert!(!broken(read.fetch_add(1, SeqCst) + 1), "a bug");
        clock.date()
    };
    let fetcher = Arc::new(Fetcher::new(plan.fetch, Arc::new(date)).expect("a fetcher"));
    let recorder = Recorder::new(store, None);
    let shell = Shell::new(plan.settings, fetcher, recorder, clock);
    let mut last = Progress::default();
    let run = shell.run(seeds, std::future::pending(), |progress| last = progress);
    let end = tokio::time::timeout(EVER, run).await.expect("the crawl comes to its end");
    (end, last)
}

/// Outcome, reason and attempts of each URL.
fn outcomes(store: &MemoryStore) -> BTreeMap<String, (String, String, u8)> {
    let of = |entry: Entry| {
        let visit = entry.visit.expect("every URL has an outcome");
        (entry.candidate.url.to_string(), (visit.outcome.to_string(), visit.reason, visit.attempts))
    };
    store.scan(None, 1_000).expect("entries").into_iter().map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_panics_is_an_attempt_that_failed() {
    let server = site().await;
    // The first three are of the request for robots.txt, the next of that for the seed.
    for broken in 1..=7 {
        let store = Arc::new(MemoryStore::new());
        let (end, last) = crawl(&server, move |reading| reading == broken, store.clone()).await;
        assert_eq!(end.expect("no error"), End::Done, "{broken}");
        let outcomes = outcomes(&store);
        assert_eq!(outcomes.len(), 3, "{broken}: {outcomes:?}");
        assert!(outcomes.values().all(|(outcome, ..)| outcome == "html"), "{broken}: {outcomes:?}");
        assert_eq!(last.fetches_lost, 1, "{broken}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_panics_each_time_ends_its_url_with_the_reason() {
    let server = site().await;
    let store = Arc::new(MemoryStore::new());
    // robots.txt is fetched.
    let (end, _) = crawl(&server, |reading| reading > 3, store.clone()).await;
    assert_eq!(end.expect("no error"), End::Done);
    let expect = ("connection_error", "internal error: panicked: a bug (after 4 attempts)", 4);
    let (outcome, reason, attempts) = outcomes(&store)["http://one.test/"].clone();
    assert_eq!((outcome.as_str(), reason.as_str(), attempts), expect);
}

/// A store that cannot be read.
struct Unreadable(MemoryStore);

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_panics_ends_the_crawl_with_an_error() {
    let server = site().await;
    let (end, _) = crawl(&server, |_| false, Arc::new(Unreadable(MemoryStore::new()))).await;
    let error = end.expect_err("an error").to_string();
    assert!(error.contains("internal error: the writer thread") && error.contains("unreadable"), "{error}");
}

impl Layer for Unreadable {
    fn below(&self) -> &dyn CrawlView {
        &self.0
    }

    fn shown_pending(&self, _: SiteKey, _: Option<Position>, _: usize) -> Result<Vec<Queued>, StoreError> {
        panic!("unreadable")
    }
}

impl Store for Unreadable {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        self.0.commit(batch)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        self.0.sites_with_pending(after, max)
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.0.holder(content, label)
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        self.0.view()
    }
}
