//! URLs in short: all of them table by table, as the engine reads them fastest, or those of a slice site by site.
//!
//! The same URLs in key order cost ten look-ups for each site and rank, and a parse for each URL.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use model::Position;
use store::{Mark, Outline, Outlines, Slice, StoreError};
use weburl::UrlKey;

use super::scan::{behind, first_of, site_at};
use super::{View, damaged, following, place, url_key};
use crate::{codec, keys};

/// The table of URLs; behind it come those of the queue.
const URLS: u8 = 0;

impl View {
    /// All URLs in short, table by table.
    pub(crate) fn outlines(&self, from: Option<&Mark>, max: usize) -> Result<Outlines, StoreError> {
        let mut urls = Vec::new();
        let (mut table, mut after) = match from {
            None => (URLS, Unbounded),
            Some(Mark(bytes)) => {
                let (table, key) = bytes.split_first().ok_or_else(foreign)?;
                let bytes = if *table == URLS { keys::URL_KEY_BYTES } else { keys::QUEUE_KEY_BYTES };
                if key.len() != bytes {
                    return Err(foreign());
                }
                (*table, Excluded(key.to_vec()))
            }
        };
        loop {
            let keyspace = match table.checked_sub(1) {
                None => &self.tables.urls,
                Some(of_queue) => match self.queue.iter().nth(usize::from(of_queue)) {
                    Some((_, keyspace)) => keyspace,
                    None => return Ok(Outlines { urls, next: None }),
                },
            };
            for entry in self.range::<Vec<u8>>(keyspace, after, Unbounded) {
                let (key, record) = self.pair(entry)?;
                // What is only marked in the queue has its record in the table of URLs.
                if record.is_empty() {
                    continue;
                }
                urls.push(codec::decode_outline(key_in(table, &key)?, &record)?);
                if urls.len() >= max {
                    return Ok(Outlines { urls, next: Some(Mark([&[table], &key[..]].concat())) });
                }
            }
            (table, after) = (table.saturating_add(1), Unbounded);
        }
    }

    /// The URLs of a slice in short, in key order.
    pub(crate) fn slice(&self, slice: Slice, from: Option<&Mark>, max: usize) -> Result<Outlines, StoreError> {
        let after = from.map(|Mark(bytes)| bytes.as_slice().try_into().map(UrlKey::from_bytes)).transpose();
        let mut next = behind(after.map_err(|_| foreign())?);
        let mut urls = Vec::new();
        while let Some(from) = next {
            let Some(site) = site_at(from, |site| self.site_from(site))? else { break };
            let from = if site == from.site { from } else { first_of(site) };
            self.slice_of_site(slice, from, max - urls.len(), &mut urls)?;
            if urls.len() >= max {
                let next = urls.last().map(|last| Mark(last.key.to_bytes().to_vec()));
                return Ok(Outlines { urls, next });
            }
            next = following(site).map(first_of);
        }
        Ok(Outlines { urls, next: None })
    }

    fn slice_of_site(&self, slice: Slice, from: UrlKey, max: usize, to: &mut Vec<Outline>) -> Result<(), StoreError> {
        if !slice.has(from) {
            return Ok(());
        }
        let mut found = Vec::new();
        let last = UrlKey { url: slice.last, ..from };
        for entry in self.range(&self.tables.urls, Included(from.to_bytes()), Included(last.to_bytes())).take(max) {
            let (key, record) = self.pair(entry)?;
            found.push(codec::decode_outline(url_key(&key, "urls")?, &record)?);
        }
        for rank in self.ranks(from.site)?.iter().copied() {
            let at = |url| -> Bound<_> { Included(keys::queue(from.site, Position { rank, url })) };
            let queued = self.queued_in(at(from.url), at(slice.last));
            let mut left = max;
            for entry in queued {
                let (key, record) = entry?;
                if record.is_empty() {
                    continue;
                }
                let (site, position) = place(&key)?;
                found.push(codec::decode_outline(UrlKey { site, url: position.url }, &record)?);
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        // Each part has its first ones: so do all together.
        found.sort_unstable_by_key(|outline| outline.key);
        found.truncate(max);
        to.append(&mut found);
        Ok(())
    }
}

fn key_in(table: u8, key: &[u8]) -> Result<UrlKey, StoreError> {
    if table == URLS {
        return url_key(key, "urls");
    }
    let (site, position) = place(key)?;
    Ok(UrlKey { site, url: position.url })
}

fn foreign() -> StoreError {
    damaged("urls", "a place that no reader was given")
}
