//! The tables of items: how many rows have a value, field by field.

use std::collections::BTreeMap;

use dataset::{Fill, ItemCounts, Layout, item_counts};
use serde::{Deserialize, Serialize};

use crate::ReportError;
use crate::statistics::{FilledField, Ranked};
use crate::top::ROWS_MAX;

/// Rows, by table.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Items(BTreeMap<String, ItemCounts>);

impl Items {
    /// Counts the tables of a dataset.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub(crate) fn read(&mut self, dataset: &Layout) -> Result<(), ReportError> {
        for table in dataset.item_tables()? {
            let counts = item_counts(dataset, &table)?;
            self.0.entry(table).or_default().add(&counts);
        }
        Ok(())
    }

    /// Adds the rows of other datasets.
    pub(crate) fn add_all(&mut self, other: Items) {
        for (table, counts) in other.0 {
            self.0.entry(table).or_default().add(&counts);
        }
    }

    /// The fields of all tables, in the order of their names and columns.
    pub(crate) fn ranked(self) -> Ranked<FilledField> {
        let mut all = Ranked { total: 0, rows: Vec::new() };
        for (table, ItemCounts { current, rounds }) in self.0 {
            let last = rounds.into_values().next_back().unwrap_or_default();
            for (field, filled) in &current.filled {
                all.total += 1;
                if all.rows.len() < ROWS_MAX {
                    all.rows.push(FilledField {
                        table: table.clone(),
                        field: field.clone(),
                        rows: current.rows,
                        filled: share(*filled, current.rows),
                        filled_before: share_in(&last.before, field),
                        pages_lost: last.pages_lost,
                        pages_gone: last.pages_gone,
                    });
                }
            }
        }
        all
    }
}

fn share_in(fill: &Fill, field: &str) -> Option<f64> {
    let (_, filled) = fill.filled.iter().find(|(name, _)| name == field)?;
    (fill.rows > 0).then(|| share(*filled, fill.rows))
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
