//! Originals of duplicates: which of their visits had the content that a duplicate repeats, and whether it is there still.
//!
//! The dataset stores no text for a duplicate: its text is that of its original. A later visit may find another content at the original. Then
//! the duplicate is a page of its own, with the text that an earlier visit of the original found. One rule decides that, for visits in the state
//! ([`Originals`]) and for rows of the dataset ([`Repeated::fit`]).

use std::cmp::Reverse;

use foldhash::{HashMap, HashMapExt};
use model::{Outcome, Payload, PayloadDigest, Visit};
use serde::{Deserialize, Serialize};
use store::{CrawlView, Entry, StoreError, with_current_visit};
use weburl::UrlKey;

use crate::Column;

/// Originals that are remembered at once.
const ORIGINALS_MAX: usize = 100_000;

/// A content as a visit of an original found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    payload: Payload,
    /// The number of the visit.
    visit: u32,
    /// It was another than that of the visit before.
    has_changed: bool,
}

impl Content {
    /// The columns of pages that [`Content::of_row`] reads.
    pub const COLUMNS: [&str; 5] = ["outcome", "digest", "length", "visit", "changed"];

    /// That of a visit; `None` where it found no page or document, or one that repeats another.
    fn of(visit: &Visit) -> Option<Self> {
        visit.outcome.has_content().then(|| Content {
            payload: visit.payload(),
            visit: visit.past.visits,
            has_changed: visit.past.found_change(visit.at) == Some(true),
        })
    }

    /// The same of a row.
    #[must_use]
    pub fn of_row(rows: &dyn Column, row: usize) -> Option<Self> {
        let outcome = rows.text("outcome", row)?;
        let has_content = Outcome::ALL.iter().any(|known| known.has_content() && known.as_str() == outcome);
        let visit = rows.number("visit", row).and_then(|visit| u32::try_from(visit).ok());
        has_content.then(|| Content {
            payload: payload_of_row(rows, row),
            visit: visit.unwrap_or_default(),
            has_changed: rows.flag("changed", row) == Some(true),
        })
    }
}

/// The payload of a row. Every crawl with rows labels its payloads.
fn payload_of_row(rows: &dyn Column, row: usize) -> Payload {
    let length = rows.number("length", row).and_then(|length| u64::try_from(length).ok());
    let label = rows.text("digest", row).and_then(PayloadDigest::parse);
    Payload { label, identity: None, length: length.unwrap_or_default() }
}

/// What a duplicate has in common with its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Repeated {
    payload: Payload,
    /// Its record has the payload, which may be in another coding than that of the original.
    is_recorded: bool,
}

/// How well a visit of the original fits. Of several, the greatest has what the duplicate repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fit {
    /// Its payload is another, and may be the same content in another coding. A duplicate of an original that had changed before has the very
    /// payload (`engine::recorder`), so only the first content of the original can be meant; with the number of the visit.
    Recoded(Reverse<u32>),
    /// It has the payload; with the number of the visit.
    Same(u32),
}

impl Repeated {
    /// The columns of pages that [`Repeated::of_row`] reads.
    pub const COLUMNS: [&str; 4] = ["digest", "length", "warc_file", "payload_at"];

    /// What a duplicate repeats.
    #[must_use]
    pub fn of(duplicate: &Visit) -> Self {
        Repeated { payload: duplicate.payload(), is_recorded: duplicate.content_at.is_none() }
    }

    /// The same by its row.
    #[must_use]
    pub fn of_row(rows: &dyn Column, row: usize) -> Self {
        // What the archive has lost is no claim to another coding.
        let is_recorded = rows.text("warc_file", row).is_some() && rows.number("payload_at", row).is_none();
        Repeated { payload: payload_of_row(rows, row), is_recorded }
    }

    /// Whether this content has the very payload.
    #[must_use]
    pub fn is(&self, content: &Content) -> bool {
        self.payload.is(content.payload)
    }

    /// How well a content of the original fits; `None` if it is another.
    #[must_use]
    pub fn fit(&self, content: &Content) -> Option<Fit> {
        if self.is(content) {
            return Some(Fit::Same(content.visit));
        }
        (self.is_recorded && !content.has_changed).then_some(Fit::Recoded(Reverse(content.visit)))
    }
}

/// Tells of duplicates whether their originals still have their content.
pub struct Originals<'s> {
    view: &'s dyn CrawlView,
    /// Before the second round, no original can have changed.
    may_have_changed: bool,
    /// The visits that describe originals now.
    known: HashMap<UrlKey, Option<Now>>,
}

/// What is at an original now.
#[derive(Clone, Copy)]
struct Now {
    outcome: Outcome,
    payload: Payload,
}

impl<'s> Originals<'s> {
    /// Of the duplicates of a crawl.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn new(view: &'s dyn CrawlView) -> Result<Self, StoreError> {
        let may_have_changed = view.totals()?.round.number > 1;
        Ok(Originals { view, may_have_changed, known: HashMap::new() })
    }

    /// The entry as it is now: with the visit that describes the present content ([`with_current_visit`]). A duplicate whose original has
    /// another content by now, or none, is a page or document of its own there.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn now(&mut self, entry: Entry) -> Result<Entry, StoreError> {
        let mut entry = with_current_visit(self.view, entry)?;
        if let Some(visit) = &mut entry.visit
            && let Some(kind) = visit.kind().filter(|_| visit.outcome == Outcome::Duplicate)
            && !self.is_repeated(visit)?
        {
            visit.outcome = kind;
            visit.duplicate_of = None;
        }
        Ok(entry)
    }

    /// Whether the original of a duplicate still has its content.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn is_repeated(&mut self, duplicate: &Visit) -> Result<bool, StoreError> {
        let Some(original) = duplicate.duplicate_of else { return Ok(false) };
        if !self.may_have_changed {
            return Ok(true);
        }
        let repeated = Repeated::of(duplicate);
        let Some(now) = self.of(original)?.filter(|now| now.outcome.is_fetched()) else { return Ok(false) };
        let is_the_same = repeated.payload.is(now.payload);
        if is_the_same || !repeated.is_recorded {
            return Ok(is_the_same);
        }
        // In another coding: it is the content of the visit that fits best.
        let mut visits = self.view.earlier(original)?;
        visits.extend(self.view.get(original)?.and_then(|entry| entry.visit));
        let contents = visits.iter().filter_map(Content::of);
        let fits = contents.filter_map(|content| Some((repeated.fit(&content)?, content.payload)));
        let best = fits.max_by_key(|(fit, _)| *fit);
        Ok(best.is_some_and(|(_, payload)| payload.is(now.payload)))
    }

    /// The visit that describes an original now.
    fn of(&mut self, original: UrlKey) -> Result<Option<Now>, StoreError> {
        if let Some(known) = self.known.get(&original) {
            return Ok(*known);
        }
        let entry = self.view.get(original)?.map(|entry| with_current_visit(self.view, entry)).transpose()?;
        let visit = entry.and_then(|entry| entry.visit);
        let now = visit.map(|visit| Now { outcome: visit.outcome, payload: visit.payload() });
        if self.known.len() >= ORIGINALS_MAX {
            self.known.clear();
        }
        self.known.insert(original, now);
        Ok(now)
    }
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Past, Round, Timestamp};
    use store::{Batch, MemoryStore, Store};
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    const PLAIN: Payload = payload(1, 10);
    const CODED: Payload = payload(2, 7);
    const OTHER: Payload = payload(3, 10);

    fn url(path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("http://one.test/{path}"), &CanonicalRules::default()).expect("a URL")
    }

    const fn payload(label: u8, length: u64) -> Payload {
        Payload { label: Some(PayloadDigest([label; 20])), identity: None, length }
    }

    /// A visit that found this payload; without one, that nothing is there.
    fn visit(path: &str, number: u32, found: Option<Payload>) -> Visit {
        let outcome = if found.is_some() { Outcome::Html } else { Outcome::HttpError };
        let Payload { label, identity, length } = found.unwrap_or(Payload { label: None, identity: None, length: 0 });
        Visit {
            status: if found.is_some() { 200 } else { 404 },
            digest: label,
            identity,
            length,
            past: Past { visits: number, ..Past::default() },
            round: number + 1,
            ..Visit::without_fetch(url(path).key(), outcome, String::new(), Timestamp(u64::from(number) + 1))
        }
    }

    /// Whether a duplicate of the first visit of its original is one after later visits of that. Its record is a revisit, or it has the payload.
    fn check(found: Payload, repeats: Payload, is_revisit: bool, later: &[Option<Payload>], expect: bool) {
        let store = MemoryStore::new();
        let seeds = ["original", "copy"].map(|path| Candidate::seed(url(path))).into();
        store.commit(&Batch { found: seeds, ..Batch::default() }).expect("committed");
        let first = visit("original", 0, Some(found));
        let mut copy = visit("copy", 0, Some(repeats));
        copy.repeat(url("original").key());
        copy.content_at = is_revisit.then_some(first.at);
        store.commit(&Batch { visits: vec![first, copy.clone()], ..Batch::default() }).expect("committed");
        for (number, found) in (1..).zip(later) {
            let round = Round { number: number + 1, ..Round::default() };
            let again = vec![url("original").key()];
            store.commit(&Batch { round: Some(round), again, ..Batch::default() }).expect("a round");
            let visits = vec![visit("original", number, *found)];
            store.commit(&Batch { visits, ..Batch::default() }).expect("committed");
        }
        let entry = store.get(url("copy").key()).expect("read").expect("the copy");
        assert_eq!(entry.visit, Some(copy.clone()), "the record of the visit stays");
        let now = Originals::new(&store).expect("read").now(entry).expect("read").visit.expect("a visit");
        let expect = match expect {
            true => (Outcome::Duplicate, copy.duplicate_of),
            false => (Outcome::Html, None),
        };
        assert_eq!((now.outcome, now.duplicate_of), expect, "{repeats:?} {is_revisit} {later:?}");
    }

    #[test]
    fn a_duplicate_is_one_while_its_original_has_the_content() {
        let revisit = |later: &[Option<Payload>], expect| check(PLAIN, PLAIN, true, later, expect);
        revisit(&[], true);
        revisit(&[Some(PLAIN)], true);
        revisit(&[Some(OTHER)], false);
        revisit(&[Some(OTHER), Some(PLAIN)], true);
        revisit(&[None], false);
        revisit(&[Some(OTHER), Some(OTHER)], false);
        revisit(&[None, Some(PLAIN)], true);
        let with_payload = |later: &[Option<Payload>], expect| {
            for repeats in [PLAIN, CODED] {
                check(PLAIN, repeats, false, later, expect);
            }
        };
        with_payload(&[], true);
        with_payload(&[Some(PLAIN)], true);
        with_payload(&[Some(OTHER)], false);
        with_payload(&[None], false);
        with_payload(&[Some(OTHER), Some(PLAIN)], true);
        check(PLAIN, CODED, false, &[Some(CODED)], true);
    }

    #[test]
    fn a_duplicate_without_a_label_is_one_while_its_original_has_the_content() {
        let in_first_run = |identity| Payload { label: None, identity: Some(identity), length: 10 };
        let later = |identity| Payload { identity: Some(u64::from(identity)), ..payload(identity, 10) };
        let first = in_first_run(1);
        check(first, first, true, &[Some(later(1))], true);
        check(first, first, true, &[Some(later(2))], false);
        check(first, first, true, &[Some(later(2)), Some(later(1))], true);
        check(first, first, true, &[None], false);
        // A retry begins a round within the first run.
        check(first, first, true, &[Some(first)], true);
        check(first, first, true, &[Some(in_first_run(2))], false);
        // Found by a later run.
        check(first, later(1), true, &[], true);
    }

    #[test]
    fn the_very_payload_fits_better_than_any_other_and_the_latest_best() {
        let revisit = Repeated { payload: PLAIN, is_recorded: false };
        let record = Repeated { payload: PLAIN, is_recorded: true };
        let best = |of: Repeated, visits: &[Payload]| {
            let mut before = None;
            let contents = visits.iter().zip(1..).map(|(found, visit)| Content {
                payload: *found,
                visit,
                has_changed: before.replace(*found).is_some_and(|before| before != *found),
            });
            let fits = contents.filter_map(|content| Some((of.fit(&content)?, content.visit)));
            fits.max().map(|(_, visit)| visit)
        };
        assert_eq!(best(revisit, &[OTHER, PLAIN, PLAIN, OTHER]), Some(3));
        assert_eq!(best(record, &[OTHER, PLAIN, OTHER]), Some(2));
        assert_eq!(best(record, &[CODED, CODED, OTHER]), Some(1));
        let later = Content { payload: OTHER, visit: 2, has_changed: true };
        assert_eq!(record.fit(&later), None, "where the first content was lost, no other stands for it");
        assert_eq!(best(revisit, &[CODED, OTHER]), None);
    }
}
