//! Where a crawl is changed and asked.

use std::path::Path;

/// Where the commands that a text names find the crawl.
#[derive(Clone, Copy, Debug)]
pub enum At<'a> {
    /// In this directory, into which one process crawls at a time.
    Dir(&'a Path),
    /// In this directory, which is the archive of a crawl by several workers: its server makes all changes.
    Archive(&'a Path),
    /// At the server of such a crawl.
    Server,
}

impl At<'_> {
    /// The command for a change.
    pub(super) fn steer(self, change: &str) -> String {
        match self {
            At::Dir(dir) => format!("argiope steer {} {change}", dir.display()),
            At::Archive(_) | At::Server => format!("argiope client steer {change}"),
        }
    }

    /// The command that begins a round.
    pub(super) fn again(self) -> String {
        match self {
            At::Dir(dir) => format!("argiope crawl -o {} --again", dir.display()),
            At::Archive(_) | At::Server => "argiope client again".to_owned(),
        }
    }

    /// The directory, if there is one.
    pub(super) fn dir(&self) -> Option<&Path> {
        match self {
            At::Dir(dir) | At::Archive(dir) => Some(dir),
            At::Server => None,
        }
    }
}
