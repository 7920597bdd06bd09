//! Commits: one numbered call of the function `commit`, repeated with the same number until its answer has come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use database::Address;
use postgres::Row;
use postgres::types::ToSql;
use stages::{Stage, time};
use store::{Batch, Committed, StoreError};
use weburl::UrlKey;

use crate::error::{Unusable, backend, damaged, is_fenced};
use crate::read::with_last_visits;
use crate::report::{self, UrlStatus};
use crate::rows::{Columns, Waiting};
use crate::schema::Schema;
use crate::session::{Role, Session};
use crate::{arguments, numbers};

/// The single process that commits. Workers have other numbers.
const SINGLE: i64 = 0;

// Whoever had the store open before, and has lost the lock without knowing, commits no more.
const TAKE_OVER: &str = "INSERT INTO writer (writer, process, number) VALUES ($1, gen_random_uuid(), 0)
    ON CONFLICT (writer) DO UPDATE SET process = excluded.process RETURNING process::text, number";

/// How many arguments `commit` has.
const ARGUMENTS: usize = 94;

static COMMIT: LazyLock<String> = LazyLock::new(|| {
    let arguments: Vec<String> = (1..=ARGUMENTS).map(|n| format!("${n}")).collect();
    format!(
        "SELECT fresh_site, fresh_url, has_nearer, late_site, late_url, first_site, first_url FROM commit({})",
        arguments.join(", ")
    )
});

const NEARER: &str = "SELECT url, depth, redirects, purpose::text, via::text, found_on_site, found_on_url,
        attempts, outcome::text, outlinks, again, queued, site_key, url_key
    FROM nearer WHERE writer = $1";

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
        let committed = self.try_commit(doing, fence, seeds, batch);
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
        let number = self.number + 1;
        let mut arguments = arguments::of(batch);
        let (groups, epochs): (Vec<String>, Vec<i64>) = fence.iter().cloned().unzip();
        let who: [Box<dyn ToSql + Sync + Send>; 6] = [
            Box::new(self.id),
            Box::new(self.process.clone()),
            Box::new(number),
            Box::new(groups),
            Box::new(epochs),
            Box::new(seeds),
        ];
        arguments.splice(0..0, who);
        let rows = time(Stage::Commit, || self.session.query(doing, &COMMIT, arguments))?;
        let row = rows.first().ok_or_else(|| damaged("writer", "a commit without an answer"))?;
        let mut columns = Columns::of("writer", row);
        let fresh: BTreeSet<UrlKey> = keys(&mut columns)?.into_iter().collect();
        let has_nearer: bool = columns.next()?;
        let (late, first) = (keys(&mut columns)?, keys(&mut columns)?);
        let nearer = if has_nearer { self.nearer(doing)? } else { BTreeMap::new() };
        self.number = number;
        let duplicates = late.into_iter().zip(first).collect();
        Ok(Committed { duplicates, ..report::report(batch, fresh, nearer) })
    }

    /// The URLs of the last commit that turned out to be nearer. They stay until the next one.
    fn nearer(&self, doing: &'static str) -> Result<BTreeMap<UrlKey, UrlStatus>, StoreError> {
        let rows = self.session.query(doing, NEARER, vec![Box::new(self.id)])?;
        let (urls, standing): (Vec<_>, Vec<_>) =
            rows.iter().map(standing).collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let urls = with_last_visits(&self.session, urls)?;
        let standing = urls.into_iter().zip(standing);
        Ok(standing.map(|(url, (key, is_queued))| (key, UrlStatus { url, is_queued })).collect())
    }
}

/// From two arrays, or nulls where there are none.
fn keys(columns: &mut Columns<'_>) -> Result<Vec<UrlKey>, StoreError> {
    let (sites, urls): (Option<Vec<i64>>, Option<Vec<i64>>) = (columns.next()?, columns.next()?);
    let keys = sites.unwrap_or_default().into_iter().zip(urls.unwrap_or_default());
    Ok(keys.map(|(site, url)| numbers::from_key(site, url)).collect())
}

/// A URL as it stands, its key, and whether it is in the queue.
fn standing(row: &Row) -> Result<(Waiting, (UrlKey, bool)), StoreError> {
    let mut columns = Columns::of("nearer", row);
    let url = columns.queued()?;
    let is_queued = columns.next()?;
    let key = numbers::from_key(columns.next()?, columns.next()?);
    Ok((url, (key, is_queued)))
}
