//! The answers in the files that were set aside: found and verified once, and read when they are wanted.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use archive::Orphan;
use bytes::Bytes;
use engine::{Record, Settings, sitemaps_of};
use frontier::{Verdict, verdict};
use model::{
    Exchange, FetchOutcome, FetchTask, Fetched, Headers, Made, Method, Picture, PictureKind, Response, RobotsAnswer,
    RobotsRecord, SiteRecord, TaskId, Timestamp, Truncation, Visit,
};
use replay::{RecordedAnswer, Replay};
use store::{Store, StoreError};
use warc::{Header, LoadedRecord, Problem, ReadError, RecordType, Severity, Stretch, Walk};
use weburl::{CanonicalUrl, UrlKey};

use super::versions::{OnlyHere, Version};
use crate::tables::rendering;

/// The greatest HTTP head that a record may have besides its payload, in bytes.
const HEAD_BYTES_MAX: u64 = 16 << 20;
/// Findings about damage that are told one by one; more are only counted.
const DAMAGE_TOLD_MAX: usize = 20;
const ROBOTS_TXT: &str = "/robots.txt";

/// The answers, of each URL the last one.
pub(super) struct Answers {
    aside: PathBuf,
    files: Vec<String>,
    found: BTreeMap<UrlKey, SetAside>,
    /// Those for robots.txt, in order.
    robots: Vec<SetAside>,
    /// Responses by their records' ids: what revisits refer to.
    by_id: HashMap<String, Place>,
    /// Originals in the crawl's own archive.
    originals: HashMap<UrlKey, LoadedRecord>,
    /// By file, what the final answers have, those for robots.txt aside.
    versions: BTreeMap<String, BTreeSet<Version>>,
    /// By file, answers that cannot be used: what they refer to is not there.
    unusable: HashMap<String, u64>,
    damaged: Vec<String>,
    damaged_records: u64,
    damaged_files: HashSet<String>,
    record_bytes_max: u64,
    body_bytes_max: usize,
}

#[derive(Clone, Copy)]
struct Place {
    file: usize,
    offset: u64,
}

#[derive(Clone)]
struct SetAside {
    url: CanonicalUrl,
    place: Place,
    is_revisit: bool,
}

impl Answers {
    /// Finds the answers in these files of the directory `aside`. Originals of revisits may be in the crawl's own archive.
    ///
    /// # Errors
    /// A file or the state cannot be read. Damage in a file is no error.
    pub(super) fn of(
        aside: &Path,
        orphans: &[Orphan],
        store: &dyn Store,
        archive: &Path,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let body_bytes_max = settings.limits.body_bytes_max;
        let mut answers = Answers {
            aside: aside.to_owned(),
            files: orphans.iter().map(|orphan| orphan.name.clone()).collect(),
            found: BTreeMap::new(),
            robots: Vec::new(),
            by_id: HashMap::new(),
            originals: HashMap::new(),
            versions: BTreeMap::new(),
            unusable: HashMap::new(),
            damaged: Vec::new(),
            damaged_records: 0,
            damaged_files: HashSet::new(),
            record_bytes_max: body_bytes_max.saturating_add(HEAD_BYTES_MAX),
            body_bytes_max: usize::try_from(body_bytes_max).unwrap_or(usize::MAX),
        };
        for file in 0..answers.files.len() {
            answers.scan(file).with_context(|| answers.path(file).display().to_string())?;
        }
        answers.drop_unusable(&mut Replay::new(store, archive, body_bytes_max), store)?;
        Ok(answers)
    }

    fn path(&self, file: usize) -> PathBuf {
        self.aside.join(&self.files[file])
    }

    fn scan(&mut self, file: usize) -> anyhow::Result<()> {
        let path = self.path(file);
        let report = warc::check(&path)?;
        let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let bad: HashSet<u64> = errors.clone().map(|finding| finding.offset).collect();
        // The walk below meets the records that are not whole, too, and knows more of them.
        for finding in errors.filter(|finding| !matches!(finding.problem, Problem::Damaged { .. })) {
            self.note_damage(file, finding.offset, &finding.problem, None);
        }
        let mut walk = Walk::open(&path)?;
        // What was recorded last, with the id of its record.
        let mut version: Option<(Option<String>, Version)> = None;
        // The last answer that was found: the id of its record, and what it took the place of.
        let mut last: Option<(Option<String>, UrlKey, Option<SetAside>)> = None;
        loop {
            // The header of a record that is not whole can often be read still.
            let mut begun = None;
            let stretch = walk.next(|record| {
                let header = begun.insert(record.header().clone()).clone();
                let kind = header.record_type();
                let has_head = matches!(kind, Some(RecordType::Response | RecordType::Revisit | RecordType::Request));
                let head = if has_head { Some(record.read_http_head()?) } else { None };
                Ok((header, head))
            })?;
            let (offset, header, head) = match stretch {
                None => break,
                Some(Stretch::Whole(location, (header, head))) => (location.offset, header, head),
                Some(Stretch::Damaged(location, damage)) => {
                    let problem = Problem::Damaged { bytes: location.length, damage };
                    self.note_damage(file, location.offset, &problem, begun.as_ref());
                    continue;
                }
            };
            let kind = header.record_type();
            if kind == Some(RecordType::Request) {
                // The answer to a HEAD request has no content.
                let method = head.as_ref().and_then(|head| method_of(head.start_line().as_bytes()));
                let is_of_version = |id: &Option<String>| id.as_deref() == header.get("WARC-Concurrent-To");
                version.take_if(|(id, _)| method == Some(Method::Head) && is_of_version(id));
                let asked = last.take().filter(|(id, ..)| id.as_deref() == header.get("WARC-Concurrent-To"));
                let is_of_page = head.is_some_and(|head| is_of_page(head.start_line().as_bytes()));
                if let Some((_, key, before)) = asked.filter(|_| is_of_page) {
                    self.found.remove(&key);
                    self.found.extend(before.map(|before| (key, before)));
                }
                continue;
            }
            let (Some(head), false) = (head, bad.contains(&offset)) else { continue };
            let Some(text) = header.target_uri() else { continue };
            let url = CanonicalUrl::from_canonical(text);
            let is_rules = url.as_ref().is_some_and(|url| url.path() == ROBOTS_TXT);
            if head.status().is_some_and(is_final) && !is_rules {
                let digest = header.get("WARC-Payload-Digest").map(str::to_owned);
                let at = header.date().and_then(Timestamp::from_rfc3339);
                let recorded = Version { url: text.to_owned(), digest, at };
                let before = version.replace((header.record_id().map(str::to_owned), recorded));
                self.note_version(file, before);
            }
            let Some(url) = url else { continue };
            let place = Place { file, offset };
            if let (Some(RecordType::Response), Some(id)) = (kind, header.record_id()) {
                self.by_id.insert(id.to_owned(), place);
            }
            let found = SetAside { url, place, is_revisit: kind == Some(RecordType::Revisit) };
            // A visit at which nothing had changed has no head.
            if found.url.path() == ROBOTS_TXT && head.status().is_some() {
                self.robots.push(found.clone());
            }
            if head.status().is_some_and(is_final) {
                let key = found.url.key();
                let before = self.found.insert(key, found);
                last = Some((header.record_id().map(str::to_owned), key, before));
            }
        }
        self.note_version(file, version);
        Ok(())
    }

    fn note_version(&mut self, file: usize, version: Option<(Option<String>, Version)>) {
        let versions = self.versions.entry(self.files[file].clone()).or_default();
        versions.extend(version.map(|(_, version)| version));
    }

    /// What the crawl does not have of the final answers: other versions of its pages, URLs that it does not know, other rules of sites.
    ///
    /// # Errors
    /// An answer or the state cannot be read.
    pub(super) fn only_here(&self, store: &dyn Store, archive: &Path) -> anyhow::Result<OnlyHere> {
        let mut replay = Replay::new(store, archive, self.body_bytes_max as u64);
        let mut only = OnlyHere::of(&self.versions, store, &mut replay)?;
        for SetAside { url, place, .. } in &self.robots {
            let known = store.site(url.site().key())?.and_then(|site| site.robots);
            let (_, response, _) = self.exchange(url, *place)?;
            if is_final(response.status) && known.is_none_or(|known| known.answer != rules_of(&response)) {
                let digest = self.load(*place)?.header.get("WARC-Payload-Digest").map(str::to_owned);
                only.add(&self.files[place.file], url.as_str(), digest);
            }
        }
        Ok(only)
    }

    /// Notes what is wrong with a record, and which record it was, as far as its header can be read.
    fn note_damage(&mut self, file: usize, offset: u64, problem: &Problem, header: Option<&Header>) {
        let name = self.files[file].clone();
        self.damaged_records += 1;
        if self.damaged.len() < DAMAGE_TOLD_MAX {
            let kind = header.and_then(Header::record_type).map(|kind| format!("; a {} record", kind.as_str()));
            let url = header.and_then(Header::target_uri).map(|url| format!(" of {url}"));
            let was = kind.map(|kind| kind + &url.unwrap_or_default()).unwrap_or_default();
            self.damaged.push(format!("{name} at {offset}: {problem}{was}"));
        }
        self.damaged_files.insert(name);
    }

    /// Forgets revisits of what is not there, and reads the originals that are in the crawl's own archive or in an earlier one.
    fn drop_unusable(&mut self, replay: &mut Replay<'_>, store: &dyn Store) -> anyhow::Result<()> {
        let revisits: Vec<SetAside> = self.found.values().filter(|found| found.is_revisit).cloned().collect();
        for SetAside { url, place, .. } in revisits {
            let record = self.load(place)?;
            let refers_to = record.header.get("WARC-Refers-To").map(str::to_owned);
            if refers_to.as_ref().is_some_and(|id| self.by_id.contains_key(id)) {
                continue;
            }
            let target = record.header.get("WARC-Refers-To-Target-URI").and_then(CanonicalUrl::from_canonical);
            let visits = target.map_or_else(|| Ok(Vec::new()), |target| visits_of(target.key(), store))?;
            let original = {
                let mut records = visits.iter().rev().filter_map(|visit| replay.record(visit.location?).ok());
                records.find(|original| original.header.record_id() == refers_to.as_deref())
            };
            match original.map_or_else(|| replay.elsewhere(&record.header), |original| Ok(Some(original)))? {
                Some(original) => drop(self.originals.insert(url.key(), original)),
                None => {
                    self.found.remove(&url.key());
                    *self.unusable.entry(self.files[place.file].clone()).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    /// The keys of the URLs that there is an answer of.
    pub(super) fn keys(&self) -> HashSet<UrlKey> {
        self.found.keys().copied().collect()
    }

    /// The URLs of pages that there is an answer of.
    pub(super) fn urls(&self) -> impl Iterator<Item = &CanonicalUrl> {
        self.found.values().map(|found| &found.url).filter(|url| url.path() != ROBOTS_TXT)
    }

    /// What is damaged, in words; at most [`DAMAGE_TOLD_MAX`].
    pub(super) fn damaged(&self) -> &[String] {
        &self.damaged
    }

    /// How many records are damaged, and in how many files.
    pub(super) fn damage(&self) -> (u64, usize) {
        (self.damaged_records, self.damaged_files.len())
    }

    /// How many answers repeat what is not there.
    pub(super) fn without_original(&self) -> u64 {
        self.unusable.values().sum()
    }

    /// Whether a file is valid from end to end.
    pub(super) fn is_whole(&self, file: &str) -> bool {
        !self.damaged_files.contains(file)
    }

    /// By file, how many answers are of URLs that still have no outcome.
    pub(super) fn left(&self, store: &dyn Store) -> anyhow::Result<HashMap<String, u64>> {
        let mut left = self.unusable.clone();
        for found in self.found.values().filter(|found| found.url.path() != ROBOTS_TXT) {
            let has_outcome = store.get(found.url.key())?.is_some_and(|entry| entry.visit.is_some());
            if !has_outcome {
                *left.entry(self.files[found.place.file].clone()).or_default() += 1;
            }
        }
        Ok(left)
    }

    /// How many answers for robots.txt there are.
    pub(super) fn robots_len(&self) -> usize {
        self.robots.len()
    }

    /// The record of an answer for robots.txt; `None` where the state has a newer one.
    ///
    /// # Errors
    /// The answer or the state cannot be read.
    pub(super) fn robots(
        &self,
        index: usize,
        store: &dyn Store,
        settings: &Settings,
    ) -> anyhow::Result<Option<Record>> {
        let SetAside { url, place, .. } = &self.robots[index];
        let site = url.site();
        let before = store.site(site.key())?.unwrap_or_else(|| SiteRecord::new(site.clone()));
        let (exchange, response, _) = self.exchange(url, *place)?;
        if before.robots.as_ref().is_some_and(|robots| robots.fetched_at >= exchange.started_at) {
            return Ok(None);
        }
        let is_longer = response.body.len() as u64 > settings.limits.robots_bytes_max;
        let is_cut = is_longer || response.truncated == Some(Truncation::Length);
        let answer = rules_of(&response);
        let at = exchange.started_at;
        let robots = RobotsRecord { fetched_at: at, failed_tries: 0, answer, is_cut, renewal: None };
        let mut record = Record::of(site.key());
        if settings.sitemaps {
            record.found = sitemaps_of(&site, &robots, settings);
        }
        record.site_record = Some(SiteRecord { robots: Some(robots), shapes: Vec::new(), ..before });
        record.exchanges = vec![exchange];
        Ok(Some(record))
    }

    /// The recorded end of a fetch.
    ///
    /// # Errors
    /// There is none, or it cannot be read any more.
    pub(super) fn read(&self, task: &FetchTask) -> anyhow::Result<FetchOutcome> {
        let found = self.found.get(&task.url.key());
        let found = found.ok_or_else(|| anyhow!("internal error: {} has no answer", task.url))?;
        let (exchange, response, rendering) = self.exchange(&task.url, found.place)?;
        let at = exchange.started_at;
        Ok(FetchOutcome {
            id: TaskId(task.id.0),
            url: task.url.clone(),
            exchanges: vec![exchange],
            fetched: Fetched::Response(response),
            rendering: rendering.map(Box::new),
            started_at: at,
            finished_at: at,
            response_time: Duration::ZERO,
        })
    }

    fn load(&self, place: Place) -> anyhow::Result<LoadedRecord> {
        let path = self.path(place.file);
        warc::read_at(&path, place.offset, self.record_bytes_max).with_context(|| path.display().to_string())
    }

    /// The exchange at a place, and what a browser made of it.
    fn exchange(
        &self,
        url: &CanonicalUrl,
        place: Place,
    ) -> anyhow::Result<(Exchange, Response, Option<model::Rendering>)> {
        let record = self.load(place)?;
        let header = record.header.clone();
        let original = match (header.record_type(), header.get("WARC-Refers-To")) {
            (Some(RecordType::Revisit), Some(id)) => match self.by_id.get(id) {
                Some(original) => Some(self.load(*original)?),
                None => self.originals.get(&url.key()).cloned(),
            },
            _ => None,
        };
        let beside = self.beside(place.file, &record)?;
        let at = header.date().and_then(Timestamp::from_rfc3339).unwrap_or_default();
        let answer = RecordedAnswer::new(record, original);
        let response = answer.response(self.body_bytes_max);
        let address = header.get("WARC-IP-Address").and_then(|address| address.parse().ok());
        let (request_head, request_body) = warc::split_http(&beside.request);
        let exchange = Exchange {
            url: url.clone(),
            method: method_of(&beside.request).unwrap_or(Method::Get),
            address: address.map(|address| SocketAddr::new(address, 0)),
            started_at: at,
            request_head: request_head.to_vec().into(),
            request_body: request_body.to_vec().into(),
            response_head: answer.head().to_vec().into(),
            payload: answer.payload().to_vec().into(),
            truncated: response.truncated,
            redacted: Default::default(),
        };
        let mut seen = beside.seen.map(|seen| rendering(at, seen, beside.html));
        if let Some(Ok(document)) = seen.as_mut().map(|seen| seen.document.as_mut()) {
            document.pictures.taken =
                beside.pictures.into_iter().map(|(kind, bytes)| Picture { kind, bytes: bytes.into() }).collect();
        }
        Ok((exchange, response, seen))
    }

    /// The records behind an answer that are about it. Damaged ones are passed over.
    fn beside(&self, file: usize, answer: &LoadedRecord) -> anyhow::Result<Beside> {
        let mut beside = Beside::default();
        let path = self.path(file);
        let id = answer.header.record_id();
        let behind = answer.location.offset + answer.location.length;
        let mut walk = Walk::open_at(&path, behind).with_context(|| path.display().to_string())?;
        let mut has_damage = false;
        loop {
            let stretch = walk.next(|record| {
                let header = record.header();
                let is_about = ["WARC-Refers-To", "WARC-Concurrent-To"].iter().any(|field| header.get(field) == id);
                let is_wanted = is_about && header.content_length() <= self.record_bytes_max;
                let Some(part) = is_wanted.then(|| Part::of(header)).flatten() else { return Ok(None) };
                let mut bytes = Vec::new();
                let offset = record.offset();
                record.read_to_end(&mut bytes).map_err(|error| ReadError::from_io(offset, error))?;
                Ok(Some((part, bytes)))
            });
            match stretch.with_context(|| path.display().to_string())? {
                Some(Stretch::Whole(_, Some((part, bytes)))) => beside.put(part, bytes),
                Some(Stretch::Damaged(..)) => has_damage = true,
                Some(Stretch::Whole(_, None)) | None => break,
            }
        }
        // A rendering without its document did not fail: its document is lost. The page comes in as if it had not been rendered.
        if has_damage && beside.html.is_none() && beside.seen.as_ref().is_some_and(|seen| !says_failure(seen)) {
            beside.seen = None;
        }
        Ok(beside)
    }
}

/// What an answer for robots.txt says.
fn rules_of(response: &Response) -> RobotsAnswer {
    let code = response.status;
    let body = if matches!(code, 200..=299) { response.body.clone() } else { Bytes::new() };
    RobotsAnswer::Status { code, body }
}

/// What lies behind an answer.
#[derive(Default)]
struct Beside {
    /// The request.
    request: Vec<u8>,
    /// The fields of the metadata record about its rendering.
    seen: Option<Vec<u8>>,
    /// The page as it was seen.
    html: Option<Vec<u8>>,
    /// Pictures of it.
    pictures: BTreeMap<PictureKind, Vec<u8>>,
}

impl Beside {
    fn put(&mut self, part: Part, bytes: Vec<u8>) {
        match part {
            Part::Request => self.request = bytes,
            Part::Seen => self.seen = Some(bytes),
            Part::Html => self.html = Some(bytes),
            Part::Picture(kind) => drop(self.pictures.insert(kind, bytes)),
        }
    }
}

/// What a record behind an answer holds.
enum Part {
    Request,
    Seen,
    Html,
    Picture(PictureKind),
}

impl Part {
    fn of(header: &Header) -> Option<Part> {
        match header.record_type()? {
            RecordType::Request => Some(Part::Request),
            RecordType::Metadata if header.get("Content-Type") == Some(archive::EXTRA_TYPE) => None,
            RecordType::Metadata => Some(Part::Seen),
            // As earlier versions wrote it.
            RecordType::Conversion => Some(Part::Html),
            RecordType::Resource => match Made::of(header.target_uri()?)?.0 {
                Made::Document => Some(Part::Html),
                Made::Picture(kind) => Some(Part::Picture(kind)),
                Made::Extra => None,
            },
            _ => None,
        }
    }
}

/// Whether the fields about a rendering say that it failed.
fn says_failure(seen: &[u8]) -> bool {
    let fields = String::from_utf8_lossy(seen);
    fields.lines().filter_map(|line| line.split_once(": ")).any(|(field, _)| field == archive::FAILURE)
}

/// The method of a recorded request.
fn method_of(request: &[u8]) -> Option<Method> {
    let name = request.split(|byte| *byte == b' ').next()?;
    Method::of(std::str::from_utf8(name).ok()?)
}

/// Whether only a page in a browser makes such a request: its answer says nothing of the URL.
fn is_of_page(request: &[u8]) -> bool {
    !matches!(method_of(request), Some(Method::Get | Method::Head))
}

/// Whether an answer ends a URL. One that does not was followed by another, or is still wanted.
fn is_final(status: u16) -> bool {
    let answer = Response {
        status,
        headers: Headers::default(),
        body: Bytes::new(),
        truncated: None,
        is_undecoded: false,
        note: None,
    };
    matches!(verdict::judge(&Fetched::Response(answer), false, Timestamp::default()), Verdict::Final { .. })
}

/// All visits of a URL that the state knows, in order.
fn visits_of(key: UrlKey, store: &dyn Store) -> Result<Vec<Visit>, StoreError> {
    let Some(last) = store.get(key)?.and_then(|entry| entry.visit) else { return Ok(Vec::new()) };
    let mut visits = if last.past.visits > 0 { store.earlier(key)? } else { Vec::new() };
    visits.push(last);
    Ok(visits)
}
