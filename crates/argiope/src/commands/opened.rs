//! A crawl's directory opened to be read: what `status`, `explain`, `check` and `export` begin with.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use store::{Store, StoreError};

use crate::crawl_dir::CrawlDir;

/// A crawl's directory with its store, which nobody else can have open meanwhile.
pub(super) struct Opened {
    pub(super) dir: CrawlDir,
    pub(super) store: Arc<dyn Store>,
}

impl Opened {
    /// Opens the directory of a crawl.
    ///
    /// # Errors
    /// It holds no crawl, its state is gone or damaged, or a crawl is running in it.
    pub(super) fn new(root: &Path) -> anyhow::Result<Self> {
        let dir = CrawlDir::existing(root)?;
        if !dir.state().is_dir() {
            bail!(
                "{0}: the state of the crawl is gone (there is no state/): `argiope adopt {0}` makes another from the archive",
                root.display()
            );
        }
        let store = dir.open_store(&dir.options()?).map_err(|error| match error.downcast_ref() {
            Some(StoreError::InUse { .. }) => anyhow::anyhow!(
                "{} is in use by a running crawl or another command: try again when it has ended",
                root.display()
            ),
            _ => error,
        })?;
        Ok(Opened { dir, store })
    }

    /// The options of the crawl.
    ///
    /// # Errors
    /// `crawl.toml` cannot be read.
    pub(super) fn options(&self) -> anyhow::Result<crate::options::Options> {
        self.dir.options().context("the settings of the crawl")
    }
}
