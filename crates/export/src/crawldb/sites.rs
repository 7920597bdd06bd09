//! The table of sites, and the ids by which pages name them.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use model::{Purpose, RobotsAnswer, RobotsRecord};
use postgres::Transaction;
use postgres::types::Type;
use replay::Replay;
use sort::{Sorted, Sorter};
use weburl::{Site, SiteKey, UrlKey};

use super::copy::Copy;
use super::{Export, Failed, storable};
use crate::{ExportError, Selected};

/// What is kept of the sitemaps of a site, in bytes.
const SITEMAP_BYTES_MAX: usize = 16 << 20;
/// What ends the name of a host in a record; no host has it.
const END: u8 = 0;
/// The first bytes of compressed sitemaps (RFC 1952 §2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The ids of sites, in the order of their keys.
pub(super) struct Sites {
    ids: Sorted,
    last: Option<(SiteKey, i32)>,
}

/// One of the sites that share a host, or one of its sitemaps.
struct HostEntry {
    host: Vec<u8>,
    site: SiteKey,
    sitemap: Option<UrlKey>,
}

impl Sites {
    /// Fills the table. Sites that differ only in scheme share a row, since the course's sites are hosts (with a port, where it
    /// is not the usual one).
    ///
    /// # Errors
    /// The crawl cannot be read, or the database refuses something.
    pub(super) fn write(export: &Export<'_, '_>, into: &mut Transaction<'_>) -> Result<Self, Failed> {
        let mut found = find(export)?.peekable();
        let mut ids = Sorter::beside(&Export::beside());
        let mut replay = export.crawl.replay();
        let columns = [
            ("id", Type::INT4),
            ("domain", Type::VARCHAR),
            ("robots_content", Type::TEXT),
            ("sitemap_content", Type::TEXT),
        ];
        let mut copy = Copy::into(into, "site", &columns)?;
        let mut id: i32 = 0;
        while let Some(first) = found.next() {
            let first = HostEntry::read(&first?)?;
            let mut group = vec![first];
            while let Some(next) = found.next_if(|next| next.as_ref().is_ok_and(|next| group[0].shares_host(next))) {
                group.push(HostEntry::read(&next?)?);
            }
            let sites: Vec<SiteKey> = group.iter().filter(|it| it.sitemap.is_none()).map(|it| it.site).collect();
            if sites.is_empty() {
                continue;
            }
            id += 1;
            for site in &sites {
                ids.push(&[&site.to_bytes(), &id.to_be_bytes()])?;
            }
            let host = String::from_utf8_lossy(&group[0].host);
            let robots = robots_of(export, &sites)?;
            let sitemaps = sitemaps_of(export, &group, &mut replay)?;
            copy.row(&[&id, &&*host, &robots.as_deref().map(storable), &sitemaps.as_deref().map(storable)])?;
        }
        copy.finish()?;
        Ok(Sites { ids: ids.sorted()?, last: None })
    }

    /// The id of a site. Sites must be requested in the order of their keys.
    ///
    /// # Errors
    /// The files of the sort cannot be read.
    pub(super) fn id(&mut self, site: SiteKey) -> Result<Option<i32>, ExportError> {
        if let Some((last, id)) = self.last
            && last == site
        {
            return Ok(Some(id));
        }
        let record = self.ids.next_of(&site.to_bytes())?;
        let id = record.and_then(|record| Some(i32::from_be_bytes(*record.last_chunk::<4>()?)));
        self.last = id.map(|id| (site, id));
        Ok(id)
    }
}

/// The sites of all pages and their sitemaps, by host; of those with one host, https first.
fn find(export: &Export<'_, '_>) -> Result<Sorted, Failed> {
    let mut sorter = Sorter::beside(&Export::beside());
    let mut last: Option<SiteKey> = None;
    export.crawl.select(export.filter, true, &mut |_| {}, |Selected { entry, .. }| {
        let site = entry.candidate.url.site();
        let key = entry.candidate.url.key();
        match entry.candidate.purpose {
            Purpose::Page if last == Some(key.site) => Ok(()),
            Purpose::Page => {
                last = Some(key.site);
                push(&mut sorter, &site, None)
            }
            Purpose::Sitemap if entry.visit.is_some() => push(&mut sorter, &site, Some(key)),
            _ => Ok(()),
        }
    })?;
    Ok(sorter.sorted()?)
}

fn push(sorter: &mut Sorter, site: &Site, sitemap: Option<UrlKey>) -> Result<(), ExportError> {
    let text = site.as_str();
    let host = text.split_once("://").map_or(text, |(_, host)| host);
    let sitemap = sitemap.map(UrlKey::to_bytes);
    Ok(sorter.push(&[
        host.as_bytes(),
        &[END, u8::from(!site.is_https())],
        &site.key().to_bytes(),
        sitemap.as_ref().map_or(&[], |key| &key[..]),
    ])?)
}

impl HostEntry {
    fn read(record: &[u8]) -> Result<Self, ExportError> {
        let read = || {
            let host = record.split(|byte| *byte == END).next()?;
            let (site, sitemap) = record.get(host.len() + 2..)?.split_first_chunk::<8>()?;
            let sitemap = sitemap.first_chunk::<16>().map(|key| UrlKey::from_bytes(*key));
            Some(HostEntry { host: host.to_owned(), site: SiteKey::from_bytes(*site), sitemap })
        };
        read().ok_or_else(|| ExportError::Other("a file of the sort is damaged".to_owned()))
    }

    fn shares_host(&self, record: &[u8]) -> bool {
        record.strip_prefix(&self.host[..]).is_some_and(|rest| rest.first() == Some(&END))
    }
}

/// robots.txt of the first of the sites that has one.
fn robots_of(export: &Export<'_, '_>, sites: &[SiteKey]) -> Result<Option<String>, Failed> {
    for site in sites {
        let record = export.crawl.store.site(*site)?;
        if let Some(RobotsRecord { answer: RobotsAnswer::Status { code: 200..=299, body }, .. }) =
            record.and_then(|record| record.robots)
        {
            return Ok(Some(String::from_utf8_lossy(&body).into_owned()));
        }
    }
    Ok(None)
}

/// The sitemaps, one behind the other, as far as they were fetched.
fn sitemaps_of(
    export: &Export<'_, '_>,
    group: &[HostEntry],
    replay: &mut Replay<'_>,
) -> Result<Option<String>, Failed> {
    let mut all = String::new();
    for key in group.iter().filter_map(|found| found.sitemap) {
        let Some(entry) = export.crawl.current(key)? else { continue };
        let Some(visit) = entry.visit.as_ref().filter(|visit| (200..300).contains(&visit.status)) else { continue };
        let url = entry.candidate.url.to_string();
        let answer = replay.answer(visit).map_err(|source| ExportError::Replay { url, source })?;
        let Some(answer) = answer else { continue };
        let body = answer.body(SITEMAP_BYTES_MAX);
        let text = if body.starts_with(&GZIP_MAGIC) { unpacked(&body) } else { body };
        let text = String::from_utf8_lossy(&text);
        let end = text.floor_char_boundary(SITEMAP_BYTES_MAX.saturating_sub(all.len()));
        all.push_str(&text[..end]);
        if !all.ends_with('\n') {
            all.push('\n');
        }
    }
    Ok((!all.is_empty()).then_some(all))
}

/// What a compressed sitemap holds, as far as it can be unpacked.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let _ = MultiGzDecoder::new(bytes).take(SITEMAP_BYTES_MAX as u64).read_to_end(&mut content);
    content
}
