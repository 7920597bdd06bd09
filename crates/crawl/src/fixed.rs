//! What decides which URLs belong to a crawl, as it was when the crawl began: `state/fixed.toml`. `crawl.toml` is for users to edit, and may be
//! emptied or replaced. Without a second copy such a file would change depth and scope in mid-crawl.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use settings::options::{FIXED, Options};
use settings::usage;
use toml::{Table, Value};

use crate::CrawlDir;

/// The largest size that is read, in bytes.
const BYTES_MAX: u64 = 1 << 20;
/// Stands for a setting that was not given.
const NOT_GIVEN: &str = "";

/// Writes down what is fixed from now on. What is there already stays.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn keep(dir: &CrawlDir, options: &Options) -> anyhow::Result<()> {
    let path = path(dir);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let text =
        format!("# These settings cannot change within the crawl; an empty text was not given.\n{}", of(options)?);
    let temporary = path.with_extension("toml.tmp");
    let write = || -> std::io::Result<()> {
        fresh::write(&temporary, text.as_bytes())?;
        std::fs::File::open(&temporary)?.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        std::fs::File::open(dir.state())?.sync_all()
    };
    fresh::renamed(&temporary, write).with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses options of `crawl.toml` that fix other things than the crawl began with. Crawls of earlier versions have not written down what they
/// began with.
///
/// # Errors
/// Something differs: it is named, with how it was. Or the file cannot be read.
pub(crate) fn check(dir: &CrawlDir, on_disk: &Options) -> anyhow::Result<()> {
    let path = path(dir);
    let mut text = String::new();
    match fresh::open_to_read(&path).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        // It is no text.
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(error).with_context(|| damaged(dir, &path))?,
        read => read.with_context(|| path.display().to_string())?,
    };
    let began = toml::from_str::<Table>(&text).with_context(|| damaged(dir, &path))?;
    let now = of(on_disk)?;
    let changed = began.iter().filter(|(key, value)| now.get(*key).is_some_and(|now| now != *value));
    let lines: Vec<String> = changed
        .map(|(key, value)| match value.as_str() {
            Some(NOT_GIVEN) => format!("no {key}"),
            _ => format!("{key} = {value}"),
        })
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    bail!(usage(format!(
        "{}: the crawl began with {}, which cannot change in mid-crawl: write this back, or choose another directory with -o",
        dir.settings().display(),
        lines.join(", ")
    )))
}

fn damaged(dir: &CrawlDir, path: &Path) -> String {
    let (path, settings) = (path.display(), dir.settings());
    format!(
        "{path} is damaged: if {} is as the crawl began, remove the file, and the next run writes it again",
        settings.display()
    )
}

fn path(dir: &CrawlDir) -> PathBuf {
    dir.state().join("fixed.toml")
}

/// The values of the settings that are fixed.
fn of(options: &Options) -> anyhow::Result<Table> {
    let given = Table::try_from(options)?;
    let value = |key: &str| given.get(key).cloned().unwrap_or_else(|| Value::String(NOT_GIVEN.to_owned()));
    Ok(FIXED.iter().map(|key| ((*key).to_owned(), value(key))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_damaged_file_is_to_be_removed() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        std::fs::create_dir(dir.state()).expect("made");
        let refused = || format!("{:#}", check(&dir, &Options::default()).expect_err("refused"));
        for damaged in [&b"depth = = 1"[..], b"\xff"] {
            std::fs::write(path(&dir), damaged).expect("written");
            assert!(refused().contains("fixed.toml is damaged: if "), "{}", refused());
        }
        std::fs::remove_file(path(&dir)).expect("removed");
        std::os::unix::fs::symlink("/dev/null", path(&dir)).expect("a link");
        assert!(refused().contains("fixed.toml: it is a symbolic link"), "{}", refused());
    }
}
