//! The shell around the step: carries commands out with tokio and one writer thread, and decides nothing.

mod awake;
mod control;
mod fetching;
mod flights;
mod questions;
mod turns;
mod writer;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use archive::Seal;
use bytes::Bytes;
use fetch::{Division, Fetcher};
use login::{LoginFailed, Logins};
use model::{FetchTask, Timestamp};
use stages::{Stage, time};
use store::StoreError;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::MissedTickBehavior;
use weburl::{CanonicalUrl, Site, SiteKey};

use crate::clock::Clock;
use crate::named::NamedSites;
use crate::{Browsing, Command, End, Event, Hooks, Pin, RecordError, Recorder, Settings, Start, State};
use awake::Awake;
pub use control::{Change, Control, Ownership, Steered, Work, Worked};
use fetching::{Fetching, fetch, on_its_own_thread};
use flights::{Flights, Job};
pub use questions::Question;
use turns::Turns;
use writer::{Awaited, Order, Read, WriterEnd, write};

/// Events waiting for the step.
const EVENTS_MAX: usize = 1_024;

/// Orders waiting for the writer thread.
const ORDERS_MAX: usize = 1_024;

/// How often progress is reported.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// What a fetch may take beyond all of its limits before it is given up for lost: it waits for memory, for a core, for its event to be taken.
const WAITS_MAX: Duration = Duration::from_secs(600);

/// What is needed to run a crawl.
pub struct Shell {
    /// The settings.
    pub settings: Settings,
    /// Fetches.
    pub fetcher: Arc<Fetcher>,
    /// Logs in, if the crawl has a login.
    pub logins: Option<Arc<Logins>>,
    /// Shows pages in a browser, if the crawl has one.
    pub browsing: Option<Arc<Browsing>>,
    /// Judge URLs and look into answers.
    pub hooks: Hooks,
    /// Records.
    pub recorder: Recorder,
    /// Tells the time.
    pub clock: Clock,
    /// Set for one of several workers: the sites are not all its own.
    pub ownership: Option<Ownership>,
    /// When segments are to be sealed that are not full. Where somebody may say so, the last one is sealed however the crawl ends,
    /// unless recording failed.
    pub sealing: Option<mpsc::Receiver<Seal>>,
    /// The changes during the run, in order; `None` if the run cannot be changed.
    pub steering: Option<mpsc::Receiver<Steered>>,
    /// Questions about the run; `None` if nobody asks.
    pub questions: Option<mpsc::Receiver<Question>>,
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
    /// Bytes that the sites in front take, and those that wait for a place there, about.
    pub front_bytes: usize,
    /// The most that it was in this run.
    pub front_bytes_peak: usize,
    /// Bytes that they may take.
    pub front_bytes_max: usize,
    /// Sites in trouble, which are left alone for a while.
    pub sites_aside: usize,
    /// Nothing new is fetched, as it was wanted.
    pub is_paused: bool,
    /// When the last commit of this run was made, as a date.
    pub last_commit: Option<Timestamp>,
    /// No site at all can be reached: the machine's own network seems to be down, and nothing counts until it is back.
    pub is_network_down: bool,
    /// Fetches of this run that the program itself broke; each counted as an attempt that failed.
    pub fetches_lost: u64,
    /// By how much the longest recorded wait of a site was cut: since the run before, its delay was lowered or the system's clock set back.
    pub waits_cut: Option<Duration>,
    /// Time since this run began.
    pub elapsed: Duration,
    /// How much of it the run was paused.
    pub paused_for: Duration,
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
    /// A login did not work when the crawl began.
    #[error(transparent)]
    Login(#[from] LoginFailed),
    /// A part of the program ended before its time.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Shell {
    /// A shell that crawls alone: without a browser, hooks, orders to seal and steering.
    #[must_use]
    pub fn new(settings: Settings, fetcher: Arc<Fetcher>, recorder: Recorder, clock: Clock) -> Shell {
        Shell {
            settings,
            fetcher,
            logins: None,
            browsing: None,
            hooks: Hooks::default(),
            recorder,
            clock,
            ownership: None,
            sealing: None,
            steering: None,
            questions: None,
        }
    }

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
        let mut crawl = self.spawn(seeds, is_stopped, reports);
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
            Some(Err(error)) => Err(internal("the crawl", &error)),
            None => Err(CrawlError::Internal("the crawl ended without an end".to_owned())),
        }
    }

    /// A task for the crawl, not a future: what fetched a page wakes it on its own thread, where a future that the main thread waits for
    /// would have to be woken on that. It is aborted when the set is dropped.
    // Not generic, unlike `run`: so this crate compiles all that the crawl waits for, and its callers do not compile it again.
    fn spawn(
        self,
        seeds: Vec<weburl::CanonicalUrl>,
        stop: oneshot::Receiver<()>,
        reports: watch::Sender<Progress>,
    ) -> JoinSet<Result<End, CrawlError>> {
        let mut crawl = JoinSet::new();
        crawl.spawn(self.crawl(seeds, stop, reports));
        crawl
    }

    async fn crawl(
        self,
        seeds: Vec<weburl::CanonicalUrl>,
        mut stop: oneshot::Receiver<()>,
        reports: watch::Sender<Progress>,
    ) -> Result<End, CrawlError> {
        let Shell { settings, fetcher, logins, browsing, hooks, recorder, clock, ownership, .. } = self;
        let Shell { mut sealing, mut steering, mut questions, .. } = self;
        let store = recorder.store().clone();
        let totals = store.totals()?;
        // Seeds are committed before anything is asked of a site: where there are none, no run came so far.
        let known_seeds = store.seeds()?;
        let given = seeds.iter().chain(logins.iter().flat_map(|logins| logins.urls()));
        let named = NamedSites::of(fetcher.clone(), store.clone(), given, &known_seeds);
        if let Some(logins) = logins.as_ref().filter(|_| totals.pending > 0 || !seeds.is_empty()) {
            tokio::select! {
                begun = logins.begin() => begun?,
                _ = &mut stop => return Ok(End::Stopped),
            }
        }
        let began = clock.now();
        let (mut control, others) = match ownership {
            Some(Ownership { orders, released, pin, asks_at }) => {
                (Some(orders), Some(Others { released, pin, asks_at }))
            }
            None => (None, None),
        };
        let start = match known_seeds.is_empty() {
            _ if control.is_some() => Start::Shared,
            true => Start::New,
            false => Start::Resumed,
        };
        let mut state = State::new(settings.clone(), began, start).with_hooks(hooks.clone());
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
        let beside = Turns::new(cores, Division::of(settings.limits.in_flight_bytes_max));
        let reading_rules = Arc::new(Semaphore::new(cores.div_ceil(2)));
        let settings = Arc::new(settings);
        let mut hands = Executor {
            fetching: Arc::new(Fetching {
                fetcher,
                logins,
                browsing,
                hooks,
                beside,
                reading_rules,
                reading_documents: Arc::new(Semaphore::new(cores)),
                documents_at_once: cores,
                settings,
                events,
                clock,
            }),
            flights: Flights::default(),
            waiting_orders: VecDeque::new(),
            alarm: None,
            abandoned: false,
            others,
            end: None,
        };
        hands.carry_out(state.step(clock.now(), clock.date(), Event::begin(seeds, known_seeds, &totals)));
        let mut ticks = tokio::time::interval(PROGRESS_EVERY);
        // Time in which this process stood still is nobody's to answer in.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::pin!(stop);
        let (mut stopping, mut last_commit, mut awake) = (false, None, Awake::new(clock.now()));
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
                // Before all that may never cease. It is cheap to ask whether a second has passed.
                _ = ticks.tick() => {
                    look_at_time(&mut awake, &mut state, clock);
                    for lost in hands.look_after_flights() {
                        hands.carry_out(state.step(clock.now(), clock.date(), lost));
                    }
                    reports.send_replace(progress(&state, last_commit, clock.now(), began));
                    continue;
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
                    Some(told) => {
                        if let Control::SeedsAdded(seeds) = &told {
                            named.add(seeds.iter().map(|seed| &seed.url));
                        }
                        Event::from(told)
                    }
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
                told = next_of(&mut steering) => {
                    let Some(Steered { change, done }) = told else {
                        steering = None;
                        continue;
                    };
                    let event = match change {
                        Change::Settings(settings) => Some(Event::SettingsChanged(settings)),
                        Change::Seeds(seeds) => {
                            named.add(&seeds);
                            Some(Event::NewSeeds(seeds))
                        }
                        Change::Work(work) => {
                            hands.waiting_orders.push_back(Order::Work(work));
                            None
                        }
                    };
                    if let Some(event) = event {
                        let now = look_at_time(&mut awake, &mut state, clock);
                        hands.carry_out(state.step(now, clock.date(), event));
                    }
                    // Behind all that the step has just had recorded.
                    hands.waiting_orders.push_back(Order::Confirm(done));
                    continue;
                }
                question = next_of(&mut questions) => {
                    match question {
                        Some(question) => question.answer(&state, clock.now(), clock.date()),
                        None => questions = None,
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
            };
            if matches!(event, Event::Committed { .. }) {
                last_commit = Some(clock.date());
            }
            if hands.fetching.fetcher.has_answer() {
                state.answer_has_begun();
            }
            let now = look_at_time(&mut awake, &mut state, clock);
            let commands = time(Stage::Decide, || state.step(now, clock.date(), event));
            hands.fetching.beside.set_contents(state.content_bytes());
            hands.carry_out(commands);
        }
        reports.send_replace(progress(&state, last_commit, clock.now(), began));
        let end = hands.end.take();
        // Nothing is left to be committed before them.
        let confirmed: Vec<_> = hands.waiting_orders.drain(..).filter_map(Order::into_confirm).collect();
        hands.flights.end().await;
        if let Some(browsing) = &hands.fetching.browsing {
            browsing.end().await;
        }
        drop(hands);
        drop(orders);
        drop(inbox);
        let recorder = writer.await.map_err(|error| internal("the writer thread", &error))??;
        for done in confirmed {
            let _ = done.send(());
        }
        let finished = end != Some(End::Stopped);
        let closed = tokio::task::spawn_blocking(move || recorder.close(finished)).await;
        closed.map_err(|error| internal("closing the archive", &error))??;
        end.ok_or_else(|| CrawlError::Internal("the crawl ended without an end".to_owned()))
    }
}

/// The time. Where the process stood still before, the step learns of it first.
fn look_at_time(awake: &mut Awake, state: &mut State, clock: Clock) -> Timestamp {
    let now = clock.now();
    if awake.stood_still(now) {
        state.stood_still(now);
    }
    now
}

/// A part of the program that broke.
fn internal(part: &str, error: &JoinError) -> CrawlError {
    CrawlError::Internal(format!("{part}: {error}"))
}

fn progress(state: &State, last_commit: Option<Timestamp>, now: Timestamp, began: Timestamp) -> Progress {
    Progress {
        is_paused: state.is_paused(),
        last_commit,
        pages: state.pages(),
        bytes: state.bytes(),
        in_flight: state.fetches_in_flight(),
        sites_waiting: state.sites_waiting(),
        front_bytes: state.front_bytes(),
        front_bytes_peak: state.front_bytes_peak(),
        front_bytes_max: state.front_bytes_max(),
        sites_aside: state.sites_aside(),
        is_network_down: state.network_down_since().is_some(),
        fetches_lost: state.fetches_lost(),
        waits_cut: state.waits_cut(),
        elapsed: now.since(began),
        paused_for: state.paused_for(now),
    }
}

/// The next message from outside; pending for ever without a sender.
async fn next_of<T>(inbox: &mut Option<mpsc::Receiver<T>>) -> Option<T> {
    match inbox {
        Some(inbox) => inbox.recv().await,
        None => std::future::pending().await,
    }
}

/// Sleeps until then. The timer stands still while the machine sleeps; but it is set again with every tick of the progress.
async fn sleep_until(alarm: Option<Timestamp>, clock: Clock) {
    if let Some(alarm) = alarm {
        tokio::time::sleep(alarm.since(clock.now())).await;
    }
}

/// What carries out commands.
struct Executor {
    fetching: Arc<Fetching>,
    flights: Flights,
    /// Orders that the writer has no room for yet; bounded by the records that the step has open.
    waiting_orders: VecDeque<Order>,
    alarm: Option<Timestamp>,
    /// Only records are written from now on: a read would make each commit wait for the one before.
    abandoned: bool,
    others: Option<Others>,
    end: Option<End>,
}

/// What there is to heed where others crawl too.
struct Others {
    released: Box<dyn Fn(SiteKey, Option<IpAddr>) + Send>,
    pin: Box<dyn Fn(SiteKey) -> Pin + Send>,
    asks_at: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

impl Executor {
    fn carry_out(&mut self, commands: Vec<Command>) {
        self.flights.note_ended();
        for command in commands {
            match command {
                Command::Fetch(task) => self.fetch(task),
                Command::FetchTarget(task) if self.is_asked_by_others(&task) => {
                    let (events, task) = (self.fetching.events.clone(), task.id);
                    self.flights.spawn(Job::Fetch(task), WAITS_MAX, async move {
                        let _ = events.send(Event::NotAsked(task)).await;
                    });
                }
                Command::FetchTarget(task) => self.fetch(task),
                Command::ResolveTarget { url } => self.resolve_target(url),
                Command::ReadRobots { .. } | Command::FindRules { .. } if self.abandoned => {}
                Command::FindRules { site } => self.waiting_orders.push_back(Order::Read(Read::Rules { site })),
                Command::ReadRobots { url } => self.waiting_orders.push_back(Order::Read(Read::Robots { url })),
                Command::ReadRules { site, code, body } => self.read_rules(site, code, body),
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
        self.flights.abandon();
        self.abandoned = true;
        self.waiting_orders.retain(|order| !matches!(order, Order::Read(_)));
    }

    fn fetch(&mut self, task: FetchTask) {
        let (job, time_max) = (Job::Fetch(task.id), self.fetching.time_max(&task).saturating_add(WAITS_MAX));
        self.flights.spawn(job, time_max, fetch(task, self.fetching.clone()));
    }

    /// True if another worker owns the address of a task.
    fn is_asked_by_others(&self, task: &FetchTask) -> bool {
        let (Some(others), Some(address)) = (&self.others, task.address) else { return false };
        !(others.asks_at)(address)
    }

    /// Looks for the addresses of another site at which this run may ask.
    fn resolve_target(&mut self, url: CanonicalUrl) {
        let fetching = self.fetching.clone();
        let asks_at = self.others.as_ref().map(|others| others.asks_at.clone());
        let turn = fetching.fetcher.lookup_turn(&url.site(), None).unwrap_or_default();
        let time_max = turn.saturating_add(fetching.fetcher.lookup_time_max()).saturating_add(WAITS_MAX);
        self.flights.spawn(Job::ResolveTarget(url.key()), time_max, async move {
            wait_for(turn).await;
            let asks = |address| asks_at.as_ref().is_none_or(|asks_at| asks_at(address));
            let mut found = fetching.fetcher.look_up(&url.site(), asks).await.map(|found| found.addresses);
            let mut is_elsewhere = false;
            if let (Ok(addresses), Some(asks_at)) = (&mut found, &asks_at) {
                let any = !addresses.is_empty();
                addresses.retain(|address| asks_at(*address));
                is_elsewhere = any && addresses.is_empty();
            }
            let url = url.key();
            let event = match is_elsewhere {
                true => Event::TargetElsewhere(url),
                false => Event::TargetResolved { url, addresses: found },
            };
            let _ = fetching.events.send(event).await;
        });
    }

    /// Reads the rules of a large robots.txt on a thread of its own.
    fn read_rules(&mut self, site: SiteKey, code: u16, body: Bytes) {
        let fetching = self.fetching.clone();
        self.flights.spawn(Job::ReadRules(site), WAITS_MAX, async move {
            let settings = fetching.settings.clone();
            // It is never closed.
            let _permit = fetching.reading_rules.acquire().await;
            let rules = on_its_own_thread(move || crate::read_rules(code, &body, &settings)).await;
            let _ = fetching.events.send(Event::RulesRead { site, rules: Some(rules) }).await;
        });
    }

    /// Once in [`PROGRESS_EVERY`]: what has broken off or come to no end, as events.
    fn look_after_flights(&mut self) -> Vec<Event> {
        self.flights.note_ended();
        if self.fetching.fetcher.is_open() {
            self.flights.pass(PROGRESS_EVERY);
        }
        self.flights.take_lost()
    }

    fn resolve(&mut self, site: Site, unreachable: Option<IpAddr>) {
        let fetching = self.fetching.clone();
        let pin = self.others.as_ref().map_or(Pin::Anywhere, |others| (others.pin)(site.key()));
        let turn = fetching.fetcher.lookup_turn(&site, None).unwrap_or_default();
        let time_max = turn.saturating_add(fetching.fetcher.lookup_time_max()).saturating_add(WAITS_MAX);
        self.flights.spawn(Job::Resolve(site.key()), time_max, async move {
            wait_for(turn).await;
            let event = match pin.judge(site.key(), unreachable) {
                Some(event) => event,
                None => {
                    pin.judge_found(site.key(), fetching.fetcher.look_up(&site, |address| pin.allows(address)).await)
                }
            };
            let _ = fetching.events.send(event).await;
        });
    }
}

/// Waits for a turn, if there is something to wait for.
async fn wait_for(turn: Duration) {
    if !turn.is_zero() {
        tokio::time::sleep(turn).await;
    }
}

#[cfg(test)]
mod tests;
