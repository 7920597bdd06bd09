//! The changes that were made to a crawl, in `changes.jsonl`.

use std::io::{Read, Seek, SeekFrom, Write};

use anyhow::Context;
use model::Timestamp;
use serde::{Deserialize, Serialize};
use settings::options::Options;
use settings::text_file::read_text_within;
use toml::Table;

use super::change::Change;
use super::order::OrderId;
use crate::CrawlDir;

/// Only the changes in this many last bytes of their file are read.
const JOURNAL_BYTES_MAX: u64 = 1 << 20;

/// The comment of `crawl.toml` that has the last change of settings, unless that is too long for the file of changes, too.
const NOTE: &str = "Changed last: ";

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
        let mut changes = Changed::written(dir)?;
        changes.extend(Changed::unwritten(dir, &changes));
        Ok(changes)
    }

    /// Those that their file has.
    fn written(dir: &CrawlDir) -> anyhow::Result<Vec<Self>> {
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

    /// A change that is in force, and that the file of changes lacks: the process that made it was killed.
    fn unwritten(dir: &CrawlDir, written: &[Self]) -> Option<Self> {
        let settings = read_text_within(&dir.settings()).ok()?;
        let note = settings.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(NOTE))?;
        let changed: Changed = serde_json::from_str(note).ok()?;
        // One that is older than all that was read was written before them.
        let is_newer = written.first().is_none_or(|first| first.at <= changed.at);
        (is_newer && !written.contains(&changed)).then_some(changed)
    }

    /// Writes the change that a killed process has left unwritten. The state must be open to commit.
    pub(crate) fn settle(dir: &CrawlDir) -> anyhow::Result<()> {
        match Changed::unwritten(dir, &Changed::written(dir)?) {
            Some(changed) => changed.write(dir),
            None => Ok(()),
        }
    }

    /// How many changes were made by an order. Nobody else may make changes meanwhile.
    pub(super) fn made_by(dir: &CrawlDir, order: &OrderId) -> anyhow::Result<usize> {
        Ok(Changed::all_of(dir)?.iter().filter(|changed| changed.order.as_ref() == Some(order)).count())
    }

    pub(super) fn of((order, change): (&OrderId, &Change), replaced: Option<Replaced>, date: Timestamp) -> Self {
        Changed { at: date.to_rfc3339(), change: change.clone(), replaced, order: Some(order.clone()) }
    }

    /// Writes the settings after it, with a note of it.
    pub(super) fn write_settings(&self, dir: &CrawlDir, after: &Options) -> anyhow::Result<()> {
        // A comment of TOML has no control characters; JSON escapes all but this one.
        let note = format!("{NOTE}{}", serde_json::to_string(self)?.replace('\u{7f}', "\\u007f"));
        dir.write_noted_options(after, if note.len() as u64 > JOURNAL_BYTES_MAX { "" } else { &note })
    }

    /// Writes it durably.
    pub(super) fn write(&self, dir: &CrawlDir) -> anyhow::Result<()> {
        let path = dir.changes();
        let write = || -> std::io::Result<()> {
            let is_new = !path.exists();
            let mut file = fresh::open(std::fs::OpenOptions::new().read(true).append(true).create(true), &path)?;
            let mut last = [b'\n'];
            if file.seek(SeekFrom::End(-1)).is_ok() {
                file.read_exact(&mut last)?;
            }
            // A line that a crash cut ends here.
            let end = if last == [b'\n'] { "" } else { "\n" };
            file.write_all(format!("{end}{}\n", serde_json::to_string(self)?).as_bytes())?;
            file.sync_data()?;
            if is_new { std::fs::File::open(dir.root())?.sync_all() } else { Ok(()) }
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use settings::site_name::SiteName;

    use super::*;
    use crate::steer::{AtRest, steer_stopped};

    /// A crawl with a site on hold.
    fn held() -> (tempfile::TempDir, CrawlDir, Change) {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        let site: SiteName = "a.test".parse().expect("a site");
        let options = Options { hold: vec![site.clone()], ..Options::default() };
        dir.create().expect("made");
        dir.write_options(&options).expect("written");
        drop(dir.open_store(&options).expect("a state"));
        (root, dir, Change::Release(vec![site]))
    }

    #[test]
    fn a_change_whose_maker_was_killed_before_it_was_noted_is_noted_once() {
        let (_root, dir, release) = held();
        let (order, at) = (OrderId::new(), Timestamp(1_700_000_000_000_000));
        // As the process that is killed leaves it: the settings have it, the file of changes does not.
        let changed = Changed::of((&order, &release), None, at);
        changed.write_settings(&dir, &Options::default()).expect("written");
        assert!(!dir.changes().exists());
        assert_eq!(Changed::all_of(&dir).expect("read"), std::slice::from_ref(&changed), "it is in force");
        // The command gives the order again, to a crawl that rests.
        assert_eq!(steer_stopped(&dir, &order, &release).expect("made"), AtRest::DoneBefore);
        for _ in 0..2 {
            assert_eq!(Changed::written(&dir).expect("read"), std::slice::from_ref(&changed));
            Changed::settle(&dir).expect("settled");
        }
        // Another order finds no site on hold, and says so.
        let refused = steer_stopped(&dir, &OrderId::new(), &release).expect_err("it is released");
        assert!(refused.to_string().contains("a.test is not on hold"), "{refused}");
        let later = steer_stopped(&dir, &OrderId::new(), &Change::Pause);
        assert_eq!(later.expect("made"), AtRest::Noted);
        let told: Vec<_> = Changed::written(&dir).expect("read").into_iter().map(|changed| changed.change).collect();
        assert_eq!(told, [release, Change::Pause]);
    }

    #[test]
    fn any_text_of_a_change_leaves_settings_that_can_be_read() {
        let (_root, dir, _) = held();
        let pattern = "*/\u{7f}\u{1}\u{85}\u{2028}\"\n#x\t*".to_owned();
        let options = Options { exclude: vec![pattern.clone()], ..Options::default() };
        let changed = Changed::of((&OrderId::new(), &Change::Exclude(vec![pattern])), None, Timestamp(1));
        changed.write_settings(&dir, &options).expect("written");
        assert_eq!(dir.options().expect("read").exclude, options.exclude);
        assert_eq!(Changed::all_of(&dir).expect("read"), [changed]);
        // One that is very long is not noted.
        let many = Change::Exclude(vec!["*/x*".repeat(1 << 18)]);
        Changed::of((&OrderId::new(), &many), None, Timestamp(1)).write_settings(&dir, &options).expect("written");
        assert_eq!(Changed::all_of(&dir).expect("read"), []);
    }
}
