//! What commands find that open the archive as a crawl's directory: the settings in force, and the changes.

use std::collections::HashSet;

use crawl::steer::Replaced;
use crawl::{Change, Changed, dir};
use model::Timestamp;
use serde::{Deserialize, Serialize};
use settings::options::Options;
use shared_archive::SharedArchive;
use store_postgres::cluster::Control;

/// What the settings begin with.
const HEADER: &str = "The settings of a crawl by several workers.";
/// Changes that are looked for in the archive's journal, the last ones: earlier ones are there, or were made while storage failed.
pub(super) const CHANGES_MAX: usize = 10_000;
/// The longest journal in the archive that is added to, in bytes.
const JOURNAL_BYTES_MAX: usize = 64 << 20;

/// Writes the settings in force and the changes into the archive, where commands read them that open it as a crawl's directory. What cannot be
/// written now is written after the next change, or when a server starts.
pub(super) fn publish(control: &Control) -> anyhow::Result<()> {
    let (Some(shared), Some(in_force)) = (control.shared()?, control.in_force(None)?) else { return Ok(()) };
    let archive = SharedArchive::open(&shared.archive)?;
    let Some(kept) = archive.text(dir::SETTINGS)? else { return Ok(()) };
    let Options { store, store_schema, .. } = Options::parse(&kept)?;
    let options = Options { store, store_schema, ..Options::parse(&in_force.settings)? };
    archive.put_text(dir::SETTINGS, &stored(&options)?)?;
    let journal = archive.whole_text(dir::CHANGES, JOURNAL_BYTES_MAX)?.unwrap_or_default();
    match with_changes(&journal, &read(control.changes(CHANGES_MAX)?))? {
        Some(longer) => Ok(archive.put_text(dir::CHANGES, &longer)?),
        None => Ok(()),
    }
}

/// A journal with those changes added that it lacks; `None` if it has them all. Others may have written to it, so every line stays.
fn with_changes(journal: &str, changes: &[Changed]) -> anyhow::Result<Option<String>> {
    let there: Vec<Changed> = journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let there: HashSet<(&str, String)> =
        there.iter().map(|changed| (changed.at.as_str(), changed.change.to_string())).collect();
    let mut longer = journal.to_owned();
    for changed in changes.iter().filter(|changed| !there.contains(&(&changed.at, changed.change.to_string()))) {
        // A line that a crash cut ends here.
        if !longer.is_empty() && !longer.ends_with('\n') {
            longer.push('\n');
        }
        longer.push_str(&serde_json::to_string(changed)?);
        longer.push('\n');
    }
    Ok(Some(longer).filter(|longer| longer.len() > journal.len()))
}

/// A change as it is stored, with what it replaced. One that replaced nothing is stored as the change alone, as earlier versions stored all.
#[derive(Serialize, Deserialize)]
struct Stored {
    change: Change,
    replaced: Replaced,
}

/// Changes as they are stored. Those that a later version made are left out.
pub(super) fn read(changes: Vec<(Timestamp, String)>) -> Vec<Changed> {
    let read = |(at, text): (Timestamp, String)| {
        let (change, replaced) = match serde_json::from_str(&text) {
            Ok(Stored { change, replaced }) => (change, Some(replaced)),
            Err(_) => (serde_json::from_str(&text).ok()?, None),
        };
        Some(Changed { at: at.to_rfc3339(), change, replaced, order: None })
    };
    changes.into_iter().filter_map(read).collect()
}

/// A change as it is stored.
pub(super) fn written(change: &Change, replaced: Option<Replaced>) -> serde_json::Result<String> {
    match replaced {
        Some(replaced) => serde_json::to_string(&Stored { change: change.clone(), replaced }),
        None => serde_json::to_string(change),
    }
}

/// Settings as they are stored.
pub(super) fn stored(options: &Options) -> anyhow::Result<String> {
    options.to_toml(HEADER)
}

#[cfg(test)]
mod tests {
    use crawl::Change;

    use super::*;

    #[test]
    fn a_journal_keeps_every_line_and_gets_what_it_lacks() -> anyhow::Result<()> {
        let change = |at: &str, change| Changed { at: at.to_owned(), change, replaced: None, order: None };
        let ours =
            [change("2026-11-26T00:00:01.000Z", Change::Pause), change("2026-11-26T00:00:03.000Z", Change::Resume)];
        let first = with_changes("", &ours[..1])?.expect("a line");
        assert_eq!(first, "{\"at\":\"2026-11-26T00:00:01.000Z\",\"change\":\"pause\"}\n");
        // Lines of others, of a later version, and one that was cut.
        let others = "{\"at\":\"2026-11-26T00:00:02.000Z\",\"change\":{\"exclude\":[\"*.pdf\"]}}\n{\"at\":\"x\",\"change\":\"fly\"}\n{\"at\":";
        let journal = format!("{first}{others}");
        let longer = with_changes(&journal, &ours)?.expect("a line more");
        assert_eq!(longer, format!("{journal}\n{{\"at\":\"2026-11-26T00:00:03.000Z\",\"change\":\"resume\"}}\n"));
        assert_eq!(with_changes(&longer, &ours)?, None);
        Ok(())
    }
}
