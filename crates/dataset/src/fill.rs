//! How many rows of a table of items have a value for each field, round by round.

use std::collections::BTreeMap;

use arrow_array::Array as _;
use serde::{Deserialize, Serialize};

use crate::items::OF_EVERY_TABLE;
use crate::{Batches, Column as _, DatasetError, Layout};

/// The rows of a table of items from one round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// All rows.
    pub rows: u64,
    /// Rows with a value, by field, in the order of the columns.
    pub filled: Vec<(String, u64)>,
}

/// Counts the rows of a table of items by round.
///
/// # Errors
/// A file cannot be read.
pub fn fill_of(layout: &Layout, table: &str) -> Result<BTreeMap<u32, Fill>, DatasetError> {
    let mut rounds: BTreeMap<u32, Fill> = BTreeMap::new();
    for file in layout.item_files(table)? {
        for batch in Batches::of_file(&file, &[]) {
            let batch = batch?;
            let schema = batch.schema();
            let fields: Vec<&String> = schema
                .fields()
                .iter()
                .map(|field| field.name())
                .filter(|name| !OF_EVERY_TABLE.contains(&name.as_str()))
                .collect();
            for row in 0..batch.num_rows() {
                let round = batch.number("round", row).and_then(|round| u32::try_from(round).ok()).unwrap_or_default();
                let fill = rounds.entry(round).or_default();
                fill.rows += 1;
                if fill.filled.is_empty() {
                    fill.filled = fields.iter().map(|name| ((*name).clone(), 0)).collect();
                }
                for (name, count) in &mut fill.filled {
                    *count += u64::from(batch.column_by_name(name).is_some_and(|column| column.is_valid(row)));
                }
            }
        }
    }
    Ok(rounds)
}
