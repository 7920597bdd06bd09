//! The page directory: files named 0, 1, 2, … and nothing else.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use settings::usage;

/// A directory that exists and can be written to.
#[derive(Clone, Debug)]
pub struct PageDir {
    root: PathBuf,
}

impl PageDir {
    /// Checks that the directory is there and can be written to. It leaves no trace.
    pub(crate) fn open(root: PathBuf) -> anyhow::Result<Self> {
        let dir = PageDir { root };
        match dir.root.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!(usage(format!("pageDirectory {dir} does not exist")))
            }
            Err(error) => bail!(usage(format!("pageDirectory {dir}: {}", shown(&error)))),
            Ok(metadata) if !metadata.is_dir() => bail!(usage(format!("pageDirectory {dir} is not a directory"))),
            Ok(_) => {}
        }
        // A file without a name shows it better than the permission bits do.
        match tempfile::tempfile_in(&dir.root) {
            Err(error) => bail!(usage(format!("pageDirectory {dir} cannot be written to: {}", shown(&error)))),
            Ok(_) => Ok(dir),
        }
    }

    pub(crate) fn is_empty(&self) -> anyhow::Result<bool> {
        Ok(self.entries()?.next().is_none())
    }

    /// The directory beside this one that has the same name with this ending.
    pub(crate) fn sibling(&self, ending: &str) -> anyhow::Result<PathBuf> {
        let canonical;
        let mut path = &self.root;
        if path.file_name().is_none() {
            canonical = path.canonicalize().with_context(|| self.to_string())?;
            path = &canonical;
        }
        let Some(name) = path.file_name() else {
            bail!(usage(format!("pageDirectory {self} has no name: say with -o where to keep the state of the crawl")));
        };
        let mut name = name.to_owned();
        name.push(ending);
        Ok(path.with_file_name(name))
    }

    /// Whether a path, which need not exist, lies in this directory or is it.
    pub(crate) fn contains(&self, path: &Path) -> anyhow::Result<bool> {
        let root = self.root.canonicalize().with_context(|| self.to_string())?;
        let path = std::path::absolute(path).with_context(|| path.display().to_string())?;
        let existing = path.ancestors().find_map(|above| above.canonicalize().ok());
        Ok(existing.is_some_and(|existing| existing.starts_with(root)))
    }

    /// The ids of the pages that are there.
    ///
    /// # Errors
    /// There is something that cannot be a page.
    pub(crate) fn ids(&self) -> anyhow::Result<BTreeSet<u64>> {
        let mut ids = BTreeSet::new();
        for entry in self.entries()? {
            let name = entry.with_context(|| format!("cannot read {self}"))?.file_name();
            let id = name.to_str().and_then(|name| name.parse::<u64>().ok().filter(|id| id.to_string() == name));
            match id {
                Some(id) => ids.insert(id),
                None => bail!(self.foreign(&name.to_string_lossy())),
            };
        }
        Ok(ids)
    }

    /// The error where a file is no page of the crawl at hand.
    pub(crate) fn foreign(&self, name: &str) -> anyhow::Error {
        usage(format!("pageDirectory {self} holds `{name}`, which is no page of this crawl: choose an empty directory"))
    }

    /// The first bytes of a page's file: at most `bytes_max`.
    pub(crate) fn begins(&self, id: u64, bytes_max: usize) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = fresh::open_to_read(&self.file(id));
        file.and_then(|file| file.take(bytes_max as u64).read_to_end(&mut bytes))
            .with_context(|| format!("cannot read {}", self.file(id).display()))?;
        Ok(bytes)
    }

    /// Writes a page's file. Nobody sees half of it: it is written as `staging` and then given its name.
    pub(crate) fn write(&self, staging: &Path, id: u64, parts: &[&[u8]]) -> anyhow::Result<()> {
        let file = self.file(id);
        let written = write(staging, parts).and_then(|()| match std::fs::rename(staging, &file) {
            // The page directory lies on another disk.
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                write(&file, parts).and_then(|()| std::fs::remove_file(staging))
            }
            renamed => renamed,
        });
        written.with_context(|| format!("cannot write {}", file.display()))
    }

    fn file(&self, id: u64) -> PathBuf {
        self.root.join(id.to_string())
    }

    fn entries(&self) -> anyhow::Result<std::fs::ReadDir> {
        self.root.read_dir().with_context(|| format!("cannot read {self}"))
    }
}

impl fmt::Display for PageDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.display().fmt(f)
    }
}

fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = fresh::create(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.sync_all()
}

/// What the system says, without the number and the path that libraries add.
fn shown(error: &io::Error) -> String {
    io::Error::from(error.kind()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_lies_beside_the_directory() {
        let check = |path: &str, expect: &str| {
            let dir = PageDir { root: path.into() };
            assert_eq!(dir.sibling(".crawl").expect("a name"), Path::new(expect), "{path}");
        };
        check("data", "data.crawl");
        check("./data/", "./data.crawl");
        check("/tmp/a/../data", "/tmp/a/../data.crawl");
        let root = PageDir { root: "/".into() };
        assert!(root.sibling(".crawl").is_err());
    }

    #[test]
    fn only_numbers_are_pages() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = PageDir::open(root.path().to_owned()).expect("usable");
        assert!(dir.is_empty().expect("read"));
        for name in ["0", "2", "10"] {
            std::fs::write(root.path().join(name), "").expect("written");
        }
        assert_eq!(dir.ids().expect("pages"), BTreeSet::from([0, 2, 10]));
        for name in ["03", "a", "-1", ".crawler"] {
            std::fs::write(root.path().join(name), "").expect("written");
            assert!(dir.ids().is_err(), "{name}");
            std::fs::remove_file(root.path().join(name)).expect("removed");
        }
    }

    #[test]
    fn a_link_and_a_pipe_are_not_read() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = PageDir::open(root.path().to_owned()).expect("usable");
        std::fs::write(dir.file(0), "a page").expect("written");
        std::os::unix::fs::symlink(dir.file(0), dir.file(1)).expect("a link");
        assert!(std::process::Command::new("mkfifo").arg(dir.file(2)).status().expect("mkfifo").success());
        assert_eq!(dir.begins(0, 2).expect("read"), b"a ");
        for (id, why) in [(1, "it is a symbolic link"), (2, "it is not a regular file")] {
            let error = dir.begins(id, 2).expect_err("no page");
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }

    #[test]
    fn what_lies_in_the_directory_is_known_by_any_path() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = PageDir::open(root.path().to_owned()).expect("usable");
        for (path, expect) in [("", true), ("x/y", true), ("../x", false), ("..", false)] {
            assert_eq!(dir.contains(&root.path().join(path)).expect("read"), expect, "{path}");
        }
    }
}
