//! A crawl that cannot be read or changed at this moment, though nothing is wrong with it.

use std::path::{Path, PathBuf};

use store::StoreError;

use crate::socket::{self, Forbidden};

/// Why a crawl cannot be read or changed now.
#[derive(Debug, thiserror::Error)]
pub enum Unready {
    /// Its run is ending: it answers nothing any more. A moment later it rests.
    #[error("the crawl is ending")]
    Ending,
    /// Seeds are for a run, and none goes on.
    #[error("{0}: no crawl runs there: `argiope crawl -o {0}` goes on with it, and takes seeds", root.display())]
    NoRunForSeeds {
        /// The directory.
        root: PathBuf,
    },
    /// A run is to stop, and none goes on.
    #[error("{}: no crawl runs there, so there is nothing to stop", root.display())]
    NothingToStop {
        /// The directory.
        root: PathBuf,
    },
    /// What takes a change back is something else by now.
    #[error("somebody has changed the crawl meanwhile")]
    Outdated,
    /// The process that crawls is stopped, and answers nothing until it goes on.
    #[error("{}: {process} crawls there and is stopped: `kill -CONT {pid}` lets it go on", root.display())]
    Stopped {
        /// The directory.
        root: PathBuf,
        /// The process in words, and its number.
        process: String,
        /// Its number.
        pid: u32,
    },
    /// A crawl runs there, and this user may not ask it.
    #[error(
        "{socket}: Permission denied: the crawl in {root} runs, and answers only its owner, the user with the number {owner}, who may change it too: \
         run this command as that user (`sudo -u '#{owner}' argiope …`), or when the crawl has ended; `chmod o+w {socket}` lets all users \
         ask and change it until it ends",
        root = root.display(), socket = socket.display()
    )]
    Forbidden {
        /// The directory.
        root: PathBuf,
        /// The socket at which it answers.
        socket: PathBuf,
        /// The number of its owner.
        owner: u32,
    },
    /// The state is in a database, where the server and the workers of its crawl may have it.
    #[error(
        "{} is in use by the server or a worker of its crawl, or by another command: drain the workers (`argiope client drain`), end the server \
         with SIGTERM, and try again",
        root.display()
    )]
    InUseByWorkers {
        /// The directory: the archive of the crawl.
        root: PathBuf,
    },
    /// Another process has it, and cannot be asked.
    #[error("{} is in use by another command, or by a crawl that cannot be asked: try again when it has ended", root.display())]
    InUse {
        /// The directory.
        root: PathBuf,
    },
}

impl Unready {
    /// Of a directory that another process has.
    pub(crate) fn in_use(root: &Path) -> Self {
        let root = root.to_owned();
        match socket::forbidden(&root) {
            Some(Forbidden { socket, owner }) => Unready::Forbidden { root, socket, owner },
            None => Unready::InUse { root },
        }
    }
}

/// True for an error that passes by itself: a run that was asked has ended, or another process uses the state for a while.
#[must_use]
pub fn is_passing(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(cause.downcast_ref(), Some(StoreError::Ended { .. } | StoreError::InUse { .. }))
            || matches!(
                cause.downcast_ref(),
                Some(
                    Unready::Ending
                        | Unready::Stopped { .. }
                        | Unready::Forbidden { .. }
                        | Unready::InUseByWorkers { .. }
                        | Unready::InUse { .. }
                )
            )
    })
}

/// True for the error that the run has ended that was asked.
#[must_use]
pub fn has_ended(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(StoreError::Ended { .. })))
}

/// True for the error that another process uses the state.
#[must_use]
pub fn is_in_use(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::InUse { .. }))
}
