//! The numbers of a running crawl, second by second, as server-sent events (HTML Standard §9.2).
//!
//! An answer has the samples that its browser lacks, and ends; the browser asks again after a second. So a page holds no connection, of which a
//! browser has six to a host, however many pages are open. One task takes a sample a second for all who watch, and only while somebody does.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use crawl::outlook::waits_in_words;
use engine::clock::Clock;
use model::Timestamp;
use printable::write_json_line;
use serde::Serialize;
use settings::units::human_bytes;
use store::CrawlView;

use crate::Ui;

/// The time between two samples, and between two requests of a browser.
const EVERY: Duration = Duration::from_secs(1);
/// Samples kept, and so those of an answer at most: two minutes. The history has the time before.
const KEPT_MAX: usize = 120;
/// Seconds between two samples that are kept longer, and how many those are: a week.
const MINUTE: u64 = 60;
const MINUTES_MAX: usize = 10_080;
/// How long after a request samples are taken: a browser may be slow.
const WATCHED_FOR: Duration = Duration::from_secs(10);
/// The field of a request in which a browser has the last event that it got.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

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
    kept: Mutex<Kept>,
    clock: Clock,
}

#[derive(Default)]
struct Kept {
    samples: VecDeque<Arc<Sample>>,
    /// A sample of each minute: when it was taken, visits, bytes.
    minutes: VecDeque<[u64; 3]>,
    /// When somebody asked for them last.
    asked: Timestamp,
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
        Live { take, kept: Mutex::default(), clock: Clock::start() }
    }

    /// The samples behind the one of this second, which a browser has; all if it has none, or one of a clock that was set back. Others are taken
    /// from now on, for a while.
    fn behind(self: &Arc<Self>, last: Option<u64>) -> Vec<Arc<Sample>> {
        let mut kept = self.kept();
        kept.asked = self.clock.now();
        if !std::mem::replace(&mut kept.is_sampling, true) {
            tokio::spawn(self.clone().take_samples());
        }
        let last = last.filter(|last| kept.samples.back().is_some_and(|newest| *last <= newest.at));
        kept.samples.iter().filter(|sample| last.is_none_or(|last| sample.at > last)).cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sample of each minute in which somebody watched a crawl that ran: when it was taken, visits, bytes.
    pub(crate) fn minutes(&self) -> Vec<[u64; 3]> {
        self.kept().minutes.iter().copied().collect()
    }

    fn keep(&self, sample: Sample) {
        let mut kept = self.kept();
        let is_due = kept.minutes.back().is_none_or(|[at, ..]| sample.at.abs_diff(*at) >= MINUTE);
        if sample.running && is_due {
            if kept.minutes.len() >= MINUTES_MAX {
                kept.minutes.pop_front();
            }
            kept.minutes.push_back([sample.at, sample.visited, sample.bytes]);
        }
        if kept.samples.len() >= KEPT_MAX {
            kept.samples.pop_front();
        }
        kept.samples.push_back(Arc::new(sample));
    }

    async fn take_samples(self: Arc<Self>) {
        loop {
            // What cannot be read at this moment may be at the next.
            if let Ok(sample) = (self.take)().await {
                self.keep(sample);
            }
            tokio::time::sleep(EVERY).await;
            let mut kept = self.kept();
            kept.is_sampling = self.clock.now().since(kept.asked) < WATCHED_FOR;
            if !kept.is_sampling {
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
pub(crate) async fn events(State(ui): State<Ui>, head: HeaderMap) -> Response {
    answer(&ui.live, &head)
}

/// The answer with the samples that the browser lacks.
pub(crate) fn answer(live: &Arc<Live>, head: &HeaderMap) -> Response {
    let last = head.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()?.parse().ok());
    ([(header::CONTENT_TYPE, "text/event-stream")], event(&live.behind(last))).into_response()
}

/// An event with samples, if there are any, and when the browser is to ask again.
fn event(samples: &[Arc<Sample>]) -> Vec<u8> {
    let mut text = format!("retry: {}\n", EVERY.as_millis()).into_bytes();
    if let Some(last) = samples.last() {
        text.extend_from_slice(format!("id: {}\ndata: ", last.at).as_bytes());
        let samples: Vec<&Sample> = samples.iter().map(AsRef::as_ref).collect();
        // Writing to a vector cannot fail, and samples have a form in JSON.
        let _ = write_json_line(&mut text, &samples);
    }
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::SeqCst;

    use engine::clock::Readings;

    use super::*;

    /// Samples of which the first ones are not kept.
    const SAMPLES: u64 = 5_000;
    /// Bytes that a new viewer gets of samples, at most: with the page, style, script and history they stay below 150 kB, not compressed.
    const FIRST_EVENT_BYTES_MAX: usize = 50_000;

    static AWAKE: AtomicU64 = AtomicU64::new(0);
    static TAKEN: AtomicU64 = AtomicU64::new(0);

    /// Samples that the test takes.
    fn live() -> Arc<Live> {
        let live = Arc::new(Live::new(PathBuf::from("/nowhere")));
        live.kept().is_sampling = true;
        live
    }

    fn moments(samples: &[Arc<Sample>]) -> Vec<u64> {
        samples.iter().map(|sample| sample.at).collect()
    }

    #[test]
    fn a_browser_gets_each_sample_once_and_a_new_one_as_many_as_are_kept() {
        let live = live();
        assert_eq!(moments(&live.behind(None)), Vec::<u64>::new());
        let mut last = None;
        for at in 1..=SAMPLES {
            live.keep(Sample::at_rest(at));
            let news = moments(&live.behind(last));
            assert_eq!(news, [at]);
            last = Some(at);
            assert_eq!(moments(&live.behind(last)), Vec::<u64>::new());
        }
        let first = SAMPLES - KEPT_MAX as u64 + 1;
        assert_eq!(moments(&live.behind(None)), (first..=SAMPLES).collect::<Vec<_>>());
        // One that was away for a while misses what is not kept any more.
        assert_eq!(moments(&live.behind(Some(1)))[0], first);
        assert_eq!(moments(&live.behind(Some(SAMPLES - 2))), [SAMPLES - 1, SAMPLES]);
        // The clock was set back since then.
        assert_eq!(live.behind(Some(SAMPLES + 60)).len(), KEPT_MAX);
    }

    #[test]
    fn a_new_viewer_of_an_hour_gets_the_last_minutes() {
        let live = live();
        for at in 0..3_600 {
            let waits = "its budget of 1000000 pages, which is spent, and 1000 sites aside".to_owned();
            let size = "123.4 GB".to_owned();
            let (fetched, visited, urls) = (10_000_000 + at, 10_000_000 + at, 100_000_000);
            live.keep(Sample {
                running: true,
                fetched,
                visited,
                urls,
                size,
                waits,
                ..Sample::at_rest(1_795_680_000 + at)
            });
        }
        let event = event(&live.behind(None));
        assert!(event.len() <= FIRST_EVENT_BYTES_MAX, "{} bytes", event.len());
        let minutes = live.minutes();
        assert_eq!(minutes.len(), 60);
        assert!(minutes.windows(2).all(|pair| pair[1][0] - pair[0][0] == MINUTE), "{minutes:?}");
    }

    #[test]
    fn minutes_go_on_behind_a_clock_that_was_set_back_and_stay_bounded() {
        let live = live();
        let running = |at| Sample { running: true, ..Sample::at_rest(at) };
        [500, 501, 100, 130, 160].into_iter().for_each(|at| live.keep(running(at)));
        assert_eq!(live.minutes().iter().map(|[at, ..]| *at).collect::<Vec<_>>(), [500, 100, 160]);
        (0..=MINUTES_MAX as u64).for_each(|minute| live.keep(running(1_000 + MINUTE * minute)));
        assert_eq!(live.minutes().len(), MINUTES_MAX);
        live.keep(Sample::at_rest(10_000_000));
        assert_eq!(live.minutes().len(), MINUTES_MAX, "a crawl that rests has no numbers");
    }

    #[test]
    fn an_event_names_its_last_sample_and_none_is_sent_without_samples() {
        let event = |samples: &[u64]| {
            let samples: Vec<_> = samples.iter().map(|at| Arc::new(Sample::at_rest(*at))).collect();
            String::from_utf8(super::event(&samples)).expect("UTF-8")
        };
        assert_eq!(event(&[]), "retry: 1000\n\n");
        let two = event(&[7, 8]);
        assert!(two.starts_with("retry: 1000\nid: 8\ndata: [{\"at\":7,") && two.ends_with("}]\n\n"), "{two}");
        assert_eq!(two.matches('\n').count(), 4, "a line ends the data");
    }

    #[tokio::test]
    async fn samples_are_taken_while_somebody_asks_and_not_long_after() {
        let readings = Readings { date: Timestamp::default, awake: || Duration::from_secs(AWAKE.load(SeqCst)) };
        let take: Take = Box::new(|| {
            let at = TAKEN.fetch_add(1, SeqCst);
            Box::pin(async move { Ok(Sample::at_rest(at)) })
        });
        let live = Arc::new(Live { clock: Clock::reading(readings), ..Live::by(take) });
        for _ in 0..2 {
            let before = TAKEN.load(SeqCst);
            live.behind(None);
            while TAKEN.load(SeqCst) < before + 2 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(live.kept().is_sampling);
            AWAKE.fetch_add(WATCHED_FOR.as_secs(), SeqCst);
            while live.kept().is_sampling {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // Nobody has the task any more.
            while Arc::strong_count(&live) > 1 {
                tokio::task::yield_now().await;
            }
        }
    }
}
