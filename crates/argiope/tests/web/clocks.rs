//! The system's clock is set while a crawl runs: dates follow it, waiting does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use engine::clock::{Clock, Readings, since_boot};
use engine::{End, Recorder, Shell};
use fetch::Fetcher;
use model::Timestamp;
use settings::options::Options;
use settings::plan::Plan;
use settings::units::Span;
use store::{CrawlView, MemoryStore};
use testweb::{Reply, Web, from_fn};

use crate::crawl::serve;

const DAY_US: i64 = 86_400_000_000;

/// By how much the system's clock has been set, in microseconds.
static SET_BY: AtomicI64 = AtomicI64::new(0);

fn date() -> Timestamp {
    Timestamp(Clock::start().date().0.saturating_add_signed(SET_BY.load(SeqCst)))
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_follow_a_clock_that_is_set_and_politeness_does_not() {
    let site = from_fn(|request| match request.target.as_str() {
        "/" => Reply::html("<a href=/1>one</a> <a href=/2>two</a> <a href=/3>three</a>"),
        "/1" | "/2" | "/3" => {
            // Forward, back behind where it was, forward.
            let by = [2 * DAY_US, -DAY_US, DAY_US][usize::from(request.target.as_bytes()[1] - b'1')];
            SET_BY.store(by, SeqCst);
            Reply::html(request.target.clone())
        }
        _ => Reply::new(404),
    });
    let server = serve(Web::new().site("one.test", site)).await;
    let options = Options {
        connect_to: vec![server.connect_to()],
        delay: Some(Span(Duration::from_millis(300))),
        sitemaps: Some(false),
        ..Options::default()
    };
    let plan = Plan::new(&options).expect("a plan");
    let seeds = plan.seeds(&["http://one.test/".to_owned()]).expect("a seed");
    let clock = Clock::reading(Readings { date, awake: since_boot });
    let fetcher = Arc::new(Fetcher::new(plan.fetch, Arc::new(move || clock.date())).expect("a fetcher"));
    let store = Arc::new(MemoryStore::new());
    let recorder = Recorder::new(store.clone(), None);
    let shell = Shell::new(plan.settings, fetcher, recorder, clock);
    let run = shell.run(seeds, std::future::pending(), |_| ());
    let end = tokio::time::timeout(Duration::from_secs(120), run).await.expect("it does not wait for a date");
    assert_eq!(end.expect("no error"), End::Done);

    let log: Vec<_> = server.log().into_iter().filter(|entry| entry.target != "/robots.txt").collect();
    assert_eq!(log.len(), 4);
    for pair in log.windows(2) {
        let between = pair[1].start_us.saturating_sub(pair[0].end_us.expect("an end"));
        assert!(between + 10 >= 300_000, "{between} µs: {pair:?}");
    }
    // The date of each visit is that of the clock as it was set by the one before.
    let mut set_by = 0;
    let began = Clock::start().date();
    for entry in log {
        let url = format!("http://one.test{}", entry.target);
        let found =
            store.scan(None, 10).expect("entries").into_iter().find(|found| found.candidate.url.as_str() == url);
        let at = found.and_then(|found| found.visit).expect("a visit").at;
        let expect = began.0.saturating_add_signed(set_by);
        assert!(at.0.abs_diff(expect) < 3_600_000_000, "{url}: {at}");
        set_by = match entry.target.as_str() {
            "/1" => 2 * DAY_US,
            "/2" => -DAY_US,
            "/3" => DAY_US,
            _ => 0,
        };
    }
}
