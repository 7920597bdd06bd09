//! A crawl that questions are put to: its dataset, complete as of the last commit, whether the crawl is running or not.

use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::bail;
use dataset::Layout;
use graph::{Crew, Graph, Vertex, Visits};
use store::StoreError;
use weburl::{CanonicalRules, CanonicalUrl, without_user_info};

use ask::target::with_scheme;
use console::message::tell_all;
use crawl::CrawlDir;
use crawl::live;
use crawl::tables::Deriver;
use settings::options::Options;
use settings::plan::Plan;
use settings::usage;

/// A crawl with a dataset.
pub(super) struct QueriedCrawl {
    pub(super) layout: Layout,
    canonical: CanonicalRules,
    /// The depth from which no link is followed.
    bottom: Option<u32>,
}

/// Which part of the link graph is asked about.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Use the graph of visited pages, as the API of a crawl by several workers does: URLs that the crawl visited, successfully or not, and
    /// the links between them that it could follow
    #[arg(long)]
    pub(super) visited: bool,
}

impl QueriedCrawl {
    /// Opens the directory of a crawl, and completes its dataset: a running crawl does so itself, of any other what is missing
    /// is derived from the archive.
    ///
    /// # Errors
    /// The directory holds no crawl, or one without a dataset; the dataset cannot be completed.
    pub(super) fn new(root: &Path) -> anyhow::Result<Self> {
        let dir = CrawlDir::existing(root)?;
        // Certificates are for fetching; that their file has gone is nobody's trouble here.
        let mut plan = Plan::new(&Options { ca_cert: Vec::new(), ..dir.options()? })?;
        // What is derived is not recorded again.
        (plan.settings.details, plan.settings.archive) = (true, false);
        let layout = Layout::at(dir.dataset());
        if !plan.archive {
            bail!("{}: the crawl keeps no archive (--no-archive), and so no dataset to answer from", root.display());
        }
        if !plan.dataset && !layout.exists() {
            bail!("{0}: the crawl writes no dataset (--no-dataset): `argiope derive {0}` makes it", root.display());
        }
        if plan.dataset && !live::publish(root)? {
            complete(&dir, &layout, &plan)?;
        }
        Ok(QueriedCrawl { layout, canonical: plan.settings.canonical, bottom: plan.settings.depth_max })
    }

    /// The link graph.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub(super) fn graph(&self) -> anyhow::Result<Graph> {
        Ok(Graph::open([&self.layout])?)
    }

    /// The link graph, or that of visited pages.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub(super) fn graph_of(&self, extent: Extent) -> anyhow::Result<Graph> {
        match extent.visited {
            true => Ok(Graph::open_visited([&self.layout], &Visits { bottom: self.bottom, ..Visits::default() })?),
            false => self.graph(),
        }
    }

    /// A URL as the crawl writes it. Says so on standard error where that is another way than it was given.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn url(&self, given: &str) -> anyhow::Result<CanonicalUrl> {
        let url = CanonicalUrl::parse(&with_scheme(given), &self.canonical)
            .map_err(|rejected| usage(format!("{}: no URL of a crawl: {rejected}", without_user_info(given))))?;
        Ok(said(given, url))
    }

    /// The vertex of a URL. One that was given without a scheme is looked for with both.
    ///
    /// # Errors
    /// The crawl does not know it.
    pub(super) fn vertex(&self, graph: &Graph, given: &str) -> anyhow::Result<(CanonicalUrl, Vertex)> {
        if !given.contains("://") {
            let parse = |text: String| CanonicalUrl::parse(&text, &self.canonical).ok();
            let (plain, secure) = (parse(format!("http://{given}")), parse(format!("https://{given}")));
            if let Some(url) = secure
                && let Some(vertex) = graph.vertex(url.key())
                && plain.is_none_or(|plain| graph.vertex(plain.key()).is_none())
            {
                return Ok((said(given, url), vertex));
            }
        }
        let url = self.url(given)?;
        match graph.vertex(url.key()) {
            Some(vertex) => Ok((url, vertex)),
            None if graph.is_empty() => bail!("{url}: the crawl has no pages yet"),
            None if graph.is_of_visits() => bail!("{url}: the crawl has not visited it"),
            None => bail!("{url}: the crawl knows no such URL, and no page links to it"),
        }
    }
}

/// Says which URL is meant, where it was given in another form.
fn said(given: &str, url: CanonicalUrl) -> CanonicalUrl {
    if url.as_str() != given {
        console::say!("{} is {url} in canonical form", without_user_info(given));
    }
    url
}

/// Derives what the dataset lacks. Where it lacks nothing the directory is only read.
fn complete(dir: &CrawlDir, layout: &Layout, plan: &Plan) -> anyhow::Result<()> {
    if !dir.state().is_dir() {
        // A dataset alone answers as well.
        return Ok(());
    }
    let completed = is_complete(dir, layout, plan).and_then(|is| if is { Ok(()) } else { derive(dir, layout, plan) });
    match completed {
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::InUse { .. })) => {
            console::say!(
                "{} is in use by another command: the answer is as of when the dataset was last complete",
                dir.root().display()
            );
            Ok(())
        }
        done => done,
    }
}

/// Whether the dataset lacks nothing. Not asked of a state in a database, which would have to be opened twice.
fn is_complete(dir: &CrawlDir, layout: &Layout, plan: &Plan) -> anyhow::Result<bool> {
    if plan.options.store.is_some() {
        return Ok(false);
    }
    let view = dir.open_to_read(&plan.options)?;
    Deriver { layout, store: view.as_ref(), archive: &dir.archive(), settings: &plan.settings }.is_complete()
}

fn derive(dir: &CrawlDir, layout: &Layout, plan: &Plan) -> anyhow::Result<()> {
    let derived = dir.open_store(&plan.options).and_then(|store| {
        Deriver { layout, store: store.as_ref(), archive: &dir.archive(), settings: &plan.settings }.derive(&|_| ())
    });
    let derived = derived.map_err(|error| if is_forbidden(&error) { error.context(not_complete(dir)) } else { error });
    tell_all(&derived?.notices());
    Ok(())
}

fn not_complete(dir: &CrawlDir) -> String {
    let root = dir.root().display();
    format!("{root}: its dataset is not complete: first, a user with write permission must run `argiope derive {root}`")
}

/// Whether the user or the file system forbids it.
fn is_forbidden(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|kind| matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem))
}

/// How many threads compute.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct Threads {
    /// Threads [default: the number of cores]. The answer does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Threads {
    pub(super) fn crew(self) -> Crew {
        self.threads.map_or_else(Crew::all_cores, |threads| Crew::threads(usize::from(threads)))
    }
}
