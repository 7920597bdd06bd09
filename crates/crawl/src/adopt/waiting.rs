//! A state as the engine is to see it while pages are taken in: of its queues only the URLs that there is an answer of.

use std::collections::HashSet;
use std::sync::Arc;

use model::{ContentDigest, PayloadDigest, Position, Queued, SiteRecord};
use store::{Batch, Committed, CrawlView, Layer, Store, StoreError};
use weburl::{SiteKey, UrlKey};

/// A [`Store`] that hides what waits for the network.
pub(super) struct Waiting {
    below: Arc<dyn Store>,
    answered: HashSet<UrlKey>,
}

impl Waiting {
    pub(super) fn new(below: Arc<dyn Store>, answered: HashSet<UrlKey>) -> Self {
        Waiting { below, answered }
    }

    /// Links that are to be judged again need no network.
    fn is_shown(&self, queued: &Queued) -> bool {
        queued.visited.is_some() || self.answered.contains(&queued.candidate.url.key())
    }
}

impl Layer for Waiting {
    fn below(&self) -> &dyn CrawlView {
        &*self.below
    }

    fn shown_pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        let (mut shown, mut after) = (Vec::new(), after);
        loop {
            let window = self.below.pending(site, after, max)?;
            let is_last = window.len() < max;
            after = window.last().map(|queued| queued.candidate.position());
            shown.extend(window.into_iter().filter(|queued| self.is_shown(queued)));
            if is_last || shown.len() >= max {
                // What is beyond is read again.
                shown.truncate(max);
                return Ok(shown);
            }
        }
    }

    /// The record of a site without its robots.txt and its failures, which would keep the engine from its pages.
    fn shown_site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        let site = self.below.site(key)?;
        Ok(site.map(|site| SiteRecord { robots: None, aside: None, given_up: None, failures_in_a_row: 0, ..site }))
    }
}

impl Store for Waiting {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut committed = self.below.commit(batch)?;
        committed.fresh.retain(|candidate| self.answered.contains(&candidate.url.key()));
        committed.relaxed.retain(|relaxed| relaxed.queued.as_ref().is_none_or(|queued| self.is_shown(queued)));
        Ok(committed)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        self.below.sites_with_pending(after, max)
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.below.holder(content, label)
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        self.below.view()
    }
}
