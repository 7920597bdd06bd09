//! The loop as a whole.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use fetch::{FetchConfig, Fetcher};
use frontier::{Politeness, SiteRules};
use model::{Outcome, Purpose};
use store::{CrawlView, MemoryStore};
use testweb::{Config, Pages, Server, Web};
use tokio::sync::{mpsc, oneshot};
use weburl::{CanonicalRules, CanonicalUrl, SiteKey};

use super::{Control, Ownership, PROGRESS_EVERY, Shell, WAITS_MAX};
use crate::clock::Clock;
use crate::step::tests::settings;
use crate::{Answer, End, Extra, Hook, Hooks, Pin, Recorder, Settings};

/// The first comes at once.
const REPORTS: usize = 3;

/// A crawl in which something happens all the time.
#[tokio::test(flavor = "multi_thread")]
async fn progress_is_told_while_events_never_cease() {
    let clock = Clock::start();
    let fetcher = Fetcher::new(FetchConfig::default(), Arc::new(move || clock.now())).expect("a fetcher");
    let (told, orders) = mpsc::channel(1_000);
    let ownership = Ownership {
        orders,
        released: Box::new(|_, _| {}),
        pin: Box::new(|_| Pin::Anywhere),
        asks_at: Arc::new(|_| true),
    };
    let recorder = Recorder::new(Arc::new(MemoryStore::new()), None);
    let shell = Shell { ownership: Some(ownership), ..Shell::new(settings(), Arc::new(fetcher), recorder, clock) };
    // Each takes much longer to take in than to say, so that there is always another.
    let sites = vec![SiteKey(1); 1_000];
    let flood = tokio::spawn(async move { while told.send(Control::Release(sites.clone())).await.is_ok() {} });
    let (enough, is_enough) = oneshot::channel();
    let (mut reports, mut enough) = (0, Some(enough));
    let ended = shell.run(Vec::new(), async { drop(is_enough.await) }, |_| {
        reports += 1;
        if reports == REPORTS {
            enough.take().map(|enough| enough.send(()));
        }
    });
    assert_eq!(ended.await.expect("a crawl"), End::Stopped);
    flood.await.expect("no panic");
}

/// Comes to no end the first time that it sees this page: not before the test has.
struct Endless {
    begun: mpsc::Sender<()>,
    ends: Mutex<Option<std::sync::mpsc::Receiver<()>>>,
}

impl Hook for Endless {
    fn responded(&self, answer: &Answer<'_>) -> Extra {
        if answer.exchange.url.as_str().ends_with("/endless") {
            let ends = self.ends.lock().expect("no panic").take();
            if let Some(ends) = ends {
                self.begun.try_send(()).expect("the test waits");
                // An error, when the test has ended.
                let _ = ends.recv();
            }
        }
        Extra::default()
    }
}

/// By a clock of the test: a fetch that does not end is given up when all of its limits are over, and no sooner.
#[tokio::test]
async fn a_fetch_that_never_ends_is_an_attempt_that_failed() {
    let pages = Pages::new().html("/", "<a href=/endless>x</a>").html("/endless", "<a href=/behind>x</a>");
    let web = Web::new().site("*", pages.html("/behind", "behind"));
    let server = Server::start(Config::new(web)).await.expect("a free port");
    let seed = CanonicalUrl::parse(&format!("http://{}/", server.address()), &CanonicalRules::default());
    let clock = Clock::start();
    let fetcher = Arc::new(Fetcher::new(FetchConfig::default(), Arc::new(move || clock.now())).expect("a fetcher"));
    let limits = fetcher.time_max(Purpose::Page, false) + WAITS_MAX;
    let store = Arc::new(MemoryStore::new());
    let (begun, mut has_begun) = mpsc::channel(1);
    let (end, ends) = std::sync::mpsc::sync_channel(1);
    let hook = Endless { begun, ends: Mutex::new(Some(ends)) };
    let at_once = Duration::ZERO;
    let politeness = Politeness { delay: at_once, ip_delay: at_once, backoff: at_once, ..Politeness::default() };
    let settings = Settings { site_rules: SiteRules { politeness, ..settings().site_rules }, ..settings() };
    let shell = Shell::new(settings, fetcher, Recorder::new(store.clone(), None), clock);
    let shell = Shell { hooks: Hooks::new(vec![Arc::new(hook)]), ..shell };
    let lost = Arc::new(AtomicU64::new(0));
    let told = lost.clone();
    let report = move |progress: super::Progress| told.store(progress.fetches_lost, SeqCst);
    let crawl = tokio::spawn(shell.run(vec![seed.expect("a URL")], std::future::pending(), report));

    has_begun.recv().await.expect("the page is shown to the hook");
    tokio::time::pause();
    let mut waited = Duration::ZERO;
    while lost.load(SeqCst) == 0 {
        tokio::time::advance(PROGRESS_EVERY).await;
        waited += PROGRESS_EVERY;
        // Until all that the second brings is done.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(waited < limits * 2, "it is not given up");
    }
    tokio::time::resume();
    assert!(waited + PROGRESS_EVERY >= limits, "given up after {waited:?} of {limits:?}");
    assert_eq!(crawl.await.expect("no panic").expect("no error"), End::Done);
    drop(end);
    assert_eq!(lost.load(SeqCst), 1);
    let visits = store.scan(None, 10).expect("entries").into_iter().map(|entry| {
        let visit = entry.visit.expect("every URL has an outcome");
        (entry.candidate.url.path().to_owned(), visit.outcome, visit.attempts)
    });
    let mut visits: Vec<_> = visits.collect();
    visits.sort_by(|one, other| one.0.cmp(&other.0));
    let expect =
        [("/", 1), ("/behind", 1), ("/endless", 2)].map(|(path, tries)| (path.to_owned(), Outcome::Html, tries));
    assert_eq!(visits, expect);
}
