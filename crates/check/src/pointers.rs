//! The pointers of the state: where a visit says its response lies, there it must lie.

use std::fmt;

use against::Standing;
use model::{ArchiveLocation, Outcome, PayloadDigest, Timestamp, Visit, can_be_compared};
use store::{CrawlView, Entry, StoreError};
use warc::{Reader, RecordType};
use weburl::{CanonicalUrl, UrlKey};

use crate::archive::Archive;
use crate::severity::Severity;

/// Entries read from the store at once.
const ENTRIES_AT_ONCE: usize = 1_000;

/// Follows pointers.
pub(crate) struct Pointers<'a> {
    pub(crate) store: &'a dyn CrawlView,
    pub(crate) archive: &'a Archive,
}

/// What may point into the archive: a visit, the last of its URL or an earlier one.
pub(crate) struct Pointing {
    pub(crate) url: CanonicalUrl,
    pub(crate) visit: Visit,
}

/// What is wrong with a pointer.
struct Problem {
    words: String,
    /// A response is lost, and the state knows that: no repair finds it.
    is_lost: bool,
}

impl Problem {
    fn of(words: impl Into<String>) -> Self {
        Problem { words: words.into(), is_lost: false }
    }
}

/// What was recorded behind a response that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// Nothing: the URL was not recorded again.
    Nothing,
    /// The same, or the response had no content.
    Same,
    /// Another content: the lost one is lost for good.
    Another,
}

/// Tells a visit from the others of its URL.
pub(crate) struct When<'a>(pub(crate) &'a Visit);

impl fmt::Display for When<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the visit of {} (round {})", self.0.at.to_rfc3339(), self.0.round)
    }
}

impl Pointers<'_> {
    /// Everything in the state that may point into the archive, for URLs after `after`: some of it, and the URL to go on after. `None` at the end.
    ///
    /// This is the only list of them. The check follows what is in it and the repair moves the same: what points into the archive and is not
    /// listed here is neither checked nor moved.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn some(&self, after: Option<UrlKey>) -> Result<Option<(Vec<Pointing>, UrlKey)>, StoreError> {
        let entries = self.store.scan(after, ENTRIES_AT_ONCE)?;
        let Some(next) = entries.last().map(|entry| entry.candidate.url.key()) else { return Ok(None) };
        let mut pointing = Vec::new();
        for Entry { candidate, visit, .. } in entries {
            let Some(last) = visit else { continue };
            let earlier = if last.past.visits > 0 { self.store.earlier(last.key)? } else { Vec::new() };
            let visits = earlier.into_iter().chain([last]);
            pointing.extend(visits.map(|visit| Pointing { url: candidate.url.clone(), visit }));
        }
        Ok(Some((pointing, next)))
    }

    /// What is wrong with the pointers of a visit, and how bad it is.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn problems(&self, url: &CanonicalUrl, visit: &Visit) -> anyhow::Result<Vec<(Severity, String)>> {
        if !self.archive.is_kept {
            return Ok(Vec::new());
        }
        let mut problems = Vec::new();
        let of_record = self.problem_of_record(url, visit);
        let of_record = of_record.map(|words| Problem { words, is_lost: visit.location.is_none() });
        for Problem { words, is_lost } in of_record.into_iter().chain(self.problem_of_original(visit)?) {
            let since = if is_lost { self.since(visit)? } else { Since::Nothing };
            problems.push(match since {
                Since::Nothing => (Severity::Error, words),
                Since::Another => (Severity::Warning, format!("{}: {words}, and nothing brings it back", When(visit))),
                Since::Same => (Severity::Note, format!("{}: {words}; it was recorded again since", When(visit))),
            });
        }
        Ok(problems)
    }

    /// What a later visit of the URL has in place of a lost response. While the URL was not recorded again, the next visit may still bring it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn since(&self, visit: &Visit) -> anyhow::Result<Since> {
        let own = self.visits(visit.key)?;
        let Some(last) = own.last().filter(|last| last.order() > visit.order()) else { return Ok(Since::Nothing) };
        // A failure tells nothing of the page: the next visit may bring it.
        if !can_be_compared(last) || !self.is_there(last)? {
            return Ok(Since::Nothing);
        }
        let Some(digest) = visit.digest else { return Ok(Since::Same) };
        let mut visits = own.clone();
        for original in [visit.duplicate_of, last.duplicate_of].into_iter().flatten() {
            visits.extend(self.visits(original)?);
        }
        for other in visits.iter().filter(|other| other.digest == Some(digest)) {
            if self.is_there(other)? {
                return Ok(Since::Same);
            }
        }
        Ok(Since::Another)
    }

    /// All visits of a URL, the oldest first.
    fn visits(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        let last = self.store.get(key)?.and_then(|entry| entry.visit);
        let earlier =
            if last.as_ref().is_some_and(|last| last.past.visits > 0) { self.store.earlier(key)? } else { Vec::new() };
        Ok(earlier.into_iter().chain(last).collect())
    }

    /// Whether the archive has the response of a visit, with its payload, as far as the state says.
    fn is_there(&self, visit: &Visit) -> anyhow::Result<bool> {
        Ok(visit.location.is_some() && self.problem_of_original(visit)?.is_none())
    }

    /// What is wrong with the pointer to the response.
    pub(crate) fn problem_of_record(&self, url: &CanonicalUrl, visit: &Visit) -> Option<String> {
        match visit.location {
            Some(location) => self.compare(url, visit, location).err(),
            None if visit.status > 0 => Some("its response is not in the archive".to_owned()),
            None => None,
        }
    }

    /// Compares a visit with the record at `location`.
    ///
    /// # Errors
    /// What there is instead of its response, in words.
    pub(crate) fn compare(&self, url: &CanonicalUrl, visit: &Visit, location: ArchiveLocation) -> Result<(), String> {
        let ArchiveLocation { segment, offset, length } = location;
        let Some(segment) = self.archive.segment(segment) else {
            return Err(format!("its response is in segment {segment}, which the state does not know"));
        };
        if offset.saturating_add(length) > segment.length {
            return Err("its response lies behind the committed end of the segment".to_owned());
        }
        let not_there = |error: warc::ReadError| format!("its response cannot be read: {error}");
        let mut reader = Reader::open(self.archive.path(segment), offset).map_err(not_there)?;
        let Some(record) = reader.next_record().map_err(not_there)? else {
            return Err("the file ends where its response should be".to_owned());
        };
        let header = record.header();
        let expected = [
            ("record type", type_of(visit, header.record_type()).as_str().to_owned()),
            ("URL", url.to_string()),
            ("date", visit.at.to_rfc3339()),
        ];
        let found = [header.record_type().map(RecordType::as_str), header.target_uri(), header.date()];
        for ((what, expected), found) in expected.into_iter().zip(found) {
            differs(what, &expected, found)?;
        }
        if let Some(digest) = visit.digest {
            differs("payload digest", &digest.to_string(), header.get("WARC-Payload-Digest"))?;
        }
        let found = record.finish().map_err(not_there)?;
        differs("length", &length.to_string(), Some(&found.length.to_string()))
    }

    /// What is wrong with the visit whose payload this one repeats: its response is needed for both.
    fn problem_of_original(&self, visit: &Visit) -> anyhow::Result<Option<Problem>> {
        let is_repeated = visit.duplicate_of.is_some() || visit.content_at.is_some() && visit.outcome.is_fetched();
        let Some(digest) = visit.digest.filter(|_| is_repeated) else { return Ok(None) };
        if let Some(url) = &visit.content_url {
            let (problem, is_lost) = match self.elsewhere(url, visit, digest)? {
                Standing::Missing => ("whose record cannot be read in the earlier archive", true),
                Standing::Another => {
                    ("but the earlier archive has the payload as a record of another URL or date", false)
                }
                Standing::There => return Ok(None),
            };
            return Ok(Some(Problem { words: format!("it repeats {url}, {problem}"), is_lost }));
        }
        let holder = visit.duplicate_of.unwrap_or(visit.key);
        let Some(Entry { candidate, visit: Some(last), .. }) = self.store.get(holder)? else {
            return Ok(Some(Problem::of("the URL that it repeats is not known")));
        };
        // Which of its visits was not kept in earlier formats; nor does it hold where another turned out to have been first.
        let is_meant = |other: &Visit| visit.content_at.is_none_or(|at| at == other.at);
        let earlier = if is_meant(&last) { None } else { self.store.earlier(holder)?.into_iter().find(is_meant) };
        let original = match earlier {
            None if !is_meant(&last) && visit.duplicate_of.is_none() => {
                return Ok(Some(Problem::of("it has the payload of an earlier visit, which is not known")));
            }
            earlier => earlier.unwrap_or(last),
        };
        // What has a response of its own may have the same content in another coding.
        let it_repeats = |what: &str| format!("it repeats {}, {what}", candidate.url);
        if original.digest != Some(digest) && self.is_revisit(visit) {
            return Ok(Some(Problem::of(it_repeats("which has another payload"))));
        }
        let is_lost = original.location.is_none();
        Ok(is_lost.then(|| Problem { words: it_repeats("whose response is not in the archive"), is_lost }))
    }

    /// How earlier archives stand to the record of this URL with the payload of a visit.
    fn elsewhere(&self, url: &str, visit: &Visit, digest: PayloadDigest) -> anyhow::Result<Standing> {
        Ok(self.archive.standing_elsewhere(digest, (url, visit.content_at.unwrap_or(visit.at)))?)
    }

    /// The date of the record with the payload of a visit, if it is lost with an earlier archive.
    ///
    /// # Errors
    /// What earlier archives hold cannot be looked up.
    pub(crate) fn lost_elsewhere(&self, visit: &Visit) -> anyhow::Result<Option<Timestamp>> {
        // What failed keeps the place of the content before, with a digest of its own.
        let digest = visit.digest.filter(|_| visit.outcome.is_fetched());
        let (Some(url), Some(digest)) = (&visit.content_url, digest) else { return Ok(None) };
        let is_lost = self.elsewhere(url, visit, digest)? == Standing::Missing;
        Ok(visit.content_at.filter(|_| is_lost))
    }

    /// Whether the record of a visit refers to another for its payload. A record that cannot be read counts as none.
    fn is_revisit(&self, visit: &Visit) -> bool {
        let place =
            visit.location.and_then(|location| Some((self.archive.segment(location.segment)?, location.offset)));
        let reader = place.and_then(|(segment, offset)| Reader::open(self.archive.path(segment), offset).ok());
        reader.is_some_and(|mut reader| {
            let record = reader.next_record().ok().flatten();
            record.is_some_and(|record| record.header().record_type() == Some(RecordType::Revisit))
        })
    }
}

/// The type of the record that a visit should point to. A duplicate that was recognised late, since two workers had it at once, has a
/// response of its own, and so has one with the same content in another coding.
fn type_of(visit: &Visit, found: Option<RecordType>) -> RecordType {
    let may_refer = visit.duplicate_of.is_some() || visit.content_at.is_some() && visit.outcome.is_fetched();
    match visit.outcome {
        Outcome::NotModified => RecordType::Revisit,
        _ if may_refer && found != Some(RecordType::Response) => RecordType::Revisit,
        _ => RecordType::Response,
    }
}

fn differs(what: &str, expected: &str, found: Option<&str>) -> Result<(), String> {
    match found {
        Some(found) if found == expected => Ok(()),
        found => Err(format!("the record there has {what} {}, not {expected}", found.unwrap_or("unknown"))),
    }
}
