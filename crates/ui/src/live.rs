//! The numbers of a running crawl, second by second, as server-sent events (HTML Standard §9.2).
//!
//! One task takes a sample a second, however many browsers watch, and only while at least one does.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use crawl::outlook::waits_in_words;
use engine::clock::Clock;
use printable::write_json_line;
use serde::Serialize;
use settings::units::human_bytes;
use store::CrawlView;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use crate::Ui;

/// The time between two samples.
const EVERY: Duration = Duration::from_secs(1);
/// Samples kept, for the chart: an hour.
const KEPT_MAX: usize = 3_600;
/// Samples that a slow browser may lag behind before it misses some.
const LAG_MAX: usize = 8;

/// The numbers of a crawl at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Sample {
    /// Seconds since 1970.
    pub(crate) at: u64,
    /// A crawl is running. Of one that rests there are no numbers.
    pub(crate) running: bool,
    pub(crate) fetched: u64,
    /// Pages and documents visited in this round.
    pub(crate) visited: u64,
    pub(crate) waiting: u64,
    /// URLs to be visited again.
    pub(crate) again: u64,
    pub(crate) urls: u64,
    pub(crate) sites: u64,
    pub(crate) bytes: u64,
    /// Bytes for people.
    pub(crate) size: String,
    /// What the crawl waits for.
    pub(crate) waits: String,
}

/// Takes a sample.
pub(crate) type Take = Box<dyn Fn() -> Taken + Send + Sync>;
type Taken = Pin<Box<dyn Future<Output = anyhow::Result<Sample>> + Send>>;

/// The samples so far.
pub(crate) struct Live {
    take: Take,
    news: broadcast::Sender<Arc<Sample>>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    samples: VecDeque<Arc<Sample>>,
    /// A task is taking samples.
    is_sampling: bool,
}

impl Live {
    /// Of the crawl in a directory.
    pub(crate) fn new(root: PathBuf) -> Self {
        let root: Arc<Path> = root.into();
        Live::by(Box::new(move || {
            let root = root.clone();
            Box::pin(async move { tokio::task::spawn_blocking(move || Sample::take(&root)).await? })
        }))
    }

    /// Of samples that are taken so.
    pub(crate) fn by(take: Take) -> Self {
        Live { take, news: broadcast::Sender::new(LAG_MAX), kept: Mutex::default() }
    }

    /// The samples so far, and those to come.
    fn subscribe(self: &Arc<Self>) -> (Vec<Arc<Sample>>, broadcast::Receiver<Arc<Sample>>) {
        let news = self.news.subscribe();
        let mut kept = self.kept();
        if !std::mem::replace(&mut kept.is_sampling, true) {
            tokio::spawn(self.clone().take_samples());
        }
        (kept.samples.iter().cloned().collect(), news)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a sample, and sends it to all who watch. None of them is waited for.
    fn publish(&self, sample: Sample) {
        let sample = Arc::new(sample);
        let mut kept = self.kept();
        if kept.samples.len() >= KEPT_MAX {
            kept.samples.pop_front();
        }
        kept.samples.push_back(sample.clone());
        // An error says that nobody watches.
        let _ = self.news.send(sample);
    }

    async fn take_samples(self: Arc<Self>) {
        loop {
            // What cannot be read at this moment may be at the next.
            if let Ok(sample) = (self.take)().await {
                self.publish(sample);
            }
            tokio::time::sleep(EVERY).await;
            let mut kept = self.kept();
            if self.news.receiver_count() == 0 {
                kept.is_sampling = false;
                return;
            }
        }
    }
}

impl Sample {
    /// Of a crawl that rests.
    pub(crate) fn at_rest(at: u64) -> Self {
        Sample {
            at,
            running: false,
            fetched: 0,
            visited: 0,
            waiting: 0,
            again: 0,
            urls: 0,
            sites: 0,
            bytes: 0,
            size: String::new(),
            waits: String::new(),
        }
    }

    fn take(root: &Path) -> anyhow::Result<Self> {
        let none = Sample::at_rest(Clock::start().date().0 / 1_000_000);
        let Some(view) = crawl::live::view(root)? else { return Ok(none) };
        let waits =
            view.waits()?.as_ref().and_then(|waits| waits_in_words(waits, Clock::start().date())).unwrap_or_default();
        let totals = view.totals()?;
        Ok(Sample {
            running: true,
            fetched: totals.fetched(),
            visited: totals.pages_in_round(),
            waiting: totals.pending.saturating_sub(totals.again),
            again: totals.again,
            urls: totals.urls,
            sites: totals.sites,
            bytes: totals.bytes,
            size: human_bytes(totals.bytes),
            waits,
            ..none
        })
    }
}

/// Answers with events.
pub(crate) async fn events(State(ui): State<Ui>) -> Response {
    answer(&ui.live)
}

/// The answer with the events of all samples.
pub(crate) fn answer(live: &Arc<Live>) -> Response {
    let content_type = (header::CONTENT_TYPE, "text/event-stream");
    ([content_type], Body::from_stream(stream(live))).into_response()
}

/// Events: first the samples so far, then each when it is taken. A browser that does not read has one event here, and [`LAG_MAX`] samples that
/// all share.
fn stream(live: &Arc<Live>) -> ReceiverStream<Result<Bytes, Infallible>> {
    let (so_far, mut news) = live.subscribe();
    let (sender, events) = mpsc::channel::<Result<Bytes, Infallible>>(1);
    tokio::spawn(async move {
        if sender.send(Ok(event(&so_far))).await.is_err() {
            return;
        }
        loop {
            let sample = tokio::select! {
                sample = news.recv() => sample,
                () = sender.closed() => return,
            };
            let sample = match sample {
                Ok(sample) => sample,
                // The browser was slower than a sample a second; the chart has a gap.
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return,
            };
            if sender.send(Ok(event(&[sample]))).await.is_err() {
                return;
            }
        }
    });
    ReceiverStream::new(events)
}

fn event(samples: &[Arc<Sample>]) -> Bytes {
    let mut text = b"data: ".to_vec();
    let samples: Vec<&Sample> = samples.iter().map(AsRef::as_ref).collect();
    // Writing to a vector cannot fail, and samples have a form in JSON.
    let _ = write_json_line(&mut text, &samples);
    text.push(b'\n');
    text.into()
}

#[cfg(test)]
mod tests {
    use tokio_stream::StreamExt;

    use super::*;

    /// Viewers that read.
    const READERS: usize = 19;
    /// Samples that a viewer misses who does not read: more than are kept.
    const SAMPLES: u64 = 5_000;

    /// The moments of the samples in the next event.
    async fn moments(events: &mut ReceiverStream<Result<Bytes, Infallible>>) -> Vec<u64> {
        let Some(Ok(event)) = events.next().await else { panic!("the events ended") };
        let json = event.strip_prefix(b"data: ").expect("an event");
        let samples: Vec<serde_json::Value> = serde_json::from_slice(json).expect("JSON");
        samples.iter().map(|sample| sample["at"].as_u64().expect("a time")).collect()
    }

    #[tokio::test]
    async fn a_viewer_that_never_reads_holds_nobody_up_and_takes_no_memory() {
        let live = Arc::new(Live::new(PathBuf::from("/nowhere")));
        // The test takes the samples.
        live.kept().is_sampling = true;
        live.publish(Sample::at_rest(0));
        let mut silent = stream(&live);
        let mut readers: Vec<_> = (0..READERS).map(|_| stream(&live)).collect();
        for reader in &mut readers {
            assert_eq!(moments(reader).await, [0], "the samples so far");
        }
        for at in 1..=SAMPLES {
            live.publish(Sample::at_rest(at));
            for reader in &mut readers {
                assert_eq!(moments(reader).await, [at], "each viewer that reads gets each sample");
            }
            assert!(live.news.len() <= LAG_MAX && live.kept().samples.len() <= KEPT_MAX, "after {at} samples");
        }
        // A viewer that reads at last gets what was on its way, and then the present.
        let mut read = Vec::new();
        while read.last() != Some(&SAMPLES) {
            read.extend(moments(&mut silent).await);
        }
        assert_eq!(read[0], 0);
        assert!(read.len() <= LAG_MAX + 2 && read.is_sorted(), "{read:?}");
        // Somebody new gets as many as are kept.
        assert_eq!(moments(&mut stream(&live)).await.len(), KEPT_MAX);
    }

    #[tokio::test]
    async fn viewers_that_have_gone_are_forgotten() {
        let live = Arc::new(Live::new(PathBuf::from("/nowhere")));
        live.kept().is_sampling = true;
        live.publish(Sample::at_rest(0));
        let mut viewers: Vec<_> = (0..=READERS).map(|_| stream(&live)).collect();
        for viewer in &mut viewers {
            moments(viewer).await;
        }
        assert_eq!(live.news.receiver_count(), READERS + 1);
        drop(viewers);
        while live.news.receiver_count() > 0 {
            tokio::task::yield_now().await;
        }
    }
}
