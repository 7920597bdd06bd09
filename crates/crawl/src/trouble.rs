//! Sites in trouble: which they are, what for, and when they may be asked again.

use model::SiteRecord;
use serde::{Deserialize, Serialize};
use store::{CrawlView, StoreError};

/// Sites named, those that may be asked first.
const NAMED_MAX: usize = 5;

/// Sites read from the store at once.
const READ_AT_ONCE: usize = 1_000;

/// The sites of a crawl that are in trouble.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InTrouble {
    /// How many there are.
    pub sites: u64,
    /// When the first may be asked again.
    pub due: Option<String>,
    /// Some of them, those that may be asked first.
    pub named: Vec<Named>,
}

/// A site in trouble.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    /// The site.
    pub site: String,
    /// When it may be asked again.
    pub due: String,
    /// What it is in trouble for.
    pub reason: String,
}

impl InTrouble {
    /// Those that the store knows; `None` where there are none. All records of sites are read for it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(store: &dyn CrawlView) -> Result<Option<Self>, StoreError> {
        let mut found: Vec<SiteRecord> = Vec::new();
        let (mut sites, mut after) = (0, None);
        loop {
            let records = store.sites(after, READ_AT_ONCE)?;
            let Some(last) = records.last() else { break };
            after = Some(last.site.key());
            let before = found.len();
            found.extend(records.into_iter().filter(|record| record.aside.is_some()));
            sites += (found.len() - before) as u64;
            found.sort_by_key(|record| record.due_at);
            found.truncate(NAMED_MAX);
        }
        let due = found.first().map(|record| record.due_at.to_rfc3339());
        let named = found.iter().map(|record| Named {
            site: record.site.to_string(),
            due: record.due_at.to_rfc3339(),
            reason: trouble_of(record).unwrap_or_default(),
        });
        Ok((sites > 0).then(|| InTrouble { sites, due, named: named.collect() }))
    }
}

/// What keeps a site from being asked now; `None` where no trouble is known.
#[must_use]
pub fn trouble_of(record: &SiteRecord) -> Option<String> {
    let robots = record.robots.as_ref().filter(|robots| robots.failed_tries > 0);
    let aside = record.aside.as_ref().map(|aside| aside.reason.detail.clone());
    aside.or_else(|| robots.map(|robots| format!("robots.txt: {}", robots.answer)))
}
