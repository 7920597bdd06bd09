//! Commits: one numbered call of the function `commit`, repeated with the same number until its answer has come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use database::Address;
use postgres::Row;
use store::{Batch, Committed, Known, StoreError};
use weburl::UrlKey;

use crate::error::{Unusable, backend};
use crate::migrations::{Opened, WRITER};
use crate::report::{self, Standing};
use crate::rows::Columns;
use crate::schema::Schema;
use crate::session::{Role, Session};
use crate::{Options, arguments, numbers};

/// How many arguments `commit` has.
const ARGUMENTS: usize = 71;

static COMMIT: LazyLock<String> = LazyLock::new(|| {
    let arguments: Vec<String> = (1..=ARGUMENTS).map(|n| format!("${n}")).collect();
    format!("SELECT fresh_site, fresh_url, has_nearer FROM commit({})", arguments.join(", "))
});

const NEARER: &str = "SELECT url, depth, redirects, purpose::text, via::text, found_on_site, found_on_url,
        attempts, outcome::text, outlinks, queued, site_key, url_key
    FROM nearer WHERE writer = $1";

/// What commits.
pub(crate) struct Writer {
    session: Session,
    known: Known,
    /// This opening of the store.
    process: String,
    /// The number of the last commit.
    number: i64,
    /// Set once a commit has failed: whether it was applied is not known, and its number may be taken.
    failed: bool,
}

impl Writer {
    pub(crate) fn open(address: &Address, schema: &Schema, options: &Options) -> Result<(Self, Opened), StoreError> {
        let (session, opened) = Session::open(address, schema, Role::Commit)?;
        let opened = opened.ok_or_else(|| backend("opening the store", Unusable::Ended))?;
        let known = Known::new(options.known_urls_max);
        Ok((
            Writer { session, known, process: opened.process.clone(), number: opened.last_commit, failed: false },
            opened,
        ))
    }

    pub(crate) fn commit(&mut self, batch: &Batch) -> Result<Committed, StoreError> {
        let doing = "committing a batch";
        if self.failed {
            return Err(backend(doing, Unusable::Failed));
        }
        let committed = self.try_commit(doing, batch);
        self.failed = committed.is_err();
        committed
    }

    fn try_commit(&mut self, doing: &'static str, batch: &Batch) -> Result<Committed, StoreError> {
        let number = self.number + 1;
        let mut arguments = arguments::of(batch, &mut self.known);
        arguments.splice(0..0, [Box::new(WRITER) as _, Box::new(self.process.clone()) as _, Box::new(number) as _]);
        let rows = self.session.query(doing, &COMMIT, arguments)?;
        let row = rows.first().ok_or_else(|| crate::error::damaged("writer", "a commit without an answer"))?;
        let mut columns = Columns::of("writer", row);
        let sites: Vec<i64> = columns.next()?;
        let urls: Vec<i64> = columns.next()?;
        let has_nearer: bool = columns.next()?;
        let fresh: BTreeSet<UrlKey> =
            sites.into_iter().zip(urls).map(|(site, url)| numbers::from_key(site, url)).collect();
        let nearer = if has_nearer { self.nearer(doing)? } else { BTreeMap::new() };
        self.number = number;
        for candidate in &batch.found {
            self.known.insert(candidate.url.key(), candidate);
        }
        Ok(report::report(batch, fresh, nearer))
    }

    /// The URLs of the last commit that turned out to be nearer. They stay until the next one.
    fn nearer(&self, doing: &'static str) -> Result<BTreeMap<UrlKey, Standing>, StoreError> {
        let rows = self.session.query(doing, NEARER, vec![Box::new(WRITER)])?;
        rows.iter().map(standing).collect()
    }
}

fn standing(row: &Row) -> Result<(UrlKey, Standing), StoreError> {
    let mut columns = Columns::of("nearer", row);
    let url = columns.queued()?;
    let is_queued = columns.next()?;
    let key = numbers::from_key(columns.next()?, columns.next()?);
    Ok((key, Standing { url, is_queued }))
}
