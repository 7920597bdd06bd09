//! The crawl's Parquet tables, which some formats need.

use dataset::Batches;
use dataset::schema::Table;

use crate::{Crawl, ExportError};

impl Crawl<'_> {
    /// Reads these columns of a table of the dataset, batch by batch.
    ///
    /// # Errors
    /// There is no dataset, or it cannot be read.
    pub fn table(&self, table: Table, columns: &[&str]) -> Result<Batches, ExportError> {
        if !self.dataset.exists() {
            let root = self.dataset.root().display();
            return Err(ExportError::Other(format!("{root}: there is no dataset; `argiope derive` makes it")));
        }
        Ok(self.dataset.batches(table, columns)?)
    }
}
