//! URLs whose response the archive has lost: a repair found it damaged or gone.

use model::Visit;
use store::{CrawlView, StoreError, Totals};

/// Entries read from the state at once.
const ENTRIES_AT_ONCE: usize = 1_000;
/// URLs that are read for it, at most.
const READ_MAX: u64 = 200_000;

/// How many URLs have lost their response, or the content that it confirmed; `None` where more URLs would have to be read than should be for a
/// look at a crawl.
///
/// # Errors
/// The state cannot be read.
pub fn lost(view: &dyn CrawlView, totals: &Totals) -> Result<Option<u64>, StoreError> {
    if totals.urls > READ_MAX {
        return Ok(None);
    }
    // A crawl that keeps no archive has lost nothing.
    if view.segments()?.is_empty() {
        return Ok(Some(0));
    }
    let (mut lost, mut after) = (0, None);
    loop {
        let entries = view.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { return Ok(Some(lost)) };
        after = Some(last.candidate.url.key());
        lost += entries.iter().filter(|entry| entry.visit.as_ref().is_some_and(Visit::has_lost)).count() as u64;
    }
}
