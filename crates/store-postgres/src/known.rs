//! What the database knows of the URLs of a batch (the answer of `begin_commit`), and the batch applied to it.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use model::{Candidate, Purpose, Visit};
use postgres::Row;
use store::{Batch, Committed, Entry, Known, StoreError, UrlRecord, VisitSummary, Writes, apply};
use weburl::UrlKey;

use crate::error::damaged;
use crate::numbers::from_key;
use crate::rows::Columns;

/// The state before a batch, as far as the batch may change it.
#[derive(Default)]
pub(crate) struct Before {
    urls: HashMap<UrlKey, Url>,
    /// URLs that were unknown. Their rows are inserted already.
    new: BTreeSet<UrlKey>,
    /// Visits that are left out: the content that they repeat was lost meanwhile.
    pub(crate) orphans: BTreeSet<UrlKey>,
}

/// A known URL.
pub(crate) struct Url {
    record: UrlRecord,
    visit: Option<Visit>,
    /// It has a row in the table of attempts.
    has_attempts: bool,
}

/// A batch applied to the state before it.
#[derive(Default)]
pub(crate) struct Applied<'b> {
    pub(crate) writes: Writes<'b>,
    pub(crate) committed: Committed,
    pub(crate) before: Before,
}

impl<'b> Applied<'b> {
    pub(crate) fn of(batch: &'b Batch, before: Before) -> Result<Self, StoreError> {
        let (writes, committed) = apply(batch, &before)?;
        Ok(Applied { writes, committed, before })
    }
}

impl Before {
    /// Reads the answer; `None` if the commit is done already.
    pub(crate) fn read(rows: &[Row]) -> Result<Option<Self>, StoreError> {
        let Some((first, urls)) = rows.split_first() else { return Ok(None) };
        let mut lists = Columns::of("url", first);
        let (new, orphans) = (keys(&mut lists)?.into_iter().collect(), keys(&mut lists)?.into_iter().collect());
        Ok(Some(Before { urls: urls.iter().map(url).collect::<Result<_, _>>()?, new, orphans }))
    }

    /// What a known URL is asked for.
    pub(crate) fn purpose(&self, key: UrlKey) -> Option<Purpose> {
        self.urls.get(&key).map(|url| url.record.candidate.purpose)
    }

    /// The attempts that the database has for a URL if no row says otherwise, and whether there is such a row. `visits` become the last of
    /// their URLs.
    pub(crate) fn attempts(&self, key: UrlKey, now: &UrlRecord, visits: &BTreeMap<UrlKey, &Visit>) -> (u8, bool) {
        let known = self.urls.get(&key);
        let before = known.and_then(|url| url.visit.as_ref()).filter(|_| now.visit.is_some());
        let visit = visits.get(&key).copied().or(before);
        (visit.map_or(0, |visit| visit.attempts), known.is_some_and(|url| url.has_attempts))
    }
}

impl Known for Before {
    fn url(&self, key: UrlKey) -> Result<Option<UrlRecord>, StoreError> {
        Ok(self.urls.get(&key).map(|url| url.record.clone()))
    }

    fn visit(&self, key: UrlKey, _summary: VisitSummary) -> Result<Visit, StoreError> {
        let visit = self.urls.get(&key).and_then(|url| url.visit.clone());
        visit.ok_or_else(|| damaged("visit", "a row is missing"))
    }

    fn has(&self, key: UrlKey) -> Result<bool, StoreError> {
        Ok(!self.new.contains(&key))
    }

    fn may_change(&self, found: &[Candidate]) -> Vec<bool> {
        let may = |key: UrlKey| self.urls.contains_key(&key) || self.new.contains(&key);
        found.iter().map(|candidate| may(candidate.url.key())).collect()
    }
}

/// From two arrays, or nulls where there are none.
pub(crate) fn keys(columns: &mut Columns<'_>) -> Result<Vec<UrlKey>, StoreError> {
    let (sites, urls): (Option<Vec<i64>>, Option<Vec<i64>>) = (columns.next()?, columns.next()?);
    let keys = sites.unwrap_or_default().into_iter().zip(urls.unwrap_or_default());
    Ok(keys.map(|(site, url)| from_key(site, url)).collect())
}

/// A row behind the lists.
fn url(row: &Row) -> Result<(UrlKey, Url), StoreError> {
    let mut columns = Columns::of("url", row);
    keys(&mut columns)?;
    keys(&mut columns)?;
    let (queued, again): (bool, bool) = (columns.next()?, columns.next()?);
    let has_attempts = columns.next::<Option<i16>>()?.is_some();
    let Entry { candidate, attempts, visit, again } = columns.entry(again)?;
    let record = UrlRecord { candidate, attempts, queued, again, visit: visit.as_ref().map(VisitSummary::of) };
    Ok((record.candidate.url.key(), Url { record, visit, has_attempts }))
}
