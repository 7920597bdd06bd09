//! A view over another view.

use std::collections::{BTreeMap, BTreeSet};

use model::{Outcome, Position, Queued, SiteRecord, Visit};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::queued::sites_with_queue;
use crate::{CrawlView, Dates, Entry, Mark, Outlines, Segment, Slice, StoreError, Totals};

/// A view that passes calls on to another view, and replaces some of them.
pub trait Layer: Send + Sync {
    /// The view below.
    fn below(&self) -> &dyn CrawlView;

    /// [`CrawlView::pending`] as this view shows it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn shown_pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        self.below().pending(site, after, max)
    }

    /// [`CrawlView::with_queue`] as this view shows it: by [`Layer::shown_pending`].
    ///
    /// # Errors
    /// The store cannot be read.
    fn shown_with_queue(&self, sites: &[SiteKey]) -> Result<BTreeSet<SiteKey>, StoreError> {
        sites_with_queue(sites, |site| self.shown_pending(site, None, 1))
    }

    /// What [`CrawlView::get`] and [`CrawlView::scan`] show of an entry.
    ///
    /// # Errors
    /// The store cannot be read.
    fn shown_entry(&self, entry: Entry) -> Result<Entry, StoreError> {
        Ok(entry)
    }

    /// [`CrawlView::earlier`] as this view shows it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn shown_earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.below().earlier(key)
    }

    /// [`CrawlView::outlines`] as this view shows it: none, so that nothing passes by [`Layer::shown_entry`].
    ///
    /// # Errors
    /// The store cannot be read.
    fn shown_outlines(
        &self,
        _slice: Option<Slice>,
        _from: Option<&Mark>,
        _max: usize,
    ) -> Result<Option<Outlines>, StoreError> {
        Ok(None)
    }

    /// [`CrawlView::segments`] as this view shows it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn shown_segments(&self) -> Result<Vec<Segment>, StoreError> {
        self.below().segments()
    }

    /// [`CrawlView::site`] as this view shows it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn shown_site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.below().site(key)
    }
}

impl<T: Layer> CrawlView for T {
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        self.shown_pending(site, after, max)
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.below().get(key)?.map(|entry| self.shown_entry(entry)).transpose()
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.shown_earlier(key)
    }

    fn rounds(&self) -> Result<BTreeMap<u32, Dates>, StoreError> {
        self.below().rounds()
    }

    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.below().scan(after, max)?.into_iter().map(|entry| self.shown_entry(entry)).collect()
    }

    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.below().unrecorded(after, max)
    }

    fn in_state(
        &self,
        outcome: Option<Outcome>,
        after: Option<UrlKey>,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let Some(entries) = self.below().in_state(outcome, after, max)? else { return Ok(None) };
        entries.into_iter().map(|entry| self.shown_entry(entry)).collect::<Result<_, _>>().map(Some)
    }

    fn outlines(&self, slice: Option<Slice>, from: Option<&Mark>, max: usize) -> Result<Option<Outlines>, StoreError> {
        self.shown_outlines(slice, from, max)
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.shown_site(key)
    }

    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        self.below().sites(after, max)
    }

    fn with_queue(&self, sites: &[SiteKey]) -> Result<BTreeSet<SiteKey>, StoreError> {
        self.shown_with_queue(sites)
    }

    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        self.below().seeds()
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        self.shown_segments()
    }

    fn taken_back(&self) -> Result<BTreeMap<u32, Vec<u64>>, StoreError> {
        self.below().taken_back()
    }

    fn urls_taken_back(&self) -> Result<BTreeMap<u32, BTreeSet<UrlKey>>, StoreError> {
        self.below().urls_taken_back()
    }

    fn crawl_id(&self) -> Result<String, StoreError> {
        self.below().crawl_id()
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        self.below().totals()
    }
}
