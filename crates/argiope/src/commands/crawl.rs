//! `argiope crawl`: crawl, or resume what the directory holds.

mod retry;
mod seeds;

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use dataset::Layout;
use engine::archive::{Archive, Known, ORPHANED, Orphan};
use engine::clock::Clock;
use engine::{Browsing, End, Observer, Progress, Recorder, RenderMode, Settings, Shell, Waiting};
use fetch::Fetcher;
use model::{Outcome, Via};
use printable::Printable;
use render::{Renderer, Wait};
use store::{Store, StoreError};
use weburl::CanonicalUrl;

use self::retry::Retry;
use self::seeds::Seeds;
use crate::cli::usage;
use crate::counted::counted;
use crate::crawl_dir::CrawlDir;
use crate::exit;
use crate::held::Held;
use crate::keyring;
use crate::live::{Answers, Live};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::plan::Plan;
use crate::progress::{Printer, Show, Watched};
use crate::secrets_file::Secrets;
use crate::summary::{Run, Summary, TimeSpent};
use crate::tables::{Deriver, Writer};
use crate::trouble::{InTrouble, trouble_of};
use crate::units::{Span, human_bytes};

/// Options that decide which URLs belong to a crawl and what they are called: they cannot change in mid-crawl.
const FIXED: [&str; 10] = [
    "depth",
    "scope",
    "sandbox",
    "no-archive",
    "max-url-bytes",
    "sort-query",
    "strip-session-ids",
    "strip-tracking",
    "collapse-slashes",
    "strip-www",
];

/// The outcomes of a seed whose site could not be reached.
const UNREACHED: [Outcome; 5] =
    [Outcome::DomainError, Outcome::ConnectionError, Outcome::Timeout, Outcome::TlsError, Outcome::GivenUp];

/// Seeds named with their reason when a crawl could fetch nothing.
const SEEDS_TOLD_MAX: usize = 20;

/// The arguments of `argiope crawl`.
#[derive(Args, Debug)]
pub struct CrawlArgs {
    /// Where to begin: URLs
    #[arg(value_name = "SEED")]
    pub seed: Vec<String>,
    /// The directory of the crawl; one that holds a crawl is resumed [default: crawl-HOST of the first seed]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// A file of settings, such as the crawl.toml of another crawl
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A file of seeds, one a line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// Refuse a file of seeds in which a line is no URL, instead of leaving that line out
    #[arg(long, requires = "seeds")]
    pub strict: bool,
    /// Fetch URLs again that ended so (http_error, domain_error, timeout, connection_error, tls_error, render_error, too_large, given_up,
    /// disallowed, excluded, trap), several with commas; their sites are asked again, also those that were given up
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = retry::outcome)]
    pub retry: Vec<Outcome>,
    /// How progress is shown
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub progress: Show,
    /// Answer GET /metrics there while it runs, as Prometheus reads it; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    pub metrics: Option<String>,
    /// Print the summary as one JSON object on standard output
    #[arg(long)]
    pub json: bool,
    /// The settings of the crawl.
    #[command(flatten)]
    pub options: Options,
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments, a directory that cannot be used, or a disk that fails.
pub fn run(args: CrawlArgs) -> anyhow::Result<ExitCode> {
    let given_seeds = Seeds::read(&args)?;
    let dir = directory(&args, &given_seeds)?;
    let given = match &args.config {
        Some(path) => {
            let read = Options::read_with_secrets(path).map_err(|error| usage(format!("--config {error:#}")))?;
            args.options.over(&read)?
        }
        None => args.options.clone(),
    };
    if !args.retry.is_empty() && !dir.holds_crawl() {
        bail!(usage(format!("--retry: {} holds no crawl yet, so nothing has failed in it", dir.root().display())));
    }
    let mut plan = if dir.holds_crawl() { resumed_plan(&dir, &given)? } else { Plan::new(&given)? };
    let seeds = given_seeds.urls(&mut plan, args.strict)?;
    if seeds.is_empty() && !dir.holds_crawl() {
        bail!(usage("no seeds: give URLs, or --seeds FILE"));
    }
    let options = plan.options.clone();
    let metrics = args.metrics.as_deref().map(Metrics::listen).transpose()?;
    dir.create()?;
    let store = dir.open_store(&plan.options)?;
    if !args.retry.is_empty() {
        retried(&dir, store.as_ref(), &plan, &seeds, args.retry)?;
    }
    let (end, summary) = crawl_observed(&dir, store, plan, seeds, Watched { show: args.progress, metrics }, None)?;
    let told = if args.json { summary.to_json()? + "\n" } else { summary.to_text() };
    // Nobody may be reading any more; how the crawl ended is said by the exit code.
    let _ = std::io::stdout().write_all(told.as_bytes());
    let code = match end {
        End::Done if summary.fetched == 0 => {
            tell_why_nothing_came(&dir, &options)?;
            exit::FAILED
        }
        End::Done => exit::DONE,
        End::Waiting(waiting) if summary.fetched == 0 => {
            tell_why_nothing_came(&dir, &options)?;
            tell_of_waiting(&waiting, summary.frontier);
            exit::FAILED
        }
        End::Waiting(waiting) => {
            tell_of_waiting(&waiting, summary.frontier);
            exit::STOPPED
        }
        End::Limit(name) => {
            crate::say!("--{name} reached, {} URLs are left in the frontier", summary.frontier);
            if summary.frontier > 0 { exit::STOPPED } else { exit::DONE }
        }
        End::Stopped => {
            crate::say!("stopped; the same command goes on where this one ended");
            exit::STOPPED
        }
    };
    Ok(ExitCode::from(code))
}

/// Puts the URLs with these outcomes back into the frontier, and says how many they are.
fn retried(
    dir: &CrawlDir,
    store: &dyn Store,
    plan: &Plan,
    seeds: &[CanonicalUrl],
    outcomes: Vec<Outcome>,
) -> anyhow::Result<()> {
    let mut filter = plan.settings.filter.clone();
    for seed in store.seeds()?.iter().chain(seeds) {
        filter.scope.add_seed(seed);
    }
    let outcomes = outcomes.into_iter().collect();
    let retry = Retry { filter, outcomes, ..Retry::new(dir, store, plan) };
    retry.run()?.tell();
    Ok(())
}

/// Says what became of the seeds, since not a page was fetched.
fn tell_why_nothing_came(dir: &CrawlDir, options: &Options) -> anyhow::Result<()> {
    let store = dir.open_store(options)?;
    let seeds = store.seeds()?;
    for seed in seeds.iter().take(SEEDS_TOLD_MAX) {
        let Some(visit) = store.get(seed.key())?.and_then(|entry| entry.visit) else {
            if let Some(reason) = store.site(seed.key().site)?.and_then(|record| trouble_of(&record)) {
                crate::say!("{seed}: {}; it stays open", Printable(&reason));
            }
            continue;
        };
        let status = if visit.status > 0 { format!(" {}", visit.status) } else { String::new() };
        let reason = if visit.reason.is_empty() { String::new() } else { format!(": {}", visit.reason) };
        crate::say!("{seed}: {}{status}{}", visit.outcome, Printable(&reason));
    }
    if let Some(more @ 1..) = seeds.len().checked_sub(SEEDS_TOLD_MAX) {
        crate::say!(
            "nor was anything fetched of {more} more seeds: see `argiope explain {} URL`",
            dir.root().display()
        );
    }
    Ok(())
}

/// Says what is left, and when it may be had.
fn tell_of_waiting(waiting: &Waiting, urls: u64) {
    let urls = counted(urls, "URL");
    match waiting.due {
        Some(due) => crate::say!(
            "{urls} left, of {} in trouble: the first may be asked again at {due}; the same command goes on",
            counted(waiting.sites, "site")
        ),
        None => crate::say!("{urls} left: no site at all can be reached from this machine; the same command goes on"),
    }
}

/// The built-in test web, served while this lives.
struct Sandbox {
    _server: testweb::Server,
    _runtime: tokio::runtime::Runtime,
}

impl Sandbox {
    /// Starts it on a free port of loopback, and leads all connections of the plan there.
    fn start(plan: &mut Plan) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let config = testweb::Config { log_entries_max: 0, ..testweb::Config::new(testweb::Web::sandboxes()) };
        let server = runtime.block_on(testweb::Server::start(config))?;
        plan.fetch.connect_to.insert(0, server.connect_to().parse()?);
        plan.fetch.ca_certs.push(server.ca_pem().as_bytes().to_vec());
        Ok(Sandbox { _server: server, _runtime: runtime })
    }
}

/// Crawls into a directory to the end, or until the user wants it to stop.
///
/// # Errors
/// The directory cannot be used, or recording fails.
pub fn crawl(dir: &CrawlDir, plan: Plan, seeds: Vec<CanonicalUrl>, watched: Watched) -> anyhow::Result<(End, Summary)> {
    dir.create()?;
    let store = dir.open_store(&plan.options)?;
    crawl_observed(dir, store, plan, seeds, watched, None)
}

/// The same on the store of the directory, opened before, with an observer of what is recorded. It takes the place of the
/// dataset's.
///
/// # Errors
/// Recording or the observer fails.
pub fn crawl_observed(
    dir: &CrawlDir,
    store: Arc<dyn Store>,
    mut plan: Plan,
    seeds: Vec<CanonicalUrl>,
    watched: Watched,
    observer: Option<Observer>,
) -> anyhow::Result<(End, Summary)> {
    let known: HashSet<CanonicalUrl> = store.seeds()?.into_iter().collect();
    if seeds.is_empty() && known.is_empty() {
        bail!(usage("no seeds: give URLs, or --seeds FILE"));
    }
    let fresh = fresh_seeds(seeds, &known, store.as_ref())?;
    // Before the settings, which point to them.
    keyring::fill(dir, &plan, store.as_ref(), &fresh)?;
    dir.write_options(&plan.options)?;
    let _web = if plan.sandbox { Some(Sandbox::start(&mut plan)?) } else { None };
    let before = store.totals()?;
    if before.fetched() == 0 {
        // They failed, and the same command tries again.
        let outcomes = UNREACHED.into_iter().collect();
        Retry { outcomes, only: Some(&known), ..Retry::new(dir, store.as_ref(), &plan) }.run()?;
    }
    let archive = open_archive(dir, &plan, store.as_ref())?;
    let clock = Clock::start();
    let fetcher = Arc::new(Fetcher::new(plan.fetch.clone(), Arc::new(move || clock.date()))?);
    let browsing = match plan.settings.render {
        Some(mode) => Some(Arc::new(browsing(mode, &plan.options, &plan.settings, fetcher.clone(), clock)?)),
        None => None,
    };
    // Begun last: from here on nothing fails but the crawl itself, whose end completes the files.
    let held = dir.hold(plan.dataset)?;
    let tables = if plan.dataset { Some(open_tables(dir, &plan, store.clone(), held.clone())?) } else { None };
    let view = store.clone();
    let answers = Answers { view: Box::new(move || view.view()), publish: tables.as_ref().map(Writer::publisher) };
    let live = Live::listen(dir.root(), answers);
    let threads = fetching_threads(archive.is_some() || tables.is_some());
    let mut recorder = Recorder::new(store.clone(), archive).guarded_by(Box::new(move || Ok(held.check()?)));
    if let Some(observer) = observer.or_else(|| tables.as_ref().map(Writer::observer)) {
        recorder = recorder.observed_by(observer);
    }
    let shell = Shell { settings: plan.settings, fetcher, browsing, recorder, clock, ownership: None, sealing: None };
    let Watched { show, metrics } = watched;
    let mut printer = Printer::new(show);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    if let Some(metrics) = &metrics {
        metrics.serve(runtime.handle())?;
    }
    let mut at_end = Progress::default();
    let (began, stages_before) = (clock.now(), stages::snapshot());
    let ended = runtime.block_on(async {
        let interrupted = stop_signal()?;
        Ok::<_, anyhow::Error>(
            shell
                .run(fresh, interrupted, |progress| {
                    at_end = progress;
                    printer.show(progress);
                    metrics.iter().for_each(|metrics| metrics.note(progress));
                })
                .await?,
        )
    });
    runtime.shutdown_background();
    printer.end();
    drop(live);
    // If it is the dataset that failed, its own error says more than that of the crawl.
    tables.map_or(Ok(()), Writer::finish)?;
    let end = ended?;
    keyring::tell_of_redirects(&plan.fetch.keyring, store.as_ref())?;
    let (name, limit) = match &end {
        End::Done => ("done", None),
        End::Limit(name) => ("limit", Some((*name).to_owned())),
        End::Stopped => ("stopped", None),
        End::Waiting(_) => ("waiting", None),
    };
    let totals = store.totals()?;
    let run = Run::between(&before, &totals, clock.now().since(began), &at_end);
    let time = Some(TimeSpent::since(&stages_before));
    let in_trouble = if totals.pending > 0 { InTrouble::of(store.as_ref())? } else { None };
    let summary = Summary { limit, in_trouble, run: Some(run), time, ..Summary::new(name, &totals, dir.root()) };
    Ok((end, summary))
}

/// The seeds that the store does not know as such: what a seed redirects to is none before the user names it.
fn fresh_seeds(
    seeds: Vec<CanonicalUrl>,
    known: &HashSet<CanonicalUrl>,
    store: &dyn Store,
) -> Result<Vec<CanonicalUrl>, StoreError> {
    let is_fresh = |seed: &CanonicalUrl| {
        Ok(!known.contains(seed) || store.get(seed.key())?.is_some_and(|entry| entry.candidate.via == Via::Redirect))
    };
    let mut fresh = Vec::new();
    for seed in seeds {
        if is_fresh(&seed)? {
            fresh.push(seed);
        }
    }
    Ok(fresh)
}

/// How many threads fetch pages and look into them: one a core, but leaving one core to the threads that record, where there is something to
/// record. With all cores these threads only take turns with those, and each turn costs (docs/performance.md).
fn fetching_threads(is_recorded: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    if is_recorded { (cores - 1).max(1) } else { cores }
}

/// A browser for the crawl.
pub(crate) fn browsing(
    mode: RenderMode,
    options: &Options,
    settings: &Settings,
    fetcher: Arc<Fetcher>,
    clock: Clock,
) -> anyhow::Result<Browsing> {
    let browser = render::Settings::find_browser(options.browser.as_deref())?;
    let usual = render::Settings::new(browser);
    let wait = options.render_wait.as_deref().map(|wait| match (wait, wait.parse::<Span>()) {
        ("idle", _) => Wait::Idle,
        (_, Ok(span)) => Wait::Clock(span.0),
        (selector, Err(_)) => Wait::Selector(selector.to_owned()),
    });
    let wanted = render::Settings {
        wait: wait.unwrap_or_else(|| usual.wait.clone()),
        scroll: options.render_scroll == Some(true),
        screenshot: options.render_screenshot == Some(true),
        user_agent: options.user_agent.clone().unwrap_or_default(),
        tabs: options.render_tabs.unwrap_or(usual.tabs),
        page_time_max: options.render_time.map_or(usual.page_time_max, |span| span.0),
        media: settings.images,
        ..usual
    };
    if Renderer::is_sandbox_off() {
        crate::say!("Chromium runs without its sandbox, as it does for root");
    }
    Ok(Browsing::new(Renderer::new(wanted), mode, fetcher, Arc::new(settings.clone()), clock))
}

/// What resolves when the user or the system wants an end: SIGINT, SIGTERM, or SIGHUP, since a terminal was closed. A second one
/// ends at once.
pub(super) fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move {
            next().await;
            std::process::exit(i32::from(exit::STOPPED));
        });
    })
}

/// The archive of the crawl, if it keeps one.
pub(crate) fn open_archive(dir: &CrawlDir, plan: &Plan, store: &dyn Store) -> anyhow::Result<Option<Archive>> {
    if !plan.archive {
        return Ok(None);
    }
    let settings = plan.options.to_toml("")?;
    let in_force = settings.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let info = vec![
        ("software".to_owned(), format!("argiope/{}", env!("CARGO_PKG_VERSION"))),
        ("format".to_owned(), "WARC File Format 1.1".to_owned()),
        (
            "conformsTo".to_owned(),
            "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/".to_owned(),
        ),
        ("robots".to_owned(), plan.options.robots.clone().unwrap_or_default()),
        ("http-header-user-agent".to_owned(), plan.options.user_agent.clone().unwrap_or_default()),
        ("argiope-settings".to_owned(), in_force.collect::<Vec<_>>().join("; ")),
    ];
    let known = Known::of(store, &plan.settings.limits)?;
    let archive = Archive::open(&dir.archive(), &known, info, plan.segment_bytes_max)?;
    tell_of_set_aside(archive.set_aside(), dir);
    Ok(Some(archive))
}

/// Says what was set aside just now, and what to do about it.
fn tell_of_set_aside(orphans: &[Orphan], dir: &CrawlDir) {
    if !orphans.is_empty() {
        let bytes = human_bytes(orphans.iter().map(|orphan| orphan.bytes).sum());
        let (files, root) = (counted(orphans.len() as u64, "file"), dir.root().display());
        crate::say!(
            "the archive has more than the state knows of, as if an older state had been restored: {files} ({bytes}) set \
             aside in {}; `argiope adopt {root}` takes the pages in again instead of fetching them",
            dir.archive().join(ORPHANED).display()
        );
    }
}

/// Opens the dataset, which then reaches as far as the archive.
fn open_tables(dir: &CrawlDir, plan: &Plan, store: Arc<dyn Store>, held: Held) -> anyhow::Result<Writer> {
    let layout = Layout::at(dir.dataset());
    let (archive, settings) = (dir.archive(), &plan.settings);
    let deriver = Deriver { layout: &layout, store: store.as_ref(), archive: &archive, settings };
    deriver.derive_segments()?.tell();
    Writer::start(layout, store, held)
}

/// The plan of a crawl that goes on: its own options, with what is given now on top.
///
/// # Errors
/// What is given cannot be used, or changes what may not change.
pub fn resumed_plan(dir: &CrawlDir, given: &Options) -> anyhow::Result<Plan> {
    let (on_disk, names_browser) = dir.options_and_browser()?;
    let moved = Secrets::of(&on_disk).options();
    if !moved.is_empty() {
        crate::say!(
            "the secrets of {} are in {} from now on, no longer in {}; an archive that earlier versions wrote still has them in its warcinfo and \
             request records",
            moved.join(", "),
            dir.secrets_path().display(),
            dir.settings().display()
        );
    }
    let stored = dir.secrets()?.put_into(on_disk);
    let plan = Plan::new(&given.over(&stored)?)?;
    if names_browser && plan.settings.render.is_some() && given.browser.is_none() {
        crate::say!(
            "{}: the browser that is named there is not used, since the directory may be somebody else's: give it with --browser, or in \
             ARGIOPE_BROWSER",
            dir.settings().display()
        );
    }
    let before = Plan::new(&stored)?;
    let changed: Vec<String> =
        plan.options.differing_keys(&before.options)?.into_iter().filter(|key| FIXED.contains(&key.as_str())).collect();
    if !changed.is_empty() {
        bail!(usage(format!(
            "{} holds a crawl with other settings of {}, which cannot change in mid-crawl: choose another directory with -o",
            dir.root().display(),
            changed.join(", ")
        )));
    }
    Ok(plan)
}

fn directory(args: &CrawlArgs, seeds: &Seeds) -> anyhow::Result<CrawlDir> {
    if let Some(output) = &args.output {
        return Ok(CrawlDir::at(output));
    }
    let Some(first) = seeds.first() else { bail!(usage("no seeds: give URLs, or --seeds FILE, or -o DIR to resume")) };
    let plan = Plan::new(&Options::default())?;
    let seed = plan.seeds(&[first])?;
    let host = seed.first().map(|url| url.host().trim_matches(['[', ']']).replace(':', "-")).unwrap_or_default();
    Ok(CrawlDir::at(format!("crawl-{host}")))
}
