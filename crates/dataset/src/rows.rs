//! The row of a URL: one vocabulary for every table, export and explanation, documented in `docs/rows.md`.

use foldhash::HashMap;
use model::{ArchiveLocation, Candidate, Outcome, Purpose, Timestamp, Visit};
use serde::{Serialize, Serializer};
use store::{CrawlView, Entry, Segment, StoreError};
use weburl::{CanonicalUrl, UrlKey};

/// URLs remembered by key while rows are made. The targets of a page are adjacent, so few are looked up twice.
const NAMES_MAX: usize = 100_000;

/// What is known of a URL. The fields are the columns, in this order; `None` is null: not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The canonical URL.
    pub url: String,
    /// Scheme, host and port.
    pub site: String,
    /// Links from the nearest seed.
    pub depth: u32,
    /// What became of it, or `frontier`.
    pub outcome: &'static str,
    /// Why.
    pub reason: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The media type as declared.
    pub content_type: Option<String>,
    /// Bytes of the payload as received.
    pub length: Option<u64>,
    /// The digest of the payload, `sha1:` and base32.
    pub digest: Option<String>,
    /// The URL that had the same payload first.
    pub duplicate_of: Option<String>,
    /// When, in UTC (RFC 3339).
    #[serde(rename = "fetched_at", serialize_with = "rfc3339")]
    pub at: Option<Timestamp>,
    /// The URL on which it was found.
    pub found_on: Option<String>,
    /// The title of the page.
    pub title: Option<String>,
    /// The WARC file with the response.
    pub warc_file: Option<String>,
    /// Where the response begins in it, in bytes.
    pub warc_offset: Option<u64>,
    /// The length of the response's record in it, compressed, in bytes.
    pub warc_length: Option<u64>,
    /// The registrable domain of its host.
    pub domain: String,
    /// How it was found: `seed`, `link`, `redirect`, `sitemap`.
    pub via: &'static str,
    /// The number of requests.
    pub attempts: u8,
    /// Where it redirects to.
    pub redirect_to: Option<String>,
    /// The canonical URL that the page names, if it is another.
    pub canonical: Option<String>,
    /// How many URLs of the crawl's scope an HTML page links to, each counted once.
    pub out_degree: Option<u32>,
    /// The round of the crawl in which that was.
    pub round: Option<u32>,
    /// Which visit of the URL it was, 1 for the first.
    pub visit: Option<u32>,
    /// Whether it found something else than the visit before; `None` where nothing was known before.
    pub changed: Option<bool>,
    /// Where its record is a revisit: the URL of the record that has the payload.
    pub payload_url: Option<String>,
    /// The date of that record, in UTC (RFC 3339).
    #[serde(serialize_with = "rfc3339")]
    pub payload_at: Option<Timestamp>,
    /// `page` or `sitemap`; only where sitemaps are wanted too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<&'static str>,
}

/// Makes rows of the entries of a store.
pub struct Rows<'s> {
    store: &'s dyn CrawlView,
    segments: HashMap<u32, String>,
    names: HashMap<UrlKey, Option<String>>,
    with_purpose: bool,
}

impl<'s> Rows<'s> {
    /// For the entries of `store`; `with_purpose` adds the column of that name.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn new(store: &'s dyn CrawlView, with_purpose: bool) -> Result<Self, StoreError> {
        let segments = names_of(store.segments()?);
        Ok(Rows { store, segments, names: HashMap::default(), with_purpose })
    }

    /// Learns the name of a segment that the store may not name yet, or at all.
    pub fn name(&mut self, segment: &Segment) {
        self.segments.entry(segment.serial).or_insert_with(|| segment.name.clone());
    }

    /// Remembers a URL, since what it leads to may name it soon.
    pub fn remember(&mut self, url: &CanonicalUrl) {
        self.keep(url.key(), Some(url.to_string()));
    }

    /// The row of an entry.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn row(&mut self, entry: &Entry) -> Result<Row, StoreError> {
        self.of(&entry.candidate, entry.attempts, entry.visit.as_ref())
    }

    /// The row of a URL with a visit that may not be in the store yet.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(&mut self, candidate: &Candidate, attempts: u8, visit: Option<&Visit>) -> Result<Row, StoreError> {
        let location = visit.and_then(|visit| visit.location);
        let revisit = visit.filter(|visit| visit.location.is_some() && visit.outcome.is_fetched());
        let payload_at = revisit.and_then(|visit| visit.content_at);
        let payload_url = match revisit.filter(|_| payload_at.is_some()) {
            Some(Visit { content_url: Some(url), .. }) => Some(url.clone()),
            Some(Visit { duplicate_of: Some(original), .. }) => self.named(Some(*original))?,
            Some(_) => Some(candidate.url.to_string()),
            None => None,
        };
        Ok(Row {
            url: candidate.url.to_string(),
            site: candidate.url.site().to_string(),
            depth: candidate.depth,
            outcome: visit.map_or(FRONTIER, |visit| visit.outcome.as_str()),
            reason: visit.map(|visit| visit.reason.clone()).filter(|reason| !reason.is_empty()),
            status: visit.map(|visit| visit.status).filter(|status| *status > 0),
            content_type: visit.and_then(|visit| visit.content_type.clone()),
            length: visit.filter(|visit| visit.status > 0).map(|visit| visit.length),
            digest: visit.and_then(|visit| visit.digest).map(|digest| digest.to_string()),
            duplicate_of: self.named(visit.and_then(|visit| visit.duplicate_of))?,
            at: visit.filter(|visit| visit.was_asked_for()).map(|visit| visit.at),
            found_on: self.named(candidate.found_on)?,
            title: visit.and_then(|visit| visit.title.clone()),
            warc_file: self.segment(location)?,
            warc_offset: location.map(|location| location.offset),
            warc_length: location.map(|location| location.length),
            domain: candidate.url.domain().to_owned(),
            via: candidate.via.as_str(),
            attempts: visit.map_or(attempts, |visit| visit.attempts),
            redirect_to: target_of(visit, |outcome| outcome == Outcome::Redirect),
            canonical: target_of(visit, |outcome| outcome != Outcome::Redirect),
            out_degree: visit.and_then(|visit| visit.out_degree),
            round: visit.map(|visit| visit.round),
            visit: visit.map(|visit| visit.past.visits.saturating_add(1)),
            changed: visit.and_then(|visit| visit.past.found_change(visit.at)),
            payload_url,
            payload_at,
            purpose: self.with_purpose.then_some(purpose_name(candidate.purpose)),
        })
    }

    /// The file of a record. Segments come to be while rows are made.
    fn segment(&mut self, location: Option<ArchiveLocation>) -> Result<Option<String>, StoreError> {
        let Some(ArchiveLocation { segment, .. }) = location else { return Ok(None) };
        if !self.segments.contains_key(&segment) {
            self.segments = names_of(self.store.segments()?);
        }
        Ok(self.segments.get(&segment).cloned())
    }

    fn named(&mut self, key: Option<UrlKey>) -> Result<Option<String>, StoreError> {
        let Some(key) = key else { return Ok(None) };
        if let Some(name) = self.names.get(&key) {
            return Ok(name.clone());
        }
        let name = name_of(self.store, key)?;
        self.keep(key, name.clone());
        Ok(name)
    }

    fn keep(&mut self, key: UrlKey, name: Option<String>) {
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(key, name);
    }
}

/// The outcome of a URL before its visit.
pub const FRONTIER: &str = "frontier";

/// The URL with this key. A site's robots.txt, which names sitemaps, is known by its site alone.
///
/// # Errors
/// The store cannot be read.
pub fn name_of(store: &dyn CrawlView, key: UrlKey) -> Result<Option<String>, StoreError> {
    if let Some(entry) = store.get(key)? {
        return Ok(Some(entry.candidate.url.to_string()));
    }
    let Some(record) = store.site(key.site)? else { return Ok(None) };
    let robots_txt = format!("{}/robots.txt", record.site);
    Ok((UrlKey::of(record.site.as_str(), &robots_txt) == key).then_some(robots_txt))
}

/// What a URL is fetched for, in one word.
#[must_use]
pub fn purpose_name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Page => "page",
        Purpose::Sitemap => "sitemap",
        Purpose::Requisite => "requisite",
        Purpose::Robots => "robots",
    }
}

fn names_of(segments: Vec<Segment>) -> HashMap<u32, String> {
    segments.into_iter().map(|Segment { serial, name, .. }| (serial, name)).collect()
}

fn target_of(visit: Option<&Visit>, wanted: fn(Outcome) -> bool) -> Option<String> {
    visit.filter(|visit| wanted(visit.outcome)).and_then(|visit| visit.target.clone())
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn rfc3339<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::to_rfc3339).serialize(serializer)
}
