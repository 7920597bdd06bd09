//! `argiope watch`: visit the pages of a crawl again and again, those that are worth it most.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use ask::changes::{Question, Since, changes, sentence};
use ask::freshness::Freshness;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use crawl::stream::{StreamTo, Target};
use crawl::watch_lock::WatchLock;
use crawl::{CrawlDir, Importance, Notice, Schedule, Session, Waits};
use engine::End;
use engine::clock::Clock;
use model::Timestamp;
use service::metrics::Metrics;
use settings::options::Options;
use settings::units::Span;
use settings::usage;
use store::CrawlView;
use tokio::sync::watch;

use super::crawl::{Sandbox, stop_signal};
use crate::exit;
use console::message::tell_all;
use console::progress::{Printer, Show};
use crawl::opened::is_in_use;
use crawl::resume::resumed_plan;

/// The shortest time between two choices.
pub(super) const EVERY_MIN: Duration = Duration::from_secs(1);
/// Visits of one round, at most: what was chosen long before is not worth most any more.
pub(super) const VISITS_MAX: f64 = 100_000.0;
/// How often a watch looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The arguments of `argiope watch`.
#[derive(Args, Debug)]
pub struct WatchArgs {
    /// The directory of the crawl, which `argiope crawl` has made
    pub dir: PathBuf,
    /// The budget of visits to known pages: 5000/day, 200/h, 10/min
    #[arg(long, value_name = "N/TIME")]
    pub budget: Budget,
    /// The time between rounds
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    pub every: Span,
    /// What makes a page important
    #[arg(long, value_name = "WHAT", default_value = "equal", value_parser = importance())]
    pub importance: Importance,
    /// End after this many rounds
    #[arg(long, value_name = "N")]
    pub rounds: Option<u64>,
    /// Serve Prometheus metrics at this address (GET /metrics); port 0 takes a free port
    #[arg(long, value_name = "ADDR:PORT")]
    pub metrics: Option<String>,
    /// How to show progress
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub progress: Show,
}

/// Reads what makes a page important.
pub(super) fn importance() -> impl TypedValueParser<Value = Importance> {
    PossibleValuesParser::new(Importance::ALL.map(Importance::as_str)).try_map(|word| word.parse::<Importance>())
}

/// Visits in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    visits: f64,
    time: Duration,
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no number of visits in a time, such as 5000/day, 200/h or 10/min");
        let (visits, time) = text.split_once('/').ok_or_else(wrong)?;
        let visits: f64 = visits.trim().parse().map_err(|_| wrong())?;
        let time = Some(time.trim()).filter(|time| !time.is_empty()).ok_or_else(wrong)?;
        let time = if time.starts_with(|c: char| c.is_ascii_digit()) { time.to_owned() } else { format!("1{time}") };
        let Span(time) = time.parse().map_err(|_| wrong())?;
        let is_rate = visits.is_finite() && visits > 0.0 && !time.is_zero();
        is_rate.then_some(Budget { visits, time }).ok_or_else(wrong)
    }
}

impl Budget {
    /// Visits in another time.
    pub(super) fn in_time(self, time: Duration) -> f64 {
        self.visits * time.as_secs_f64() / self.time.as_secs_f64()
    }

    /// The time in which it allows so many visits.
    fn time_of(self, visits: f64) -> Duration {
        let seconds = self.time.as_secs_f64() * visits / self.visits;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl or cannot be used, or recording fails.
pub fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let dir = CrawlDir::existing(&args.dir)?;
    if args.every.0 < EVERY_MIN {
        bail!(usage(format!("--every must be at least {}", Span(EVERY_MIN))));
    }
    if StreamTo::last_of(&dir.stream())?.is_some_and(|stream| stream.target == Target::Stdout) {
        bail!(usage(
            "the stream of this crawl goes to standard output, where this command says what has changed: give it another target with \
             `argiope crawl --stream`"
        ));
    }
    let lock = WatchLock::take(&dir)?;
    let (plan, notices) = resumed_plan(&dir, &Options::default())?;
    tell_all(&notices);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(Session::threads(&plan)).enable_all().build()?;
    let metrics = args.metrics.as_deref().map(Metrics::listen).transpose()?;
    metrics.iter().try_for_each(|metrics| metrics.serve(runtime.handle(), Vec::new))?;
    let (stop, mut stopped) = watch::channel(false);
    let interrupted = runtime.block_on(async { stop_signal() })?;
    runtime.spawn(async move {
        tokio::select! {
            () = interrupted => {}
            () = ordered_to_end(&lock) => {}
        }
        stop.send_replace(true);
        // The lock is held as long as the command runs.
        std::future::pending::<()>().await;
    });
    let mut last = Round::default();
    let mut rounds = 0;
    let clock = Clock::start();
    loop {
        let began = clock.now();
        let round = round(&args, (&dir, metrics.as_ref()), &runtime, &stopped, last)?;
        let left = round.left.map(|left| (left + args.budget.in_time(args.every.0)).min(VISITS_MAX));
        last = Round { left, ..round };
        rounds += 1;
        if !round.is_stopped && args.rounds.is_some_and(|max| rounds >= max) {
            return Ok(ExitCode::from(exit::DONE));
        }
        let rest = args.every.0.saturating_sub(clock.now().since(began));
        let rest = if round.is_stopped { Duration::ZERO } else { rest };
        // Where the sender is gone, the runtime ends.
        let _ = runtime.block_on(async { tokio::time::timeout(rest, stopped.wait_for(|stopped| *stopped)).await });
        if round.is_stopped || *stopped.borrow() {
            console::say!("stopped; the same command goes on where this one ended");
            return Ok(ExitCode::from(exit::STOPPED));
        }
    }
}

/// What a round came to.
#[derive(Clone, Copy, Default)]
struct Round {
    /// Visits that the budget still allows. None while nothing was visited.
    left: Option<f64>,
    /// What is left of it cannot be visited now: its sites are on hold or in trouble, or the budget of the crawl (`--max-pages`) is spent.
    leaves_rest: bool,
    /// Somebody stopped it.
    is_stopped: bool,
    /// Why nothing was visited, if nothing was.
    waits: Option<Wait>,
}

/// Why a round visits no page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The budget allows less than one visit so far.
    ForBudget,
    /// No page is due.
    ForPages(Waits),
}

impl Wait {
    /// The reason in words. The budget allows so many `visits` at this time.
    fn told(self, budget: Budget, visits: f64, now: Timestamp) -> String {
        match self {
            Wait::ForPages(waits) => waits.to_string(),
            Wait::ForBudget => {
                let until = now + budget.time_of((1.0 - visits).max(0.0));
                format!("the budget allows the next visit at {}", until.to_rfc3339())
            }
        }
    }
}

/// Ends when `argiope steer DIR stop` was given between two rounds.
async fn ordered_to_end(lock: &WatchLock) {
    while !lock.is_stopped() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Chooses pages, visits them, and says what has changed. `before` is the round before, with the budget. None is visited while another command
/// uses the directory.
fn round(
    args: &WatchArgs,
    (dir, metrics): (&CrawlDir, Option<&Metrics>),
    runtime: &tokio::runtime::Runtime,
    stopped: &watch::Receiver<bool>,
    before: Round,
) -> anyhow::Result<Round> {
    let left = before.left;
    let (mut plan, _) = resumed_plan(dir, &Options::default())?;
    // A site in trouble has its turn in a later round. Others do not wait for it.
    plan.settings.patience = Duration::ZERO;
    let store = match dir.open_store(&plan.options) {
        Err(error) if is_in_use(&error) => {
            console::say!("{error:#}: this round waits for the next turn");
            return Ok(Round { left, ..before });
        }
        opened => opened?,
    };
    let began_at = Clock::start().date();
    // At first for the time since the last round, so that a watch that is begun often keeps to its budget.
    let first = |last: model::Round| match last.number {
        1 => args.every.0,
        _ => began_at.apart(last.began_at).min(args.every.0),
    };
    let visits = match left {
        Some(left) => left,
        None => args.budget.in_time(first(store.totals()?.round)),
    };
    if store.totals()?.pending == 0 || before.leaves_rest {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most VISITS_MAX, and not less than 0"
        )]
        let schedule = Schedule {
            importance: args.importance,
            visits: visits as usize,
            every: args.every.0,
            delay: plan.settings.site_rules.politeness.delay,
            now: began_at,
        };
        let waits = match schedule.begin(store.as_ref(), &plan.settings)? {
            _ if visits < 1.0 => Some(Wait::ForBudget),
            Notice::NothingDue(waits) => Some(Wait::ForPages(waits)),
            _ => None,
        };
        if store.totals()?.pending == 0 {
            if let Some(wait) = waits.filter(|_| waits != before.waits) {
                console::say!("{}", wait.told(args.budget, visits, began_at));
            }
            return Ok(Round { left: Some(visits), waits, ..before });
        }
    }
    let _web = if plan.sandbox { Some(Sandbox::start(&mut plan)?) } else { None };
    let session = Session::builder(dir.clone(), plan).store(store).open()?;
    let (handle, mut progress) = (session.handle(), session.handle().progress());
    let mut printer = Printer::new(args.progress);
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
    if let End::Limit(name) = &ended.end {
        console::say!("--{name} reached");
    }
    let view: Arc<dyn CrawlView> = dir.open_to_read(&dir.options()?)?;
    tell_changes(view.as_ref(), ended.totals.round.number, began_at)?;
    if let Some(metrics) = metrics {
        metrics.note_freshness(Freshness::of(view.as_ref(), Clock::start().date())?);
    }
    drop(view);
    let left = (visits - ended.totals.pages_of_round as f64).max(0.0);
    let leaves_rest = matches!(ended.end, End::Held | End::Waiting(_) | End::Limit(_));
    Ok(Round { left: Some(left), leaves_rest, is_stopped: ended.end == End::Stopped, waits: None })
}

/// Says in a line what a round found.
fn tell_changes(view: &dyn CrawlView, round: u32, began_at: Timestamp) -> anyhow::Result<()> {
    let question = Question { since: Since::Round(round), through: None, sites: Vec::new(), pages: None };
    let counts = changes(view, &question, &mut |_| Ok(()))?;
    // Nobody may be reading any more.
    let _ = writeln!(std::io::stdout(), "{} round {round}: {}", began_at.to_rfc3339(), sentence(&counts));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_visits_in_a_time() {
        let hour = Duration::from_secs(3_600);
        for (text, in_an_hour) in [
            ("2400/day", 100.0),
            ("10/min", 600.0),
            ("200/h", 200.0),
            ("1/2h", 0.5),
            ("0.5/s", 1_800.0),
            (" 7 / hour ", 7.0),
        ] {
            let budget: Budget = text.parse().expect("a budget");
            assert!((budget.in_time(hour) - in_an_hour).abs() < 1e-9, "{text}: {}", budget.in_time(hour));
            assert!(budget.time_of(in_an_hour).abs_diff(hour) < Duration::from_millis(1), "{text}");
        }
        for text in ["", "5", "5/", "/day", "0/day", "-1/h", "x/day", "5/fortnight", "inf/day", "1/0s"] {
            let error = text.parse::<Budget>().expect_err("no budget");
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
