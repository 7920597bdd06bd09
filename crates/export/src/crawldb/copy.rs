//! Rows into a table by COPY, in binary.

use std::time::{Duration, SystemTime};

use model::Timestamp;
use postgres::Transaction;
use postgres::binary_copy::BinaryCopyInWriter;
use postgres::types::{ToSql, Type};

use super::Failed;

/// A table that is being filled.
pub(super) struct Copy<'t>(BinaryCopyInWriter<'t>);

impl<'t> Copy<'t> {
    /// Begins to fill a table: `columns` are names and types.
    ///
    /// # Errors
    /// The database refuses it.
    pub(super) fn into(into: &'t mut Transaction<'_>, table: &str, columns: &[(&str, Type)]) -> Result<Self, Failed> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let types: Vec<Type> = columns.iter().map(|(_, kind)| kind.clone()).collect();
        let writer = into.copy_in(&format!("COPY {table} ({}) FROM STDIN BINARY", names.join(", ")))?;
        Ok(Copy(BinaryCopyInWriter::new(writer, &types)))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The connection is lost.
    pub(super) fn row(&mut self, values: &[&(dyn ToSql + Sync)]) -> Result<(), Failed> {
        Ok(self.0.write(values)?)
    }

    /// Ends the filling.
    ///
    /// # Errors
    /// The database refuses a row.
    pub(super) fn finish(self) -> Result<(), Failed> {
        self.0.finish()?;
        Ok(())
    }
}

/// A time as a column holds it: UTC, without a zone.
pub(super) fn time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(at.0)
}
