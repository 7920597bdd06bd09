//! `argiope crawl`: crawl, or resume what the directory holds.

mod dry_run;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use ask::freshness::Freshness;
use clap::Args;
use crawl::resume::{Basis, run_plan};
use crawl::retry;
use crawl::stream::Target;
use crawl::summary::{Summary, TimeSpent};
use crawl::unfetched::Unfetched;
use crawl::{
    Again, Begin, Builder, CrawlDir, Ended, Handle, Notice, Outlook, Recorded, SeedList, Session, SinkError, Tried,
};
use engine::End;
use engine::clock::Clock;
use model::{Outcome, Visit};
use printable::counted;
use settings::options::Options;
use settings::plan::{self, Plan};
use settings::units::Span;
use settings::usage;
use store::Store;
use tokio::sync::watch as channel;
use weburl::CanonicalUrl;

use super::streamed::StreamArgs;
use crate::exit;
use crate::summary::to_text;
use console::message::{Level, listen, log, tell, tell_all};
use console::printed;
use console::progress::{Printer, Show};
use console::stopping::stop_signal;
use service::access::InterfaceAccess;
use service::changes::Changes;
use service::here::Beside;
use service::metrics::{Metrics, Watched, of_totals};
use service::reach::tell_of_database;

/// How often a crawl looks what is left of it.
const LOOK_AHEAD_EVERY: Duration = Duration::from_secs(10);

/// The arguments of `argiope crawl`.
#[derive(Args, Debug)]
pub struct CrawlArgs {
    /// The seeds: URLs
    #[arg(value_name = "SEED")]
    pub seed: Vec<String>,
    /// The directory of the crawl; an existing crawl is resumed [default: crawl-HOST of the first seed, or crawl-HOST-PORT]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// A file of settings, such as the crawl.toml of another crawl
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Take back settings of the crawl's earlier runs, or of --config: a budget ends (max-pages), a list becomes empty, other settings
    /// get their defaults (keys, separated by commas)
    #[arg(long, value_name = "KEY", value_delimiter = ',', value_parser = settings::table::key)]
    pub unset: Vec<String>,
    /// A file of seeds, one per line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// Refuse a file of seeds with a line that is no URL, instead of skipping the line
    #[arg(long, requires = "seeds")]
    pub strict: bool,
    /// Fetch URLs with these outcomes again, also of sites that were given up: http_error, domain_error, timeout, connection_error,
    /// tls_error, render_error, too_large, given_up, disallowed, excluded, trap (separated by commas)
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = retry::outcome)]
    pub retry: Vec<Outcome>,
    /// Visit the pages of the crawl again, in a round. Unchanged pages are not sent again, new links are followed, and `argiope changes`
    /// shows the differences
    #[arg(long)]
    pub again: bool,
    /// With --again: only URLs last visited at least this long ago (12h, 30d)
    #[arg(long, value_name = "DURATION", requires = "again")]
    pub older_than: Option<Span>,
    /// With --again: only URLs that match this wildcard pattern; may be repeated
    #[arg(long, value_name = "PATTERN", requires = "again")]
    pub only: Vec<String>,
    /// An earlier archive: a directory, a WARC or WACZ file, or a CDXJ index; may be repeated. A payload that it holds is recorded as a
    /// revisit of its record (docs/against.md). The crawl's later runs go on with it
    #[arg(long, value_name = "PATH")]
    pub against: Vec<PathBuf>,
    /// How to show progress
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub progress: Show,
    /// Show the settings of the crawl, which seeds its rules admit, and what robots.txt says about them; write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print only errors, what was left out or lost, and what you must do something about; the exit code tells how the crawl ended
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the outcome of each URL
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Append messages, progress and the summary to this file, as JSON lines with time and level
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Serve Prometheus metrics at this address (GET /metrics) during the crawl; port 0 takes a free port
    #[arg(long, value_name = "ADDR")]
    pub metrics: Option<String>,
    /// Show the crawl in the browser while it runs, as `argiope ui` does [default address: 127.0.0.1:7880]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = super::ui::ADDRESS)]
    pub ui: Option<String>,
    /// Whom the interface lets in.
    #[command(flatten)]
    pub interface: InterfaceAccess,
    /// Print the summary as one JSON object on standard output
    #[arg(long)]
    pub json: bool,
    /// The stream of outcomes.
    #[command(flatten)]
    pub streamed: StreamArgs,
    /// The settings of the crawl.
    #[command(flatten)]
    pub options: Options,
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments, a directory that cannot be used, or a disk that fails.
pub fn run(args: CrawlArgs) -> anyhow::Result<ExitCode> {
    listen(args.quiet, args.log.as_deref())?;
    check_ui(&args)?;
    let given_seeds = SeedList::read(args.seed.clone(), args.seeds.as_deref())?;
    let dir = directory(&args, &given_seeds)?;
    let given = match &args.config {
        Some(path) => {
            let read = Options::read_with_secrets(path).map_err(|error| usage(format!("--config {error:#}")))?;
            args.options.over(&read.without(&args.unset)?)?
        }
        None => args.options.clone(),
    }
    .with_files()?;
    if !args.unset.is_empty() && args.config.is_none() {
        CrawlDir::existing(dir.root()).context("--unset")?;
    }
    let visits_again = args.again.then_some("--again").or((!args.retry.is_empty()).then_some("--retry"));
    if let Some(option) = visits_again {
        CrawlDir::existing(dir.root()).context(option)?;
    }
    let planned = || -> anyhow::Result<_> {
        let (mut plan, mut notices) = run_plan(&dir, &given, &args.unset)?;
        notices.retain(|notice| !(args.again && *notice == Notice::RequisitesFromNow));
        let (seeds, of_seeds) = given_seeds.urls(&mut plan, args.strict)?;
        notices.extend(of_seeds);
        Ok((plan, seeds, notices))
    };
    let basis = Basis::of(&dir)?;
    let (mut plan, mut seeds, notices) = planned()?;
    tell_all(&notices);
    if seeds.is_empty() && !dir.holds_crawl() {
        bail!(usage("no seeds: give URLs, or --seeds FILE"));
    }
    if args.dry_run {
        let _web = if plan.sandbox { Some(Sandbox::start(&mut plan)?) } else { None };
        return dry_run::run(&plan, &seeds);
    }
    let stream = args.streamed.of_run(&dir)?;
    let metrics = args.metrics.as_deref().map(Metrics::listen).transpose()?;
    let prints_lines = stream.as_ref().is_some_and(|stream| stream.target == Target::Stdout);
    let mut tried = Tried::new(&dir, &plan, stream, args.against)?;
    let store = tried.open_store(&dir, &plan.options)?;
    if !basis.holds(&dir)? {
        (plan, seeds, _) = planned()?;
    }
    let _web = if plan.sandbox { Some(Sandbox::start(&mut plan)?) } else { None };
    let only = args.only.iter().map(|text| plan::pattern("only", text)).collect::<anyhow::Result<_>>()?;
    let again = Again { older_than: args.older_than.map(|span| span.0), only, now: Clock::start().date() };
    let shown = |address| {
        let changes = Changes::default();
        let router = ui::router(vec![dir.root().to_owned()], &changes);
        Beside::start(("--ui", address), ui::interface(router, args.interface.guard()?), changes)
    };
    let beside = args.ui.as_deref().map(shown).transpose()?;
    let begin =
        Begin { retry: args.retry, again: args.again.then_some(again), forgets_stream: args.streamed.no_stream };
    let (threads, stages_before) = (Session::threads(&plan), stages::snapshot());
    let token = plan.settings.product_token.clone();
    let mut session = Session::builder(dir.clone(), plan).store(store.clone()).tried(tried);
    session = session.seeds(seeds).begin(begin);
    if args.verbose {
        session = session.sink(move |recorded: &Recorded<'_>| tell_visits(store.as_ref(), &token, recorded));
    } else {
        drop(store);
    }
    // Lines about URLs would break one that changes.
    let show = match (args.progress, args.quiet, args.verbose) {
        (_, true, _) => Show::None,
        (Show::Auto, _, true) => Show::Plain,
        (show, ..) => show,
    };
    let ended = watch(session, threads, Watched { show, metrics })?;
    drop(beside);
    let summary = Summary::of_run(&ended, &dir, TimeSpent::since(&stages_before));
    let told = if args.json { serde_json::to_string(&summary)? + "\n" } else { to_text(&summary) };
    log(Level::Info, "the run ended", Some(("summary", serde_json::to_value(&summary)?)));
    let printed = match prints_lines {
        _ if args.quiet && !args.json => Ok(()),
        true => {
            console::message::show(&told);
            Ok(())
        }
        false => printed::print(&told),
    };
    if summary.fetched == 0 && matches!(ended.end, End::Done | End::Waiting(_) | End::Limit(..)) {
        tell_why_nothing_came(&dir, &ended.end)?;
    }
    let left = summary.left.iter().flat_map(|left| left.in_words(&ended.end, &summary.directory));
    left.for_each(|line| console::say!("{line}"));
    let code = match ended.end {
        End::Done | End::Waiting(_) if summary.fetched == 0 => exit::FAILED,
        End::Limit(..) if summary.fetched == 0 && summary.waiting() == 0 => exit::FAILED,
        End::Done => exit::DONE,
        End::Waiting(_) | End::Held => exit::STOPPED,
        End::Limit(name, _) => match summary.waiting() {
            0 => exit::DONE,
            waiting => {
                console::say!("--{name} reached, {} left in the frontier", counted(waiting, "URL"));
                exit::STOPPED
            }
        },
        End::Stopped => {
            console::say!("stopped; the same command goes on where this one ended");
            exit::STOPPED
        }
    };
    printed?;
    Ok(ExitCode::from(code))
}

/// # Errors
/// The address that is meant for `--ui` stands where a seed does.
fn check_ui(args: &CrawlArgs) -> anyhow::Result<()> {
    let address = args.seed.iter().find(|seed| seed.parse::<SocketAddr>().is_ok());
    match address.filter(|_| args.ui.as_deref() == Some(super::ui::ADDRESS)) {
        Some(address) => Err(usage(format!(
            "`{address}`: --ui takes its address after an equals sign, as in --ui={address}; the seed is http://{address}/"
        ))),
        None => Ok(()),
    }
}

/// Says what became of the URLs of a commit.
fn tell_visits(store: &dyn Store, token: &str, recorded: &Recorded<'_>) -> Result<(), SinkError> {
    let say = |url: &CanonicalUrl, visit: &Visit| {
        let status = if visit.status > 0 { format!(" {}", visit.status) } else { String::new() };
        let reason = if visit.reason.is_empty() { String::new() } else { format!(": {}", visit.reason) };
        tell(Level::Detail, format_args!("{}{status} {url}{reason}", visit.outcome));
    };
    for visit in &recorded.batch.visits {
        if let Some(entry) = store.get(visit.key)? {
            say(&entry.candidate.url, visit);
        }
    }
    recorded.batch.settled.iter().for_each(|(candidate, visit)| say(&candidate.url, visit));
    recorded.robots_unread(token).for_each(|line| tell(Level::Detail, format_args!("{line}")));
    Ok(())
}

/// Says what became of the seeds, since not a page was fetched.
fn tell_why_nothing_came(dir: &CrawlDir, end: &End) -> anyhow::Result<()> {
    let options = dir.options()?;
    let waiting = if let End::Waiting(waiting) | End::Limit(_, waiting) = end { Some(waiting) } else { None };
    let unfetched = Unfetched { hold: &options.hold, waiting };
    let told = unfetched.in_words(&*dir.open_to_read(&options)?, &dir.root().display().to_string())?;
    told.iter().for_each(|line| tell(Level::Error, format_args!("{line}")));
    Ok(())
}

/// The built-in test web, served while this lives.
pub(super) struct Sandbox {
    _server: testweb::Server,
    _runtime: tokio::runtime::Runtime,
}

impl Sandbox {
    /// Starts it on a free port of loopback, and leads all connections of the plan there.
    pub(super) fn start(plan: &mut Plan) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let config = testweb::Config { log_entries_max: 0, ..testweb::Config::new(testweb::Web::sandboxes()) };
        let server = runtime.block_on(testweb::Server::start(config))?;
        plan.fetch.connect_to.insert(0, server.connect_to().parse()?);
        plan.fetch.ca_certs.push(server.ca_pem().as_bytes().to_vec());
        Ok(Sandbox { _server: server, _runtime: runtime })
    }
}

/// Runs a crawl to its end, or until the user wants it to stop, and shows its progress.
///
/// # Errors
/// The directory cannot be used, or recording fails.
pub fn watch(session: Builder, threads: usize, watched: Watched) -> anyhow::Result<Ended> {
    let session = session.open()?;
    tell_all(session.notices());
    let Watched { show, metrics } = watched;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let (handle, mut progress) = (session.handle(), session.handle().progress());
    if let Some(metrics) = &metrics {
        let counting = handle.clone();
        let totals = move || counting.totals().ok().flatten().as_ref().map(of_totals).unwrap_or_default();
        metrics.serve(runtime.handle(), totals)?;
        if let Some(view) = handle.view()? {
            metrics.note_freshness(Freshness::of(&*view, Clock::start().date())?);
        }
    }
    tell_of_database();
    let mut printer = Printer::new(show);
    let ended = runtime.block_on(async {
        let interrupted = stop_signal(exit::STOPPED)?;
        let (outlooks, outlook) = channel::channel(None);
        tokio::spawn(look_ahead(handle.clone(), outlooks));
        tokio::spawn(async move {
            interrupted.await;
            handle.stop();
        });
        let running = session.run();
        tokio::pin!(running);
        loop {
            tokio::select! {
                ended = &mut running => break ended,
                Ok(()) = progress.changed() => {
                    let now = *progress.borrow_and_update();
                    printer.show(now, outlook.borrow().as_ref());
                    metrics.iter().for_each(|metrics| metrics.note(now));
                }
            }
        }
    });
    runtime.shutdown_background();
    let ended = ended?;
    printer.show(ended.progress, None);
    printer.end();
    tell_all(&ended.notices);
    Ok(ended)
}

/// Looks now and then what is left of a crawl, until the runtime ends. Its directory is listed beside the crawl.
async fn look_ahead(handle: Handle, outlooks: channel::Sender<Option<Outlook>>) {
    loop {
        // Where the store cannot be read, the crawl itself says so.
        if let Ok(Some(outlook)) = handle.outlook().await {
            outlooks.send_replace(Some(outlook));
        }
        tokio::time::sleep(LOOK_AHEAD_EVERY).await;
    }
}

fn directory(args: &CrawlArgs, seeds: &SeedList) -> anyhow::Result<CrawlDir> {
    if let Some(output) = &args.output {
        return Ok(CrawlDir::at(output));
    }
    let Some(first) = seeds.first() else { bail!(usage("no seeds: give URLs, or --seeds FILE, or -o DIR to resume")) };
    let plan = Plan::new(&Options::default())?;
    let seed = plan.seeds(&[first])?;
    Ok(CrawlDir::at(seed.first().map(CrawlDir::default_name).unwrap_or_default()))
}
