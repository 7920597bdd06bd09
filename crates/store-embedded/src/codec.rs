//! The records of the tables as bytes. Every record begins with [`RECORD_VERSION`]; the golden bytes in the tests pin the
//! rest, so that the format cannot change unnoticed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use model::{
    Announced, ArchiveLocation, Aside, Candidate, Distance, Limit, LimitSet, Outcome, Past, PayloadDigest, Position,
    Purpose, Round, SiteRecord, Sought, Timestamp, Validators, Via, Visit,
};
use store::{Outline, Segment, Standing, StoreError, Totals, UrlRecord, VisitSummary};
use weburl::{CanonicalUrl, Site, UrlKey};

use crate::bytes::{Decoder, Encoder};
use crate::failure::{decode_failure, encode_failure};

mod robots;
#[cfg(test)]
mod tests;

pub(crate) use robots::{decode_robots, encode_robots};

/// The version of the directory's layout and of all tables together.
///
/// 1 had the records of URLs that wait in the table of URLs, where they still may be; 2 had one generation of the queue; 3 had no limits
/// that visits reached, knew contents by the label of their payload, and kept no kind of duplicates; 4 had no sites aside, and
/// the counters of shapes in the records of their sites; 5 had one visit of each URL; 6 kept no validators of a robots.txt; 7 knew no
/// requisites; 8 kept nothing of what sites say of changes; 9 did not tell how a page needs a
/// requisite; 10 could not find URLs by their outcomes; 11 did not tell how long a site asked to be left alone.
pub(crate) const FORMAT_VERSION: u32 = 12;
/// The oldest that is still read.
pub(crate) const OLDEST_FORMAT_VERSION: u32 = 1;
/// The first byte of every record.
const RECORD_VERSION: u8 = 1;

/// What every commit counts up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The number of the last batch.
    pub(crate) sequence: u64,
    /// How many seeds there are.
    pub(crate) seeds: u64,
    /// How much there is of everything.
    pub(crate) totals: Totals,
}

const QUEUED: u8 = 1;
const VISITED: u8 = 1 << 1;
const HAS_OUTLINKS: u8 = 1 << 2;
const HAS_FOUND_ON: u8 = 1 << 3;
const VIA_SHIFT: u8 = 4;
const PURPOSE_SHIFT: u8 = 6;
/// Beside the code of the outcome: behind the length come the limits that were reached.
const REACHED_LIMITS: u8 = 1 << 7;
/// Beside the code of the outcome: behind that come the round, and whether the URL is to be visited again.
const HAS_ROUND: u8 = 1 << 6;
/// Behind the URL of a requisite that was named so.
const IN_FRAME: u8 = 1;
const AS_STYLE_SHEET: u8 = 2;
const VIAS: [Via; 4] = [Via::Seed, Via::Link, Via::Redirect, Via::Sitemap];
const PURPOSES: [Purpose; 4] = [Purpose::Page, Purpose::Sitemap, Purpose::Robots, Purpose::Requisite];

pub(crate) fn encode_url(record: &UrlRecord) -> Vec<u8> {
    let UrlRecord { candidate, attempts, queued, again, visit } = record;
    let via = match candidate.via {
        Via::Seed => 0,
        // Behind the URL follows which.
        Via::Link | Via::Frame | Via::StyleSheet => 1,
        Via::Redirect => 2,
        Via::Sitemap => 3,
    };
    let purpose = match candidate.purpose {
        Purpose::Page => 0,
        Purpose::Sitemap => 1,
        Purpose::Robots => 2,
        Purpose::Requisite => 3,
    };
    let flags = flag(*queued, QUEUED)
        | flag(visit.is_some(), VISITED)
        | flag(visit.is_some_and(|visit| visit.has_outlinks), HAS_OUTLINKS)
        | flag(candidate.found_on.is_some(), HAS_FOUND_ON);
    let mut to = Encoder::new(RECORD_VERSION);
    to.byte(flags | via << VIA_SHIFT | purpose << PURPOSE_SHIFT);
    to.varint(u64::from(candidate.depth)).byte(candidate.redirects).byte(*attempts);
    if let Some(visit) = visit {
        let has_round = visit.round > 1 || *again;
        let extra = flag(!visit.limits.is_empty(), REACHED_LIMITS) | flag(has_round, HAS_ROUND);
        to.byte(visit.outcome.code() | extra).varint(visit.length);
        if !visit.limits.is_empty() {
            to.varint(visit.limits.bits());
        }
        if has_round {
            to.varint(u64::from(visit.round)).byte(u8::from(*again));
        }
    }
    if let Some(found_on) = candidate.found_on {
        to.fixed(&found_on.to_bytes());
    }
    to.text(candidate.url.as_str());
    match candidate.via {
        Via::Frame => to.byte(IN_FRAME),
        Via::StyleSheet => to.byte(AS_STYLE_SHEET),
        Via::Seed | Via::Link | Via::Redirect | Via::Sitemap => &mut to,
    };
    to.finish()
}

/// How a URL stands, without the rest of its record.
pub(crate) fn decode_standing(key: UrlKey, bytes: &[u8]) -> Result<Standing, StoreError> {
    let mut from = Decoder::new("urls", RECORD_VERSION, bytes)?;
    let UrlHead { flags, purpose, distance, again, visit, .. } = url_head(&mut from)?;
    let position = Position::of(purpose, distance.depth, key.url);
    Ok(Standing { purpose, distance, position, queued: flags & QUEUED != 0, again, visit })
}

/// A URL in short: its text is taken as it was written.
pub(crate) fn decode_outline(key: UrlKey, bytes: &[u8]) -> Result<Outline, StoreError> {
    let mut from = Decoder::new("urls", RECORD_VERSION, bytes)?;
    let UrlHead { flags, purpose, again, visit, .. } = url_head(&mut from)?;
    optional(flags, HAS_FOUND_ON, || from.fixed::<16>())?;
    let url = from.text()?.to_owned();
    Ok(Outline { key, url, purpose, outcome: visit.map(|visit| visit.outcome), again })
}

pub(crate) fn decode_url(bytes: &[u8]) -> Result<UrlRecord, StoreError> {
    let mut from = Decoder::new("urls", RECORD_VERSION, bytes)?;
    let UrlHead { flags, purpose, distance: Distance { depth, redirects }, attempts, again, visit } =
        url_head(&mut from)?;
    let mut via = VIAS[usize::from(flags >> VIA_SHIFT & 3)];
    let found_on = optional(flags, HAS_FOUND_ON, || Ok(UrlKey::from_bytes(from.fixed()?)))?;
    let url = url(&mut from)?;
    if !from.is_at_end() {
        via = match from.byte()? {
            IN_FRAME => Via::Frame,
            AS_STYLE_SHEET => Via::StyleSheet,
            _ => return Err(from.damaged("unknown way to a requisite")),
        };
    }
    from.finish()?;
    let candidate = Candidate { url, depth, redirects, via, purpose, found_on };
    Ok(UrlRecord { candidate, attempts, queued: flags & QUEUED != 0, again, visit })
}

/// What stands before the texts of a URL's record.
struct UrlHead {
    flags: u8,
    purpose: Purpose,
    distance: Distance,
    attempts: u8,
    again: bool,
    visit: Option<VisitSummary>,
}

/// Rounds are counted from 1.
fn decode_round(from: &mut Decoder<'_>) -> Result<u32, StoreError> {
    from.narrow().and_then(|round| if round > 0 { Ok(round) } else { Err(from.damaged("a round without number")) })
}

fn url_head(from: &mut Decoder<'_>) -> Result<UrlHead, StoreError> {
    let flags = from.byte()?;
    let purpose = PURPOSES.get(usize::from(flags >> PURPOSE_SHIFT)).copied();
    let purpose = purpose.ok_or_else(|| from.damaged("unknown purpose"))?;
    let distance = Distance { depth: from.narrow()?, redirects: from.byte()? };
    let attempts = from.byte()?;
    let mut again = false;
    let visit = if flags & VISITED != 0 {
        let (code, length) = (from.byte()?, from.varint()?);
        let limits = if code & REACHED_LIMITS != 0 { LimitSet::from_bits(from.varint()?) } else { LimitSet::EMPTY };
        let round = if code & HAS_ROUND != 0 {
            let round = decode_round(from)?;
            again = from.byte()? != 0;
            round
        } else {
            1
        };
        let code = code & !(REACHED_LIMITS | HAS_ROUND);
        let outcome = Outcome::from_code(code).ok_or_else(|| from.damaged("unknown outcome"))?;
        Some(VisitSummary { outcome, length, has_outlinks: flags & HAS_OUTLINKS != 0, limits, round })
    } else {
        None
    };
    Ok(UrlHead { flags, purpose, distance, attempts, again, visit })
}

const HAS_CONTENT_TYPE: u8 = 1;
const HAS_DIGEST: u8 = 1 << 1;
const HAS_DUPLICATE_OF: u8 = 1 << 2;
const HAS_TARGET: u8 = 1 << 3;
const HAS_TITLE: u8 = 1 << 4;
const HAS_LOCATION: u8 = 1 << 5;
const HAS_OUT_DEGREE: u8 = 1 << 6;
const HAS_LIMITS: u8 = 1 << 7;

/// Without the key, which is that of the table, and without the outlinks, which have their own.
pub(crate) fn encode_visit(visit: &Visit) -> Vec<u8> {
    let flags = flag(visit.content_type.is_some(), HAS_CONTENT_TYPE)
        | flag(visit.digest.is_some(), HAS_DIGEST)
        | flag(visit.duplicate_of.is_some(), HAS_DUPLICATE_OF)
        | flag(visit.target.is_some(), HAS_TARGET)
        | flag(visit.title.is_some(), HAS_TITLE)
        | flag(visit.location.is_some(), HAS_LOCATION)
        | flag(visit.out_degree.is_some(), HAS_OUT_DEGREE)
        | flag(!visit.limits.is_empty(), HAS_LIMITS);
    let mut to = Encoder::new(RECORD_VERSION);
    to.byte(flags).byte(visit.outcome.code()).byte(visit.attempts);
    to.varint(u64::from(visit.status)).varint(visit.length).varint(visit.at.0);
    to.varint(u64::from(visit.judged_at.depth)).byte(visit.judged_at.redirects).text(&visit.reason);
    if let Some(content_type) = &visit.content_type {
        to.text(content_type);
    }
    if let Some(digest) = &visit.digest {
        to.fixed(&digest.0);
    }
    if let Some(duplicate_of) = visit.duplicate_of {
        to.fixed(&duplicate_of.to_bytes());
    }
    if let Some(target) = &visit.target {
        to.text(target);
    }
    if let Some(title) = &visit.title {
        to.text(title);
    }
    if let Some(location) = visit.location {
        to.varint(u64::from(location.segment)).varint(location.offset).varint(location.length);
    }
    if let Some(out_degree) = visit.out_degree {
        to.varint(u64::from(out_degree));
    }
    if !visit.limits.is_empty() {
        to.varint(visit.limits.bits());
    }
    let Visit { round, content_at, content_url, validators, identity, wording, sought, announced, past, .. } = visit;
    let is_later = *round > 1 || *past != Past::default();
    let more = flag(content_at.is_some(), HAS_CONTENT_AT)
        | flag(validators.etag.is_some(), HAS_ETAG)
        | flag(validators.last_modified.is_some(), HAS_LAST_MODIFIED)
        | flag(is_later, IS_LATER)
        | flag(content_url.is_some(), HAS_CONTENT_URL)
        | flag(identity.is_some(), HAS_IDENTITY)
        | flag(wording.is_some(), HAS_WORDING)
        | flag(!announced.is_empty(), IS_ANNOUNCED);
    let has_more = more > 0 || !sought.is_empty();
    if visit.duplicate_kind.is_some() || has_more {
        to.byte(visit.duplicate_kind.map_or(NO_KIND, Outcome::code));
    }
    if has_more {
        to.byte(more);
        if let Some(content_at) = content_at {
            to.varint(content_at.0);
        }
        for validator in [&validators.etag, &validators.last_modified].into_iter().flatten() {
            to.text(validator);
        }
        if is_later {
            to.varint(u64::from(*round)).varint(u64::from(past.visits)).varint(u64::from(past.changes));
            to.varint(past.first_at.0).varint(past.changed_at.0).varint(u64::from(past.not_modified));
        }
        if let Some(content_url) = content_url {
            to.text(content_url);
        }
        for number in [identity, wording].into_iter().flatten() {
            to.fixed(&number.to_be_bytes());
        }
        if !announced.is_empty() {
            for at in [announced.sitemap, announced.feed] {
                to.varint(at.unwrap_or_default().0);
            }
        }
        if !sought.is_empty() {
            to.byte(sought.bits());
        }
    }
    to.finish()
}

/// In place of a kind, if there is none and more follows.
const NO_KIND: u8 = 0;
const HAS_CONTENT_AT: u8 = 1;
const HAS_ETAG: u8 = 1 << 1;
const HAS_LAST_MODIFIED: u8 = 1 << 2;
const IS_LATER: u8 = 1 << 3;
const HAS_CONTENT_URL: u8 = 1 << 4;
const HAS_IDENTITY: u8 = 1 << 5;
const IS_ANNOUNCED: u8 = 1 << 6;
const HAS_WORDING: u8 = 1 << 7;

/// The visit of the URL `key`, its outlinks left empty.
pub(crate) fn decode_visit(key: UrlKey, bytes: &[u8]) -> Result<Visit, StoreError> {
    let mut from = Decoder::new("visits", RECORD_VERSION, bytes)?;
    let flags = from.byte()?;
    let (outcome, attempts) = (outcome(&mut from)?, from.byte()?);
    let (status, length, at) = (from.narrow()?, from.varint()?, Timestamp(from.varint()?));
    let judged_at = Distance { depth: from.narrow()?, redirects: from.byte()? };
    let reason = from.text()?.to_owned();
    let content_type = optional(flags, HAS_CONTENT_TYPE, || Ok(from.text()?.to_owned()))?;
    let digest = optional(flags, HAS_DIGEST, || Ok(PayloadDigest(from.fixed()?)))?;
    let duplicate_of = optional(flags, HAS_DUPLICATE_OF, || Ok(UrlKey::from_bytes(from.fixed()?)))?;
    let target = optional(flags, HAS_TARGET, || Ok(from.text()?.to_owned()))?;
    let title = optional(flags, HAS_TITLE, || Ok(from.text()?.to_owned()))?;
    let location = optional(flags, HAS_LOCATION, || {
        Ok(ArchiveLocation { segment: from.narrow()?, offset: from.varint()?, length: from.varint()? })
    })?;
    let out_degree = optional(flags, HAS_OUT_DEGREE, || from.narrow())?;
    let limits = optional(flags, HAS_LIMITS, || Ok(LimitSet::from_bits(from.varint()?)))?.unwrap_or_default();
    // Visits that have none of what follows end before it.
    let kind = if from.is_at_end() { NO_KIND } else { from.byte()? };
    let kind_of = |code| Outcome::from_code(code).ok_or_else(|| from.damaged("unknown outcome"));
    let duplicate_kind = if kind == NO_KIND { None } else { Some(kind_of(kind)?) };
    let more = if from.is_at_end() { 0 } else { from.byte()? };
    let content_at = optional(more, HAS_CONTENT_AT, || Ok(Timestamp(from.varint()?)))?;
    let validators = decode_validators(more, &mut from)?;
    let later = optional(more, IS_LATER, || {
        let round = decode_round(&mut from)?;
        let (visits, changes) = (from.narrow()?, from.narrow()?);
        let (first_at, changed_at) = (Timestamp(from.varint()?), Timestamp(from.varint()?));
        let not_modified = from.narrow()?;
        Ok((round, Past { visits, changes, first_at, changed_at, not_modified }))
    })?;
    let (round, past) = later.unwrap_or((1, Past::default()));
    let content_url = optional(more, HAS_CONTENT_URL, || Ok(from.text()?.to_owned()))?;
    let identity = optional(more, HAS_IDENTITY, || from.fixed().map(u64::from_be_bytes))?;
    let wording = optional(more, HAS_WORDING, || from.fixed().map(u64::from_be_bytes))?;
    let announced = optional(more, IS_ANNOUNCED, || {
        let mut said = || Ok(Some(Timestamp(from.varint()?)).filter(|at| at.0 > 0));
        Ok(Announced { sitemap: said()?, feed: said()? })
    })?;
    let announced = announced.unwrap_or_default();
    let sought = Sought::from_bits(if from.is_at_end() { 0 } else { from.byte()? });
    from.finish()?;
    Ok(Visit {
        key,
        outcome,
        reason,
        status,
        content_type,
        length,
        digest,
        duplicate_of,
        duplicate_kind,
        target,
        title,
        out_degree,
        limits,
        at,
        attempts,
        location,
        judged_at,
        outlinks: Vec::new(),
        round,
        content_at,
        content_url,
        identity,
        wording,
        sought,
        announced,
        validators,
        past,
    })
}

pub(crate) fn encode_outlinks(outlinks: &[String]) -> Vec<u8> {
    let mut to = Encoder::new(RECORD_VERSION);
    to.varint(outlinks.len() as u64);
    for outlink in outlinks {
        to.text(outlink);
    }
    to.finish()
}

pub(crate) fn decode_outlinks(bytes: &[u8]) -> Result<Vec<String>, StoreError> {
    let mut from = Decoder::new("outlinks", RECORD_VERSION, bytes)?;
    let count = from.varint()?;
    let mut outlinks = Vec::new();
    for _ in 0..count {
        outlinks.push(from.text()?.to_owned());
    }
    from.finish()?;
    Ok(outlinks)
}

const HAS_ADDRESS: u8 = 1;
const ADDRESS_IS_V6: u8 = 1 << 1;
const IS_GIVEN_UP: u8 = 1 << 2;
const IS_ASIDE: u8 = 1 << 3;
const MISLEADS: u8 = 1 << 4;
/// The site has asked to be left alone for a time.
const HAS_ASKED: u8 = 1 << 5;

/// Without what is known of robots.txt, which has its own table. So have the counters of shapes: in records that are written now there are
/// none.
pub(crate) fn encode_site(record: &SiteRecord, shapes: &[(u64, u32)]) -> Vec<u8> {
    let flags = flag(record.address.is_some(), HAS_ADDRESS)
        | flag(record.address.is_some_and(|address| address.is_ipv6()), ADDRESS_IS_V6)
        | flag(record.given_up.is_some(), IS_GIVEN_UP)
        | flag(record.aside.is_some(), IS_ASIDE)
        | flag(record.misleads, MISLEADS)
        | flag(record.asked_until != Timestamp::default(), HAS_ASKED);
    let mut to = Encoder::new(RECORD_VERSION);
    to.byte(flags).text(record.site.as_str());
    match record.address {
        Some(IpAddr::V4(address)) => to.fixed(&address.octets()),
        Some(IpAddr::V6(address)) => to.fixed(&address.octets()),
        None => &mut to,
    };
    to.varint(record.due_at.0).varint(u64::from(record.failures_in_a_row));
    to.varint(record.response_time.as_secs()).varint(u64::from(record.response_time.subsec_nanos()));
    to.varint(record.pages_fetched).varint(u64::from(record.sitemaps_read));
    to.varint(shapes.len() as u64);
    for (shape, count) in shapes {
        to.fixed(&shape.to_be_bytes()).varint(u64::from(*count));
    }
    if let Some(failure) = &record.given_up {
        encode_failure(&mut to, failure);
    }
    if let Some(Aside { until, round, reason }) = &record.aside {
        encode_failure(to.varint(until.0).varint(u64::from(*round)), reason);
    }
    if record.asked_until != Timestamp::default() {
        to.varint(record.asked_until.0);
    }
    to.finish()
}

pub(crate) fn decode_site(bytes: &[u8]) -> Result<SiteRecord, StoreError> {
    let mut from = Decoder::new("sites", RECORD_VERSION, bytes)?;
    let flags = from.byte()?;
    let site = Site::from_text(from.text()?).ok_or_else(|| from.damaged("the site is not one"))?;
    let address = match (flags & HAS_ADDRESS != 0, flags & ADDRESS_IS_V6 != 0) {
        (true, false) => Some(IpAddr::from(from.fixed::<4>()?)),
        (true, true) => Some(IpAddr::from(from.fixed::<16>()?)),
        (false, _) => None,
    };
    let (due_at, failures_in_a_row) = (Timestamp(from.varint()?), from.narrow()?);
    let (seconds, nanos) = (from.varint()?, from.narrow::<u32>()?);
    if nanos >= 1_000_000_000 {
        return Err(from.damaged("a duration out of range"));
    }
    let (pages_fetched, sitemaps_read, shape_count) = (from.varint()?, from.narrow()?, from.varint()?);
    let mut shapes = Vec::new();
    for _ in 0..shape_count {
        shapes.push((u64::from_be_bytes(from.fixed()?), from.narrow()?));
    }
    let given_up = optional(flags, IS_GIVEN_UP, || decode_failure(&mut from))?;
    let aside = optional(flags, IS_ASIDE, || {
        Ok(Aside { until: Timestamp(from.varint()?), round: from.narrow()?, reason: decode_failure(&mut from)? })
    })?;
    // The eleventh format had the epoch for the end of the wait aside where the site had asked for the wait.
    let is_asked_for = aside.as_ref().is_some_and(|aside| aside.until == Timestamp::default());
    let by_wait = if is_asked_for { due_at } else { Timestamp::default() };
    let asked_until = optional(flags, HAS_ASKED, || Ok(Timestamp(from.varint()?)))?.unwrap_or(by_wait);
    from.finish()?;
    let response_time = Duration::new(seconds, nanos);
    Ok(SiteRecord {
        site,
        address,
        due_at,
        asked_until,
        failures_in_a_row,
        response_time,
        robots: None,
        pages_fetched,
        sitemaps_read,
        shapes,
        aside,
        given_up,
        misleads: flags & MISLEADS != 0,
    })
}

pub(crate) fn encode_shape(count: u32) -> Vec<u8> {
    Encoder::new(RECORD_VERSION).varint(u64::from(count)).finish()
}

pub(crate) fn decode_shape(bytes: &[u8]) -> Result<u32, StoreError> {
    let mut from = Decoder::new("shapes", RECORD_VERSION, bytes)?;
    let count = from.narrow()?;
    from.finish()?;
    Ok(count)
}

fn decode_validators(flags: u8, from: &mut Decoder<'_>) -> Result<Validators, StoreError> {
    Ok(Validators {
        etag: optional(flags, HAS_ETAG, || Ok(from.text()?.to_owned()))?,
        last_modified: optional(flags, HAS_LAST_MODIFIED, || Ok(from.text()?.to_owned()))?,
    })
}

/// Without the serial number, which is in the key.
pub(crate) fn encode_segment(segment: &Segment) -> Vec<u8> {
    Encoder::new(RECORD_VERSION).varint(segment.length).text(&segment.name).finish()
}

pub(crate) fn decode_segment(serial: u32, bytes: &[u8]) -> Result<Segment, StoreError> {
    let mut from = Decoder::new("meta", RECORD_VERSION, bytes)?;
    let (length, name) = (from.varint()?, from.text()?.to_owned());
    if !Segment::is_file_name(&name) {
        return Err(from.damaged("the name of a segment is not that of a file"));
    }
    from.finish()?;
    Ok(Segment { serial, name, length })
}

pub(crate) fn encode_seed(url: &CanonicalUrl) -> Vec<u8> {
    Encoder::new(RECORD_VERSION).text(url.as_str()).finish()
}

pub(crate) fn decode_seed(bytes: &[u8]) -> Result<CanonicalUrl, StoreError> {
    let mut from = Decoder::new("meta", RECORD_VERSION, bytes)?;
    let seed = url(&mut from)?;
    from.finish()?;
    Ok(seed)
}

pub(crate) fn encode_progress(progress: &Progress) -> Vec<u8> {
    let Progress { sequence, seeds, totals } = progress;
    let mut to = Encoder::new(RECORD_VERSION);
    to.varint(*sequence).varint(*seeds);
    to.varint(totals.urls).varint(totals.pending).varint(totals.bytes).varint(totals.sites).varint(totals.sitemaps);
    to.varint(totals.outcomes.len() as u64);
    for (outcome, count) in &totals.outcomes {
        to.byte(outcome.code()).varint(*count);
    }
    // States from before limits were counted end here.
    let has_rounds = totals.round != Round::default() || totals.again > 0 || totals.pages_of_round > 0;
    let has_bytes = totals.bytes_of_round != bytes_of_round_before(totals.round.number, totals.bytes);
    let has_requisites = !totals.requisites.is_empty() || totals.requisites_pending > 0 || has_bytes;
    let has_rounds = has_rounds || has_requisites;
    if !totals.limits.is_empty() || has_rounds {
        to.varint(totals.limits.len() as u64);
        for (limit, count) in &totals.limits {
            to.byte(limit.code()).varint(*count);
        }
    }
    if has_rounds {
        let Round { number, began_at, is_choosing } = totals.round;
        to.varint(u64::from(number)).varint(began_at.0).byte(u8::from(is_choosing));
        to.varint(totals.again).varint(totals.pages_of_round);
    }
    if has_requisites {
        to.varint(totals.requisites_pending).varint(totals.requisites.len() as u64);
        for (outcome, count) in &totals.requisites {
            to.byte(outcome.code()).varint(*count);
        }
    }
    if has_bytes {
        to.varint(totals.bytes_of_round);
    }
    to.finish()
}

/// The bytes of a round where a state has none: those of the first round are about all, and those of others were not counted.
fn bytes_of_round_before(round: u32, bytes: u64) -> u64 {
    if round > 1 { 0 } else { bytes }
}

pub(crate) fn decode_progress(bytes: &[u8]) -> Result<Progress, StoreError> {
    let mut from = Decoder::new("meta", RECORD_VERSION, bytes)?;
    let (sequence, seeds) = (from.varint()?, from.varint()?);
    let (urls, pending, bytes) = (from.varint()?, from.varint()?, from.varint()?);
    let (sites, sitemaps, outcome_count) = (from.varint()?, from.varint()?, from.varint()?);
    let mut outcomes = BTreeMap::new();
    for _ in 0..outcome_count {
        outcomes.insert(outcome(&mut from)?, from.varint()?);
    }
    let limit_count = if from.is_at_end() { 0 } else { from.varint()? };
    let mut limits = BTreeMap::new();
    for _ in 0..limit_count {
        let limit = Limit::ALL.get(usize::from(from.byte()?)).ok_or_else(|| from.damaged("unknown limit"))?;
        limits.insert(*limit, from.varint()?);
    }
    let (mut round, mut again, mut pages_of_round) = (Round::default(), 0, 0);
    if !from.is_at_end() {
        round = Round {
            number: decode_round(&mut from)?,
            began_at: Timestamp(from.varint()?),
            is_choosing: from.byte()? != 0,
        };
        (again, pages_of_round) = (from.varint()?, from.varint()?);
    }
    let (mut requisites, mut requisites_pending) = (BTreeMap::new(), 0);
    if !from.is_at_end() {
        requisites_pending = from.varint()?;
        for _ in 0..from.varint()? {
            requisites.insert(outcome(&mut from)?, from.varint()?);
        }
    }
    let has_bytes = !from.is_at_end();
    let bytes_of_round = if has_bytes { from.varint()? } else { bytes_of_round_before(round.number, bytes) };
    from.finish()?;
    let totals = Totals {
        urls,
        pending,
        outcomes,
        bytes,
        sites,
        sitemaps,
        limits,
        round,
        again,
        pages_of_round,
        bytes_of_round,
        requisites,
        requisites_pending,
    };
    Ok(Progress { sequence, seeds, totals })
}

fn url(from: &mut Decoder<'_>) -> Result<CanonicalUrl, StoreError> {
    CanonicalUrl::from_canonical(from.text()?).ok_or_else(|| from.damaged("the URL is not canonical"))
}

fn outcome(from: &mut Decoder<'_>) -> Result<Outcome, StoreError> {
    Outcome::from_code(from.byte()?).ok_or_else(|| from.damaged("unknown outcome"))
}

fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

fn optional<T>(flags: u8, bit: u8, read: impl FnOnce() -> Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    if flags & bit == 0 { Ok(None) } else { read().map(Some) }
}
