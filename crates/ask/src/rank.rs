//! The ranks of pages, or of groups of pages.

mod table;

use std::collections::HashMap;
use std::sync::Arc;

use dataset::Layout;
use graph::{Crew, DAMPING, Definition, Graph, Grouped, Grouping, Ranks, names, pagerank};
use serde::Serialize;
use weburl::{CanonicalUrl, UrlKey};

use crate::QueriedCrawl;
use crate::queried::why_unknown;

pub use table::Table;

/// The ranks of a graph, the highest first.
pub struct Ranked<'a> {
    crawl: &'a QueriedCrawl,
    graph: Arc<Graph>,
    /// The names of groups; those of pages are in the dataset.
    names: Option<HashMap<UrlKey, String>>,
    definition: Definition,
    ranks: Ranks,
}

/// The highest ranks.
#[derive(Debug, Serialize)]
pub struct Ranking {
    /// `original` or `normalized`.
    pub definition: &'static str,
    /// The probability of following a link.
    pub damping: f64,
    /// The rounds that it took.
    pub rounds: u32,
    /// The ranks settled; where they did not, they are as after the last round.
    pub settled: bool,
    /// What has a rank.
    pub vertices: usize,
    /// The links between them.
    pub edges: usize,
    /// The highest ranks.
    pub rows: Vec<Row>,
}

/// A rank.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its place, from 1.
    pub place: usize,
    /// The rank.
    pub rank: f64,
    /// What has it.
    pub name: String,
}

/// The rank of one URL.
#[derive(Debug, Serialize)]
pub struct RankOf {
    /// The URL.
    #[serde(serialize_with = "as_text")]
    pub url: CanonicalUrl,
    /// Its rank.
    pub rank: f64,
    /// Its place, from 1: the same for all that have the same rank. `None` where the crawl does not know it.
    pub place: Option<usize>,
    /// What has a rank.
    pub of: usize,
    /// Why it has none, in words.
    #[serde(skip)]
    pub why_none: Option<String>,
}

impl<'a> Ranked<'a> {
    /// Ranks the pages of a graph of the crawl, or groups of them.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn of(
        crawl: &'a QueriedCrawl,
        graph: Graph,
        grouping: Option<Grouping>,
        definition: Definition,
        crew: Crew,
    ) -> anyhow::Result<Self> {
        let (graph, names) = match grouping.map(|grouping| graph.grouped(grouping, &crawl.layout)).transpose()? {
            Some(Grouped { graph, names }) => (graph, Some(names)),
            None => (graph, None),
        };
        let graph = Arc::new(graph);
        let mut ranks = pagerank(&graph, definition, crew)?;
        // Of equal ranks the order is that of the keys, so that it is always the same.
        ranks.values.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Ok(Ranked { crawl, graph, names, definition, ranks })
    }

    /// The `top` highest ranks.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn top(&self, top: usize) -> anyhow::Result<Ranking> {
        let values = &self.ranks.values;
        let top = &values[..top.min(values.len())];
        let of_pages = match self.names {
            Some(_) => HashMap::new(),
            None => names([self.layout()], top.iter().map(|(key, _)| *key))?,
        };
        let names = self.names.as_ref().unwrap_or(&of_pages);
        let name = |key: &UrlKey| names.get(key).cloned().unwrap_or_else(|| key.to_string());
        Ok(Ranking {
            definition: if self.definition == Definition::Normalized { "normalized" } else { "original" },
            damping: DAMPING,
            rounds: self.ranks.rounds,
            settled: self.ranks.is_settled,
            vertices: self.graph.len(),
            edges: self.graph.edges(),
            rows: (1..).zip(top).map(|(place, (key, rank))| Row { place, rank: *rank, name: name(key) }).collect(),
        })
    }

    /// The rank of a URL. What the crawl does not know has none.
    ///
    /// # Errors
    /// The text is no URL.
    pub fn rank_of(&self, given: &str) -> anyhow::Result<RankOf> {
        let (url, vertex) = self.crawl.find(&self.graph, given)?;
        let key = vertex.map(|vertex| self.graph.key(vertex));
        let values = &self.ranks.values;
        let rank = values.iter().find(|(ranked, _)| Some(*ranked) == key).map(|(_, rank)| *rank);
        let place = rank.map(|rank| values.partition_point(|(_, other)| *other > rank) + 1);
        let why_none = key.is_none().then(|| why_unknown(&self.graph, &url));
        Ok(RankOf { url, rank: rank.unwrap_or(0.0), place, of: self.graph.len(), why_none })
    }

    /// Writes all ranks to a file, the highest first.
    ///
    /// # Errors
    /// The dataset cannot be read, or the file cannot be written.
    pub fn write(&self, table: &Table) -> anyhow::Result<()> {
        table.write(self.layout(), &self.graph, &self.ranks, self.names.as_ref())
    }

    fn layout(&self) -> &Layout {
        &self.crawl.layout
    }
}

fn as_text<S: serde::Serializer>(url: &CanonicalUrl, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(url.as_str())
}

/// A rank in six digits.
#[must_use]
pub fn digits(rank: f64) -> String {
    if rank == 0.0 || rank >= 0.01 { format!("{rank:.6}") } else { format!("{rank:.5e}") }
}
