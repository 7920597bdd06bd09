//! The HTML of a page, from the archive: as the server sent it, without the content coding.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use extract::media_type;
use model::{ArchiveLocation, Outcome, Purpose, Visit};
use store::{Entry, Store};
use warc::{HttpHead, LoadedRecord};

/// The greatest HTTP head that an archived block may have besides its payload, in bytes.
const HEAD_BYTES_MAX: u64 = 16 << 20;

/// Reads pages back.
pub(super) struct Archived {
    store: Arc<dyn Store>,
    dir: PathBuf,
    body_bytes_max: u64,
}

impl Archived {
    /// Reads from the archive in `dir` what `store` points to.
    pub(super) fn new(store: Arc<dyn Store>, dir: PathBuf, body_bytes_max: u64) -> Self {
        Archived { store, dir, body_bytes_max }
    }

    /// The HTML of a URL; `None` where it is no page that was fetched with success. An exact duplicate of another page is
    /// a page of its own.
    pub(super) fn html(&self, entry: &Entry) -> anyhow::Result<Option<Vec<u8>>> {
        let Some(visit) = page_visit(entry) else { return Ok(None) };
        let body = self.body(visit).with_context(|| format!("the archive of {}", entry.candidate.url))?;
        Ok(Some(body).filter(|body| visit.outcome == Outcome::Html || is_html(entry, visit, body)))
    }

    /// Whether [`Archived::html`] has something, found out without reading where that is possible.
    pub(super) fn is_html(&self, entry: &Entry) -> anyhow::Result<bool> {
        match page_visit(entry) {
            None => Ok(false),
            Some(visit) if visit.outcome == Outcome::Html => Ok(true),
            Some(_) => Ok(self.html(entry)?.is_some()),
        }
    }

    fn body(&self, visit: &Visit) -> anyhow::Result<Vec<u8>> {
        let location = visit.location.ok_or_else(|| anyhow!("there is no record of it"))?;
        let record = self.read(location)?;
        let (head, payload) = record.http_parts();
        let head = HttpHead::parse(head.to_owned());
        let payload = match visit.duplicate_of {
            None => payload.to_owned(),
            Some(original) => {
                let original = self.store.get(original)?.and_then(|entry| entry.visit?.location);
                let record = self.read(original.ok_or_else(|| anyhow!("there is no record of what it equals"))?)?;
                record.http_parts().1.to_owned()
            }
        };
        let bytes_max = usize::try_from(self.body_bytes_max).unwrap_or(usize::MAX);
        Ok(fetch::decode(head.get("content-encoding").into_iter(), payload, bytes_max))
    }

    fn read(&self, location: ArchiveLocation) -> anyhow::Result<LoadedRecord> {
        let segments = self.store.segments()?;
        let segment = segments.iter().find(|segment| segment.serial == location.segment);
        let segment = segment.ok_or_else(|| anyhow!("segment {} is not known", location.segment))?;
        let path = self.dir.join(&segment.name);
        let bytes_max = self.body_bytes_max.saturating_add(HEAD_BYTES_MAX);
        warc::read_at(&path, location.offset, bytes_max).with_context(|| path.display().to_string())
    }
}

fn page_visit(entry: &Entry) -> Option<&Visit> {
    let visit = entry.visit.as_ref().filter(|_| entry.candidate.purpose == Purpose::Page)?;
    matches!(visit.outcome, Outcome::Html | Outcome::Duplicate).then_some(visit)
}

/// The decision of the crawl itself, which it does not keep for duplicates.
fn is_html(entry: &Entry, visit: &Visit, body: &[u8]) -> bool {
    let name = entry.candidate.url.path().rsplit('/').next();
    let extension = name.and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    media_type::sniff(body, visit.content_type.as_deref(), extension).is_html()
}
