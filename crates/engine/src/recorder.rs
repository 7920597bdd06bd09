//! The recorder: the only writer. First the archive bytes are durable, then the state is committed.

use std::collections::HashMap;
use std::sync::Arc;

use against::{Against, AgainstError};
use model::{ArchiveLocation, Candidate, ContentDigest, Exchange, Outcome, Past, Payload, SiteRecord, Visit};
use stages::{Stage, time};
use store::{Batch, Committed, Store, StoreError};
use weburl::{SiteKey, UrlKey};

use crate::step::{ROBOTS_PATH, robots_unread};
use crate::{Details, Record, Redacting};
use archive::{Archive, ArchiveError, Digests, Earlier, Original, Place, Says, Seal, Sealed};

/// Commits records in batches.
pub struct Recorder {
    store: Arc<dyn Store>,
    archive: Option<Archive>,
    against: Option<Against>,
    sinks: Vec<Box<dyn Sink>>,
    guard: Option<Guard>,
    redacting: Arc<Redacting>,
}

/// Called before anything is written, to check that writing is still allowed. An error ends the crawl.
pub type Guard = Box<dyn Fn() -> Result<(), SinkError> + Send>;

/// Receives committed records, in order, on the committing thread. The next commit waits for it.
pub trait Sink: Send {
    /// Called with a batch whose records are durable in the archive, just before its commit. What it stores of the batch counts only if the
    /// commit follows. An error ends the crawl, without the commit.
    ///
    /// # Errors
    /// Any error of the sink.
    fn recording(&mut self, _batch: &Batch, _visited: &[Visited]) -> Result<(), SinkError> {
        Ok(())
    }

    /// Called with a commit when it is durable. An error ends the crawl; the commit stays.
    ///
    /// # Errors
    /// Any error of the sink.
    fn recorded(&mut self, recorded: &Recorded<'_>) -> Result<(), SinkError>;
}

impl<F: FnMut(&Recorded<'_>) -> Result<(), SinkError> + Send> Sink for F {
    fn recorded(&mut self, recorded: &Recorded<'_>) -> Result<(), SinkError> {
        self(recorded)
    }
}

/// A commit.
#[derive(Debug)]
pub struct Recorded<'a> {
    /// The batch.
    pub batch: &'a Batch,
    /// The result of the store.
    pub committed: &'a Committed,
    /// The pages and documents visited, in the order of their records; only if details are wanted.
    pub visited: Vec<Visited>,
    /// The sealed segments of the archive; they contain nothing of a later commit.
    pub sealed: Vec<Sealed>,
}

impl Recorded<'_> {
    /// What could not be read of new robots.txt files, as the crawler with this product token reads them: a text a line.
    pub fn robots_unread(&self, product_token: &str) -> impl Iterator<Item = String> {
        let of_site = |record: &SiteRecord| -> Vec<String> {
            let unread = robots_unread(record.robots.as_ref(), product_token);
            unread.told().map(|line| format!("{}{ROBOTS_PATH}: {line}", record.site)).collect()
        };
        self.batch.sites.iter().flat_map(of_site)
    }
}

/// A URL whose visit was committed.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The URL and how it was found.
    pub candidate: Candidate,
    /// Its visit.
    pub visit: Visit,
    /// The values of its answer; `None` without one.
    pub details: Option<Arc<Details>>,
}

/// Any error of a sink.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// An error of recording. Earlier commits stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The archive failed.
    #[error("archive: {0}")]
    Archive(#[from] ArchiveError),
    /// The store failed.
    #[error("state: {0}")]
    Store(#[from] StoreError),
    /// What earlier archives hold cannot be looked up.
    #[error("--against: {0}")]
    Against(#[from] AgainstError),
    /// The guard refused, before anything was written.
    #[error(transparent)]
    Refused(SinkError),
    /// A sink failed, before or after the commit.
    #[error(transparent)]
    Sink(SinkError),
}

/// The holders of the contents that a commit has first.
type Holders = HashMap<ContentDigest, Holder>;

/// The URL that had a content first, and its recorded payload.
#[derive(Clone)]
struct Holder {
    key: UrlKey,
    original: Original,
    payload: Payload,
}

impl Holder {
    /// Whether the recorded payload equals that of a visit with the same content, byte for byte. Only then may the record of that visit
    /// refer to it. Otherwise it is the same content in another coding, and gets its own record.
    fn has_payload_of(&self, visit: &Visit) -> bool {
        self.payload.is(visit.payload())
    }
}

/// The site of each record of a commit and, where the record ended a URL's turn, the URL.
pub type EndedTurns = Vec<(SiteKey, Option<u64>)>;

impl Recorder {
    /// A recorder on a store and, unless the crawl keeps none, an archive.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, archive: Option<Archive>) -> Self {
        Recorder { store, archive, against: None, sinks: Vec::new(), guard: None, redacting: Arc::default() }
    }

    /// The same with earlier archives: a payload that they hold is not recorded again.
    #[must_use]
    pub fn against(self, against: Option<Against>) -> Self {
        Recorder { against, ..self }
    }

    /// The same with one more sink. Sinks are called in the order in which they were added.
    #[must_use]
    pub fn with_sink(mut self, sink: Box<dyn Sink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// The same with a guard.
    #[must_use]
    pub fn guarded_by(self, guard: Guard) -> Self {
        Recorder { guard: Some(guard), ..self }
    }

    /// The count of what the records lack.
    #[must_use]
    pub fn redacting(&self) -> Arc<Redacting> {
        self.redacting.clone()
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Commits all of the records or none, and returns them with the result of the store.
    ///
    /// # Errors
    /// Neither archive nor state count any of them as recorded, unless a sink failed after the commit.
    pub fn commit(
        &mut self,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<(EndedTurns, Committed), RecordError> {
        self.check()?;
        let mut ends = EndedTurns::new();
        let mut batch = Batch::default();
        let mut holders = Holders::new();
        let mut visited = Vec::new();
        for record in records {
            ends.push((record.site, record.ends));
            visited.extend(self.add(record, &mut batch, &mut holders)?);
        }
        Ok((ends, self.finish(batch, visited)?))
    }

    /// Seals the current segment, if there is one and it is time, and commits that.
    ///
    /// # Errors
    /// As [`Recorder::commit`].
    pub fn seal(&mut self, seal: Seal) -> Result<(), RecordError> {
        self.check()?;
        let Some(archive) = &mut self.archive else { return Ok(()) };
        if archive.seal(seal)? {
            self.finish(Batch::default(), Vec::new())?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), RecordError> {
        self.guard.as_ref().map_or(Ok(()), |guard| guard().map_err(RecordError::Refused))
    }

    /// Commits a batch after the archive, and calls the sinks.
    fn finish(&mut self, mut batch: Batch, mut visited: Vec<Visited>) -> Result<Committed, RecordError> {
        let mut sealed = Vec::new();
        if let Some(archive) = &mut self.archive {
            let synced = time(Stage::Sync, || archive.sync())?;
            batch.segments.extend(synced.grown);
            sealed = synced.sealed;
        }
        for sink in &mut self.sinks {
            sink.recording(&batch, &visited).map_err(RecordError::Sink)?;
        }
        let committed = self.store.commit(&batch)?;
        if let Some(archive) = &mut self.archive {
            archive.acknowledge(&batch.segments);
        }
        correct(&mut visited, &committed.duplicates);
        let recorded = Recorded { batch: &batch, committed: &committed, visited, sealed };
        for sink in &mut self.sinks {
            sink.recorded(&recorded).map_err(RecordError::Sink)?;
        }
        Ok(committed)
    }

    fn add(
        &mut self,
        mut record: Record,
        batch: &mut Batch,
        holders: &mut Holders,
    ) -> Result<Vec<Visited>, RecordError> {
        let mut visit = record.visit;
        // Every page of an application may have the same payload: what a browser showed of it is what counts.
        let is_rendered = record.rendering.as_ref().is_some_and(|rendering| rendering.document.is_ok());
        let mut earlier = record.unchanged_since.zip(record.exchanges.last()).map(|(at, exchange)| {
            let original = Original { url: exchange.url.to_string(), at, place: Place::Here };
            Earlier { original, says: Says::NotModified }
        });
        if let (Some(visit), Some(exchange)) = (&mut visit, record.exchanges.last()) {
            if visit.outcome == Outcome::NotModified {
                let original = Original::of(visit, &exchange.url);
                let literal = self.literal(&original, visit)?;
                if literal.is_none() {
                    // The next request asks for it in any case.
                    visit.past.not_modified = Past::LOST;
                }
                earlier = Some(Earlier { original: literal.unwrap_or(original), says: Says::NotModified });
            }
            if let Some(content) = record.content.filter(|_| !is_rendered && visit.outcome.has_content()) {
                let original = match self.holder(content, visit, holders)? {
                    Some(holder) if holder.key == visit.key => self.readable(holder.original, visit, exchange)?,
                    Some(holder) => {
                        let has_payload = holder.has_payload_of(visit);
                        visit.repeat(holder.key);
                        if has_payload { self.readable(holder.original, visit, exchange)? } else { None }
                    }
                    None => {
                        let elsewhere = self.elsewhere(visit, exchange)?;
                        let here =
                            || Original { url: exchange.url.to_string(), at: exchange.started_at, place: Place::Here };
                        let original = elsewhere.clone().unwrap_or_else(here);
                        let holder = Holder { key: visit.key, original, payload: visit.payload() };
                        batch.holders.push((content, visit.key));
                        holders.insert(content, holder);
                        elsewhere
                    }
                };
                visit.content_at = original.as_ref().map(|original| original.at);
                visit.content_url = original.as_ref().and_then(Original::url_elsewhere);
                earlier = original.map(|original| Earlier { original, says: Says::IdenticalPayload });
            }
        }
        let digest = visit.as_ref().and_then(|visit| visit.digest);
        if let Some(archive) = &mut self.archive {
            if let Some(last) = record.last.as_deref() {
                // A repair may have found earlier visits in the segment that another run began.
                let earlier = last.past.visits > 0 && archive.continues();
                let earlier = if earlier { self.store.earlier(last.key)? } else { Vec::new() };
                for location in earlier.iter().chain([last]).filter_map(|visit| visit.location) {
                    archive.leave(location.segment)?;
                }
            }
            let digests = Digests { payload: digest, block: record.block_digest };
            let location = time(Stage::Archive, || archive.append(&record.exchanges, digests, earlier.as_ref()))?;
            let loaded = record.rendering.iter().flat_map(|rendering| &rendering.resources);
            record.exchanges.iter().chain(loaded).for_each(|exchange| self.redacting.add(exchange));
            if let Some(visit) = &mut visit {
                visit.location = location;
            }
            let extra = record.visited.as_ref().and_then(|visited| visited.1.as_ref()?.extra.as_deref());
            if let (Some(extra), Some(answered)) = (extra, record.exchanges.last()) {
                time(Stage::Archive, || archive.append_extra(answered, extra))?;
            }
            if let (Some(rendering), Some(shown)) = (&record.rendering, record.exchanges.last()) {
                let places = time(Stage::Archive, || archive.append_rendering(shown, rendering))?;
                let settled = record.settled.iter_mut().map(|(_, visit)| visit);
                let loaded = record.loaded.iter_mut().map(|(_, visit, _)| visit);
                locate(settled.chain(loaded), &rendering.resources, &places);
            }
        }
        let visited = record.visited.zip(visit.as_ref().filter(|_| !self.sinks.is_empty()));
        let visited = visited.map(|(found, visit)| {
            let (candidate, details) = *found;
            // Of a content that is as it was nothing came. A row that is derived from the archive has none, either.
            let details = details.filter(|_| visit.outcome != Outcome::NotModified);
            Visited { candidate, visit: visit.clone(), details: details.map(Arc::from) }
        });
        let mut visited = Vec::from_iter(visited);
        for (candidate, visit, details) in record.loaded {
            if !self.sinks.is_empty() {
                let (candidate, visit) = (candidate.clone(), visit.clone());
                visited.push(Visited { candidate, visit, details: details.map(Arc::from) });
            }
            batch.settled.push((candidate, visit));
        }
        batch.visits.extend(visit);
        batch.found.extend(record.found);
        batch.pages_are_few |= record.pages_are_few;
        batch.settled.extend(record.settled);
        batch.attempts.extend(record.attempts);
        batch.kept.extend(record.kept);
        batch.judged_again.extend(record.judged_again);
        batch.announced.extend(record.announced);
        batch.sites.extend(record.site_record);
        batch.seeds.extend(record.seeds);
        Ok(visited)
    }

    /// The record of an earlier archive with the payload of a visit, if there is one.
    fn elsewhere(&self, visit: &Visit, exchange: &Exchange) -> Result<Option<Original>, AgainstError> {
        let (Some(_), Some(against), Some(digest)) = (&self.archive, &self.against, visit.digest) else {
            return Ok(None);
        };
        let held = time(Stage::Archive, || against.find(digest, &exchange.payload))?;
        Ok(held.map(|held| Original {
            url: held.url,
            at: held.at,
            place: Place::Elsewhere { id: held.id, date: Some(held.date) },
        }))
    }

    /// The original of a payload that was received, where it can be read. The state may know of a record in an earlier archive: that may be gone, or
    /// another one may have the payload now.
    fn readable(
        &self,
        original: Original,
        visit: &Visit,
        exchange: &Exchange,
    ) -> Result<Option<Original>, AgainstError> {
        let is_from_state = original.place == Place::Elsewhere { id: None, date: None };
        if is_from_state { self.elsewhere(visit, exchange) } else { Ok(Some(original)) }
    }

    /// The original of an unchanged content as its record says it: of one in an earlier archive, the state knows neither its id nor the form of its
    /// date. `None` where that record cannot be read.
    fn literal(&self, original: &Original, visit: &Visit) -> Result<Option<Original>, AgainstError> {
        if original.place == Place::Here {
            return Ok(Some(original.clone()));
        }
        let (Some(against), Some(digest)) = (&self.against, visit.digest) else { return Ok(None) };
        let held = against.record_of(digest, (&original.url, original.at), visit.length)?;
        let place = held.map(|held| Place::Elsewhere { id: held.id, date: Some(held.date) });
        Ok(place.map(|place| Original { place, ..original.clone() }))
    }

    /// The URL that had this content first, if it has it still: the visited one itself only with the very payload of its last visit.
    fn holder(&self, content: ContentDigest, visit: &Visit, holders: &Holders) -> Result<Option<Holder>, StoreError> {
        if let Some(holder) = holders.get(&content) {
            return Ok(Some(holder.clone()).filter(|holder| holder.key != visit.key));
        }
        let holder = self.store.holder(content, visit.digest)?;
        let Some(entry) = holder.map(|holder| self.store.get(holder)).transpose()?.flatten() else { return Ok(None) };
        let Some(last) = entry.visit.filter(|last| last.outcome.is_fetched() && last.duplicate_of.is_none()) else {
            return Ok(None);
        };
        let holder =
            Holder { key: last.key, original: Original::of(&last, &entry.candidate.url), payload: last.payload() };
        let may_have_changed = holder.key == visit.key || last.past.changes > 0;
        Ok(Some(holder).filter(|holder| !may_have_changed || holder.has_payload_of(visit)))
    }

    /// Ends the recording for now; `finished` says that the crawl has ended.
    ///
    /// # Errors
    /// The archive's last segment cannot be indexed.
    pub fn close(self, finished: bool) -> Result<(), RecordError> {
        self.check()?;
        match self.archive {
            Some(archive) => Ok(archive.close(finished)?),
            None => Ok(()),
        }
    }
}

/// Notes where the answers lie that a browser got with a page.
fn locate<'v>(visits: impl Iterator<Item = &'v mut Visit>, loaded: &[Exchange], places: &[ArchiveLocation]) {
    let places = loaded.iter().zip(places).map(|(exchange, place)| ((exchange.url.key(), exchange.started_at), *place));
    let places: HashMap<_, _> = places.collect();
    for visit in visits {
        visit.location = places.get(&(visit.key, visit.at)).copied();
    }
}

/// Marks visits as duplicates where the commit found another URL with their payload.
fn correct(visited: &mut [Visited], duplicates: &[(UrlKey, UrlKey)]) {
    let first = |key| duplicates.iter().find(|(late, _)| *late == key).map(|(_, first)| *first);
    for Visited { visit, .. } in visited {
        if let Some(original) = first(visit.key) {
            visit.repeat(original);
        } else if let Some(original) = visit.duplicate_of.and_then(first) {
            visit.duplicate_of = Some(original);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use model::{Exchange, Limits, Method, Timestamp};
    use store::{CrawlView, MemoryStore, Segment};
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;
    use archive::ArchiveInState;

    const BEGUN: Timestamp = Timestamp(1_000_000);

    fn exchange() -> Record {
        let url = CanonicalUrl::parse("http://one.test/", &CanonicalRules::default()).expect("a URL");
        let exchange = Exchange {
            url: url.clone(),
            method: Method::Get,
            address: None,
            started_at: BEGUN,
            request_head: b"GET / HTTP/1.1\r\n\r\n".as_slice().into(),
            request_body: Default::default(),
            response_head: b"HTTP/1.1 200 OK\r\n\r\n".as_slice().into(),
            payload: b"page".as_slice().into(),
            truncated: None,
            redacted: Default::default(),
        };
        Record { exchanges: vec![exchange], ..Record::of(url.site().key()) }
    }

    #[test]
    fn a_segment_is_sealed_when_it_is_time_and_the_next_record_begins_another() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Arc::new(MemoryStore::new());
        let known = ArchiveInState::of(store.as_ref(), &Limits::default()).expect("a state");
        let archive = Archive::open(dir.path(), &known, Vec::new(), u64::MAX).expect("an archive");
        let (told, sealed) = mpsc::sync_channel(4);
        let mut recorder =
            Recorder::new(store.clone(), Some(archive)).with_sink(Box::new(move |recorded: &Recorded<'_>| {
                recorded
                    .sealed
                    .iter()
                    .cloned()
                    .try_for_each(|sealed| told.send(sealed).map_err(|_| SinkError::from("the test is over")))
            }));
        recorder.seal(Seal::Now).expect("nothing to seal");
        recorder.commit(vec![exchange()]).expect("a commit");
        recorder.seal(Seal::IfBegunBefore(BEGUN)).expect("not yet");
        assert!(sealed.try_recv().is_err());
        recorder.seal(Seal::IfBegunBefore(Timestamp(BEGUN.0 + 1))).expect("sealed");
        let first = sealed.try_recv().expect("it is reported").indexed().expect("an index");
        recorder.seal(Seal::Now).expect("nothing to seal");
        recorder.commit(vec![exchange()]).expect("a commit");
        recorder.seal(Seal::UpTo(0)).expect("it was sealed before");
        assert!(sealed.try_recv().is_err(), "the next is not meant");
        recorder.seal(Seal::UpTo(1)).expect("sealed");
        let second = sealed.try_recv().expect("it is reported").indexed().expect("an index");
        recorder.commit(vec![exchange()]).expect("a commit");
        recorder.seal(Seal::Now).expect("sealed");
        let third = sealed.try_recv().expect("it is reported").indexed().expect("an index");
        assert!(sealed.try_recv().is_err(), "once each");
        assert_eq!([first.serial, second.serial, third.serial], [0, 1, 2]);
        let segments: Vec<Segment> = store.segments().expect("segments");
        assert_eq!(segments, [first, second, third]);
        assert!(segments.iter().all(|segment| archive::index_path(&dir.path().join(&segment.name)).exists()));
    }
}
