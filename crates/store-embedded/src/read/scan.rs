//! All URLs in key order: those that were visited have a table in this order, those that wait one in the order of the queue, in
//! which the URLs of one rank of one site are in it.

use std::ops::Bound::{Included, Unbounded};

use model::Position;
use store::{Entry, StoreError, UrlRecord};
use weburl::{SiteKey, UrlKey};

use super::{View, following, place, url_key};
use crate::codec;
use crate::keys;
use crate::merged::merged;

/// URLs of one site in key order.
type Urls<'a> = Box<dyn Iterator<Item = Result<(UrlKey, UrlRecord), StoreError>> + 'a>;

impl View {
    pub(crate) fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        let first_of = |site| UrlKey { site, url: 0 };
        let mut next = match after {
            None => Some(first_of(SiteKey(0))),
            Some(UrlKey { site, url: u64::MAX }) => following(site).map(first_of),
            Some(UrlKey { site, url }) => Some(UrlKey { site, url: url + 1 }),
        };
        while let Some(from) = next.filter(|_| entries.len() < max) {
            let Some(site) = self.site_from(from.site)? else { break };
            let from = if site == from.site { from } else { first_of(site) };
            self.scan_site(from, max, &mut entries)?;
            next = following(site).map(first_of);
        }
        Ok(entries)
    }

    /// The first site from `site` on of which a URL is known.
    fn site_from(&self, site: SiteKey) -> Result<Option<SiteKey>, StoreError> {
        let visited = self.range(&self.tables.urls, Included(site.to_bytes()), Unbounded).next();
        let visited = visited.map(|entry| Ok(url_key(&self.key(entry)?, "urls")?.site)).transpose()?;
        let waiting = self.waiting_site(site, visited.unwrap_or(SiteKey(u64::MAX)))?;
        Ok(visited.into_iter().chain(waiting).min())
    }

    fn scan_site(&self, from: UrlKey, max: usize, to: &mut Vec<Entry>) -> Result<(), StoreError> {
        let mut parts = vec![self.visited_from(from)];
        let mut rank = Some(0);
        while let Some(least) = rank {
            let least = Included(keys::queue(from.site, Position { rank: least, url: 0 }));
            let Some(entry) = self.queued_in(least, Included(keys::last_of(from.site))).next() else { break };
            let (_, Position { rank: found, .. }) = place(&entry?.0)?;
            parts.push(self.waiting_from(found, from));
            rank = found.checked_add(1);
        }
        for url in merged(parts).take(max.saturating_sub(to.len())) {
            let (key, record) = url?;
            to.push(self.entry(key, record)?);
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

    /// The URLs that wait at a rank of the site, without those that were visited.
    fn waiting_from(&self, rank: u32, from: UrlKey) -> Urls<'_> {
        let place_of = |url| Included(keys::queue(from.site, Position { rank, url }));
        let queue = self.queued_in(place_of(from.url), place_of(u64::MAX));
        Box::new(queue.filter_map(|entry| {
            let read = entry.and_then(|(key, record)| {
                let (site, position) = place(&key)?;
                let key = UrlKey { site, url: position.url };
                let record = (!record.is_empty()).then(|| codec::decode_url(&record)).transpose()?;
                Ok(record.map(|record| (key, record)))
            });
            read.transpose()
        }))
    }
}
