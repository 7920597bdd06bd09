//! All URLs in key order: those that were visited have a table in this order, those that wait one in the order of the queue, in
//! which the URLs of one rank of one site are in it.

use std::ops::Bound::{Excluded, Included, Unbounded};

use fjall::Slice;
use model::{Outcome, Position};
use store::{Entry, StoreError, UrlRecord};
use weburl::{SiteKey, UrlKey};

use super::{View, damaged, following, place, url_key};
use crate::codec;
use crate::keys;
use crate::merged::merged;

/// URLs of one site in key order.
type Urls<'a> = Box<dyn Iterator<Item = Result<(UrlKey, UrlRecord), StoreError>> + 'a>;

impl View {
    pub(crate) fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        let mut next = behind(after);
        while let Some(from) = next.filter(|_| entries.len() < max) {
            let Some(site) = self.site_from(from.site)? else { break };
            let from = if site == from.site { from } else { first_of(site) };
            self.scan_site(from, max, &mut entries)?;
            next = following(site).map(first_of);
        }
        Ok(entries)
    }

    /// The URLs in a state.
    pub(crate) fn in_state(
        &self,
        outcome: Option<Outcome>,
        after: Option<UrlKey>,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        match outcome {
            None => self.waiting_after(after, max).map(Some),
            Some(outcome) if self.tables.has_outcomes => self.ended(outcome, after, max).map(Some),
            Some(_) => Ok(None),
        }
    }

    /// The URLs whose last visit had this outcome.
    fn ended(&self, outcome: Outcome, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Included(first_of(SiteKey(0))), Excluded).map(|key| keys::by_outcome(outcome, key));
        let last = UrlKey { site: SiteKey(u64::MAX), url: u64::MAX };
        let found = self.range(&self.tables.by_outcome, from, Included(keys::by_outcome(outcome, last)));
        let found = found.take(max).map(|entry| {
            let key = keys::url_by_outcome(&self.key(entry)?);
            let key = key.ok_or_else(|| damaged("by-outcome", "a key of the wrong length"))?;
            self.get(key)?.ok_or_else(|| damaged("by-outcome", "its URL is missing"))
        });
        found.collect()
    }

    /// The URLs that wait for their first visit.
    fn waiting_after(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        let mut next = behind(after);
        while let Some(from) = next.filter(|_| entries.len() < max) {
            let Some(site) = self.waiting_site(from.site, SiteKey(u64::MAX))? else { break };
            let from = if site == from.site { from } else { first_of(site) };
            let mut ranks = Vec::new();
            self.each_rank(from.site, |rank| ranks.push(self.never_visited_from(rank, from)))?;
            for url in merged(ranks).take(max.saturating_sub(entries.len())) {
                let (key, record) = url?;
                entries.push(self.entry(key, record)?);
            }
            next = following(site).map(first_of);
        }
        Ok(entries)
    }

    /// The first site from `site` on of which a URL is known.
    pub(super) fn site_from(&self, site: SiteKey) -> Result<Option<SiteKey>, StoreError> {
        let visited = self.range(&self.tables.urls, Included(site.to_bytes()), Unbounded).next();
        let visited = visited.map(|entry| Ok(url_key(&self.key(entry)?, "urls")?.site)).transpose()?;
        let waiting = self.waiting_site(site, visited.unwrap_or(SiteKey(u64::MAX)))?;
        Ok(visited.into_iter().chain(waiting).min())
    }

    fn scan_site(&self, from: UrlKey, max: usize, to: &mut Vec<Entry>) -> Result<(), StoreError> {
        let mut parts = vec![self.visited_from(from)];
        self.each_rank(from.site, |rank| parts.push(self.waiting_from(rank, from)))?;
        for url in merged(parts).take(max.saturating_sub(to.len())) {
            let (key, record) = url?;
            to.push(self.entry(key, record)?);
        }
        Ok(())
    }

    /// The ranks in the queue of a site.
    pub(super) fn each_rank(&self, site: SiteKey, mut each: impl FnMut(u32)) -> Result<(), StoreError> {
        let mut rank = Some(0);
        while let Some(least) = rank {
            let least = Included(keys::queue(site, Position { rank: least, url: 0 }));
            let Some(entry) = self.queued_in(least, Included(keys::last_of(site))).next() else { break };
            let (_, Position { rank: found, .. }) = place(&entry?.0)?;
            each(found);
            rank = found.checked_add(1);
        }
        Ok(())
    }

    fn visited_from(&self, from: UrlKey) -> Urls<'_> {
        let last = UrlKey { url: u64::MAX, ..from };
        let urls = self.range(&self.tables.urls, Included(from.to_bytes()), Included(last.to_bytes()));
        Box::new(urls.map(|entry| {
            let (key, record) = self.pair(entry)?;
            Ok((url_key(&key, "urls")?, codec::decode_url(&record)?))
        }))
    }

    /// The URLs that wait at a rank of the site for their first visit.
    fn never_visited_from(&self, rank: u32, from: UrlKey) -> Urls<'_> {
        let urls = self.queue_from(rank, from).map(|entry| {
            let (key, record) = entry?;
            Ok((key, self.waiting(key, &record)?))
        });
        Box::new(urls.filter(|url| url.as_ref().is_ok_and(|(_, record)| record.visit.is_none()) || url.is_err()))
    }

    /// The URLs that wait at a rank of the site, without those that were visited.
    fn waiting_from(&self, rank: u32, from: UrlKey) -> Urls<'_> {
        Box::new(self.queue_from(rank, from).filter_map(|entry| {
            let read = entry.and_then(|(key, record)| {
                let record = (!record.is_empty()).then(|| codec::decode_url(&record)).transpose()?;
                Ok(record.map(|record| (key, record)))
            });
            read.transpose()
        }))
    }

    /// What stands at a rank of the queue of a site.
    fn queue_from(
        &self,
        rank: u32,
        from: UrlKey,
    ) -> impl Iterator<Item = Result<(UrlKey, Slice), StoreError>> + use<'_> {
        let place_of = |url| Included(keys::queue(from.site, Position { rank, url }));
        self.queued_in(place_of(from.url), place_of(u64::MAX)).map(|entry| {
            let (key, record) = entry?;
            let (site, position) = place(&key)?;
            Ok((UrlKey { site, url: position.url }, record))
        })
    }
}

pub(super) fn first_of(site: SiteKey) -> UrlKey {
    UrlKey { site, url: 0 }
}

/// The first key behind another, or of all.
pub(super) fn behind(after: Option<UrlKey>) -> Option<UrlKey> {
    match after {
        None => Some(first_of(SiteKey(0))),
        Some(UrlKey { site, url: u64::MAX }) => following(site).map(first_of),
        Some(UrlKey { site, url }) => Some(UrlKey { site, url: url + 1 }),
    }
}
