//! Derives missing parts of a dataset from the archive.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context, anyhow};
use dataset::schema::Table;
use dataset::{Layout, Rows, SegmentTables, UNRECORDED, UnrecordedPages, covered_bytes};
use engine::{Details, Settings, Visited, look_into};
use model::{
    ArchiveLocation, Exchange, FetchOutcome, Fetched, Made, Method, Outcome, Pictures, Purpose, Refusals,
    RenderedDocument, Rendering, Shown, Tally, TaskId, Timestamp, Visit,
};
use replay::{RecordedAnswer, Replay, ReplayError};
use settings::plan::Plan;
use store::{CrawlView, Entry, Segment};
use warc::{Damage, LoadedRecord, ReadError, Reader, RecordType};
use weburl::CanonicalUrl;

use super::lacking::Lacking;
use super::settle::{Standing, Unsettled};
use super::taken_back::TakenBack;
use super::written;
use crate::covered::Covered;
use crate::{CrawlDir, Notice};

/// What was derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// Segments that the dataset lacked, completely or in part, or of which it had rows that counted no more.
    pub segments: usize,
    /// Page rows derived.
    pub pages: u64,
    /// Whether the lists of superseded rows were rebuilt, since they were of another state.
    pub settled: bool,
    /// Rows of the dataset without content: their payloads are in an earlier archive that cannot be read.
    pub lacking: u64,
}

impl Derived {
    /// The notices that rows were derived, and that rows lack content, if so.
    #[must_use]
    pub fn notices(self) -> Vec<Notice> {
        let derived = (self.pages > 0).then_some(Notice::Derived(self.pages));
        let lacking = (self.lacking > 0).then_some(Notice::Lacking(self.lacking));
        derived.into_iter().chain(lacking).collect()
    }
}

/// How much of a segment's rows is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// What its files do not cover.
    Missing,
    /// Everything.
    All,
}

/// Completes the dataset of a crawl that is to go on, if it has an archive and writes one. The session would do so as it begins.
///
/// # Errors
/// The archive is damaged, or the dataset cannot be written.
pub fn complete_dataset(dir: &CrawlDir, plan: &Plan, store: &dyn CrawlView) -> anyhow::Result<Vec<Notice>> {
    if !plan.dataset || !plan.archive {
        return Ok(Vec::new());
    }
    let layout = Layout::at(dir.dataset()).with_rules(plan.settings.rules.clone());
    Ok(Deriver::new(&layout, store, dir.archive(), &plan.settings).derive(&|_| ())?.notices())
}

/// Derives missing parts of a dataset.
pub struct Deriver<'a> {
    layout: Layout,
    store: &'a dyn CrawlView,
    archive: PathBuf,
    settings: Settings,
}

impl<'a> Deriver<'a> {
    /// Derives from the state of a crawl, the directory of its archive, and its settings.
    #[must_use]
    pub fn new(layout: &Layout, store: &'a dyn CrawlView, archive: PathBuf, settings: &Settings) -> Self {
        // What is derived is not recorded again.
        let settings = Settings { details: true, archive: false, ..settings.clone() };
        let layout = layout.clone().with_rules(settings.rules.clone());
        Deriver { layout, store, archive, settings }
    }

    /// Derives missing rows, and settles the dataset. Does nothing if nothing is missing. `progress` receives the number of
    /// derived rows.
    ///
    /// # Errors
    /// The archive is damaged, or the dataset cannot be written.
    pub fn derive(&self, progress: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Derived> {
        let standing = Standing::of(&self.layout, self.store)?;
        // What an earlier version settled is believed by who only reads, and is settled here.
        if standing != Standing::Unsaid && self.is_complete()? {
            return Ok(Derived { lacking: self.lacking()?, ..Derived::default() });
        }
        self.remove_stale()?;
        let unsettled = Unsettled::begin(&self.layout, standing)?;
        let derived = self.rows_of(self.missing()?, Extent::Missing, progress)?;
        unsettled.with_derived(derived.segments > 0).settle(self.store)?;
        Ok(Derived { settled: !standing.holds(self.store)?, ..derived })
    }

    /// Derives everything again. A file is replaced when the new one is whole: where the archive cannot be read, those of that segment stay as
    /// they were. Tables of items whose rules are gone are removed in the end. `progress` receives the number of derived rows.
    ///
    /// # Errors
    /// The archive is damaged, or the dataset cannot be written.
    pub fn derive_all(&self, progress: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Derived> {
        self.remove_stale()?;
        let unsettled = Unsettled::begin(&self.layout, Standing::of(&self.layout, self.store)?)?.with_derived(true);
        let segments = self.store.segments()?;
        let derived = self.rows_of(segments, Extent::All, progress)?;
        unsettled.settle(self.store)?;
        let rules = &self.layout.rules().rules;
        for table in self.layout.item_tables()?.iter().filter(|table| rules.iter().all(|rule| rule.name != **table)) {
            let dir = self.layout.items_dir(table);
            std::fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        Ok(derived)
    }

    /// Whether nothing is missing. Writes nothing.
    ///
    /// # Errors
    /// The state or the dataset cannot be read.
    pub fn is_complete(&self) -> anyhow::Result<bool> {
        Ok(self.stale()?.is_empty()
            && self.missing()?.is_empty()
            && UnrecordedPages::are_written(&self.layout)?
            && !Unsettled::is_marked(&self.layout)
            && Standing::of(&self.layout, self.store)?.holds(self.store)?)
    }

    /// Derives the rows of every segment that the dataset does not cover completely, and leaves the rest to the next writer.
    ///
    /// # Errors
    /// The archive is damaged, or the dataset cannot be written.
    pub fn derive_segments(&self) -> anyhow::Result<Derived> {
        self.remove_stale()?;
        self.rows_of(self.missing()?, Extent::Missing, &|_| ())
    }

    /// Removes the files of segments that the state does not know: they were set aside, and are derived again when they are adopted. Removes
    /// files that a killed process left unfinished, too.
    ///
    /// # Errors
    /// The state or the dataset cannot be read, or a file cannot be removed.
    pub fn remove_stale(&self) -> anyhow::Result<()> {
        let mut left = self.stale()?;
        for table in Table::ALL {
            left.extend(self.layout.unfinished_files(table)?);
        }
        left.extend(self.layout.unfinished_item_files()?);
        for path in left {
            std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// The files of segments that the state does not know.
    fn stale(&self) -> anyhow::Result<Vec<PathBuf>> {
        let known: HashSet<String> = self
            .store
            .segments()?
            .into_iter()
            .map(|segment| segment.name.trim_end_matches(".warc.gz").to_owned())
            .collect();
        let mut files = Vec::new();
        for table in Table::ALL {
            files.extend(self.layout.files(table)?);
        }
        for rule in self.layout.item_tables()? {
            files.extend(self.layout.item_files(&rule)?);
        }
        let is_stale = |path: &PathBuf| {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            stem != UNRECORDED && !known.contains(&stem)
        };
        files.retain(is_stale);
        Ok(files)
    }

    /// How far the dataset has rows. Writes nothing.
    ///
    /// # Errors
    /// The state or the dataset cannot be read.
    pub fn covered(&self) -> anyhow::Result<Covered> {
        let mut covered = Covered { lacking: self.missing()?.len() as u64, ..Covered::default() };
        for segment in self.store.segments()? {
            let bytes = covered_bytes(&self.layout, &segment.name)?.unwrap_or(0);
            covered.segments += 1;
            covered.bytes += segment.length;
            covered.bytes_lacking += segment.length.saturating_sub(bytes);
        }
        Ok(covered)
    }

    /// The segments that the dataset does not cover completely, or of which it has rows that count no more.
    fn missing(&self) -> anyhow::Result<Vec<Segment>> {
        let taken_back = TakenBack::of(self.store)?;
        let mut missing = Vec::new();
        for segment in self.store.segments()? {
            if covered_bytes(&self.layout, &segment.name)? != Some(segment.length)
                || self.is_completable(&segment)?
                || taken_back.is_in(&self.layout, &segment)?
            {
                missing.push(segment);
            }
        }
        Ok(missing)
    }

    /// Whether the rows of a segment lack content that can be read now.
    fn is_completable(&self, segment: &Segment) -> anyhow::Result<bool> {
        Lacking::of(&self.layout, &segment.name)?.is_readable(&self.archive, self.settings.limits.body_bytes_max)
    }

    /// The rows without content.
    fn lacking(&self) -> anyhow::Result<u64> {
        let segments = self.store.segments()?;
        segments.iter().map(|segment| Ok(Lacking::of(&self.layout, &segment.name)?.rows)).sum()
    }

    /// Derives the rows of segments, on all cores.
    fn rows_of(
        &self,
        segments: Vec<Segment>,
        extent: Extent,
        progress: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<Derived> {
        if let Some(reader) = self.settings.documents.as_ref().filter(|_| !segments.is_empty()) {
            reader.probe()?;
        }
        let derived = Derived { segments: segments.len(), ..Derived::default() };
        // Read before the visits: what is taken back meanwhile is looked at next time.
        let taken_back = TakenBack::of(self.store)?;
        let (pages, queue) = (AtomicU64::new(0), Mutex::new(segments.into_iter()));
        let count = || progress(pages.fetch_add(1, Ordering::Relaxed) + 1);
        let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(derived.segments);
        thread::scope(|scope| {
            let work = || -> anyhow::Result<()> {
                loop {
                    let next = queue.lock().map_err(|_| anyhow!("internal error: a derive thread panicked"))?.next();
                    let Some(segment) = next else { return Ok(()) };
                    self.segment(&segment, (extent, &taken_back), &count)
                        .map_err(|error| with_advice(error, &segment.name))?;
                }
            };
            let threads: Vec<_> = (0..workers).map(|_| thread::Builder::new().spawn_scoped(scope, work)).collect();
            let joined = threads.into_iter().map(|thread| match thread {
                Ok(thread) => {
                    thread.join().unwrap_or_else(|_| Err(anyhow!("internal error: a derive thread panicked")))
                }
                // No thread can be had.
                Err(_) => work(),
            });
            joined.collect::<anyhow::Result<Vec<()>>>()
        })?;
        Ok(Derived { pages: pages.into_inner(), lacking: self.lacking()?, ..derived })
    }

    /// Continues after the part that the files of a segment cover already, unless all is to be made again.
    fn segment(
        &self,
        segment: &Segment,
        (extent, taken_back): (Extent, &TakenBack),
        count: &dyn Fn(),
    ) -> anyhow::Result<()> {
        let path = self.archive.join(&segment.name);
        let body_bytes_max = self.settings.limits.body_bytes_max;
        let mut replay = Replay::new(self.store, &self.archive, body_bytes_max);
        let mut rows = Rows::new(self.store, false)?;
        let covered = covered_bytes(&self.layout, &segment.name)?.filter(|bytes| *bytes < segment.length);
        let is_stale = self.is_completable(segment)? || taken_back.is_in(&self.layout, segment)?;
        let from = if extent == Extent::All || is_stale { 0 } else { covered.unwrap_or(0) };
        // Files that end within a record are of another segment.
        let from = if from > 0 && begins_record(&path, from)? { from } else { 0 };
        let mut lacking = if from > 0 { Lacking::of(&self.layout, &segment.name)? } else { Lacking::default() };
        let mut tables = if from > 0 {
            SegmentTables::begin(&self.layout, &segment.name)?
        } else {
            SegmentTables::replace(&self.layout, &segment.name)?
        };
        let mut reader = Reader::open(&path, from)?;
        // A visit waits for what a browser made of it, which lies behind it.
        let mut waiting: Option<Waiting> = None;
        while let Some(mut record) = reader.next_record()? {
            let offset = record.offset();
            if offset >= segment.length {
                break;
            }
            let header = record.header().clone();
            if let Some(waiting) = &mut waiting
                && waiting.is_about(&header)
            {
                let mut block = Vec::new();
                record.read_to_end(&mut block)?;
                record.finish()?;
                waiting.take(&header, block);
                continue;
            }
            let Some(entry) = self.entry_of(&header, segment.serial, offset)? else {
                record.finish()?;
                continue;
            };
            let mut block = Vec::new();
            record.read_to_end(&mut block)?;
            let record = LoadedRecord { location: record.finish()?, header, block };
            let ready = waiting.replace(Waiting { entry, record, seen: None, html: None, extra: None });
            self.push(ready, extent, &mut rows, &mut replay, &mut tables, &mut lacking)?.then(count);
        }
        self.push(waiting, extent, &mut rows, &mut replay, &mut tables, &mut lacking)?.then(count);
        tables.finish(segment.length)?;
        lacking.mark(&self.layout, &segment.name)?;
        taken_back.mark(&self.layout, segment)
    }

    /// Writes the rows of a visit, and says whether there was one.
    fn push(
        &self,
        ready: Option<Waiting>,
        extent: Extent,
        rows: &mut Rows<'_>,
        replay: &mut Replay<'_>,
        tables: &mut SegmentTables,
        lacking: &mut Lacking,
    ) -> anyhow::Result<bool> {
        let Some(ready) = ready else { return Ok(false) };
        tables.push(written(rows, self.visited(ready, extent, replay, lacking)?)?)?;
        Ok(true)
    }

    /// The URL whose visit points to the record at `offset`.
    fn entry_of(&self, header: &warc::Header, serial: u32, offset: u64) -> anyhow::Result<Option<Entry>> {
        if !matches!(header.record_type(), Some(RecordType::Response | RecordType::Revisit)) {
            return Ok(None);
        }
        let Some(url) = header.target_uri().and_then(CanonicalUrl::from_canonical) else { return Ok(None) };
        let entry = self.store.get(url.key())?.filter(|entry| entry.candidate.purpose == Purpose::Page);
        let Some((entry, last)) = entry.and_then(|entry| entry.visit.clone().map(|last| (entry, last))) else {
            return Ok(None);
        };
        let is_here = |visit: &Visit| {
            visit.location.is_some_and(|at: ArchiveLocation| at.segment == serial && at.offset == offset)
        };
        if is_here(&last) {
            return Ok(Some(entry));
        }
        let earlier = if last.past.visits > 0 { self.store.earlier(last.key)? } else { Vec::new() };
        Ok(earlier.into_iter().find(is_here).map(|visit| Entry { visit: Some(visit), ..entry }))
    }

    /// The visit with the values of its answer, as the crawl had them.
    fn visited(
        &self,
        ready: Waiting,
        extent: Extent,
        replay: &mut Replay<'_>,
        lacking: &mut Lacking,
    ) -> anyhow::Result<Visited> {
        let Waiting { entry, record, seen, html, extra } = ready;
        let Entry { candidate, visit, .. } = entry;
        let visit = visit.ok_or_else(|| anyhow!("internal error: a record without a visit"))?;
        // Without a status there was no answer in the end, whatever came before.
        // Of a content that is as it was nothing came.
        if visit.status == 0 || visit.outcome == Outcome::NotModified {
            return Ok(Visited { candidate, visit, details: None });
        }
        let digest = record.header.get("WARC-Payload-Digest").map(str::to_owned);
        let answer = match replay.answer_of(record) {
            Ok(answer) => answer,
            // Rows without content would replace rows that have it.
            Err(error @ ReplayError::Archive { source: ReadError::Damaged { .. }, .. }) if extent == Extent::All => {
                return Err(error.into());
            }
            // A repair found the original lost, or an earlier archive is gone: the rest of the visit is in the state.
            Err(ReplayError::Original | ReplayError::Archive { .. }) => {
                return Ok(Visited { candidate, visit, details: None });
            }
            Err(ReplayError::Elsewhere { .. }) => {
                lacking.count(digest);
                return Ok(Visited { candidate, visit, details: None });
            }
            Err(error) => return Err(error.into()),
        };
        let rendering = seen.map(|seen| Box::new(rendering(visit.at, seen, html)));
        let bytes_max = self.settings.limits.body_bytes_max;
        let mut outcome = recorded_outcome(&candidate.url, visit.at, method_of(&visit), &answer, rendering, bytes_max);
        if visit.outcome.is_fetched() {
            // If it was a part, it was a page since it was requested so (`--header`).
            outcome.exchanges.iter_mut().for_each(|exchange| exchange.request_head = REQUEST_OF_PART.into());
        }
        let content = look_into(&outcome, Purpose::Page, &self.settings);
        let details = content.details.map(|details| Arc::new(Details { extra, ..*details }));
        Ok(Visited { candidate, visit, details })
    }
}

/// As much of a request as an answer with a part depends on.
const REQUEST_OF_PART: &[u8] = b"GET / HTTP/1.1\r\nRange: bytes=0-\r\n\r\n";

/// Whether a record begins there. Where it is damaged, so is the segment.
fn begins_record(path: &Path, offset: u64) -> Result<bool, ReadError> {
    match Reader::open(path, offset)?.next_record() {
        Err(ReadError::Damaged { .. }) => Ok(false),
        read => read.map(|_| true),
    }
}

/// The error of a segment. Damage of the archive can be mended.
fn with_advice(error: anyhow::Error, segment: &str) -> anyhow::Error {
    let is_damaged = |cause: &(dyn std::error::Error + 'static)| {
        // The content of a record is read as that of a file.
        let io = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        io.is_some_and(<dyn std::error::Error + Send + Sync>::is::<Damage>)
            || matches!(cause.downcast_ref::<ReadError>(), Some(ReadError::Damaged { .. }))
    };
    // That of a replay has said so.
    let is_said = error.chain().any(<dyn std::error::Error + 'static>::is::<ReplayError>);
    let advice =
        if !is_said && error.chain().any(is_damaged) { " (`argiope check --repair` mends the archive)" } else { "" };
    error.context(format!("dataset of {segment}{advice}"))
}

/// The end of a fetch as an archive has it, with a body of at most `body_bytes_max` bytes.
pub(super) fn recorded_outcome(
    url: &CanonicalUrl,
    at: Timestamp,
    method: Method,
    answer: &RecordedAnswer,
    rendering: Option<Box<Rendering>>,
    body_bytes_max: u64,
) -> FetchOutcome {
    let response = answer.response(usize::try_from(body_bytes_max).unwrap_or(usize::MAX));
    let exchange = Exchange {
        url: url.clone(),
        method,
        address: None,
        started_at: at,
        request_head: Default::default(),
        request_body: Default::default(),
        response_head: answer.head().to_vec().into(),
        payload: answer.payload().to_vec().into(),
        truncated: response.truncated,
        redacted: Default::default(),
    };
    FetchOutcome {
        id: TaskId(0),
        url: url.clone(),
        exchanges: vec![exchange],
        fetched: Fetched::Response(response),
        rendering,
        started_at: at,
        finished_at: at,
        response_time: Default::default(),
    }
}

/// A visit whose record was read, and the records after it.
struct Waiting {
    entry: Entry,
    record: LoadedRecord,
    /// The fields of the metadata record about its rendering.
    seen: Option<Vec<u8>>,
    /// The rendered page.
    html: Option<Vec<u8>>,
    /// The results of hooks.
    extra: Option<String>,
}

impl Waiting {
    /// Whether a record is about the rendering of this one.
    fn is_about(&self, header: &warc::Header) -> bool {
        let names = match header.record_type() {
            // Earlier versions wrote the rendered page as a conversion.
            Some(RecordType::Metadata | RecordType::Conversion) => "WARC-Refers-To",
            Some(RecordType::Resource)
                if header.target_uri().and_then(Made::of).is_some_and(|(made, _)| made == Made::Document) =>
            {
                "WARC-Concurrent-To"
            }
            _ => return false,
        };
        header.get(names).is_some_and(|id| Some(id) == self.record.header.get("WARC-Record-ID"))
    }

    fn take(&mut self, header: &warc::Header, block: Vec<u8>) {
        match header.record_type() {
            Some(RecordType::Conversion | RecordType::Resource) => self.html = Some(block),
            _ if header.get("Content-Type") == Some(archive::EXTRA_TYPE) => self.extra = String::from_utf8(block).ok(),
            _ => self.seen = Some(block),
        }
    }
}

/// The result of rendering, from its records: the fields of the metadata record, and the rendered page.
pub fn rendering(at: Timestamp, seen: Vec<u8>, html: Option<Vec<u8>>) -> Rendering {
    let fields = String::from_utf8_lossy(&seen).into_owned();
    let values = |name: &'static str| {
        let fields = fields.lines().filter_map(|line| line.split_once(": "));
        fields.filter(move |(field, _)| *field == name).map(|(_, value)| value.to_owned())
    };
    let document = html.map(|html| RenderedDocument {
        html: html.into(),
        outlinks: values(archive::OUTLINK).collect(),
        redirect: values(archive::REDIRECT).next(),
        has_router: values(archive::ROUTER).next().is_some(),
        pictures: Pictures::default(),
    });
    let number = |name| values(name).next().and_then(|number| number.parse().ok()).unwrap_or(0);
    Rendering {
        at,
        evidence: values(archive::RENDERING).next().unwrap_or_default(),
        before: Shown { links: number(archive::LINKS_BEFORE), text_chars: number(archive::CHARACTERS_BEFORE) },
        document: document.ok_or_else(|| values(archive::FAILURE).next().unwrap_or_default()),
        resources: Vec::new(),
        robots: Vec::new(),
        // What was said of it stands in the visit's reason.
        refused: Refusals::default(),
        left_out: Tally::default(),
        script_errors: Vec::new(),
        shared: Vec::new(),
        unloaded: Vec::new(),
    }
}

/// The method of the recorded answer: after a HEAD alone, nothing was parsed.
fn method_of(visit: &Visit) -> Method {
    match visit.outcome {
        Outcome::Binary if visit.length == 0 => Method::Head,
        _ => Method::Get,
    }
}
