//! `argiope pages`: save the HTML pages of a site as numbered files, as a course on search engines wants them.

mod arguments;
mod page_dir;
mod printed;
mod saver;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use engine::End;
use frontier::Filter;
use model::{Outcome, Visit};
use printable::Printable;
use store::Store;
use weburl::CanonicalUrl;

use self::arguments::Arguments;
use self::page_dir::PageDir;
use self::printed::{failure, is_external};
use self::saver::Saver;
use crate::commands::crawl::{Sandbox, resumed_plan, watch};
use crate::exit;
use console::progress::Show;
use crawl::trouble::trouble_of;
use crawl::{CrawlDir, Session};
use service::metrics::Watched;
use settings::options::Options;
use settings::plan::Plan;
use settings::units::Span;
use settings::usage;

/// The pause between fetches unless told otherwise.
const PAUSE: Duration = Duration::from_secs(1);

/// The arguments of `argiope pages`. The three that must be there are counted by ourselves, so that the error is one
/// line that says what is wrong.
#[derive(Args, Debug)]
#[command(override_usage = "argiope pages [OPTIONS] seedURL pageDirectory maxDepth")]
pub struct PagesArgs {
    /// `seedURL`, `pageDirectory`, `maxDepth`.
    #[arg(hide = true, allow_negative_numbers = true)]
    pub arguments: Vec<OsString>,
    /// The internal URLs: those that begin with PREFIX [default: those of seedURL's host]
    #[arg(long, value_name = "PREFIX")]
    pub internal: Option<String>,
    /// The directory of the crawl's state [default: pageDirectory with .crawl appended]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The settings of the crawl.
    #[command(flatten)]
    pub options: Options,
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments, a seed that cannot be fetched, a directory that cannot be used, or a disk that fails.
pub fn run(args: PagesArgs) -> anyhow::Result<ExitCode> {
    let arguments = Arguments::read(&args.arguments)?;
    let given = options(&args, &arguments)?;
    let page_dir = PageDir::open(arguments.page_directory.clone())?;
    let dir = state_dir(args.output.as_deref(), &page_dir)?;
    let is_resumed = dir.holds_crawl();
    let mut plan = if is_resumed { resumed(&dir, &given)? } else { fresh(&page_dir, &given)? };
    let seed = internal_seed(&arguments, &mut plan)?;
    let body_bytes_max = plan.settings.limits.body_bytes_max;
    // Every link of every page is printed.
    plan.settings.remembered_urls_max = 0;

    dir.create()?;
    let store = dir.open_store(&plan.options)?;
    refuse_other_seed(&dir, store.as_ref(), &seed)?;
    let filter = plan.settings.filter.clone();
    let open_saver = || Saver::open(store.clone(), &dir, page_dir.clone(), body_bytes_max, filter.clone());
    let mut saver = open_saver()?;
    if is_resumed {
        tell_of_resumption(&saver, &page_dir, &dir, store.as_ref())?;
    }
    let _web = if plan.sandbox { Some(Sandbox::start(&mut plan)?) } else { None };
    let save = move |recorded: &crawl::Recorded<'_>| Ok(saver.committed(recorded.batch, recorded.committed)?);
    let unwatched = Watched { show: Show::None, metrics: None };
    let threads = Session::threads(&plan);
    let session = Session::builder(dir.clone(), plan).store(store.clone()).seeds(vec![seed.clone()]);
    let end = watch(session.sink(save), threads, unwatched)?.end;

    let saved = open_saver()?.saved();
    if matches!(end, End::Done | End::Waiting(_)) && saved == 0 {
        let reason = why_none(store.as_ref(), &filter, &seed)?;
        drop(store);
        if !is_resumed {
            // Nothing is kept of it, so that the same command tries again.
            std::fs::remove_dir_all(dir.root()).with_context(|| format!("cannot remove {}", dir.root().display()))?;
        }
        bail!(reason);
    }
    // Nobody may be reading any more; how the crawl ended is said by the exit code.
    let _ = writeln!(
        std::io::stdout(),
        "{} saved in {page_dir}; the state of the crawl is in {}",
        counted(saved),
        dir.root().display()
    );
    Ok(ExitCode::from(tell_end(&end)))
}

/// The options as given, with what the arguments say.
fn options(args: &PagesArgs, arguments: &Arguments) -> anyhow::Result<Options> {
    if args.options.depth.is_some() {
        bail!(usage("--depth: maxDepth says how deep to go"));
    }
    if args.options.no_archive == Some(true) {
        bail!(usage("--no-archive: the page files are written from the archive"));
    }
    if args.options.store.is_some() {
        bail!(usage("--store: this command keeps its state beside the pages"));
    }
    let mut options = args.options.clone();
    options.depth = Some(arguments.max_depth);
    options.no_dataset = Some(true);
    if let Some(prefix) = &args.internal {
        if options.scope.is_some() {
            bail!(usage("--internal and --scope both say what is internal: give one of them"));
        }
        options.scope = Some(format!("{}*", arguments::internal_prefix(prefix)?));
    }
    Ok(options)
}

/// The plan of a new crawl: what this command has other defaults for than `crawl` lies below what is given.
fn fresh(page_dir: &PageDir, given: &Options) -> anyhow::Result<Plan> {
    if !page_dir.is_empty()? {
        bail!(usage(format!("pageDirectory {page_dir} is not empty: choose an empty directory")));
    }
    let defaults = Options {
        delay: Some(Span(PAUSE)),
        // One machine may serve the host under several ports and schemes.
        ip_delay: Some(given.delay.unwrap_or(Span(PAUSE))),
        concurrency: Some(1),
        collapse_slashes: Some(true),
        ..Options::default()
    };
    Plan::new(&given.over(&defaults)?)
}

/// The plan of a crawl that goes on.
fn resumed(dir: &CrawlDir, given: &Options) -> anyhow::Result<Plan> {
    let before = dir.options()?.depth;
    if before != given.depth {
        let depth = before.map_or_else(|| "no".to_owned(), |depth| depth.to_string());
        bail!(usage(format!(
            "{} holds a crawl with maxDepth {depth}: remove it and the pages, or choose another pageDirectory",
            dir.root().display()
        )));
    }
    resumed_plan(dir, given)
}

/// Where the state is kept: not in the page directory, which holds nothing but pages.
fn state_dir(given: Option<&Path>, page_dir: &PageDir) -> anyhow::Result<CrawlDir> {
    let Some(given) = given else { return Ok(CrawlDir::at(page_dir.sibling(".crawl")?)) };
    if page_dir.contains(given)? {
        bail!(usage(format!("-o {}: is inside pageDirectory, which is only for pages", given.display())));
    }
    Ok(CrawlDir::at(given))
}

/// Reads the seed, and draws the line around what is internal: not even a redirect of the seed moves it.
fn internal_seed(arguments: &Arguments, plan: &mut Plan) -> anyhow::Result<CanonicalUrl> {
    let (seed, user) = arguments.seed(&plan.settings.canonical)?;
    plan.keep_credentials(&seed, user)?;
    let scope = &mut plan.settings.filter.scope;
    scope.add_seed(&seed);
    scope.close();
    if !scope.contains(&seed) {
        bail!(usage(format!("seedURL {seed} is not internal: it is not in {}", scope.kind())));
    }
    Ok(seed)
}

fn refuse_other_seed(dir: &CrawlDir, store: &dyn Store, seed: &CanonicalUrl) -> anyhow::Result<()> {
    match store.seeds()?.first() {
        Some(first) if first != seed => bail!(usage(format!(
            "{} holds the crawl of {first}: remove it and the pages, or choose another pageDirectory",
            dir.root().display()
        ))),
        _ => Ok(()),
    }
}

fn tell_of_resumption(saver: &Saver, page_dir: &PageDir, dir: &CrawlDir, store: &dyn Store) -> anyhow::Result<()> {
    if store.totals()?.pending > 0 {
        console::say!("going on behind {} in {page_dir}", counted(saver.saved()));
    } else {
        let root = dir.root().display();
        console::say!("this crawl has already ended: to start over, remove {root} and the pages in {page_dir}");
    }
    Ok(())
}

/// Why there is not a single page: what became of the seed, or of what it redirects to.
fn why_none(store: &dyn Store, filter: &Filter, seed: &CanonicalUrl) -> anyhow::Result<String> {
    let (mut url, mut way) = (seed.clone(), format!("seedURL {seed}"));
    // The target of the last redirect may be one of those before.
    for _ in 0..=u8::MAX {
        let Some(visit) = store.get(url.key())?.and_then(|entry| entry.visit) else {
            let trouble = store.site(url.key().site)?.and_then(|record| trouble_of(&record)).unwrap_or_default();
            return Ok(format!("{way} cannot be fetched: {}", Printable(&trouble)));
        };
        match visit.target.as_deref().and_then(CanonicalUrl::from_canonical) {
            Some(target) if visit.outcome == Outcome::Redirect && visit.reason.is_empty() => {
                way.push_str(&format!(" redirects to {target}, which"));
                url = target;
            }
            _ => return Ok(format!("{way} {}", Printable(&why_no_page(filter, &url, &visit)))),
        }
    }
    Ok(format!("{way} redirects without end"))
}

fn why_no_page(filter: &Filter, url: &CanonicalUrl, visit: &Visit) -> String {
    let what = match visit.outcome {
        outcome if outcome.is_fetched() => "is no HTML page",
        Outcome::Excluded if is_external(filter, url) => return "is not internal".to_owned(),
        Outcome::Excluded => "is excluded",
        Outcome::Disallowed => "is disallowed by robots.txt",
        _ => "cannot be fetched",
    };
    let why = match visit.outcome {
        outcome if outcome.is_fetched() => visit.content_type.clone().unwrap_or_default(),
        Outcome::Excluded | Outcome::Disallowed | Outcome::Redirect => visit.reason.clone(),
        _ => failure(visit),
    };
    if why.is_empty() { what.to_owned() } else { format!("{what}: {why}") }
}

fn counted(pages: u64) -> String {
    format!("{pages} page{}", if pages == 1 { "" } else { "s" })
}

fn tell_end(end: &End) -> u8 {
    match end {
        End::Done => exit::DONE,
        End::Limit(name) => {
            console::say!("--{name} reached; not all pages are there");
            exit::STOPPED
        }
        End::Waiting(_) => {
            console::say!("sites in trouble are left; the same command goes on");
            exit::STOPPED
        }
        End::Held => {
            console::say!("sites on hold are left");
            exit::STOPPED
        }
        End::Stopped => {
            console::say!("stopped; the same command goes on where this one ended");
            exit::STOPPED
        }
    }
}
