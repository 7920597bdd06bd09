//! All URLs in key order: those that were visited have a table in this order, those that wait one in the order of the queue, in
//! which the URLs of one rank of one site are in it.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::{Arc, PoisonError};

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
            let Some(site) = site_at(from, |site| self.site_from(site))? else { break };
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
            let found = site_at(from, |site| self.waiting_site(site, SiteKey(u64::MAX)));
            let Some(site) = found? else { break };
            let from = if site == from.site { from } else { first_of(site) };
            let ranks = self.ranks(from.site)?;
            for url in merged(ranks.iter().map(|rank| self.never_visited_from(*rank, from)))
                .take(max.saturating_sub(entries.len()))
            {
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
        parts.extend(self.ranks(from.site)?.iter().map(|rank| self.waiting_from(*rank, from)));
        for url in merged(parts).take(max.saturating_sub(to.len())) {
            let (key, record) = url?;
            to.push(self.entry(key, record)?);
        }
        Ok(())
    }

    /// The ranks in the queue of a site. A view stays as it is, so those of the last site are kept: what reads a large site piece by piece would
    /// have the engine read all that has left its queue for each piece.
    pub(super) fn ranks(&self, site: SiteKey) -> Result<Arc<[u32]>, StoreError> {
        let kept = || self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, ranks)) = &*kept()
            && *of == site
        {
            return Ok(ranks.clone());
        }
        #[cfg(test)]
        super::LOOKS.set(super::LOOKS.get() + 1);
        let (mut ranks, mut rank) = (Vec::new(), Some(0));
        while let Some(least) = rank {
            let least = Included(keys::queue(site, Position { rank: least, url: 0 }));
            let Some(entry) = self.queued_in(least, Included(keys::last_of(site))).next() else { break };
            let (_, Position { rank: found, .. }) = place(&entry?.0)?;
            ranks.push(found);
            rank = found.checked_add(1);
        }
        let ranks: Arc<[u32]> = ranks.into();
        *kept() = Some((site, ranks.clone()));
        Ok(ranks)
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

/// The site of the next URL from a key on. In the middle of a site that is this site, as far as there is more of it.
pub(super) fn site_at(
    from: UrlKey,
    first: impl FnOnce(SiteKey) -> Result<Option<SiteKey>, StoreError>,
) -> Result<Option<SiteKey>, StoreError> {
    if from == first_of(from.site) { first(from.site) } else { Ok(Some(from.site)) }
}

/// The first key behind another, or of all.
pub(super) fn behind(after: Option<UrlKey>) -> Option<UrlKey> {
    match after {
        None => Some(first_of(SiteKey(0))),
        Some(UrlKey { site, url: u64::MAX }) => following(site).map(first_of),
        Some(UrlKey { site, url }) => Some(UrlKey { site, url: url + 1 }),
    }
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Timestamp, Visit};
    use store::{Batch, Store};
    use weburl::CanonicalUrl;

    use super::super::LOOKS;
    use super::*;
    use crate::{EmbeddedStore, Options};

    #[test]
    fn pieces_of_a_site_are_read_without_looking_through_its_queue_for_each() {
        const SITES: u64 = 4;
        const URLS: usize = 100;
        let dir = tempfile::tempdir().expect("a directory");
        let store = EmbeddedStore::open(dir.path(), Options::default()).expect("open");
        let url = |site, n| CanonicalUrl::from_canonical(&format!("http://{site}.test/{n}")).expect("a URL");
        let all = || (0..SITES).flat_map(|site| (0..URLS).map(move |n| url(site, n)));
        let found = all().map(Candidate::seed).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("commit");
        let visit = |url: CanonicalUrl| Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(1));
        // One site waits whole, one in part, and the others have been visited.
        let is_visited = |url: &CanonicalUrl| match url.host() {
            "0.test" => false,
            "1.test" => url.path().ends_with('7'),
            _ => true,
        };
        let visits = all().filter(is_visited).map(visit).collect();
        store.commit(&Batch { visits, ..Batch::default() }).expect("commit");
        let view = store.view().expect("a view");
        LOOKS.set(0);
        let (mut after, mut count) = (None, 0);
        loop {
            let piece = view.scan(after, 7).expect("scan");
            let Some(last) = piece.last() else { break };
            after = Some(last.candidate.url.key());
            count += piece.len();
        }
        assert_eq!(count, SITES as usize * URLS);
        // For a site and its ranks each, and behind the last one for the last two pieces.
        assert!(LOOKS.get() <= 2 * SITES + 2, "{} looks for {SITES} sites", LOOKS.get());
    }
}
