//! The changes that were made to a crawl, in `changes.jsonl`.

use std::io::{Read, Seek, SeekFrom, Write};

use anyhow::Context;
use model::Timestamp;
use serde::{Deserialize, Serialize};
use settings::options::Options;
use toml::Table;

use super::change::Change;
use super::order::OrderId;
use crate::CrawlDir;

/// Only the changes in this many last bytes of their file are read.
const JOURNAL_BYTES_MAX: u64 = 1 << 20;

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// When, as a date.
    pub at: String,
    /// What.
    pub change: Change,
    /// The values that it replaced, if it changed settings by their keys. Earlier versions did not write them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Replaced>,
    /// Of the order that it was made by. Earlier versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderId>,
}

/// What a change of settings replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// The values of before, by their keys.
    pub(super) values: Table,
    /// The settings that were not given.
    pub(super) absent: Vec<String>,
}

impl Replaced {
    /// What `change` replaces, which makes `after` of `before`; `None` if it changes no values.
    ///
    /// # Errors
    /// Never in practice: options always have a form as a table.
    pub fn by(change: &Change, before: &Options, after: &Options) -> anyhow::Result<Option<Self>> {
        if matches!(change, Change::Pause | Change::Resume) {
            return Ok(None);
        }
        let values = Table::try_from(before)?;
        let mut replaced = Replaced::default();
        for key in after.differing_keys(before)? {
            match values.get(&key) {
                Some(value) => drop(replaced.values.insert(key, value.clone())),
                None => replaced.absent.push(key),
            }
        }
        Ok(Some(replaced))
    }
}

impl Changed {
    /// The changes to a crawl, the oldest first; only the last ones if there are very many.
    ///
    /// # Errors
    /// Their file cannot be read.
    pub fn all_of(dir: &CrawlDir) -> anyhow::Result<Vec<Self>> {
        let path = dir.changes();
        let named = || path.display().to_string();
        let mut file = match fresh::open_to_read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.with_context(named)?,
        };
        let length = file.metadata().with_context(named)?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(JOURNAL_BYTES_MAX))).with_context(named)?;
        let mut bytes = Vec::new();
        file.take(JOURNAL_BYTES_MAX).read_to_end(&mut bytes).with_context(named)?;
        // The first line may be cut by us, the last one by a crash. A later version may know more changes.
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// How many changes were made by an order. Nobody else may make changes meanwhile.
    pub(super) fn made_by(dir: &CrawlDir, order: &OrderId) -> anyhow::Result<usize> {
        Ok(Changed::all_of(dir)?.iter().filter(|changed| changed.order.as_ref() == Some(order)).count())
    }

    /// Writes a change durably.
    pub(super) fn write(
        dir: &CrawlDir,
        (order, change): (&OrderId, &Change),
        replaced: Option<Replaced>,
        date: Timestamp,
    ) -> anyhow::Result<()> {
        let path = dir.changes();
        let changed = Changed { at: date.to_rfc3339(), change: change.clone(), replaced, order: Some(order.clone()) };
        let write = || -> std::io::Result<()> {
            let is_new = !path.exists();
            let mut file = fresh::open(std::fs::OpenOptions::new().read(true).append(true).create(true), &path)?;
            let mut last = [b'\n'];
            if file.seek(SeekFrom::End(-1)).is_ok() {
                file.read_exact(&mut last)?;
            }
            // A line that a crash cut ends here.
            let end = if last == [b'\n'] { "" } else { "\n" };
            file.write_all(format!("{end}{}\n", serde_json::to_string(&changed)?).as_bytes())?;
            file.sync_data()?;
            if is_new { std::fs::File::open(dir.root())?.sync_all() } else { Ok(()) }
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}
