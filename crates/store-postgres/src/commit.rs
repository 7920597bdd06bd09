//! Commits: a numbered transaction of two calls, repeated with the same number until it is known to be done.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use database::Address;
use model::{ArchiveLocation, Outcome, Past, Timestamp, Visit};
use postgres::Row;
use stages::{Stage, time};
use store::{Batch, Committed, Moved, StoreError, Writes};
use weburl::UrlKey;

use crate::arguments::{self, Who};
use crate::error::{Unusable, backend, damaged, is_fenced};
use crate::known::{Applied, Before, keys};
use crate::rows::Columns;
use crate::schema::Schema;
use crate::session::{Role, Session};

/// The single process that commits. Workers have other numbers.
const SINGLE: i64 = 0;

// An earlier opener of the store that has lost the lock without noticing commits no more.
const TAKE_OVER: &str = "INSERT INTO writer (writer, process, number) VALUES ($1, gen_random_uuid(), 0)
    ON CONFLICT (writer) DO UPDATE SET process = excluded.process RETURNING process::text, number";

/// How often a transaction is begun again whose end was lost. Each time the connection is made again, with its own patience.
const TRIES_MAX: u32 = 120;

static BEGIN: LazyLock<String> = LazyLock::new(|| {
    let nothing = arguments::beginning(&Who::default(), &[], &Batch::default());
    format!("SELECT * FROM begin_commit({})", nothing.names())
});
static END: LazyLock<String> = LazyLock::new(|| {
    let nothing = arguments::ending(&Who::default(), 0, &Batch::default(), &Applied::default());
    format!("SELECT * FROM end_commit({})", nothing.names())
});

/// What gives moved visits the places of their records, the last visits and the earlier ones. It comes first: a visit that the same commit makes
/// an earlier one is copied with its new place.
const MOVE: [&str; 2] = [
    "UPDATE visit v SET segment = p.segment, record_offset = p.record_offset, record_length = p.record_length
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
            AS p(site, url, fetched_at, segment, record_offset, record_length)
        WHERE v.site_key = p.site AND v.url_key = p.url AND v.fetched_at = p.fetched_at",
    "UPDATE earlier_visit v SET segment = p.segment, record_offset = p.record_offset, record_length = p.record_length
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
            AS p(site, url, fetched_at, segment, record_offset, record_length)
        WHERE v.site_key = p.site AND v.url_key = p.url AND v.fetched_at = p.fetched_at",
];

/// The rest of what moving changes of visits that the same commit makes earlier ones: those are copied.
const AMEND: &str = "UPDATE visit v SET more = p.more
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS p(site, url, fetched_at, more)
    WHERE v.site_key = p.site AND v.url_key = p.url AND v.fetched_at = p.fetched_at";

/// URLs lose the contents that they hold, where the content of their last visit is the one that they were recorded with at this time: it is lost.
const FREE: &str = "DELETE FROM holder h
    USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS l(site, url, content_at)
    WHERE h.site_key = l.site AND h.url_key = l.url
        AND NOT EXISTS (SELECT FROM visit v WHERE v.site_key = l.site AND v.url_key = l.url
            AND coalesce(v.content_at, v.fetched_at) <> coalesce(l.content_at, v.content_at, v.fetched_at))";

/// Records in the archive whose visits are left out. Datasets have rows of them.
const TAKE_BACK: &str = "INSERT INTO taken_back SELECT t.segment, t.record_offset, t.site, t.url
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS t(site, url, segment, record_offset) ON CONFLICT DO NOTHING";

/// A URL whose visit was left out so often, since what it repeats is not in the archive, ends without that content. Each time the state forgets
/// who holds the content, so that the next visit is recorded in full: more than a few times in a row is a fault of this program. What failed before
/// counts too, so it is more than the retries of a URL.
const LEFT_OUT_MAX: u8 = 10;

/// What is found in a schema.
pub(crate) struct Opened {
    pub(crate) crawl_id: String,
    pub(crate) is_new: bool,
}

/// What commits.
pub(crate) struct Writer {
    session: Session,
    /// Who commits.
    id: i64,
    /// This opening of the store.
    process: String,
    /// The number of the last commit.
    number: i64,
    /// Set once a commit has failed: whether it was applied is not known, and its number may be taken.
    failed: bool,
}

impl Writer {
    /// Opens the store for a single process.
    pub(crate) fn open(address: &Address, schema: &Schema) -> Result<(Self, Opened), StoreError> {
        let doing = "opening the store";
        let (session, crawl_id) = Session::open(address, schema, Role::Commit)?;
        let crawl_id = crawl_id.ok_or_else(|| backend(doing, Unusable::Ended))?;
        let rows = session.query(doing, TAKE_OVER, vec![Box::new(SINGLE)])?;
        let row = rows.first().ok_or_else(|| damaged("writer", "it cannot be written to"))?;
        let mut columns = Columns::of("writer", row);
        let (process, number) = (columns.next()?, columns.next()?);
        Ok((Writer::new(session, SINGLE, process, number), Opened { crawl_id, is_new: number == 0 }))
    }

    /// One that goes on behind the commit `number`.
    pub(crate) fn new(session: Session, id: i64, process: String, number: i64) -> Self {
        Writer { session, id, process, number, failed: false }
    }

    /// Commits, if these politeness groups are still owned under these epochs. `seeds` is the number of the last seed by which was
    /// judged what the batch settles.
    pub(crate) fn commit(
        &mut self,
        fence: &[(String, i64)],
        seeds: i64,
        batch: &Batch,
    ) -> Result<Committed, StoreError> {
        let doing = "committing a batch";
        if self.failed {
            return Err(backend(doing, Unusable::Failed));
        }
        let committed = time(Stage::Commit, || self.try_commit(doing, fence, seeds, batch));
        // A commit that was fenced off did nothing, and is known to have done nothing.
        self.failed = committed.as_ref().is_err_and(|error| !is_fenced(error));
        committed
    }

    fn try_commit(
        &mut self,
        doing: &'static str,
        fence: &[(String, i64)],
        seeds: i64,
        batch: &Batch,
    ) -> Result<Committed, StoreError> {
        let who = Who { id: self.id, process: self.process.clone(), number: self.number + 1 };
        // What the attempt before found out, of which it is not known whether it was committed.
        let mut tried = None;
        for _ in 0..TRIES_MAX {
            let rows = self.session.begin(doing, &BEGIN, arguments::beginning(&who, fence, batch).values)?;
            let Some(before) = Before::read(&rows).inspect_err(|_| self.session.roll_back())? else {
                self.session.roll_back();
                self.number = who.number;
                return tried.ok_or_else(|| damaged("writer", "a commit that this process has not made"));
            };
            let unfounded = unfounded(batch, &before.orphans);
            let taken_back = recorded(batch, &before.orphans);
            let batch = without_orphans(batch, &before);
            let applied = Applied::of(&batch, before).inspect_err(|_| self.session.roll_back())?;
            let arguments = arguments::ending(&who, seeds, &batch, &applied).values;
            let lost = applied.writes.lost.iter().map(|url| (*url, None));
            if !self.freed(doing, &lost.chain(unfounded).collect::<Vec<_>>())?
                || !self.taken_back(doing, &taken_back)?
                || !self.moved(doing, &batch, &applied.writes)?
            {
                continue;
            }
            let Some(rows) = self.session.within(doing, &END, arguments)? else { continue };
            let committed = with_duplicates(applied.committed, &rows).inspect_err(|_| self.session.roll_back())?;
            if self.session.end(doing)? {
                self.number = who.number;
                return Ok(committed);
            }
            tried = Some(committed);
        }
        Err(backend(doing, Unusable::Ended))
    }

    /// Takes contents from who holds them, within the transaction. False: the connection is lost, and nothing was written.
    fn freed(&self, doing: &'static str, lost: &[(UrlKey, Option<Timestamp>)]) -> Result<bool, StoreError> {
        Ok(lost.is_empty() || self.session.within(doing, FREE, arguments::contents(lost))?.is_some())
    }

    /// Notes records whose visits are left out, within the transaction. False: the connection is lost, and nothing was written.
    fn taken_back(&self, doing: &'static str, records: &[(UrlKey, ArchiveLocation)]) -> Result<bool, StoreError> {
        Ok(records.is_empty() || self.session.within(doing, TAKE_BACK, arguments::records(records))?.is_some())
    }

    /// Moves records within the transaction. False: the connection is lost, and nothing was written.
    fn moved(&self, doing: &'static str, batch: &Batch, writes: &Writes<'_>) -> Result<bool, StoreError> {
        if batch.moved.is_empty() {
            return Ok(true);
        }
        for statement in MOVE {
            if self.session.within(doing, statement, arguments::places(batch))?.is_none() {
                return Ok(false);
            }
        }
        Ok(self.session.within(doing, AMEND, arguments::followed(batch, writes))?.is_some())
    }
}

/// The contents that visits repeat which are left out: who should have recorded them, and when.
fn unfounded(batch: &Batch, orphans: &BTreeSet<UrlKey>) -> Vec<(UrlKey, Option<Timestamp>)> {
    let left_out = batch.visits.iter().filter(|visit| orphans.contains(&visit.key));
    left_out.map(|visit| (visit.duplicate_of.unwrap_or(visit.key), visit.content_at)).collect()
}

/// The records of visits that are left out.
fn recorded(batch: &Batch, orphans: &BTreeSet<UrlKey>) -> Vec<(UrlKey, ArchiveLocation)> {
    let left_out = batch.visits.iter().filter(|visit| orphans.contains(&visit.key));
    left_out.filter_map(|visit| Some((visit.key, visit.location?))).collect()
}

/// The batch without the visits that repeat what is not there: their URLs stay queued. A duplicate is as if it had never been asked for: what it
/// repeats has no holder any more. Requests of a page that refers to its own earlier content count, and it is asked for in any case then.
fn without_orphans<'b>(batch: &'b Batch, before: &Before) -> Cow<'b, Batch> {
    if before.orphans.is_empty() {
        return Cow::Borrowed(batch);
    }
    let mut batch = batch.clone();
    let (left_out, visits) = std::mem::take(&mut batch.visits)
        .into_iter()
        .partition::<Vec<_>, _>(|visit| before.orphans.contains(&visit.key));
    batch.visits = visits;
    for visit in left_out {
        let Some(at) = visit.content_at.filter(|_| visit.duplicate_of.is_none()) else { continue };
        if visit.attempts >= LEFT_OUT_MAX {
            batch.visits.push(without_content(visit));
            continue;
        }
        batch.moved.push(Moved { key: visit.key, at, location: None });
        batch.attempts.extend(before.purpose(visit.key).map(|purpose| (visit.key, purpose, visit.attempts)));
    }
    Cow::Owned(batch)
}

/// A visit as a failure, of which nothing is known but that it was made. Its record refers to nothing, and is not referred to.
fn without_content(visit: Visit) -> Visit {
    let Visit { key, at, attempts, judged_at, round, past, .. } = visit;
    let reason = format!("after {attempts} attempts: what it repeats is not in the archive");
    let failed = Visit::without_fetch(key, Outcome::ConnectionError, reason, at);
    Visit { attempts, judged_at, round, past: Past { not_modified: 0, ..past }, ..failed }
}

/// Another worker had the contents of some visits first.
fn with_duplicates(committed: Committed, rows: &[Row]) -> Result<Committed, StoreError> {
    let row = rows.first().ok_or_else(|| damaged("writer", "a commit without an answer"))?;
    let mut columns = Columns::of("visit", row);
    let (late, first) = (keys(&mut columns)?, keys(&mut columns)?);
    Ok(Committed { duplicates: late.into_iter().zip(first).collect(), ..committed })
}
