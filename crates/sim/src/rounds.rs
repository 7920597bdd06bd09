//! Rounds after the first, as values: how many there are, and how far they are.

use std::time::Duration;

use store::{CrawlView, StoreError};

/// How known pages are visited again after the first round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounds {
    /// They are not.
    #[default]
    None,
    /// So many rounds over all of them.
    Again(u32),
    /// Those that are worth a visit, so often.
    Watch {
        /// How often the next round is looked for.
        times: u32,
        /// How long after the one before.
        every: Duration,
        /// Pages near a seed are more important.
        by_depth: bool,
    },
}

/// How far the rounds of a simulation are.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Rounds after the first that were looked for.
    pub(crate) looked_for: u32,
    /// The next one must begin before the crawler goes on.
    pub(crate) is_due: bool,
}

impl Rounds {
    /// How many are looked for.
    pub(crate) fn times(self) -> u32 {
        match self {
            Rounds::None => 0,
            Rounds::Again(times) | Rounds::Watch { times, .. } => times,
        }
    }
}

/// The URLs that wait for another visit.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn waiting_again(store: &dyn CrawlView) -> Result<Vec<model::Queued>, StoreError> {
    let mut waiting = Vec::new();
    for site in store.sites(None, usize::MAX)? {
        let queue = store.pending(site.site.key(), None, usize::MAX)?;
        waiting.extend(queue.into_iter().filter(|queued| queued.again.is_some()));
    }
    Ok(waiting)
}
