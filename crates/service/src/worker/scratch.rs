//! A worker's directory: what is in it is void once the worker is lost.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fresh::Temporary;

use crawl::CrawlDir;
use crawl::held::Held;

/// The file by which a directory is known to be a worker's.
const MARK: &str = "worker-scratch";

/// A directory of a worker's own, laid out as that of a crawl.
pub struct Scratch {
    root: PathBuf,
    held: Held,
    /// Removed at the end, where it is a temporary one.
    _temporary: Option<Temporary>,
}

impl Scratch {
    /// The directory given, or a temporary one.
    ///
    /// # Errors
    /// It cannot be made, or there is something else in it.
    pub fn new(given: Option<&Path>) -> anyhow::Result<Self> {
        let Some(root) = given else {
            let temporary = Temporary::new_in(&std::env::temp_dir()).context("a temporary directory")?;
            return Self::at(temporary.path().to_owned(), Some(temporary));
        };
        // What a worker left that was killed.
        Temporary::sweep(&std::env::temp_dir());
        std::fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        let is_empty = root.read_dir().with_context(|| format!("cannot read {}", root.display()))?.next().is_none();
        if !is_empty && !CrawlDir::at(root).holds_crawl() && !root.join(MARK).is_file() {
            bail!(
                "{}: is not empty, and not a worker's directory: choose another directory with --dir",
                root.display()
            );
        }
        if CrawlDir::at(root).state().exists() {
            bail!("{}: holds a crawl with a state of its own: choose another directory with --dir", root.display());
        }
        // The archive of a crawl whose state was lost looks like what a worker leaves, but for the mark.
        let archive = CrawlDir::at(root).archive();
        let holds_segments = archive.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if holds_segments && !root.join(MARK).is_file() {
            bail!(
                "{}: holds an archive that may be of a crawl whose state was lost: choose another directory with --dir, or remove \
                 this one if only workers used it",
                root.display()
            );
        }
        Self::at(root.to_owned(), None)
    }

    fn at(root: PathBuf, temporary: Option<Temporary>) -> anyhow::Result<Self> {
        let held = Held::of([root.clone()]).with_context(|| format!("cannot look at {}", root.display()))?;
        Ok(Scratch { root, held, _temporary: temporary })
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory with nothing in it but the mark that it is a worker's.
    ///
    /// # Errors
    /// It cannot be emptied, or is another than it was.
    pub fn emptied(&self) -> anyhow::Result<CrawlDir> {
        self.held.check()?;
        let empty = || -> io::Result<()> {
            let mark = self.root.join(MARK);
            fresh::open_or_create(&mark)?;
            for entry in self.root.read_dir()? {
                let entry = entry?;
                let path = entry.path();
                match entry.file_type()?.is_dir() {
                    _ if path == mark => {}
                    true => std::fs::remove_dir_all(path)?,
                    false => std::fs::remove_file(path)?,
                }
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
    fn an_archive_without_its_state_is_no_workers() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("crawl.toml"), "").expect("a file");
        std::fs::create_dir(dir.path().join("archive")).expect("a directory");
        std::fs::write(dir.path().join("archive/argiope-20260101000000-00000.warc.gz"), "").expect("a file");
        let error = Scratch::new(Some(dir.path())).err().expect("refused").to_string();
        assert!(error.contains("holds an archive that may be of a crawl whose state was lost"), "{error}");
    }

    #[test]
    fn a_directory_that_took_the_place_is_not_emptied() {
        let dir = tempfile::tempdir().expect("a directory");
        let (root, moved) = (dir.path().join("scratch"), dir.path().join("moved"));
        let scratch = Scratch::new(Some(&root)).expect("a worker's");
        std::fs::rename(&root, moved).expect("moved");
        std::fs::create_dir(&root).expect("another");
        std::fs::write(root.join("letters"), "").expect("a file");
        scratch.emptied().expect_err("another's");
        assert!(root.join("letters").exists());
    }

    #[test]
    fn only_what_a_worker_left_is_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let refused = || Scratch::new(Some(dir.path())).err().map(|error| error.to_string()).unwrap_or_default();
        std::fs::write(dir.path().join("crawl.toml"), "").expect("a file");
        std::fs::create_dir(dir.path().join("archive")).expect("a directory");
        Scratch::new(Some(dir.path())).expect("a worker's").emptied().expect("emptied");
        let left: Vec<_> =
            dir.path().read_dir().expect("there").map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(left, [MARK]);
        std::fs::create_dir(dir.path().join("archive")).expect("a directory");
        std::fs::write(dir.path().join("archive/one"), "").expect("a file");
        std::fs::write(dir.path().join("crawl.toml"), "").expect("a file");
        Scratch::new(Some(dir.path())).expect("a worker's").emptied().expect("emptied");
        std::fs::remove_file(dir.path().join(MARK)).expect("removed");
        std::fs::write(dir.path().join("letters"), "").expect("a file");
        assert!(refused().contains("is not empty, and not a worker's directory"), "{}", refused());
        std::fs::write(dir.path().join("crawl.toml"), "").expect("a file");
        std::fs::create_dir(dir.path().join("state")).expect("a directory");
        assert!(refused().contains("holds a crawl with a state of its own"), "{}", refused());
    }
}
