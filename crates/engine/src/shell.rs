//! The shell around the step: carries commands out with tokio and one writer thread, and decides nothing.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fetch::Fetcher;
use model::{FetchTask, Purpose, Timestamp};
use stages::{Stage, time};
use store::{Queued, StoreError};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use weburl::{Site, SiteKey};

use crate::clock::Clock;
use crate::{
    Browsing, Command, End, Event, Fetch, Pin, Record, RecordError, Recorder, Seal, Settings, Start, State, look_into,
};

/// Events waiting for the step.
const EVENTS_MAX: usize = 1_024;

/// Orders waiting for the writer thread.
const ORDERS_MAX: usize = 1_024;

/// Records in one commit.
const COMMIT_RECORDS_MAX: usize = 512;

/// URLs found in one commit, but for those of its last record.
const COMMIT_FOUND_MAX: usize = 1 << 14;

/// Sites asked for at once.
const SITES_FOUND_MAX: usize = 4_096;

/// Bodies from this size on are looked into beside the network threads, of which there may be one: it would do nothing else for the
/// better part of a millisecond. For small ones the way there and back costs more than it gains.
const BESIDE_BYTES_MIN: usize = 64 * 1024;

/// How often progress is reported.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// A small batch waits until the last commit was so long ago, unless the crawl waits for it: a record that comes alone is committed
/// at once, and what comes in between together.
const COMMIT_EVERY: Duration = Duration::from_millis(20);

/// What is needed to run a crawl.
pub struct Shell {
    /// The settings.
    pub settings: Settings,
    /// Fetches.
    pub fetcher: Arc<Fetcher>,
    /// Shows pages in a browser, if the crawl has one.
    pub browsing: Option<Arc<Browsing>>,
    /// Records.
    pub recorder: Recorder,
    /// Tells the time.
    pub clock: Clock,
    /// Set for one of several workers: the sites are not all its own.
    pub ownership: Option<Ownership>,
    /// When segments are to be sealed that are not full. Where somebody may say so, the last one is sealed however the crawl ends,
    /// unless recording failed.
    pub sealing: Option<mpsc::Receiver<Seal>>,
}

/// How a worker that crawls with others is told which sites are its own.
pub struct Ownership {
    /// What it is told, in order.
    pub orders: mpsc::Receiver<Control>,
    /// Is told of each site that was let go of and, as [`Command::Released`], where it is to be asked from now on.
    pub released: Box<dyn Fn(SiteKey, Option<IpAddr>) + Send>,
    /// Where a site may be asked.
    pub pin: Box<dyn Fn(SiteKey) -> Pin + Send>,
}

/// What a worker is told from outside.
#[derive(Debug)]
pub enum Control {
    /// As [`Event::SitesChanged`].
    SitesChanged {
        /// The sites.
        sites: Vec<SiteKey>,
        /// Others may have asked them just before.
        taken_over: bool,
    },
    /// As [`Event::SitesWaiting`].
    SitesWaiting(Vec<SiteKey>),
    /// As [`Event::SeedsAdded`].
    SeedsAdded(Vec<weburl::CanonicalUrl>),
    /// As [`Event::Release`].
    Release(Vec<SiteKey>),
}

impl From<Control> for Event {
    fn from(control: Control) -> Self {
        match control {
            Control::SitesChanged { sites, taken_over } => Event::SitesChanged { sites, taken_over },
            Control::SitesWaiting(sites) => Event::SitesWaiting(sites),
            Control::SeedsAdded(seeds) => Event::SeedsAdded(seeds),
            Control::Release(sites) => Event::Release(sites),
        }
    }
}

/// Where a running crawl stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// URLs fetched with success, over all runs.
    pub pages: u64,
    /// Payload bytes, over all runs.
    pub bytes: u64,
    /// Fetches under way.
    pub in_flight: usize,
    /// Sites that wait for a visit.
    pub sites_waiting: usize,
    /// Time since this run began.
    pub elapsed: Duration,
}

/// Why a crawl broke off. Everything committed before stays, and the crawl can be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// The recorder failed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The store could not be read.
    #[error("state: {0}")]
    Store(#[from] StoreError),
    /// A part of the program ended before its time.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

/// What the writer thread is asked to do, in this order.
enum Order {
    Record(Box<Record>),
    Read(Read),
    Seal(Seal),
}

/// What is to be read from the store.
enum Read {
    Queue { site: SiteKey, with_record: bool, after: Option<model::Position>, max: usize },
    Sites { after: Option<SiteKey> },
}

/// What ends the writer thread.
type WriterEnd = Result<Recorder, RecordError>;

impl Shell {
    /// Runs the crawl to its end. `seeds` are those the store does not know; `stop` resolves when the user wants an end.
    ///
    /// # Errors
    /// Recording failed, for example since the disk is full. What was committed stays.
    pub async fn run(
        self,
        seeds: Vec<weburl::CanonicalUrl>,
        stop: impl Future<Output = ()>,
        mut report: impl FnMut(Progress),
    ) -> Result<End, CrawlError> {
        let (reports, mut reported) = watch::channel(Progress::default());
        let (stopped, is_stopped) = oneshot::channel();
        // A task, not this future: what fetched a page wakes it on its own thread, where a future that the main thread waits for
        // would have to be woken on that. Aborted if this future is dropped.
        let mut crawl = JoinSet::new();
        crawl.spawn(self.crawl(seeds, is_stopped, reports));
        let mut stopped = Some(stopped);
        tokio::pin!(stop);
        let ended = loop {
            tokio::select! {
                () = &mut stop, if stopped.is_some() => {
                    // It may have ended just now.
                    let _ = stopped.take().map(|stopped| stopped.send(()));
                }
                Ok(()) = reported.changed() => report(*reported.borrow_and_update()),
                ended = crawl.join_next() => break ended,
            }
        };
        report(*reported.borrow_and_update());
        match ended {
            Some(Ok(ended)) => ended,
            Some(Err(_)) | None => Err(CrawlError::Internal("the crawl's task panicked")),
        }
    }

    async fn crawl(
        self,
        seeds: Vec<weburl::CanonicalUrl>,
        stop: oneshot::Receiver<()>,
        reports: watch::Sender<Progress>,
    ) -> Result<End, CrawlError> {
        let Shell { settings, fetcher, browsing, recorder, clock, ownership, mut sealing } = self;
        let store = recorder.store().clone();
        let totals = store.totals()?;
        let began = clock.now();
        // Seeds are committed before anything is asked of a site: where there are none, no run came so far.
        let known_seeds = store.seeds()?;
        let (mut control, others) = match ownership {
            Some(Ownership { orders, released, pin }) => (Some(orders), Some(Others { released, pin })),
            None => (None, None),
        };
        let start = match known_seeds.is_empty() {
            _ if control.is_some() => Start::Shared,
            true => Start::New,
            false => Start::Resumed,
        };
        let mut state = State::new(settings.clone(), began, start);
        let (events, mut inbox) = mpsc::channel(EVENTS_MAX);
        let (orders, orders_inbox) = mpsc::channel(ORDERS_MAX);
        let writer_events = events.clone();
        let awaited = Arc::new(Awaited::default());
        let writer_awaited = awaited.clone();
        let seals_at_end = sealing.is_some();
        let writer = tokio::task::spawn_blocking(move || -> WriterEnd {
            let mut recorder = write(recorder, orders_inbox, &writer_events, &writer_awaited, clock)?;
            if seals_at_end {
                recorder.seal(Seal::Now)?;
            }
            Ok(recorder)
        });
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let beside = Arc::new(Semaphore::new(cores));
        let mut hands = Hands {
            fetching: Arc::new(Fetching { fetcher, browsing, beside, settings: Arc::new(settings), events }),
            fetches: JoinSet::new(),
            waiting_orders: VecDeque::new(),
            alarm: None,
            abandoned: false,
            others,
            end: None,
        };
        let begin = Event::Begin { seeds, known_seeds, pages: totals.fetched(), bytes: totals.bytes };
        hands.carry_out(state.step(clock.now(), begin));
        let mut ticks = tokio::time::interval(PROGRESS_EVERY);
        tokio::pin!(stop);
        let mut stopping = false;
        while hands.end.is_none() {
            let nothing_else = state.fetches_in_flight() == 0 && state.sites_waiting() == 0;
            awaited.set(nothing_else && hands.waiting_orders.is_empty());
            let event = tokio::select! {
                biased;
                told = &mut stop, if !stopping => {
                    stopping = true;
                    // Nobody waits for a crawl whose future is gone: it is being aborted.
                    if told.is_err() {
                        continue;
                    }
                    Event::Stop
                }
                permit = orders.reserve(), if !hands.waiting_orders.is_empty() => {
                    let Ok(permit) = permit else { break };
                    if let Some(order) = hands.waiting_orders.pop_front() {
                        permit.send(order);
                    }
                    continue;
                }
                // The writer ends early only when it failed: its error is taken below.
                () = orders.closed() => break,
                // Before what comes of it: seeds are known before the queue in which they were found.
                told = next_of(&mut control) => match told {
                    Some(told) => Event::from(told),
                    None => {
                        control = None;
                        continue;
                    }
                },
                seal = next_of(&mut sealing), if hands.waiting_orders.is_empty() => {
                    match seal {
                        Some(seal) => hands.waiting_orders.push_back(Order::Seal(seal)),
                        None => sealing = None,
                    }
                    continue;
                }
                event = inbox.recv() => match event {
                    Some(event) => event,
                    None => break,
                },
                () = sleep_until(hands.alarm, clock), if hands.alarm.is_some() => {
                    hands.alarm = None;
                    Event::Wake
                }
                _ = ticks.tick() => {
                    reports.send_replace(progress(&state, clock.now().since(began)));
                    continue;
                }
            };
            let commands = time(Stage::Decide, || state.step(clock.now(), event));
            hands.carry_out(commands);
        }
        reports.send_replace(progress(&state, clock.now().since(began)));
        let end = hands.end.take();
        drop(hands);
        drop(orders);
        drop(inbox);
        let recorder = writer.await.map_err(|_| CrawlError::Internal("the writer thread panicked"))??;
        let finished = end != Some(End::Stopped);
        let closed = tokio::task::spawn_blocking(move || recorder.close(finished)).await;
        closed.map_err(|_| CrawlError::Internal("closing the archive panicked"))??;
        end.ok_or(CrawlError::Internal("the crawl ended without an end"))
    }
}

fn progress(state: &State, elapsed: Duration) -> Progress {
    Progress {
        pages: state.pages(),
        bytes: state.bytes(),
        in_flight: state.fetches_in_flight(),
        sites_waiting: state.sites_waiting(),
        elapsed,
    }
}

/// The next of what comes from outside; nothing ever where nobody is there.
async fn next_of<T>(inbox: &mut Option<mpsc::Receiver<T>>) -> Option<T> {
    match inbox {
        Some(inbox) => inbox.recv().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(alarm: Option<Timestamp>, clock: Clock) {
    if let Some(alarm) = alarm {
        tokio::time::sleep(alarm.since(clock.now())).await;
    }
}

/// What carries out commands.
struct Hands {
    fetching: Arc<Fetching>,
    fetches: JoinSet<()>,
    /// Orders that the writer has no room for yet; bounded by the records that the step has open.
    waiting_orders: VecDeque<Order>,
    alarm: Option<Timestamp>,
    /// Only records are written from now on: a read would make each commit wait for the one before.
    abandoned: bool,
    others: Option<Others>,
    end: Option<End>,
}

/// What all fetches share.
struct Fetching {
    fetcher: Arc<Fetcher>,
    browsing: Option<Arc<Browsing>>,
    /// A permit for each core: more large bodies are not looked into at once.
    beside: Arc<Semaphore>,
    settings: Arc<Settings>,
    events: mpsc::Sender<Event>,
}

/// What there is to heed where others crawl too.
struct Others {
    released: Box<dyn Fn(SiteKey, Option<IpAddr>) + Send>,
    pin: Box<dyn Fn(SiteKey) -> Pin + Send>,
}

impl Hands {
    fn carry_out(&mut self, commands: Vec<Command>) {
        while self.fetches.try_join_next().is_some() {}
        for command in commands {
            match command {
                Command::Fetch(task) => {
                    self.fetches.spawn(fetch(task, self.fetching.clone()));
                }
                Command::Resolve { site, unreachable } => self.resolve(site, unreachable),
                Command::Record(record) => self.waiting_orders.push_back(Order::Record(record)),
                Command::Load { .. } | Command::FindSites { .. } if self.abandoned => {}
                Command::Load { site, with_record, after, max } => {
                    self.waiting_orders.push_back(Order::Read(Read::Queue { site, with_record, after, max }));
                }
                Command::FindSites { after } => self.waiting_orders.push_back(Order::Read(Read::Sites { after })),
                Command::Released { site, address } => {
                    if let Some(others) = &self.others {
                        (others.released)(site, address);
                    }
                }
                Command::WakeAt(at) => self.alarm = Some(at),
                Command::Abandon => self.abandon(),
                Command::Finish(end) => self.end = Some(end),
            }
        }
    }

    fn abandon(&mut self) {
        self.fetches.abort_all();
        self.abandoned = true;
        self.waiting_orders.retain(|order| !matches!(order, Order::Read(_)));
    }

    fn resolve(&mut self, site: Site, unreachable: Option<IpAddr>) {
        let fetching = self.fetching.clone();
        let pin = self.others.as_ref().map_or(Pin::Anywhere, |others| (others.pin)(site.key()));
        self.fetches.spawn(async move {
            let event = match pin.judge(site.key(), unreachable) {
                Some(event) => event,
                None => pin.judge_found(site.key(), fetching.fetcher.resolve(&site).await),
            };
            let _ = fetching.events.send(event).await;
        });
    }
}

/// Fetches, looks into the answer, and tells of both. Most of these wait for a page, and there are hundreds of them: what only some
/// of them do is boxed.
async fn fetch(task: FetchTask, shared: Arc<Fetching>) {
    let purpose = task.purpose;
    let looking = look(shared.fetcher.fetch(task).await, purpose, &shared);
    let Some(fetch) = looking.await.map(Box::new) else { return };
    // The receiver is gone only when the crawl has ended.
    let _ = shared.events.send(Event::Fetched(fetch)).await;
}

/// Looks into an answer, and again if it is a page that is to be shown in a browser.
async fn look(outcome: model::FetchOutcome, purpose: Purpose, shared: &Fetching) -> Option<Fetch> {
    let mut fetch = look_beside(outcome, purpose, shared).await?;
    if let Some(browsing) = &shared.browsing
        && let Some(showing) = browsing.judge(&fetch.outcome, purpose, &fetch.content)
    {
        // Boxed: see `fetch`.
        Box::pin(browsing.show(&mut fetch.outcome, &showing)).await;
        fetch = look_beside(fetch.outcome, purpose, shared).await?;
        browsing.learn(&fetch.outcome, &showing, &fetch.content);
    }
    if let (model::Fetched::Response(response), false) = (&mut fetch.outcome.fetched, purpose == Purpose::Robots) {
        response.body = bytes::Bytes::new();
    }
    Some(fetch)
}

/// Looks into an answer; into a large one on a thread of its own, so that the network goes on.
async fn look_beside(outcome: model::FetchOutcome, purpose: Purpose, shared: &Fetching) -> Option<Fetch> {
    let body_bytes = match &outcome.fetched {
        model::Fetched::Response(response) => response.body.len(),
        model::Fetched::Failed(_) => 0,
    };
    let settings = shared.settings.clone();
    let look = move || {
        let content = look_into(&outcome, purpose, &settings);
        Fetch { outcome, content }
    };
    if body_bytes < BESIDE_BYTES_MIN {
        return Some(look());
    }
    // It is never closed.
    let _permit = shared.beside.acquire().await.ok()?;
    tokio::task::spawn_blocking(look).await.ok()
}

/// The writer thread: commits records in batches, and answers reads behind the commit of every record ordered before
/// them. Reads wait for the batch to fill or for the orders to pause, so that many of them cost one commit.
fn write(
    mut recorder: Recorder,
    mut orders: mpsc::Receiver<Order>,
    events: &mpsc::Sender<Event>,
    awaited: &Awaited,
    clock: Clock,
) -> WriterEnd {
    let mut batch = Waiting::default();
    let mut reads: Vec<Read> = Vec::new();
    let mut committed_at = Timestamp::default();
    while let Some(order) = orders.blocking_recv() {
        let mut next = Some(order);
        let mut waited = false;
        loop {
            match next.take().map_or_else(|| orders.try_recv().ok(), Some) {
                Some(Order::Record(record)) => {
                    batch.push(*record);
                    if batch.is_full() {
                        commit(&mut recorder, &mut batch, events)?;
                        answer(&recorder, &mut reads, events)?;
                    }
                }
                Some(Order::Read(read)) => reads.push(read),
                Some(Order::Seal(seal)) => {
                    commit(&mut recorder, &mut batch, events)?;
                    recorder.seal(seal)?;
                }
                None if !waited && !batch.records.is_empty() => {
                    waited = true;
                    awaited.wait((committed_at + COMMIT_EVERY).since(clock.now()));
                }
                None => break,
            }
        }
        if !batch.records.is_empty() {
            commit(&mut recorder, &mut batch, events)?;
            committed_at = clock.now();
        }
        answer(&recorder, &mut reads, events)?;
    }
    Ok(recorder)
}

/// Whether the crawl waits for the writer: nothing is fetched, and nothing will be due before it has answered.
#[derive(Default)]
struct Awaited {
    is_awaited: Mutex<bool>,
    changed: Condvar,
}

impl Awaited {
    fn set(&self, is_awaited: bool) {
        let before = std::mem::replace(&mut *self.lock(), is_awaited);
        if is_awaited && !before {
            self.changed.notify_one();
        }
    }

    /// Waits until it is so, but not longer than this.
    fn wait(&self, time_max: Duration) {
        // What it is then does not matter.
        let _ = self.changed.wait_timeout_while(self.lock(), time_max, |is_awaited| !*is_awaited);
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records that wait for their commit.
#[derive(Default)]
struct Waiting {
    records: Vec<Record>,
    /// URLs found in them.
    found: usize,
}

impl Waiting {
    fn push(&mut self, record: Record) {
        self.found += record.found_count();
        self.records.push(record);
    }

    fn is_full(&self) -> bool {
        self.records.len() >= COMMIT_RECORDS_MAX || self.found >= COMMIT_FOUND_MAX
    }
}

fn commit(recorder: &mut Recorder, batch: &mut Waiting, events: &mpsc::Sender<Event>) -> Result<(), RecordError> {
    let Waiting { records, .. } = std::mem::take(batch);
    if records.is_empty() {
        return Ok(());
    }
    let (records, committed) = recorder.commit(records)?;
    send(events, Event::Committed { records, committed });
    Ok(())
}

fn answer(recorder: &Recorder, reads: &mut Vec<Read>, events: &mpsc::Sender<Event>) -> Result<(), StoreError> {
    for read in reads.drain(..) {
        match read {
            Read::Queue { site, with_record, after, max } => {
                send(events, load(recorder, site, with_record, after, max)?);
            }
            Read::Sites { after } => {
                let sites = recorder.store().sites_with_pending(after, SITES_FOUND_MAX)?;
                let all = sites.len() < SITES_FOUND_MAX;
                send(events, Event::SitesFound { sites, all });
            }
        }
    }
    Ok(())
}

fn load(
    recorder: &Recorder,
    site: SiteKey,
    with_record: bool,
    after: Option<model::Position>,
    max: usize,
) -> Result<Event, StoreError> {
    let record = if with_record { recorder.store().site(site)?.map(Box::new) } else { None };
    let queue: Vec<Queued> = recorder.store().pending(site, after, max)?;
    let all = queue.len() < max;
    Ok(Event::Loaded { site, record, queue, all })
}

fn send(events: &mpsc::Sender<Event>, event: Event) {
    // The receiver is gone only when the crawl has ended.
    let _ = events.blocking_send(event);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test may take: who is not woken is noticed.
    const EVER: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn a_fetch_under_way_takes_little_memory() {
        fn future_bytes<A, B, F: Future>(_: impl Fn(A, B) -> F) -> usize {
            size_of::<F>()
        }
        // With what the runtime adds these are 2,560 bytes, a size that jemalloc has.
        assert!(future_bytes(fetch) <= 2_360, "{} bytes", future_bytes(fetch));
    }

    #[test]
    fn who_is_awaited_waits_no_longer() {
        let awaited = Awaited::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| awaited.wait(EVER));
            awaited.set(false);
            awaited.set(true);
            waiting.join().expect("no panic");
        });
        // It still is.
        awaited.wait(EVER);
        awaited.set(false);
        awaited.wait(Duration::ZERO);
    }
}
