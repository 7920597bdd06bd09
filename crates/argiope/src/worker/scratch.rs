//! A worker's directory: what is in it is void once the worker is lost.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::crawl_dir::CrawlDir;

/// A directory of a worker's own, laid out as that of a crawl.
pub struct Scratch {
    root: PathBuf,
    /// Removed at the end, where it is a temporary one.
    _temporary: Option<TempDir>,
}

impl Scratch {
    /// The directory given, or a temporary one.
    ///
    /// # Errors
    /// It cannot be made, or there is something else in it.
    pub fn new(given: Option<&Path>) -> anyhow::Result<Self> {
        let Some(root) = given else {
            let temporary =
                tempfile::Builder::new().prefix("argiope-worker-").tempdir().context("a temporary directory")?;
            return Ok(Scratch { root: temporary.path().to_owned(), _temporary: Some(temporary) });
        };
        std::fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        let is_empty = root.read_dir().with_context(|| format!("cannot read {}", root.display()))?.next().is_none();
        if !is_empty && !CrawlDir::at(root).holds_crawl() {
            bail!(
                "{}: is not empty, and what is there is no worker's: choose another directory with --dir",
                root.display()
            );
        }
        if CrawlDir::at(root).state().exists() {
            bail!("{}: holds a crawl with a state of its own: choose another directory with --dir", root.display());
        }
        Ok(Scratch { root: root.to_owned(), _temporary: None })
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory with nothing in it.
    ///
    /// # Errors
    /// It cannot be emptied.
    pub fn emptied(&self) -> anyhow::Result<CrawlDir> {
        let empty = || -> io::Result<()> {
            for entry in self.root.read_dir()? {
                let path = entry?.path();
                if path.is_dir() { std::fs::remove_dir_all(path)? } else { std::fs::remove_file(path)? }
            }
            Ok(())
        };
        empty().with_context(|| format!("cannot empty {}", self.root.display()))?;
        Ok(CrawlDir::at(&self.root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_worker_left_is_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let refused = || Scratch::new(Some(dir.path())).err().map(|error| error.to_string()).unwrap_or_default();
        std::fs::write(dir.path().join("crawl.toml"), "").expect("a file");
        std::fs::create_dir(dir.path().join("archive")).expect("a directory");
        Scratch::new(Some(dir.path())).expect("a worker's").emptied().expect("emptied");
        assert_eq!(dir.path().read_dir().expect("there").count(), 0);
        std::fs::write(dir.path().join("letters"), "").expect("a file");
        assert!(refused().contains("is not empty, and what is there is no worker's"), "{}", refused());
        std::fs::write(dir.path().join("crawl.toml"), "").expect("a file");
        std::fs::create_dir(dir.path().join("state")).expect("a directory");
        assert!(refused().contains("holds a crawl with a state of its own"), "{}", refused());
    }
}
