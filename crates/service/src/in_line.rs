//! The shared archive and the state, in line: what the state points into is there, and what it does not know is set aside.
//!
//! The order in which a segment becomes final makes both safe while workers run: its row in the state comes first, its WARC file next, and the
//! mark that it is sealed last. So what is sealed is looked up before the archive is listed, and what is known after that.

use std::collections::BTreeSet;

use anyhow::bail;
use settings::units::human_bytes;
use settings::usage;
use shared_archive::SharedArchive;
use store::{CrawlView, Segment};

/// Refuses an archive that lacks what a state has sealed.
///
/// # Errors
/// It lacks some, with the way out; or it cannot be read.
pub(crate) fn refuse_lost(archive: &SharedArchive, sealed: &[Segment], crawl_id: &str) -> anyhow::Result<()> {
    if sealed.is_empty() {
        return Ok(());
    }
    let there = archive.segments()?;
    let is_lost = |segment: &&Segment| there.get(&segment.name).is_none_or(|bytes| *bytes < segment.length);
    let lost: Vec<&Segment> = sealed.iter().filter(is_lost).collect();
    let Some(first) = lost.first() else { return Ok(()) };
    bail!(usage(format!(
        "archive {}: {} of the {} segments that the database points into are missing or cut, such as {}: put them back, or mount what \
         belongs there; `argiope check --repair` in its directory gives up what is lost; `argiope server --reset {crawl_id}` forgets the whole \
         crawl",
        archive.url(),
        lost.len(),
        sealed.len(),
        first.name
    )))
}

/// Sets aside all whole segments that the state does not know: it was restored from an older backup, or a worker was lost.
///
/// # Errors
/// The state cannot be read, or the archive cannot be changed.
pub(crate) fn set_aside_unknown(archive: &SharedArchive, state: &dyn CrawlView) -> anyhow::Result<()> {
    let there = archive.segments()?;
    let known: BTreeSet<String> = state.segments()?.into_iter().map(|segment| segment.name).collect();
    there.keys().filter(|name| !known.contains(*name)).try_for_each(|name| set_aside(archive, name))
}

/// Sets aside a segment that the state does not know as sealed, and says so. Of one that is not whole the files are removed.
///
/// # Errors
/// The archive cannot be changed.
pub(crate) fn set_aside(archive: &SharedArchive, name: &str) -> anyhow::Result<()> {
    if let Some(aside) = archive.set_aside(name)? {
        console::say!(
            "{} ({}): the archive has this segment whole, but the database does not know it as sealed, after a backup was restored or a worker \
             was lost: it is set aside, and what of its pages the database lacks is fetched again (docs/shared-archive.md)",
            aside.key,
            human_bytes(aside.bytes)
        );
    }
    Ok(())
}
