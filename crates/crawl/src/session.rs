//! A crawl from its assembly to its end.

use std::num::NonZero;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use against::Tally;
use anyhow::{anyhow, bail};
use archive::{ArchiveInState, Seal, Sealed, Serials};
use cookies::Cookies;
use dataset::Layout;
use engine::clock::Clock;
use engine::{End, Hook, Hooks, Ownership, Progress, Prospect, Recorder, Redacting, Shell, Sink, Steered};
use fetch::{FetchConfig, Fetcher, Gate, Keyring};
use login::Logins;
use model::Limits;
use settings::plan::Plan;
use store::{CrawlView, Store, StoreError, Totals};
use tokio::sync::{broadcast, mpsc, watch};
use weburl::{CanonicalUrl, SiteKey};

use crate::events::{self, Event, EventSink, Events};
use crate::held::Held;
use crate::history::History;
use crate::left::Left;
use crate::live::{self, Answers, Live};
use crate::outlook::{Disk, Outlook, visited};
use crate::passing::Passing;
use crate::queues::{Queue, Queues};
use crate::ready::Ready;
use crate::steer::{self, Change, OrderId, Steering};
use crate::stream::{self, Stream, StreamTo};
use crate::tables::{Deriver, Writer};
use crate::tried::Tried;
use crate::trouble::Troubled;
use crate::watched::Watched;
use crate::{Begin, CrawlDir, Notice, Scheduler, SignIn, fill, jar, keyring, parts};

/// What makes a session one of several workers on a crawl, whose shared state is the store of the session.
pub struct Member {
    /// The sites are not all its own.
    pub ownership: Ownership,
    /// Changed settings, as the shared state has them.
    pub steered: mpsc::Receiver<Steered>,
    /// When segments are to be sealed that are not full. The last one is sealed however the run ends, unless recording failed.
    pub sealing: mpsc::Receiver<Seal>,
    /// Requests are sent only while it is open.
    pub gate: Gate,
    /// Numbers its segments among those of all workers.
    pub numbered_by: Serials,
    /// Receives each sealed segment once its files are complete, on a thread that others wait for. It is dropped when the session writes no
    /// more files, also if the session itself was dropped.
    pub on_sealed: Box<dyn FnMut(Sealed) + Send>,
}

/// A crawl that runs: [`Session::run`].
pub type Running = Pin<Box<dyn Future<Output = anyhow::Result<Ended>> + Send>>;

/// An assembled crawl. It runs when [`Session::run`] is awaited. Dropping it before that leaves its directory as it is.
pub struct Session {
    shell: Shell,
    store: Arc<dyn Store>,
    seeds: Vec<CanonicalUrl>,
    live: Option<Live>,
    tables: Option<Writer>,
    stream: Option<Stream>,
    /// Where rules write what they take out of pages.
    items: Option<Layout>,
    keyring: Keyring,
    cookies: Option<Cookies>,
    logins: Option<Arc<Logins>>,
    clock: Clock,
    before: Totals,
    notices: Vec<Notice>,
    looked_up: Option<Arc<Tally>>,
    redacting: Arc<Redacting>,
    stopping: watch::Sender<bool>,
    progress: watch::Sender<Progress>,
    /// None for one of several workers: their server makes changes.
    steering: Option<Arc<Steering>>,
    /// None for one of several workers, which sees a part of the crawl.
    history: Option<History>,
    /// The archive's directory. None without an archive, and for one of several workers, whose segments go elsewhere.
    own_archive: Option<PathBuf>,
    scheduler: Scheduler,
    events: broadcast::WeakSender<Event>,
}

/// What a session is made of.
pub struct Builder {
    dir: CrawlDir,
    plan: Plan,
    store: Option<Arc<dyn Store>>,
    seeds: Vec<CanonicalUrl>,
    sinks: Vec<Box<dyn Sink>>,
    hooks: Vec<Arc<dyn Hook>>,
    stream: Option<StreamTo>,
    against: Vec<PathBuf>,
    tried: Option<Tried>,
    begin: Begin,
    member: Option<Member>,
    sign_in: Option<SignIn>,
    /// The run is a round of a watch, with this time between two requests.
    watched: Option<Duration>,
}

/// Access to a crawl from outside, for any number of tasks and threads.
#[derive(Clone)]
pub struct Handle {
    store: Weak<dyn Store>,
    stopping: watch::Sender<bool>,
    progress: watch::Receiver<Progress>,
    steering: Option<Arc<Steering>>,
    scheduler: Scheduler,
    events: broadcast::WeakSender<Event>,
    /// URLs requested by the runs before.
    visited_before: u64,
    queues: Arc<Queues>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// Why.
    pub end: End,
    /// The totals before this run.
    pub before: Totals,
    /// The totals now.
    pub totals: Totals,
    /// The sites in trouble, and those that were given up.
    pub troubled: Troubled,
    /// What the URLs left wait for; only where sites in trouble or on hold ended the run.
    pub left: Option<Left>,
    /// The URLs whose last request failed; only where sites in trouble ended the run, and not too many wait.
    pub passing: Option<Passing>,
    /// The progress of the run at its end.
    pub progress: Progress,
    /// How long it took.
    pub took: Duration,
    /// The notices of the run.
    pub notices: Vec<Notice>,
}

impl Builder {
    /// The store of the directory, if it is open already.
    #[must_use]
    pub fn store(self, store: Arc<dyn Store>) -> Self {
        Builder { store: Some(store), ..self }
    }

    /// Its cookies, and the logins that have worked already.
    #[must_use]
    pub fn signed_in(self, sign_in: SignIn) -> Self {
        Builder { sign_in: Some(sign_in), ..self }
    }

    /// Adds seeds. The crawl keeps its earlier ones.
    #[must_use]
    pub fn seeds(self, seeds: Vec<CanonicalUrl>) -> Self {
        Builder { seeds, ..self }
    }

    /// Adds a sink, which receives committed records. Sinks receive them in the order in which they were added, the dataset
    /// last. The contents of answers ([`engine::Recorded::visited`]) are present if the crawl has a dataset, a hook, or a stream with more fields.
    #[must_use]
    pub fn sink(mut self, sink: impl Sink + 'static) -> Self {
        self.sinks.push(Box::new(sink));
        self
    }

    /// Adds a hook, which judges URLs and examines answers.
    #[must_use]
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Streams outcomes, one JSON object per line. A crawl that has a stream needs it in each session, or [`Begin::forgets_stream`].
    #[must_use]
    pub fn stream(self, stream: StreamTo) -> Self {
        Builder { stream: Some(stream), ..self }
    }

    /// Earlier archives: WARC files, WACZ files, CDXJ indexes, and directories of them. A payload that they hold is recorded as a revisit of
    /// their record. Later sessions of the crawl go on with them.
    #[must_use]
    pub fn against(self, against: Vec<PathBuf>) -> Self {
        Builder { against, ..self }
    }

    /// What was tried before the directory was made, in place of a stream and of earlier archives.
    #[must_use]
    pub fn tried(self, tried: Tried) -> Self {
        Builder { tried: Some(tried), ..self }
    }

    /// What the run begins with, once all else is ready.
    #[must_use]
    pub fn begin(self, begin: Begin) -> Self {
        Builder { begin, ..self }
    }

    /// Makes the session one of several workers: it crawls the sites that it owns in the shared state, which is its store. It has no seeds of
    /// its own, and its server makes changes. Its directory exists, and holds nothing of an earlier session.
    #[must_use]
    pub fn member(self, member: Member) -> Self {
        Builder { member: Some(member), ..self }
    }

    /// The run is a round of a [watch](crate::watch), with this time between two requests at least.
    #[must_use]
    pub fn watched(self, pace: Duration) -> Self {
        Builder { watched: Some(pace), ..self }
    }

    /// Assembles the crawl. The directory is made, its store and archive are opened, and its dataset is completed. This may take long and blocks
    /// the thread. What can be refused comes first: then no round has begun, and no settings are stored.
    ///
    /// # Errors
    /// The directory cannot be used, is in use, or has no seeds; or it has a stream that was not named.
    pub fn open(self) -> anyhow::Result<Session> {
        let Builder {
            dir,
            mut plan,
            store,
            seeds,
            sinks,
            hooks,
            stream,
            against,
            tried,
            begin,
            member,
            sign_in,
            watched,
        } = self;
        let names_stream = stream.is_some() || tried.as_ref().is_some_and(|tried| tried.stream.is_some());
        if !names_stream && !begin.forgets_stream {
            stream::refuse_unnamed(&dir.stream())?;
        }
        let mut tried = match tried {
            Some(tried) => tried.of(&dir, &plan)?,
            None => Tried::new(&dir, &plan, stream, against)?,
        };
        let store = match store {
            Some(store) => store,
            None => tried.open_store(&dir, &plan.options)?,
        };
        tried.check(&dir, store.as_ref())?;
        let has_fields = tried.stream.as_ref().is_some_and(|(stream, _)| !stream.fields.is_empty());
        plan.settings.details |= !hooks.is_empty() || has_fields;
        let mut notices = Vec::new();
        let clock = Clock::start();
        let is_member = member.is_some();
        let (ready, sign_in) = match is_member {
            true => (None, None),
            false => {
                let mut sign_in = sign_in.map_or_else(|| SignIn::new(&dir, &plan), Ok)?;
                let ready = Ready::of(&dir, &plan, &store, (seeds, begin), &mut sign_in)?;
                (Some(ready), Some(sign_in))
            }
        };
        let cookies = sign_in.as_ref().and_then(|sign_in| sign_in.cookies.clone());
        let mut config = FetchConfig { cookies: cookies.clone(), ..plan.fetch.clone() };
        let (mut shared, mut numbered_by) = (Shared::default(), None);
        if let Some(member) = member {
            config.gate = member.gate;
            numbered_by = Some(member.numbered_by);
            shared = Shared {
                ownership: Some(member.ownership),
                steered: Some(member.steered),
                sealing: Some(member.sealing),
                on_sealed: Some(member.on_sealed),
            };
        }
        let fetcher = Arc::new(Fetcher::new(config, Arc::new(move || clock.date()))?);
        let against = parts::open_against(&dir, &plan, tried.against(), &mut notices)?;
        // The run begins: nothing was changed up to here, and nothing is refused from here on.
        tried.begun(&dir);
        let (seeds, before) = match ready {
            Some(ready) => ready.begin(&dir, &plan, &store, &mut notices)?,
            None => {
                dir.write_options(&plan.options)?;
                (Vec::new(), Totals::default())
            }
        };
        let watched = watched.map(|pace| Watched { before: before.clone(), pace });
        if let Some(watched) = &watched {
            plan.settings = watched.settings(&plan.settings);
        }
        // Where visits are compared with those of another run, they are compared by all that an earlier program knew, too.
        let is_only_state =
            !plan.settings.archive && !plan.settings.details && tried.stream.is_none() && sinks.is_empty();
        plan.settings.labels =
            !is_only_state || is_member || plan.settings.changes_in_text || !before.outcomes.is_empty();
        let archive = parts::open_archive(&dir, &plan, store.as_ref(), &mut notices)?;
        let archive = archive.map(|archive| match numbered_by {
            Some(serials) => archive.numbered_by(serials),
            None => archive,
        });
        let looked_up = against.as_ref().map(against::Against::tally);
        let Tried { stream, browser, .. } = tried;
        let browsing =
            browser.map(|browser| Arc::new(parts::browsing(browser, &plan, fetcher.clone(), clock, &mut notices)));
        // Begun last: from here on nothing fails but the crawl itself, whose end completes the files.
        let held = dir.hold(plan.dataset)?;
        let tables = match (plan.dataset, shared.on_sealed) {
            (true, Some(on_sealed)) => {
                Some(Writer::start_shared(layout_of(&dir, &plan), store.clone(), held.clone(), on_sealed)?)
            }
            (true, None) => Some(open_tables(&dir, &plan, store.clone(), held.clone(), &mut notices)?),
            (false, _) => None,
        };
        let (stopping, progress) = (watch::Sender::new(false), watch::Sender::new(Progress::default()));
        let opened = stream.map(|stream| Stream::open(&dir.stream(), store.clone(), stream, stopping.clone()));
        let (stream_sink, stream) = opened.transpose()?.unzip();
        let (steering, steered) = match shared.steered {
            Some(steered) => (None, steered),
            None => {
                let options = plan.options.clone();
                notices.extend(steer::paused(&dir, &options));
                let store = Arc::downgrade(&store);
                let (steering, steered) =
                    Steering::new(dir.clone(), held.clone(), store, options, stopping.clone(), clock);
                let steering = steering.watched(watched);
                (Some(Arc::new(steering)), steered)
            }
        };
        let (viewed, steers) = (store.clone(), steering.clone());
        let (scheduler, questions) = Scheduler::new(stream.as_ref().map(Stream::gauge).unwrap_or_default());
        let answers = Answers {
            view: Box::new(move || viewed.view()),
            publish: tables.as_ref().map(Writer::publisher),
            steer: steers.map(|steers| -> live::Steer {
                Box::new(move |live::Order { id, what }| match what {
                    live::Ordered::Make(change) => steers.steer(id, change),
                    live::Ordered::TakeBack(back) => steers.take_back(id, back).map(|()| None),
                })
            }),
            scheduler: Some(scheduler.clone()),
        };
        let live = Live::listen(dir.root(), answers);
        let history = steering.is_some().then(|| History::of(&dir, clock));
        let own_archive = (steering.is_some() && archive.is_some()).then(|| dir.archive());
        let recorder = Recorder::new(store.clone(), archive).against(against);
        let redacting = recorder.redacting();
        let mut recorder = recorder.guarded_by(Box::new(move || Ok(held.check()?)));
        // Gone with the recorder: so readers of events learn that the run has ended.
        let events = broadcast::Sender::new(events::WAITING_MAX);
        let weak = events.downgrade();
        recorder = recorder.with_sink(Box::new(EventSink { events, store: Arc::downgrade(&store) }));
        recorder = recorder.with_sink(Box::new(scheduler.latest()));
        for sink in sinks.into_iter().chain(stream_sink).chain(tables.as_ref().map(Writer::sink)) {
            recorder = recorder.with_sink(sink);
        }
        let items = (!plan.settings.rules.is_empty()).then(|| layout_of(&dir, &plan));
        let logins = sign_in.and_then(|sign_in| sign_in.into_logins(&plan, &fetcher)).map(Arc::new);
        let keyring = plan.fetch.keyring;
        let shell = Shell {
            settings: plan.settings,
            fetcher,
            logins: logins.clone(),
            browsing,
            hooks: Hooks::new(hooks),
            recorder,
            clock,
            ownership: shared.ownership,
            sealing: shared.sealing,
            steering: Some(steered),
            questions: Some(questions),
        };
        Ok(Session {
            shell,
            store,
            seeds,
            live,
            tables,
            stream,
            items,
            keyring,
            cookies,
            logins,
            clock,
            before,
            notices,
            looked_up,
            redacting,
            stopping,
            progress,
            steering,
            history,
            own_archive,
            scheduler,
            events: weak,
        })
    }
}

/// The parts of a [`Member`] that go different ways.
#[derive(Default)]
struct Shared {
    ownership: Option<Ownership>,
    steered: Option<mpsc::Receiver<Steered>>,
    sealing: Option<mpsc::Receiver<Seal>>,
    on_sealed: Option<Box<dyn FnMut(Sealed) + Send>>,
}

impl Session {
    /// A crawl in this directory by this plan.
    #[must_use]
    pub fn builder(dir: CrawlDir, plan: Plan) -> Builder {
        let (seeds, sinks, hooks, against) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (store, stream, tried, member, sign_in) = (None, None, None, None, None);
        let watched = None;
        Builder {
            dir,
            plan,
            store,
            seeds,
            sinks,
            hooks,
            stream,
            against,
            tried,
            begin: Begin::default(),
            member,
            sign_in,
            watched,
        }
    }

    /// How many threads should drive the crawl: one a core, but leaving one core to the threads that record, where there is something to
    /// record. With all cores these threads only take turns with those, and each turn costs (docs/performance.md).
    #[must_use]
    pub fn threads(plan: &Plan) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        if plan.archive || plan.dataset { (cores - 1).max(1) } else { cores }
    }

    /// What came up while the session was assembled.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// What fetches.
    #[must_use]
    pub fn fetcher(&self) -> &Arc<Fetcher> {
        &self.shell.fetcher
    }

    /// A handle to the crawl.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            store: Arc::downgrade(&self.store),
            stopping: self.stopping.clone(),
            progress: self.progress.subscribe(),
            steering: self.steering.clone(),
            scheduler: self.scheduler.clone(),
            events: self.events.clone(),
            visited_before: visited(&self.before),
            queues: Arc::new(Queues::new(self.clock)),
        }
    }

    /// Runs the crawl to its end. If the future is dropped, the crawl is aborted: committed records stay, and the next session continues.
    ///
    /// # Errors
    /// Recording or the dataset fails, for example since the disk is full.
    pub fn run(self) -> Running {
        // The compiler makes the code of a future where it is awaited. Boxed, the whole engine is compiled here, and not in each program once more.
        Box::pin(self.run_to_end())
    }

    async fn run_to_end(self) -> anyhow::Result<Ended> {
        let (shell, clock, progress, mut history) = (self.shell, self.clock, self.progress, self.history);
        let began = clock.now();
        let mut is_stopped = self.stopping.subscribe();
        let stop = async move {
            // The sender lives as long as this future.
            let _ = is_stopped.wait_for(|is_stopped| *is_stopped).await;
        };
        let ended = shell
            .run(self.seeds, stop, |now| {
                if let Some(history) = &mut history {
                    history.note(&now);
                }
                progress.send_replace(now);
            })
            .await;
        history.into_iter().for_each(History::end);
        let took = clock.now().since(began);
        let at_end = *progress.borrow();
        let close = move || {
            // Its reader may take as long as it likes; the crawl answers meanwhile.
            let streamed = if ended.is_ok() { self.stream.map(Stream::finish) } else { None };
            drop(self.live);
            // If it is the dataset that failed, its own error says more than that of the crawl.
            self.tables.map_or(Ok(()), Writer::finish)?;
            let end = ended?;
            if let Some(archive) = &self.own_archive {
                archive::is_whole(archive, &ArchiveInState::of(self.store.as_ref(), &Limits::default())?)?;
            }
            let mut notices = streamed.unwrap_or_else(|| Ok(Vec::new()))?;
            let leaves = self.steering.as_ref().and_then(|steering| steering.leaves());
            if self.steering.is_some() {
                notices.extend(keyring::redirects(&self.keyring, self.store.as_ref())?);
            }
            notices.extend(self.items.map_or_else(|| Ok(Vec::new()), |layout| fill::notices(&layout))?);
            notices.extend(self.logins.as_deref().map(jar::logins_at_end).unwrap_or_default());
            notices.extend(self.cookies.as_ref().and_then(jar::at_end));
            notices.extend(jar::redacted_at_end(&self.redacting.so_far()));
            notices.extend(self.looked_up.as_deref().and_then(referred));
            let totals = self.store.totals()?;
            let leaves = leaves.filter(|_| totals.pending > 0);
            let end = if end == End::Done { leaves.unwrap_or(end) } else { end };
            let troubled = Troubled::of(self.store.as_ref(), &totals, None)?;
            let rules = self.steering.as_ref().map(|steering| steering.keeps_back()).unwrap_or_default();
            let left = match end {
                End::Waiting(_) | End::Held => Some(Left::of(self.store.as_ref(), &rules, totals.pending)?),
                End::Done | End::Limit(..) | End::Stopped => None,
            };
            let is_waiting = matches!(end, End::Waiting(_));
            let passing = if is_waiting { Passing::of(self.store.as_ref(), &totals)? } else { None };
            Ok(Ended { end, before: self.before, totals, troubled, left, passing, progress: at_end, took, notices })
        };
        tokio::task::spawn_blocking(close).await.map_err(|error| anyhow!("internal error: closing: {error}"))?
    }
}

impl Handle {
    /// Ends the crawl soon, and drops what is under way. Committed records stay.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Changes the crawl. When this is done, the change is in force and survives any kill.
    ///
    /// # Errors
    /// The change cannot be used, or not while the crawl runs; the session has ended, or the disk fails.
    pub async fn steer(&self, change: Change) -> anyhow::Result<()> {
        let Some(steering) = self.steering.clone() else {
            bail!("one of several workers is steered by its server: `argiope client steer`");
        };
        let scheduler = self.scheduler.clone();
        let make = move || {
            let steered = steering.steer(&OrderId::new(), &change);
            scheduler.changed();
            steered
        };
        let steered = tokio::task::spawn_blocking(make).await;
        steered.map_err(|error| anyhow!("internal error: steering: {error}"))?.map(drop)
    }

    /// The progress of the run, once a second. The stream ends with the session.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// What happens from now on: outcomes as they are committed. It never slows the crawl: a slow reader misses events, which it is
    /// told the number of. `None` if the session has ended.
    #[must_use]
    pub fn events(&self) -> Option<Events> {
        self.events.upgrade().map(|events| Events(events.subscribe()))
    }

    /// What is left of the crawl, and what holds it up. It lists the crawl's directory, so it may take a moment. A database counts at most a
    /// tenth of the time: between that its last counts are given. `None` if the session has ended, is one of several workers, or if a
    /// database has not counted yet.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn outlook(&self) -> anyhow::Result<Option<Outlook>> {
        let looking = self.clone();
        let left = tokio::task::spawn_blocking(move || looking.left()).await;
        let Some((left, queues)) = left.map_err(|error| anyhow!("internal error: looking ahead: {error}"))?? else {
            return Ok(None);
        };
        let sites = queues.iter().map(|queue| queue.site).collect();
        let (Some(waits), Some(paces)) = (self.scheduler.waits().await, self.scheduler.paces(sites).await) else {
            return Ok(None);
        };
        let queues: Vec<_> = queues.iter().map(|queue| queue.urls).zip(paces).collect();
        Ok(Some(left.with(waits, &queues)))
    }

    /// What is left of the crawl, and the longest queues of its sites.
    fn left(&self) -> Result<Option<(Outlook, Vec<Queue>)>, StoreError> {
        let Some(steering) = self.steering.as_ref().filter(|_| self.store.strong_count() > 0) else { return Ok(None) };
        // By a view, which has a connection of its own: the crawl does not wait for it.
        let counted = |view: Box<dyn CrawlView>| view.totals();
        let (totals, queues) = match steering.census() {
            Some(census) => (census.count(|| self.view()?.map(counted).transpose()), Vec::new()),
            None => {
                let Some(view) = self.view()? else { return Ok(None) };
                let totals = view.totals()?;
                let queues = self.queues.of(view.as_ref(), totals.urls)?;
                (Some(totals), queues)
            }
        };
        let Some(totals) = totals else { return Ok(None) };
        let worked = {
            let progress = self.progress.borrow();
            progress.elapsed.saturating_sub(progress.paused_for)
        };
        Ok(Some((Outlook::of(&totals, self.visited_before, worked, Disk::of(steering.root())), queues)))
    }

    /// Totals of the state after the last commit; of a state in a database those that were counted for [`Handle::outlook`] last. `None` as
    /// there.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn totals(&self) -> Result<Option<Totals>, StoreError> {
        let Some(steering) = self.steering.as_ref().filter(|_| self.store.strong_count() > 0) else { return Ok(None) };
        match steering.census() {
            Some(census) => Ok(census.last()),
            None => self.view()?.map(|view| view.totals()).transpose(),
        }
    }

    /// What is next for a site, and what holds it up. `None` if the session has ended. The answer comes when the crawl runs.
    pub async fn prospect(&self, site: SiteKey) -> Option<Prospect> {
        self.scheduler.prospect(site).await
    }

    /// A snapshot of the state after the last commit; `None` if the session has ended.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn view(&self) -> Result<Option<Box<dyn CrawlView>>, StoreError> {
        self.store.upgrade().map(|store| store.view()).transpose()
    }
}

/// What came of looking payloads up in earlier archives, if any was looked up.
fn referred(tally: &Tally) -> Option<Notice> {
    let [verified, unverified, wrong] =
        [&tally.verified, &tally.unverified, &tally.wrong].map(|count| count.load(Ordering::Relaxed));
    (verified + unverified + wrong > 0).then_some(Notice::Referred { verified, unverified, wrong })
}

/// Opens the dataset, and completes it to the end of the archive.
fn open_tables(
    dir: &CrawlDir,
    plan: &Plan,
    store: Arc<dyn Store>,
    held: Held,
    notices: &mut Vec<Notice>,
) -> anyhow::Result<Writer> {
    let layout = layout_of(dir, plan);
    let derived = Deriver::new(&layout, store.as_ref(), dir.archive(), &plan.settings).derive_segments()?;
    notices.extend(derived.notices());
    Writer::start(layout, store, held, derived)
}

/// The dataset, with a table of items for each rule.
fn layout_of(dir: &CrawlDir, plan: &Plan) -> Layout {
    Layout::at(dir.dataset()).with_rules(plan.settings.rules.clone())
}
