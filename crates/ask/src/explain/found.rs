//! How a URL came to be known: the way from a seed to it.

use std::collections::HashSet;

use serde::Serialize;
use store::{CrawlView, Entry};

use dataset::rows;

/// Steps followed back, at most.
const STEPS_MAX: usize = 1_000;

/// A URL on the way.
#[derive(Debug, Serialize)]
pub struct Step {
    /// The URL.
    pub url: String,
    /// How it was found on the one before.
    pub via: &'static str,
    /// Links from a seed; `null` for robots.txt, which has no row.
    pub depth: Option<u32>,
}

/// The way to an entry, from a seed (or a site's robots.txt) to the entry itself.
///
/// # Errors
/// The store cannot be read.
pub(super) fn way_to(store: &dyn CrawlView, entry: &Entry) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut seen = HashSet::new();
    let mut at = Some(entry.clone());
    while let Some(Entry { candidate, .. }) = at.take() {
        if !seen.insert(candidate.url.key()) || steps.len() >= STEPS_MAX {
            break;
        }
        steps.push(Step { url: candidate.url.to_string(), via: candidate.via.as_str(), depth: Some(candidate.depth) });
        let Some(found_on) = candidate.found_on else { break };
        at = store.get(found_on)?;
        if at.is_none() {
            let url = rows::name_of(store, found_on)?;
            steps.extend(url.map(|url| Step { url, via: "robots.txt", depth: None }));
        }
    }
    steps.reverse();
    Ok(steps)
}
