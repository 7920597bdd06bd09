//! `argiope steer`: change a crawl, which may be running.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use ask::sites;
use clap::{Args, Subcommand};
use crawl::made::{dry_run, make_in_words};
use crawl::opened::Opened;
use crawl::{Change, CrawlDir, Unready};
use settings::options::Options;
use settings::site_name::{SiteDelay, SiteName};
use settings::units::Span;
use settings::usage;

use crate::exit;
use console::printed;

/// The arguments of `argiope steer`.
#[derive(Args, Debug)]
pub struct SteerArgs {
    /// The directory of the crawl
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Change nothing; count the URLs that the change affects
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// What to change
    #[command(subcommand)]
    pub what: What,
}

/// The changes.
#[derive(Subcommand, Debug)]
pub enum What {
    /// Fetch nothing new until `resume`, also after a restart
    Pause,
    /// Go on after `pause`
    Resume,
    /// End the run; the same `argiope crawl` command goes on
    Stop,
    /// Fetch no URLs any more that match one of these patterns, also of those in the queue
    Exclude {
        /// Wildcard patterns, as in --exclude
        #[arg(value_name = "PATTERN", required = true)]
        patterns: Vec<String>,
    },
    /// Follow URLs too that match one of these patterns, where the crawl has --include patterns
    Include {
        /// Wildcard patterns, as in --include
        #[arg(value_name = "PATTERN", required = true)]
        patterns: Vec<String>,
    },
    /// Ask nothing of these sites until `release`; their URLs stay in the queue
    Hold {
        /// Sites: example.org, or example.org:8443
        #[arg(value_name = "SITE", required = true)]
        sites: Vec<SiteName>,
    },
    /// Ask sites again that are on hold
    Release {
        /// Sites, as given to `hold`
        #[arg(value_name = "SITE", required = true)]
        sites: Vec<SiteName>,
    },
    /// Wait at least this long between visits to a site: to all, or to those that are named
    Delay {
        /// The delay
        #[arg(value_name = "D")]
        delay: Span,
        /// Sites: example.org, or example.org:8443
        #[arg(value_name = "SITE")]
        sites: Vec<SiteName>,
    },
    /// Add seeds
    Seeds {
        /// URLs
        #[arg(value_name = "URL", required = true)]
        urls: Vec<String>,
    },
    /// Visit URLs again that failed or were refused, in a round
    Retry {
        /// Outcomes (http_error, timeout …) and patterns; without outcomes: all failures and refusals
        #[arg(value_name = "OUTCOME|PATTERN")]
        what: Vec<String>,
    },
    /// Take URLs out of the queue that match one of these patterns. Others that are found later are followed
    Remove {
        /// Wildcard patterns, as in --exclude
        #[arg(value_name = "PATTERN", required = true)]
        patterns: Vec<String>,
    },
    /// Change settings, as flags of `argiope crawl`: budgets, delays, patience, trap rules
    Set {
        /// The settings.
        #[command(flatten)]
        options: Box<Options>,
    },
    /// Take settings back: a budget ends, a list becomes empty, other settings get their defaults
    Unset {
        /// The keys of settings: max-pages, include
        #[arg(value_name = "KEY", required = true, value_parser = settings::table::key)]
        keys: Vec<String>,
    },
}

impl What {
    /// The change.
    ///
    /// # Errors
    /// Nothing is to be set.
    pub fn change(self) -> anyhow::Result<Change> {
        Ok(match self {
            What::Pause => Change::Pause,
            What::Resume => Change::Resume,
            What::Stop => Change::Stop,
            What::Exclude { patterns } => Change::Exclude(patterns),
            What::Include { patterns } => Change::Include(patterns),
            What::Hold { sites } => Change::Hold(sites),
            What::Release { sites } => Change::Release(sites),
            What::Delay { delay, sites } if sites.is_empty() => {
                Change::set(&Options { delay: Some(delay), ..Options::default() })?
            }
            What::Delay { delay, sites } => {
                Change::DelayFor(sites.into_iter().map(|site| SiteDelay { site, delay }).collect())
            }
            What::Seeds { urls } => Change::Seeds(urls),
            What::Retry { what } => Change::Retry(what),
            What::Remove { patterns } => Change::Remove(patterns),
            What::Set { options } if *options == Options::default() => {
                bail!(usage("set: give flags of `argiope crawl`, such as --max-pages 10000"))
            }
            What::Set { options } => Change::set(&options)?,
            What::Unset { keys } => Change::Unset(keys),
        })
    }
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, the change cannot be used, or the disk fails.
pub fn run(args: SteerArgs) -> anyhow::Result<ExitCode> {
    let dir = CrawlDir::existing(&args.dir)?;
    let change = args.what.change()?;
    // The refusal comes before any note on the change.
    dir.refuse_of_workers()?;
    if matches!(change, Change::Hold(_) | Change::Release(_) | Change::DelayFor(_) | Change::Unset(_)) {
        match Opened::ask(&args.dir, |opened| Ok(sites::unknown_of(opened.view(), &change)?)) {
            Ok(notes) => notes.iter().for_each(|note| console::say!("{note}")),
            // A round of a watch begins or ends. The change waits longer for that than this remark.
            Err(error) if matches!(error.downcast_ref(), Some(Unready::InUse { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    let told = match args.dry_run {
        true => Opened::ask(&args.dir, |opened| dry_run(opened, &change))?,
        false => make_in_words(&dir, &change)?,
    };
    printed::print(&format!("{change}: {told}\n"))?;
    Ok(ExitCode::from(exit::DONE))
}
