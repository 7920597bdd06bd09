//! The loop as a whole.

use std::sync::Arc;

use fetch::{FetchConfig, Fetcher};
use store::MemoryStore;
use tokio::sync::{mpsc, oneshot};
use weburl::SiteKey;

use super::{Control, Ownership, Shell};
use crate::clock::Clock;
use crate::step::tests::settings;
use crate::{End, Pin, Recorder};

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
