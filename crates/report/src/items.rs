//! The tables of items: how many rows have a value, field by field.

use std::collections::BTreeMap;

use dataset::{Fill, Layout, fill_of};
use serde::{Deserialize, Serialize};

use crate::ReportError;
use crate::statistics::{FilledField, Ranked};
use crate::top::ROWS_MAX;

/// Rows, by table and round.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Items(BTreeMap<String, BTreeMap<u32, Fill>>);

impl Items {
    /// Counts the tables of a dataset.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub(crate) fn read(&mut self, dataset: &Layout) -> Result<(), ReportError> {
        for table in dataset.item_tables()? {
            let rounds = fill_of(dataset, &table)?;
            self.add_all(Items(BTreeMap::from([(table, rounds)])));
        }
        Ok(())
    }

    /// Adds the rows of other datasets.
    pub(crate) fn add_all(&mut self, other: Items) {
        for (table, rounds) in other.0 {
            let all = self.0.entry(table).or_default();
            for (round, more) in rounds {
                let fill = all.entry(round).or_default();
                fill.rows += more.rows;
                for (name, count) in more.filled {
                    match fill.filled.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, sum)) => *sum += count,
                        None => fill.filled.push((name, count)),
                    }
                }
            }
        }
    }

    /// The fields of all tables, in the order of their names and columns.
    pub(crate) fn ranked(self) -> Ranked<FilledField> {
        let mut all = Ranked { total: 0, rows: Vec::new() };
        for (table, rounds) in self.0 {
            let mut rounds = rounds.into_values().rev();
            let Some(now) = rounds.next() else { continue };
            let before = rounds.next();
            for (field, filled) in &now.filled {
                all.total += 1;
                if all.rows.len() < ROWS_MAX {
                    let (table, field) = (table.clone(), field.clone());
                    let filled_before = before.as_ref().and_then(|before| share_in(before, &field));
                    let filled = share(*filled, now.rows);
                    all.rows.push(FilledField { table, field, rows: now.rows, filled, filled_before });
                }
            }
        }
        all
    }
}

fn share_in(fill: &Fill, field: &str) -> Option<f64> {
    let (_, filled) = fill.filled.iter().find(|(name, _)| name == field)?;
    Some(share(*filled, fill.rows))
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
