//! Commits: a numbered transaction of two calls, repeated with the same number until it is known to be done.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use database::Address;
use postgres::Row;
use stages::{Stage, time};
use store::{Batch, Committed, StoreError};
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
            let batch = without_orphans(batch, &before.orphans);
            let applied = Applied::of(&batch, before).inspect_err(|_| self.session.roll_back())?;
            let arguments = arguments::ending(&who, seeds, &batch, &applied).values;
            if !self.moved(doing, &batch)? {
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

    /// Moves records within the transaction. False: the connection is lost, and nothing was written.
    fn moved(&self, doing: &'static str, batch: &Batch) -> Result<bool, StoreError> {
        for statement in MOVE.into_iter().filter(|_| !batch.moved.is_empty()) {
            if self.session.within(doing, statement, arguments::places(batch))?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The batch without these visits: their URLs stay queued.
fn without_orphans<'b>(batch: &'b Batch, orphans: &BTreeSet<UrlKey>) -> Cow<'b, Batch> {
    if orphans.is_empty() {
        return Cow::Borrowed(batch);
    }
    let mut batch = batch.clone();
    batch.visits.retain(|visit| !orphans.contains(&visit.key));
    Cow::Owned(batch)
}

/// Another worker had the contents of some visits first.
fn with_duplicates(committed: Committed, rows: &[Row]) -> Result<Committed, StoreError> {
    let row = rows.first().ok_or_else(|| damaged("writer", "a commit without an answer"))?;
    let mut columns = Columns::of("visit", row);
    let (late, first) = (keys(&mut columns)?, keys(&mut columns)?);
    Ok(Committed { duplicates: late.into_iter().zip(first).collect(), ..committed })
}
