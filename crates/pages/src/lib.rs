//! The HTML pages of a site, saved as numbered files, as a course on search engines wants them: a crawl with a sink that writes the files.

mod line;
mod page_dir;
mod saver;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use crawl::resume::{Basis, resumed_plan};
use crawl::stream::Asked;
use crawl::trouble::trouble_of;
use crawl::{Builder, CrawlDir, End, Notice, Recorded, Session, StreamTo, Tried};
use frontier::Filter;
use model::{Outcome, Visit};
use printable::Printable;
use settings::options::Options;
use settings::plan::Plan;
use settings::units::Span;
use settings::usage;
use store::Store;
use weburl::{CanonicalRules, CanonicalUrl, UserInfo, without_user_info};

use crate::line::{failure, is_external};
use crate::page_dir::PageDir;
use crate::saver::Saver;

pub use line::Line;

/// The pause between fetches unless another is given.
const PAUSE: Duration = Duration::from_secs(1);

/// What is to be saved, and where.
#[derive(Clone, Debug)]
pub struct Request {
    /// The seed, with a scheme.
    pub seed_url: String,
    /// The directory for the pages, which exists.
    pub page_directory: PathBuf,
    /// The largest number of links from the seed.
    pub max_depth: u32,
    /// What internal URLs begin with; else they are those of the seed's host.
    pub internal: Option<String>,
    /// The directory of the crawl's state; else one beside the pages.
    pub output: Option<PathBuf>,
    /// The settings of the crawl.
    pub options: Options,
}

/// A crawl that saves pages, before it runs.
pub struct Saving {
    /// The plan of the crawl.
    pub plan: Plan,
    /// What came up when an earlier run was continued.
    pub notices: Vec<Notice>,
    /// What an earlier run has come to, where one is continued.
    pub resumed: Option<Resumed>,
    saver: Saver,
    tried: Tried,
    run: Run,
}

/// What an earlier run has come to.
#[derive(Clone, Copy, Debug)]
pub struct Resumed {
    /// URLs that are left.
    pub left: u64,
    /// Pages that are saved.
    pub saved: u64,
}

/// A crawl that saves pages, while it runs and after.
pub struct Run {
    dir: CrawlDir,
    page_dir: PageDir,
    store: Arc<dyn Store>,
    seed: CanonicalUrl,
    filter: Filter,
    body_bytes_max: u64,
    is_resumed: bool,
}

/// What a run came to.
#[derive(Debug)]
pub enum Saved {
    /// So many pages are there now.
    Pages(u64),
    /// There is none, for this reason. Of a crawl that had just begun nothing is kept.
    None(String),
}

impl Saving {
    /// Checks what is asked for, and opens the state of the crawl.
    ///
    /// # Errors
    /// What is asked for cannot be done, or a directory cannot be used.
    pub fn open(request: Request) -> anyhow::Result<Self> {
        let given = options(&request)?;
        let page_dir = PageDir::open(request.page_directory)?;
        let dir = state_dir(request.output.as_deref(), &page_dir)?;
        let planned = || -> anyhow::Result<_> {
            let is_resumed = dir.holds_crawl();
            let (mut plan, notices) =
                if is_resumed { resumed(&dir, &given)? } else { (fresh(&page_dir, &given)?, Vec::new()) };
            let seed = internal_seed(&request.seed_url, &mut plan)?;
            // Every link of every page is shown.
            plan.settings.remembered_urls_max = 0;
            Ok((plan, notices, seed, is_resumed))
        };
        let basis = Basis::of(&dir)?;
        let (mut plan, mut notices, mut seed, mut is_resumed) = planned()?;
        let mut tried = Tried::new(&dir, &plan, StreamTo::of_run(&dir.stream(), Asked::default())?, Vec::new())?;
        let store = tried.open_store(&dir, &plan.options)?;
        if !basis.holds(&dir)? {
            (plan, notices, seed, is_resumed) = planned()?;
        }
        refuse_other_seed(&dir, store.as_ref(), &seed)?;
        let (filter, body_bytes_max) = (plan.settings.filter.clone(), plan.settings.limits.body_bytes_max);
        let run = Run { dir, page_dir, store, seed, filter, body_bytes_max, is_resumed };
        let saver = run.open_saver()?;
        let left = run.store.totals()?.pending;
        let resumed = is_resumed.then(|| Resumed { left, saved: saver.saved() });
        Ok(Saving { plan, notices, resumed, saver, tried, run })
    }

    /// The directory of the state.
    #[must_use]
    pub fn dir(&self) -> &CrawlDir {
        &self.run.dir
    }

    /// The session that crawls and saves. `show` receives lines about what becomes of URLs.
    #[must_use]
    pub fn session(self, mut show: impl FnMut(&[Line]) -> anyhow::Result<()> + Send + 'static) -> (Builder, Run) {
        let Saving { plan, mut saver, tried, run, .. } = self;
        let save = move |recorded: &Recorded<'_>| Ok(saver.committed(recorded.batch, recorded.committed, &mut show)?);
        let session = Session::builder(run.dir.clone(), plan).store(run.store.clone()).tried(tried);
        (session.seeds(vec![run.seed.clone()]).sink(save), run)
    }
}

impl Run {
    /// Completes the files of the pages after the session, and says what it came to.
    ///
    /// # Errors
    /// The state or the archive cannot be read, or a file cannot be written.
    pub fn finish(self, end: &End) -> anyhow::Result<Saved> {
        let saved = self.open_saver()?.saved();
        if saved > 0 || !matches!(end, End::Done | End::Waiting(_)) {
            return Ok(Saved::Pages(saved));
        }
        let reason = why_none(self.store.as_ref(), &self.filter, &self.seed)?;
        drop(self.store);
        if !self.is_resumed {
            let root = self.dir.root();
            std::fs::remove_dir_all(root).with_context(|| format!("cannot remove {}", root.display()))?;
        }
        Ok(Saved::None(reason))
    }

    fn open_saver(&self) -> anyhow::Result<Saver> {
        Saver::open(self.store.clone(), &self.dir, self.page_dir.clone(), self.body_bytes_max, self.filter.clone())
    }
}

/// The seed in the canonical form of these rules, and the user name and password in it.
///
/// # Errors
/// It is no URL with a scheme.
pub fn seed(seed_url: &str, rules: &CanonicalRules) -> anyhow::Result<(CanonicalUrl, Option<UserInfo>)> {
    Ok((whole_url("seedURL", seed_url, rules)?, UserInfo::of(seed_url)))
}

/// The canonical form of what internal URLs begin with.
fn internal_prefix(text: &str) -> anyhow::Result<CanonicalUrl> {
    let rules = CanonicalRules { collapse_slashes: true, ..CanonicalRules::default() };
    whole_url("--internal", text, &rules)
}

fn whole_url(name: &str, text: &str, rules: &CanonicalRules) -> anyhow::Result<CanonicalUrl> {
    if !text.contains("://") {
        bail!(usage(format!("{name} `{}` does not begin with http:// or https://", without_user_info(text))));
    }
    CanonicalUrl::parse(text, rules).map_err(|error| usage(format!("{name} `{}`: {error}", without_user_info(text))))
}

/// The options as given, with what the arguments say.
fn options(request: &Request) -> anyhow::Result<Options> {
    if request.options.depth.is_some() {
        bail!(usage("--depth: maxDepth says how deep to go"));
    }
    if request.options.no_archive == Some(true) {
        bail!(usage("--no-archive: the page files are written from the archive"));
    }
    if request.options.store.is_some() {
        bail!(usage("--store: this command keeps its state beside the pages"));
    }
    let mut options = request.options.clone();
    options.depth = Some(request.max_depth);
    options.no_dataset = Some(true);
    if let Some(prefix) = &request.internal {
        if options.scope.is_some() {
            bail!(usage("--internal and --scope both say what is internal: give one of them"));
        }
        options.scope = Some(format!("{}*", internal_prefix(prefix)?));
    }
    options.with_files()
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
fn resumed(dir: &CrawlDir, given: &Options) -> anyhow::Result<(Plan, Vec<Notice>)> {
    let before = dir.options()?.depth;
    if before != given.depth {
        let depth = before.map_or_else(|| "no".to_owned(), |depth| depth.to_string());
        bail!(usage(format!(
            "{} holds a crawl with maxDepth {depth}: remove it and the pages, or choose another pageDirectory",
            dir.root().display()
        )));
    }
    resumed_plan(dir, given, &[])
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
fn internal_seed(seed_url: &str, plan: &mut Plan) -> anyhow::Result<CanonicalUrl> {
    let (seed, user) = seed(seed_url, &plan.settings.canonical)?;
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
