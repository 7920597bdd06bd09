//! A crawl with the settings it goes by.

use engine::Settings;
use engine::clock::Clock;
use model::Timestamp;
use store::Store;

use crate::commands::opened::Opened;
use crate::plan::Plan;

/// A crawl's directory with its settings, its scope as wide as its seeds made it.
pub(super) struct Crawl {
    pub(super) opened: Opened,
    pub(super) settings: Settings,
    pub(super) keeps_archive: bool,
    pub(super) now: Timestamp,
}

impl Crawl {
    /// # Errors
    /// The settings or the state cannot be read.
    pub(super) fn new(opened: Opened) -> anyhow::Result<Self> {
        // Certificates are for fetching; that their file has gone is nobody's trouble here.
        let options = crate::options::Options { ca_cert: Vec::new(), ..opened.options()? };
        let Plan { mut settings, archive, .. } = Plan::new(&options)?;
        for seed in opened.store.seeds()? {
            settings.filter.scope.add_seed(&seed);
        }
        Ok(Crawl { opened, settings, keeps_archive: archive, now: Clock::start().now() })
    }

    pub(super) fn store(&self) -> &dyn Store {
        &self.opened.store
    }

    /// Nothing moves while the store is open here.
    pub(super) fn resume_advice(&self) -> String {
        format!("no crawl is running now: `argiope crawl -o {}` goes on", self.opened.dir.root().display())
    }
}
