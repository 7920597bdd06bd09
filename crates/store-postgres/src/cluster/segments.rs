//! The segments that workers write: begun, sealed, and lost where their worker is.

use postgres::Row;
use store::{Segment, StoreError};

use super::statements;
use super::{Worker, WorkerError, WorkerId};
use crate::error::damaged;
use crate::numbers::limit;
use crate::rows::Columns;

/// Visits undone in one transaction, at most; as many duplicates of them again.
const UNDO_VISITS_MAX: usize = 1_000;

/// Transactions of one call: whoever calls is back soon, and goes on next time.
const UNDO_STEPS_MAX: usize = 20;

/// A segment as the workers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSegment {
    /// The segment, as far as it is committed.
    pub segment: Segment,
    /// Who wrote it; none, where it was a process that had the store to itself.
    pub worker: Option<WorkerId>,
    /// It is final, and lies on shared storage.
    pub is_sealed: bool,
}

impl Worker {
    /// A serial number for a segment, which nobody else gets.
    ///
    /// # Errors
    /// The store failed.
    pub fn next_serial(&self) -> Result<u32, StoreError> {
        let rows = self.session.query("numbering a segment", statements::NEXT_SERIAL, Vec::new())?;
        let row = rows.first().ok_or_else(|| damaged("segment", "no serial number"))?;
        let serial: i64 = Columns::of("segment", row).next()?;
        u32::try_from(serial).map_err(|_| damaged("segment", "no serial number is left"))
    }

    /// Says that a segment of its own is final and lies on shared storage: from now on its visits stay whatever becomes of the worker.
    ///
    /// # Errors
    /// [`WorkerError::Lost`]: the worker was declared dead, or wrote no such segment. What lies on shared storage is to be removed.
    pub fn seal(&self, serial: u32) -> Result<(), WorkerError> {
        let parameters = self.with(vec![Box::new(i64::from(serial))]);
        let sealed = self.session.query("sealing a segment", statements::SEAL, parameters)?;
        if sealed.is_empty() { Err(WorkerError::Lost) } else { Ok(()) }
    }

    /// The segments of all workers, by serial number.
    ///
    /// # Errors
    /// The store failed.
    pub fn segments(&self) -> Result<Vec<WrittenSegment>, StoreError> {
        let rows = self.session.query("reading the segments", statements::SEGMENTS, Vec::new())?;
        rows.iter().map(written).collect()
    }

    /// The names of segments whose visits were undone. What lies of them on shared storage is to be removed, then they are to be
    /// forgotten ([`Worker::forget`]). Until then every worker is told of them.
    ///
    /// # Errors
    /// The store failed.
    pub fn lost_segments(&self) -> Result<Vec<String>, StoreError> {
        let rows = self.session.query("looking for lost segments", statements::LOST_SEGMENTS, Vec::new())?;
        rows.iter().map(|row| Columns::of("segment", row).text()).collect()
    }

    /// Says that nothing is left of a lost segment on shared storage.
    ///
    /// # Errors
    /// The store failed.
    pub fn forget(&self, lost_segment: &str) -> Result<(), StoreError> {
        let parameters = vec![Box::new(lost_segment.to_owned()) as _];
        self.session.query("forgetting a lost segment", statements::FORGET, parameters)?;
        Ok(())
    }

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

fn written(row: &Row) -> Result<WrittenSegment, StoreError> {
    let mut columns = Columns::of("segment", row);
    let segment = columns.segment()?;
    let worker: Option<i64> = columns.next()?;
    Ok(WrittenSegment { segment, worker: worker.map(WorkerId), is_sealed: columns.next()? })
}
