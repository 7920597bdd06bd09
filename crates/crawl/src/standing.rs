//! A crawl's directory that is asked again and again.
//!
//! Opening the state of a crawl that rests replays its journals. So the state stays open between two questions, apart from the directory: a
//! crawl can begin meanwhile. Each question gets the state after the last commit.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use store_embedded::EmbeddedStore;

use crate::opened::Opened;
use crate::{CrawlDir, live};

/// A directory, and its state if it is open.
pub struct Standing {
    root: PathBuf,
    kept: Mutex<Option<(AsOf, Arc<Opened>)>>,
}

/// What tells a commit from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AsOf {
    /// The directory of the state: another crawl may have taken its place.
    device: u64,
    inode: u64,
    /// The number of the last commit.
    commit: u64,
}

impl AsOf {
    /// Of the state in a directory. `None` where no number is known, as of a state in a database.
    fn of(dir: &CrawlDir) -> anyhow::Result<Option<Self>> {
        let state = dir.state();
        let Ok(metadata) = state.metadata() else { return Ok(None) };
        let commit = EmbeddedStore::acknowledged(&state)?;
        Ok(commit.map(|commit| AsOf { device: metadata.dev(), inode: metadata.ino(), commit }))
    }
}

impl Standing {
    /// A directory that will be asked.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Standing { root, kept: Mutex::default() }
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The crawl after its last commit, whether it runs or rests.
    ///
    /// # Errors
    /// As [`Opened::new`].
    pub fn now(&self) -> anyhow::Result<Arc<Opened>> {
        let dir = CrawlDir::existing(&self.root)?;
        if live::runs(&self.root) {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
            // The run may end before it answers.
            return Ok(Arc::new(Opened::apart(&self.root)?));
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Read before the state: a commit in between makes the next question open it again.
        let as_of = AsOf::of(&dir)?;
        if let (Some((of, opened)), Some(as_of)) = (&*kept, as_of)
            && *of == as_of
        {
            return Ok(opened.clone());
        }
        let opened = Arc::new(Opened::apart(&self.root)?);
        *kept = as_of.filter(|_| opened.is_apart()).map(|as_of| (as_of, opened.clone()));
        Ok(opened)
    }

    /// Whether each question gets this one until there is another commit. Of a run, and of a state in a database, each gets its own.
    #[must_use]
    pub fn keeps(&self, opened: &Arc<Opened>) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().is_some_and(|(_, kept)| Arc::ptr_eq(kept, opened))
    }

    /// The same, with the files of the dataset complete.
    ///
    /// # Errors
    /// As [`Opened::with_dataset`].
    pub fn with_dataset(&self) -> anyhow::Result<Arc<Opened>> {
        live::publish(&self.root)?;
        self.now()
    }
}
