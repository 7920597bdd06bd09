//! Rows as values, and the words that stand for values in them.

use std::net::IpAddr;
use std::time::Duration;

use model::{
    Announced, ArchiveLocation, Aside, Candidate, Distance, Failure, FailureKind, LimitSet, Outcome, Past,
    PayloadDigest, Purpose, Queued, RobotsAnswer, RobotsRecord, SiteRecord, Sought, Timestamp, Validators, Via, Visit,
    Visited,
};
use postgres::Row;
use postgres::types::FromSql;
use serde::{Deserialize, Serialize};
use store::{Entry, Segment, StoreError};
use weburl::{CanonicalUrl, Site, UrlKey};

use crate::error::damaged;
use crate::numbers::{from_key, from_plain};
use crate::text::{restored, split};

/// An entry of a queue as its row has it.
pub(crate) struct Waiting {
    /// Without the last visit.
    pub(crate) queued: Queued,
    /// The URL is to be visited again.
    pub(crate) is_again: bool,
}

/// What few first visits have: the column `more`.
#[derive(Serialize, Deserialize)]
pub(crate) struct More {
    validators: Validators,
    past: Past,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wording: Option<u64>,
    #[serde(default, skip_serializing_if = "Announced::is_empty")]
    announced: Announced,
    #[serde(default, skip_serializing_if = "Sought::is_empty")]
    sought: Sought,
}

impl More {
    /// As the column has it; `None` where there is nothing of it.
    pub(crate) fn of(visit: &Visit) -> Option<String> {
        let Visit { validators, past, content_url, identity, wording, announced, sought, .. } = visit;
        let is_first = *past == Past::default() && announced.is_empty() && sought.is_empty();
        if validators.is_empty() && is_first && content_url.is_none() && identity.is_none() {
            return None;
        }
        let (validators, past, content_url) = (validators.clone(), past.clone(), content_url.clone());
        let (identity, wording, announced, sought) = (*identity, *wording, *announced, *sought);
        let more = More { validators, past, content_url, identity, wording, announced, sought };
        // Texts, numbers and flags can always be written.
        serde_json::to_string(&more).ok()
    }

    /// The visit with what the column has.
    fn read(text: &str, visit: Visit) -> Result<Visit, serde_json::Error> {
        let More { validators, past, content_url, identity, wording, announced, sought } = serde_json::from_str(text)?;
        Ok(Visit { validators, past, content_url, identity, wording, announced, sought, ..visit })
    }
}

/// What asks whether a robots.txt has changed, as the column `renewal` has it.
pub(crate) fn renewal_text(robots: &RobotsRecord) -> Option<String> {
    // Texts and numbers can always be written.
    robots.renewal.as_ref().and_then(|renewal| serde_json::to_string(renewal).ok())
}

/// The columns of a row, read from the left to the right.
pub(crate) struct Columns<'r> {
    table: &'static str,
    row: &'r Row,
    at: usize,
}

impl<'r> Columns<'r> {
    pub(crate) fn of(table: &'static str, row: &'r Row) -> Self {
        Columns { table, row, at: 0 }
    }

    /// The next column.
    pub(crate) fn next<T: FromSql<'r>>(&mut self) -> Result<T, StoreError> {
        let value = self.row.try_get(self.at).map_err(|error| damaged(self.table, error));
        self.at += 1;
        value
    }

    /// The next column as a narrower number than PostgreSQL has.
    pub(crate) fn narrow<T: FromSql<'r>, N: TryFrom<T>>(&mut self) -> Result<N, StoreError> {
        N::try_from(self.next()?).map_err(|_| self.damaged("a number out of range"))
    }

    fn optional_narrow<T: FromSql<'r>, N: TryFrom<T>>(&mut self) -> Result<Option<N>, StoreError> {
        let number = self.next::<Option<T>>()?.map(N::try_from).transpose();
        number.map_err(|_| self.damaged("a number out of range"))
    }

    pub(crate) fn plain(&mut self) -> Result<u64, StoreError> {
        self.next().map(from_plain)
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.next().map(restored)
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        Ok(self.next::<Option<String>>()?.map(restored))
    }

    /// A word that stands for one of a few values.
    fn word<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        let word: &str = self.next()?;
        meaning(word).ok_or_else(|| self.damaged(&format!("unknown word {word}")))
    }

    /// A word that stands for one of a few values, or none.
    fn optional_word<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Result<Option<T>, StoreError> {
        let Some(word) = self.next::<Option<&str>>()? else { return Ok(None) };
        meaning(word).map(Some).ok_or_else(|| self.damaged(&format!("unknown word {word}")))
    }

    fn optional_key(&mut self) -> Result<Option<UrlKey>, StoreError> {
        let (site, url): (Option<i64>, Option<i64>) = (self.next()?, self.next()?);
        Ok(site.zip(url).map(|(site, url)| from_key(site, url)))
    }

    pub(crate) fn url(&mut self) -> Result<CanonicalUrl, StoreError> {
        let text: &str = self.next()?;
        CanonicalUrl::from_canonical(text).ok_or_else(|| self.damaged("the URL is not canonical"))
    }

    fn damaged(&self, detail: &str) -> StoreError {
        damaged(self.table, detail)
    }

    /// `url, depth, redirects, purpose, via, found_on_site, found_on_url`.
    fn candidate(&mut self) -> Result<Candidate, StoreError> {
        Ok(Candidate {
            url: self.url()?,
            depth: self.narrow::<i64, _>()?,
            redirects: self.narrow::<i16, _>()?,
            purpose: self.word(purpose)?,
            via: self.word(via)?,
            found_on: self.optional_key()?,
        })
    }

    /// A candidate, then `attempts, outcome, outlinks, again`.
    pub(crate) fn queued(&mut self) -> Result<Waiting, StoreError> {
        let candidate = self.candidate()?;
        let attempts = self.narrow::<i16, _>()?;
        let word: Option<&str> = self.next()?;
        let outlinks = split(self.next()?);
        let visited = match word {
            Some(word) => {
                let outcome = outcome(word).ok_or_else(|| self.damaged(&format!("unknown outcome {word}")))?;
                Some(Visited { outcome, outlinks })
            }
            None => None,
        };
        let is_again: bool = self.next()?;
        let queued = Queued { attempts, visited: visited.filter(|_| !is_again), ..Queued::first(candidate) };
        Ok(Waiting { queued, is_again })
    }

    /// A candidate, then `attempts`, whether there is a visit, and the visit. `again` was read before.
    pub(crate) fn entry(&mut self, again: bool) -> Result<Entry, StoreError> {
        let candidate = self.candidate()?;
        let attempts = self.narrow::<i16, _>()?;
        let is_visited: bool = self.next()?;
        let key = candidate.url.key();
        let visit = if is_visited { Some(self.visit(key)?) } else { None };
        Ok(Entry { candidate, attempts, visit, again })
    }

    pub(crate) fn visit(&mut self, key: UrlKey) -> Result<Visit, StoreError> {
        let visit = Visit {
            key,
            at: Timestamp(self.plain()?),
            length: self.plain()?,
            judged_at: Distance { depth: self.narrow::<i64, _>()?, redirects: self.narrow::<i16, _>()? },
            duplicate_of: self.optional_key()?,
            out_degree: self.optional_narrow::<i64, _>()?,
            location: self.location()?,
            outcome: self.word(outcome)?,
            status: self.narrow::<i32, _>()?,
            attempts: self.narrow::<i16, _>()?,
            content_type: self.optional_text()?,
            reason: self.text()?,
            title: self.optional_text()?,
            target: self.optional_text()?,
            digest: self.digest()?,
            outlinks: split(self.next()?),
            limits: LimitSet::from_bits(self.plain()?),
            duplicate_kind: self.optional_word(outcome)?,
            round: self.narrow::<i32, _>()?,
            content_at: self.next::<Option<i64>>()?.map(|at| Timestamp(from_plain(at))),
            content_url: None,
            identity: None,
            wording: None,
            sought: Sought::default(),
            announced: Announced::default(),
            validators: Validators::default(),
            past: Past::default(),
        };
        match self.optional_text()? {
            Some(more) => More::read(&more, visit).map_err(|error| damaged(self.table, error)),
            None => Ok(visit),
        }
    }

    fn location(&mut self) -> Result<Option<ArchiveLocation>, StoreError> {
        let segment: Option<u32> = self.optional_narrow::<i64, _>()?;
        let (offset, length): (Option<i64>, Option<i64>) = (self.next()?, self.next()?);
        Ok(match (segment, offset, length) {
            (Some(segment), Some(offset), Some(length)) => {
                Some(ArchiveLocation { segment, offset: from_plain(offset), length: from_plain(length) })
            }
            _ => None,
        })
    }

    pub(crate) fn digest(&mut self) -> Result<Option<PayloadDigest>, StoreError> {
        let digest: Option<&[u8]> = self.next()?;
        let digest = digest.map(<[u8; 20]>::try_from).transpose();
        Ok(digest.map_err(|_| self.damaged("a digest of the wrong length"))?.map(PayloadDigest))
    }

    /// The columns of a site, then those of its robots.txt.
    pub(crate) fn site(&mut self) -> Result<SiteRecord, StoreError> {
        let text: &str = self.next()?;
        let site = Site::from_text(text).ok_or_else(|| self.damaged("the site is not one"))?;
        Ok(SiteRecord {
            site,
            due_at: Timestamp(self.plain()?),
            failures_in_a_row: self.narrow::<i64, _>()?,
            response_time: Duration::new(self.plain()?, self.nanos()?),
            pages_fetched: self.plain()?,
            sitemaps_read: self.narrow::<i64, _>()?,
            address: self.next::<Option<IpAddr>>()?,
            given_up: self.failure()?,
            shapes: self.shapes()?,
            aside: self.aside()?,
            misleads: self.next()?,
            asked_until: Timestamp(self.plain()?),
            robots: self.robots()?,
        })
    }

    /// `serial, name, length`.
    pub(crate) fn segment(&mut self) -> Result<Segment, StoreError> {
        let segment = Segment { serial: self.narrow::<i64, _>()?, name: self.text()?, length: self.plain()? };
        let is_one = Segment::is_file_name(&segment.name);
        is_one.then_some(segment).ok_or_else(|| self.damaged("the name of a segment is not that of a file"))
    }

    fn nanos(&mut self) -> Result<u32, StoreError> {
        let nanos: u32 = self.narrow::<i32, _>()?;
        if nanos < 1_000_000_000 { Ok(nanos) } else { Err(self.damaged("a duration out of range")) }
    }

    fn failure(&mut self) -> Result<Option<Failure>, StoreError> {
        let (word, detail): (Option<&str>, Option<String>) = (self.next()?, self.optional_text()?);
        let Some((word, detail)) = word.zip(detail) else { return Ok(None) };
        let kind = failure_kind(word).ok_or_else(|| self.damaged(&format!("unknown failure {word}")))?;
        Ok(Some(Failure { kind, detail }))
    }

    /// `aside_until, aside_round, aside_reason, aside_detail`, all null where the site is not aside.
    fn aside(&mut self) -> Result<Option<Aside>, StoreError> {
        let until: Option<i64> = self.next()?;
        let round: Option<u32> = self.optional_narrow::<i64, _>()?;
        let reason = self.failure()?;
        match (until, round, reason) {
            (None, None, None) => Ok(None),
            (Some(until), Some(round), Some(reason)) => {
                Ok(Some(Aside { until: Timestamp(from_plain(until)), round, reason }))
            }
            _ => Err(self.damaged("aside by halves")),
        }
    }

    /// The hashes of shapes and their counters, as two arrays, null where there are none.
    fn shapes(&mut self) -> Result<Vec<(u64, u32)>, StoreError> {
        let (hashes, counts): (Option<Vec<i64>>, Option<Vec<i64>>) = (self.next()?, self.next()?);
        let pairs = hashes.unwrap_or_default().into_iter().zip(counts.unwrap_or_default());
        let shapes = pairs.map(|(hash, count)| Some((from_plain(hash), u32::try_from(count).ok()?)));
        let shapes: Option<Vec<_>> = shapes.collect();
        let mut shapes = shapes.ok_or_else(|| self.damaged("a number out of range"))?;
        shapes.sort_unstable();
        Ok(shapes)
    }

    /// `fetched_at, failed_tries, status, failure, failure_detail, body, is_cut, renewal`, all null where nothing is known.
    fn robots(&mut self) -> Result<Option<RobotsRecord>, StoreError> {
        let fetched_at: Option<i64> = self.next()?;
        let Some(fetched_at) = fetched_at else { return Ok(None) };
        let failed_tries = self.narrow::<i64, _>()?;
        let status: Option<u16> = self.optional_narrow::<i32, _>()?;
        let failure = self.failure()?;
        let body: Option<Vec<u8>> = self.next()?;
        let is_cut = self.next::<Option<bool>>()?.unwrap_or_default();
        let answer = match (status, failure) {
            (Some(code), None) => RobotsAnswer::Status { code, body: body.unwrap_or_default().into() },
            (None, Some(failure)) => RobotsAnswer::Failed(failure),
            _ => return Err(self.damaged("neither a status nor a failure")),
        };
        let renewal = self.next::<Option<String>>()?.map(|text| serde_json::from_str(&text)).transpose();
        let renewal = renewal.map_err(|_| self.damaged("a renewal that is no JSON"))?;
        let fetched_at = Timestamp(from_plain(fetched_at));
        Ok(Some(RobotsRecord { fetched_at, failed_tries, answer, is_cut, renewal }))
    }
}

pub(crate) fn outcome(word: &str) -> Option<Outcome> {
    Outcome::ALL.iter().copied().find(|outcome| outcome.as_str() == word)
}

pub(crate) fn purpose_word(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Page => "page",
        Purpose::Sitemap => "sitemap",
        Purpose::Requisite => "requisite",
        Purpose::Robots => "robots",
    }
}

fn purpose(word: &str) -> Option<Purpose> {
    [Purpose::Page, Purpose::Sitemap, Purpose::Robots, Purpose::Requisite]
        .into_iter()
        .find(|purpose| purpose_word(*purpose) == word)
}

fn via(word: &str) -> Option<Via> {
    [Via::Seed, Via::Link, Via::Redirect, Via::Sitemap, Via::Frame, Via::StyleSheet]
        .into_iter()
        .find(|via| via.as_str() == word)
}

const FAILURES: [FailureKind; 11] = [
    FailureKind::NameNotFound,
    FailureKind::NameServer,
    FailureKind::AddressDenied,
    FailureKind::Connect,
    FailureKind::Tls,
    FailureKind::Timeout,
    FailureKind::Disconnected,
    FailureKind::Protocol,
    FailureKind::Busy,
    FailureKind::HeadTooLarge,
    FailureKind::Internal,
];

/// Words are never reused for another kind.
pub(crate) fn failure_word(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::NameNotFound => "name_not_found",
        FailureKind::NameServer => "name_server",
        FailureKind::AddressDenied => "address_denied",
        FailureKind::Connect => "connect",
        FailureKind::Tls => "tls",
        FailureKind::Timeout => "timeout",
        FailureKind::Disconnected => "disconnected",
        FailureKind::Protocol => "protocol",
        FailureKind::Busy => "busy",
        FailureKind::HeadTooLarge => "head_too_large",
        FailureKind::Internal => "internal",
    }
}

fn failure_kind(word: &str) -> Option<FailureKind> {
    FAILURES.into_iter().find(|kind| failure_word(*kind) == word)
}
