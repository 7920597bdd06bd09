//! A crawl that questions are put to: its dataset, complete as of the last commit, whether the crawl is running or not.

use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::bail;
use crawl::opened::Opened;
use crawl::tables::{Deriver, supersede_unsettled};
use crawl::{CrawlDir, Notice, live, opened};
use dataset::Layout;
use graph::{Graph, GraphError, Vertex, Visits};
use settings::plan::Plan;
use settings::usage;
use store::CrawlView;
use weburl::{CanonicalRules, CanonicalUrl, without_user_info};

use crate::target::with_scheme;

/// A crawl with a dataset.
pub struct QueriedCrawl {
    /// Its dataset.
    pub layout: Layout,
    /// What came up when the dataset was completed.
    pub notices: Vec<Notice>,
    canonical: CanonicalRules,
    /// The depth from which no link is followed.
    bottom: Option<u32>,
}

impl QueriedCrawl {
    /// Opens the directory of a crawl, and completes its dataset: a running crawl that writes one does so itself, of any other what is missing
    /// is derived from the archive.
    ///
    /// # Errors
    /// The directory holds no crawl, or one without a dataset; the dataset cannot be completed.
    pub fn open(root: &Path) -> anyhow::Result<Self> {
        QueriedCrawl::with(&CrawlDir::existing(root)?, None)
    }

    /// The same of a directory that is open: its state is not opened once more.
    ///
    /// # Errors
    /// As [`QueriedCrawl::open`].
    pub fn of(opened: &Opened) -> anyhow::Result<Self> {
        QueriedCrawl::with(&opened.dir, Some(opened.view()))
    }

    fn with(dir: &CrawlDir, view: Option<&dyn CrawlView>) -> anyhow::Result<Self> {
        let root = dir.root();
        let plan = dir.plan_to_read()?;
        let layout = Layout::at(dir.dataset());
        if !plan.archive {
            bail!("{}: the crawl keeps no archive (--no-archive), and so no dataset to answer from", root.display());
        }
        if !plan.dataset && !layout.exists() {
            bail!("{0}: the crawl writes no dataset (--no-dataset): `argiope derive {0}` makes it", root.display());
        }
        // A crawl that writes no dataset does not complete one either, which an earlier run or `derive` has made.
        let is_completed = live::publish(root)? && plan.dataset;
        let notices = if is_completed { Vec::new() } else { complete(dir, &layout, &plan, view)? };
        Ok(QueriedCrawl { layout, notices, canonical: plan.settings.canonical, bottom: plan.settings.depth_max })
    }

    /// The link graph.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn graph(&self) -> Result<Graph, GraphError> {
        Graph::open([&self.layout])
    }

    /// The link graph of visited pages.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn graph_of_visited(&self) -> Result<Graph, GraphError> {
        Graph::open_visited([&self.layout], &Visits { bottom: self.bottom, ..Visits::default() })
    }

    /// The URL that is meant, as the crawl writes it, with its vertex. A text without a scheme is looked for with both.
    ///
    /// # Errors
    /// The text is no URL.
    pub fn find(&self, graph: &Graph, given: &str) -> anyhow::Result<(CanonicalUrl, Option<Vertex>)> {
        let known = |url: CanonicalUrl| graph.vertex(url.key()).map(|vertex| (url, vertex));
        if !given.contains("://") {
            let parse = |text: String| CanonicalUrl::parse(&text, &self.canonical).ok();
            let [plain, secure] = ["http", "https"].map(|scheme| parse(format!("{scheme}://{given}")).and_then(known));
            if let (None, Some((url, vertex))) = (plain, secure) {
                return Ok((url, Some(vertex)));
            }
        }
        let url = CanonicalUrl::parse(&with_scheme(given), &self.canonical)
            .map_err(|rejected| usage(format!("{}: no URL of a crawl: {rejected}", without_user_info(given))))?;
        let vertex = graph.vertex(url.key());
        Ok((url, vertex))
    }

    /// The URL that is meant, with its vertex.
    ///
    /// # Errors
    /// The text is no URL, or the crawl does not know it.
    pub fn vertex(&self, graph: &Graph, given: &str) -> anyhow::Result<(CanonicalUrl, Vertex)> {
        let (url, vertex) = self.find(graph, given)?;
        let vertex = vertex.ok_or_else(|| UnknownUrl(why_unknown(graph, &url)))?;
        Ok((url, vertex))
    }
}

/// A URL that a graph does not have.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnknownUrl(pub(crate) String);

/// Why a graph does not have a URL, in words.
pub(crate) fn why_unknown(graph: &Graph, url: &CanonicalUrl) -> String {
    match () {
        () if graph.is_empty() => format!("{url}: the crawl has no pages yet"),
        () if graph.is_of_visits() => format!("{url}: the crawl has not visited it"),
        () => format!("{url}: the crawl knows no such URL, and no page links to it"),
    }
}

/// Derives what the dataset lacks. Where it lacks nothing the directory is only read.
fn complete(dir: &CrawlDir, layout: &Layout, plan: &Plan, view: Option<&dyn CrawlView>) -> anyhow::Result<Vec<Notice>> {
    if !dir.state().is_dir() {
        // A dataset alone answers as well.
        return Ok(Vec::new());
    }
    let completed =
        is_complete(dir, layout, plan, view).and_then(|is| if is { Ok(Vec::new()) } else { derive(dir, layout, plan) });
    match completed {
        Err(error) if opened::is_in_use(&error) => {
            // A dataset that cannot be written to, or a state that cannot be read meanwhile, is left as it is.
            let view = dir.open_to_read(&plan.options);
            let _ = view.and_then(|view| supersede_unsettled(layout, view.as_ref()));
            Ok(vec![Notice::DatasetInUse(dir.root().to_owned())])
        }
        // Who may not write there has an answer all the same, and learns what is missing. The interface has no place for that: it says why not.
        Err(error) if view.is_none() && is_forbidden(&error) => {
            let view = dir.open_to_read(&plan.options)?;
            let _ = supersede_unsettled(layout, view.as_ref());
            let covered = Deriver::new(layout, view.as_ref(), dir.archive(), &plan.settings).covered()?;
            Ok(vec![Notice::DatasetIncomplete { root: dir.root().to_owned(), covered }])
        }
        done => done,
    }
}

/// Whether the dataset lacks nothing. Not asked of a state in a database, which would have to be opened twice.
fn is_complete(dir: &CrawlDir, layout: &Layout, plan: &Plan, view: Option<&dyn CrawlView>) -> anyhow::Result<bool> {
    let is_complete = |view: &dyn CrawlView| Deriver::new(layout, view, dir.archive(), &plan.settings).is_complete();
    match view {
        Some(view) => is_complete(view),
        None if plan.options.store.is_some() => Ok(false),
        None => is_complete(dir.open_to_read(&plan.options)?.as_ref()),
    }
}

fn derive(dir: &CrawlDir, layout: &Layout, plan: &Plan) -> anyhow::Result<Vec<Notice>> {
    let derived = dir
        .open_store_to_mend(&plan.options)
        .and_then(|store| Deriver::new(layout, store.as_ref(), dir.archive(), &plan.settings).derive(&|_| ()));
    let derived = derived.map_err(|error| if is_forbidden(&error) { error.context(not_complete(dir)) } else { error });
    Ok(derived?.notices())
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
