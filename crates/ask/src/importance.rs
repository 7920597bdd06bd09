//! How important the pages of a crawl are by the links between them.

use std::path::Path;
use std::sync::Arc;

use crawl::importance::{Importance, Important};
use graph::{Crew, Definition, pagerank};

use crate::QueriedCrawl;

/// The importance of the pages of a crawl in a directory. For in-links and PageRank its dataset is completed and read.
///
/// # Errors
/// The crawl has no dataset, or it cannot be read.
pub fn important(root: &Path, importance: Importance) -> anyhow::Result<Important> {
    match importance {
        Importance::Equal => return Ok(Important::Equal),
        Importance::Depth => return Ok(Important::Depth),
        Importance::InLinks | Importance::PageRank => {}
    }
    let graph = QueriedCrawl::open(root)?.graph_of_visited()?;
    if importance == Importance::InLinks {
        // One more, since a page without a link in the crawl is worth a visit, too.
        let linked = graph.in_degrees().into_iter().map(|links| f64::from(links) + 1.0);
        return Ok(Important::ranked(graph.keys().iter().copied().zip(linked)));
    }
    let ranks = pagerank(&Arc::new(graph), Definition::Normalized, Crew::all_cores())?;
    Ok(Important::ranked(ranks.values.into_iter()))
}
