//! The segments that workers write: begun, sealed, and lost where their worker is.

use coordination::{WorkerError, WorkerId, WrittenSegment};
use postgres::Row;
use store::StoreError;
use weburl::SiteKey;

use super::PostgresWorker;
use super::statements;
use crate::numbers::{from_ordered, limit};
use crate::rows::Columns;

/// Visits undone in one transaction, at most; as many duplicates of them again.
const UNDO_VISITS_MAX: usize = 1_000;

/// Transactions of one call: it returns soon, and the next call continues.
const UNDO_STEPS_MAX: usize = 20;

impl PostgresWorker {
    /// Undoes what dead workers leave behind, and frees what they owned. Each step is a statement of its own: it must see what was
    /// committed or given to a worker until the moment it was called dead. The order is what makes it safe: the schema says why, at its
    /// function `undo`.
    pub(super) fn bury(&self) -> Result<(), WorkerError> {
        self.session.query("stopping the commits of dead workers", statements::CLOSE, Vec::new())?;
        for _ in 0..UNDO_STEPS_MAX {
            let parameters = vec![Box::new(limit(UNDO_VISITS_MAX)) as _];
            let rows = self.session.query("undoing visits of dead workers", statements::UNDO, parameters)?;
            let undid_some: bool = rows.first().map_or(Ok(false), |row| Columns::of("visit", row).next())?;
            if !undid_some {
                break;
            }
        }
        self.session.query("freeing what dead workers owned", statements::FREE, Vec::new())?;
        Ok(())
    }
}

pub(super) fn site_and_serial(row: &Row) -> Result<(SiteKey, u32), StoreError> {
    let mut columns = Columns::of("robots", row);
    Ok((SiteKey(from_ordered(columns.next()?)), columns.narrow::<i64, _>()?))
}

pub(super) fn written(row: &Row) -> Result<WrittenSegment, StoreError> {
    let mut columns = Columns::of("segment", row);
    let segment = columns.segment()?;
    let worker: Option<i64> = columns.next()?;
    Ok(WrittenSegment { segment, worker: worker.map(WorkerId), is_sealed: columns.next()? })
}
