//! `argiope watch`: visit the pages of a crawl again and again, those that are worth it most.

use std::path::PathBuf;
use std::process::ExitCode;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use ask::changes::{Question, Since, changes, sentence};
use ask::freshness::Freshness;
use ask::importance::Ranked;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use console::progress::{Printer, Show};
use console::{message::tell_all, printed, stopping::stop_signal};
use crawl::importance::{Importance, Important};
use crawl::opened::is_in_use;
use crawl::resume::{resumed, resumed_plan};
use crawl::stream::Target;
use crawl::watch::{Budget, Due, EVERY_MIN, Round, Watch};
use crawl::watch_lock::WatchLock;
use crawl::{Begin, CrawlDir, Planner, Session, SignIn, Tried};
use engine::End;
use engine::clock::Clock;
use model::Timestamp;
use service::metrics::Metrics;
use settings::options::Options;
use settings::units::Span;
use settings::usage;
use store::CrawlView;
use tokio::sync::watch;

use super::crawl::Sandbox;
use super::streamed::StreamArgs;
use crate::exit;

/// The arguments of `argiope watch`.
#[derive(Args, Debug)]
pub struct WatchArgs {
    /// The directory of the crawl, which `argiope crawl` has made
    pub dir: PathBuf,
    /// How many visits.
    #[command(flatten)]
    pub amount: Amount,
    /// The time between rounds
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    pub every: Span,
    /// What makes a page important
    #[arg(long, value_name = "WHAT", default_value = "equal", value_parser = importance(&Importance::ALL))]
    pub importance: Importance,
    /// End after this many rounds. A turn at which no visit is due counts as one, so that the command ends
    #[arg(long, value_name = "N")]
    pub rounds: Option<u64>,
    /// Serve Prometheus metrics at this address (GET /metrics); port 0 takes a free port
    #[arg(long, value_name = "ADDR:PORT")]
    pub metrics: Option<String>,
    /// How to show progress
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub progress: Show,
    /// The stream of outcomes.
    #[command(flatten)]
    pub streamed: StreamArgs,
}

/// How many visits of known pages are made: exactly one of these.
#[derive(Args, Clone, Copy, Debug)]
#[group(required = true, multiple = false)]
pub struct Amount {
    /// The budget of visits to known pages: 5000/day, 200/h, 10/min
    #[arg(long, value_name = "N/TIME")]
    pub budget: Option<Budget>,
    /// The same at a steady rate: 2/s, 30/min. What a round does not use is not saved up
    #[arg(long, value_name = "N/TIME")]
    pub rate: Option<Budget>,
}

impl Amount {
    /// The budget of a watch.
    ///
    /// # Errors
    /// There is none.
    pub fn budget(self) -> anyhow::Result<Budget> {
        self.budget.or(self.rate.map(Budget::as_rate)).ok_or_else(|| usage("--budget or --rate is missing"))
    }
}

/// Reads what makes a page important.
pub(super) fn importance(these: &[Importance]) -> impl TypedValueParser<Value = Importance> {
    PossibleValuesParser::new(these.iter().map(|importance| importance.as_str()).collect::<Vec<_>>())
        .try_map(|word| word.parse::<Importance>())
}

impl WatchArgs {
    fn watch(&self, budget: Budget, important: Important) -> Watch {
        Watch { budget, every: self.every.0, important, root: self.dir.clone() }
    }
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl or cannot be used, or recording fails.
pub fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let (dir, budget) = (CrawlDir::existing(&args.dir)?, args.amount.budget()?);
    dir.refuse_of_workers()?;
    if args.every.0 < EVERY_MIN {
        bail!(usage(format!("--every must be at least {}", Span(EVERY_MIN))));
    }
    if args.streamed.of_run(&dir)?.is_some_and(|stream| stream.target == Target::Stdout) {
        bail!(usage(
            "--stream -: this command says on standard output what has changed: give the stream another target"
        ));
    }
    let lock = Arc::new(WatchLock::take(&dir)?);
    // A directory that was replaced explains each other error: one file was of this crawl, the next of another.
    let explained = |error| lock.check().err().unwrap_or(error);
    let (plan, notices) = resumed_plan(&dir, &Options::default(), &[]).map_err(explained)?;
    tell_all(&notices);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(Session::threads(&plan)).enable_all().build()?;
    let metrics = args.metrics.as_deref().map(Metrics::listen).transpose()?;
    metrics.iter().try_for_each(|metrics| metrics.serve(runtime.handle(), Vec::new))?;
    let (stop, mut stopped) = watch::channel(false);
    let interrupted = runtime.block_on(async { stop_signal(exit::STOPPED) })?;
    let ordered = lock.clone();
    runtime.spawn(async move {
        tokio::select! {
            () = interrupted => {}
            () = ordered.stopped() => {}
        }
        stop.send_replace(true);
        // The lock is held as long as the command runs.
        std::future::pending::<()>().await;
    });
    let (mut last, mut rounds, clock) = (Round::default(), 0, Clock::start());
    let (mut ranked, mut planner) = (Ranked::new(args.importance), Planner::default());
    loop {
        let began = clock.now();
        let watch = args.watch(budget, ranked.now(&args.dir, clock.now()).map_err(explained)?);
        let shown = (args.progress, &args.streamed);
        let round = round((&watch, &mut planner), shown, (&dir, &lock, metrics.as_ref()), &runtime, &stopped, last);
        let round = round.map_err(explained)?;
        last = watch.rested(round);
        rounds += 1;
        if !round.is_stopped && args.rounds.is_some_and(|max| rounds >= max) {
            return Ok(ExitCode::from(exit::DONE));
        }
        let rest =
            if round.is_stopped { Duration::ZERO } else { args.every.0.saturating_sub(clock.now().since(began)) };
        // Where the sender is gone, the runtime ends.
        let _ = runtime.block_on(async { tokio::time::timeout(rest, stopped.wait_for(|stopped| *stopped)).await });
        if round.is_stopped || *stopped.borrow() {
            console::say!("stopped; the same command goes on where this one ended");
            return Ok(ExitCode::from(exit::STOPPED));
        }
    }
}

/// Chooses pages, visits them, and says what has changed. `before` is the round before, with the budget. None is visited while another command
/// uses the directory.
fn round(
    (watch, planner): (&Watch, &mut Planner),
    (progress_as, streamed): (Show, &StreamArgs),
    (dir, lock, metrics): (&CrawlDir, &WatchLock, Option<&Metrics>),
    runtime: &tokio::runtime::Runtime,
    stopped: &tokio::sync::watch::Receiver<bool>,
    before: Round,
) -> anyhow::Result<Round> {
    lock.check()?;
    let (mut plan, _, store) = match resumed(dir, &Options::default(), &[]) {
        Err(error) if is_in_use(&error) => {
            console::say!("{error:#}: this round waits for the next turn");
            return Ok(before);
        }
        opened => opened?,
    };
    lock.check()?;
    let began_at = Clock::start().date();
    let _web = if plan.sandbox { Some(Sandbox::start(&mut plan)?) } else { None };
    let (mut sign_in, mut tried) = (SignIn::new(dir, &plan)?, None);
    // What a round needs is tried before it begins.
    let ready = || {
        let new = Tried::new(dir, &plan, streamed.of_run(dir)?, Vec::new())?;
        sign_in.log_in(dir, &plan, &store, &[])?;
        new.check(dir, store.as_ref())?;
        tried = Some(new);
        Ok(())
    };
    let visits = match watch.choose(store.as_ref(), &plan, before, planner, ready)? {
        Due::Visits(visits) => visits,
        Due::Nothing(round, reason) => {
            reason.iter().for_each(|reason| console::say!("{reason}"));
            return Ok(round);
        }
    };
    let tried = tried.map_or_else(|| Tried::new(dir, &plan, streamed.of_run(dir)?, Vec::new()), Ok)?;
    let begin = Begin { forgets_stream: streamed.no_stream, ..Begin::default() };
    let session = Session::builder(dir.clone(), plan).store(store).signed_in(sign_in).watched(watch.budget.pace());
    let session = session.tried(tried).begin(begin).open()?;
    // The others are about the beginning of a run, which each round is.
    session.notices().iter().filter(|notice| notice.is_problem()).for_each(|notice| tell_all(slice::from_ref(notice)));
    let (handle, mut progress) = (session.handle(), session.handle().progress());
    let mut printer = Printer::new(progress_as);
    let mut stop = stopped.clone();
    let ended = runtime.block_on(async {
        let running = session.run();
        tokio::pin!(running);
        let mut is_stopping = false;
        loop {
            tokio::select! {
                ended = &mut running => break ended,
                Ok(_) = stop.wait_for(|stopped| *stopped), if !is_stopping => {
                    is_stopping = true;
                    handle.stop();
                }
                Ok(()) = progress.changed() => {
                    let now = *progress.borrow_and_update();
                    printer.show(now, None);
                    metrics.iter().for_each(|metrics| metrics.note(now));
                }
            }
        }
    })?;
    printer.end();
    tell_all(&ended.notices);
    if let End::Limit(name, _) = &ended.end {
        console::say!("--{name} reached");
    }
    let view: Arc<dyn CrawlView> = dir.open_to_read(&dir.options()?)?;
    tell_changes(view.as_ref(), ended.totals.round.number, began_at)?;
    if let Some(metrics) = metrics {
        metrics.note_freshness(Freshness::of(view.as_ref(), Clock::start().date())?);
    }
    drop(view);
    Ok(Watch::ended(visits, &ended))
}

/// Says in a line what a round found.
fn tell_changes(view: &dyn CrawlView, round: u32, began_at: Timestamp) -> anyhow::Result<()> {
    let question = Question { since: Since::Round(round), through: None, sites: Vec::new(), pages: None };
    let counts = changes(view, &question, &mut |_| Ok(()))?;
    printed::print(&format!("{} round {round}: {}\n", began_at.to_rfc3339(), sentence(&counts)))
}
