//! What commands find that open the archive as a crawl's directory: the settings in force, and the changes.

use crawl::{Changed, dir};
use model::Timestamp;
use settings::options::Options;
use shared_archive::SharedArchive;
use store_postgres::cluster::Control;

/// What the settings begin with.
const HEADER: &str = "The settings of a crawl by several workers.";
/// Changes that the archive's file of them has, the last ones.
const CHANGES_MAX: usize = 10_000;

/// Writes the settings in force and the changes into the archive, where commands read them that open it as a crawl's directory. What cannot be
/// written now is written after the next change, or when a server starts.
pub(super) fn publish(control: &Control) -> anyhow::Result<()> {
    let (Some(shared), Some(in_force)) = (control.shared()?, control.in_force(None)?) else { return Ok(()) };
    let archive = SharedArchive::open(&shared.archive)?;
    let Some(kept) = archive.text(dir::SETTINGS)? else { return Ok(()) };
    let Options { store, store_schema, .. } = toml::from_str(&kept)?;
    let options = Options { store, store_schema, ..toml::from_str(&in_force.settings)? };
    archive.put_text(dir::SETTINGS, &stored(&options)?)?;
    let mut lines = String::new();
    for changed in read(control.changes(CHANGES_MAX)?) {
        lines.push_str(&serde_json::to_string(&changed)?);
        lines.push('\n');
    }
    Ok(archive.put_text(dir::CHANGES, &lines)?)
}

/// Changes as they are stored. Those that a later version made are left out.
pub(super) fn read(changes: Vec<(Timestamp, String)>) -> Vec<Changed> {
    let read = |(at, text): (Timestamp, String)| {
        Some(Changed { at: at.to_rfc3339(), change: serde_json::from_str(&text).ok()?, replaced: None })
    };
    changes.into_iter().filter_map(read).collect()
}

/// Settings as they are stored.
pub(super) fn stored(options: &Options) -> anyhow::Result<String> {
    options.to_toml(HEADER)
}
