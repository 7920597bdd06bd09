//! What the graph of visited pages needs of the state, since the datasets of workers do not tell of it.

use database::Address;
use postgres::Row;
use store::StoreError;
use weburl::UrlKey;

use super::statements;
use crate::numbers::{from_key, key, limit};
use crate::rows::Columns;
use crate::schema::Schema;
use crate::session::{Parameters, Role, Session};

/// Keys read at once.
const WINDOW: usize = 10_000;

/// A way to the state for who answers a question.
pub struct Visited {
    session: Session,
}

impl Visited {
    /// Opens it.
    ///
    /// # Errors
    /// The database cannot be reached, or does not let us in.
    pub fn open(address: &Address, schema: &Schema) -> Result<Self, StoreError> {
        Ok(Visited { session: Session::open(address, schema, Role::Read)?.0 })
    }

    /// Pages that were visited at the bottom of the crawl and are nearer to a seed by now, so that their links count, in order.
    ///
    /// # Errors
    /// The store failed.
    pub fn followed(&self) -> Result<Vec<UrlKey>, StoreError> {
        self.all("reading whose links were followed", statements::FOLLOWED, (0, 1))
    }

    /// URLs of pages that were visited in vain and have no record in the archive, in order: one share of so many (`0..count`), so that
    /// several who answer need not all read the same.
    ///
    /// # Errors
    /// The store failed.
    pub fn in_vain(&self, share: (usize, usize)) -> Result<Vec<UrlKey>, StoreError> {
        self.all("reading what was visited in vain", statements::IN_VAIN, share)
    }

    fn all(
        &self,
        doing: &'static str,
        statement: &'static str,
        (share, count): (usize, usize),
    ) -> Result<Vec<UrlKey>, StoreError> {
        let mut keys = Vec::new();
        loop {
            let (site, url) = keys.last().copied().map_or((i64::MIN, i64::MIN), key);
            let parameters: Parameters = vec![
                Box::new(site),
                Box::new(url),
                Box::new(limit(WINDOW)),
                Box::new(limit(count.max(1))),
                Box::new(limit(share)),
            ];
            let rows = self.session.query(doing, statement, parameters)?;
            keys.extend(rows.iter().map(row_key).collect::<Result<Vec<_>, _>>()?);
            if rows.len() < WINDOW {
                return Ok(keys);
            }
        }
    }
}

fn row_key(row: &Row) -> Result<UrlKey, StoreError> {
    let mut columns = Columns::of("visit", row);
    Ok(from_key(columns.next()?, columns.next()?))
}
