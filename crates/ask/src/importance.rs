//! How important the pages of a crawl are by the links between them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawl::importance::{Importance, Important};
use graph::{Crew, Definition, pagerank};
use model::Timestamp;

use crate::QueriedCrawl;

/// How often the importance of pages by their links is worked out.
const RANKED_EVERY: Duration = Duration::from_secs(86_400);

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

/// How important pages are, worked out now and then: links take time to read, and change little.
pub struct Ranked {
    by: Importance,
    last: Option<(Timestamp, Important)>,
}

impl Ranked {
    /// Nothing is worked out yet.
    #[must_use]
    pub fn new(by: Importance) -> Self {
        Ranked { by, last: None }
    }

    /// As of now, or of less than a day ago.
    ///
    /// # Errors
    /// As [`important`].
    pub fn now(&mut self, dir: &Path, now: Timestamp) -> anyhow::Result<Important> {
        if let Some((_, important)) = self.last.as_ref().filter(|(at, _)| now.since(*at) < RANKED_EVERY) {
            return Ok(important.clone());
        }
        let important = important(dir, self.by)?;
        self.last = Some((now, important.clone()));
        Ok(important)
    }
}
