//! What the commands that ask about links and pages have in common.

use std::path::Path;

use ask::QueriedCrawl;
use graph::{Crew, Graph, Vertex};
use weburl::{CanonicalUrl, without_user_info};

use console::message::tell_all;

/// Opens the directory of a crawl, and completes its dataset.
///
/// # Errors
/// The directory holds no crawl, or one without a dataset; the dataset cannot be completed.
pub(super) fn open(root: &Path) -> anyhow::Result<QueriedCrawl> {
    let asked = QueriedCrawl::open(root)?;
    tell_all(&asked.notices);
    Ok(asked)
}

/// Says which URL is meant, where it was given in another form.
pub(super) fn say_canonical(given: &str, url: &CanonicalUrl) {
    if url.as_str() != given {
        console::say!("{} is {url} in canonical form", without_user_info(given));
    }
}

/// The URL that is meant, with its vertex.
///
/// # Errors
/// The text is no URL, or the crawl does not know it.
pub(super) fn vertex(asked: &QueriedCrawl, graph: &Graph, given: &str) -> anyhow::Result<(CanonicalUrl, Vertex)> {
    let (url, vertex) = asked.vertex(graph, given)?;
    say_canonical(given, &url);
    Ok((url, vertex))
}

/// Which part of the link graph is asked about.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Use the graph of visited pages, as the API of a crawl by several workers does: URLs that the crawl visited, successfully or not, and
    /// the links between them that it could follow
    #[arg(long)]
    visited: bool,
}

impl Extent {
    /// The graph.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub(super) fn graph(self, asked: &QueriedCrawl) -> anyhow::Result<Graph> {
        Ok(if self.visited { asked.graph_of_visited()? } else { asked.graph()? })
    }
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
