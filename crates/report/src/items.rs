//! The tables of items: how many rows have a value, field by field.

use dataset::{Fill, Layout, fill_of};

use crate::ReportError;
use crate::statistics::{FilledField, Ranked};
use crate::top::ROWS_MAX;

/// The fields of all tables, in the order of their names and columns.
pub(crate) fn fields(dataset: &Layout) -> Result<Ranked<FilledField>, ReportError> {
    let mut all = Ranked { total: 0, rows: Vec::new() };
    for table in dataset.item_tables()? {
        let mut rounds = fill_of(dataset, &table)?.into_values().rev();
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
    Ok(all)
}

fn share_in(fill: &Fill, field: &str) -> Option<f64> {
    let (_, filled) = fill.filled.iter().find(|(name, _)| name == field)?;
    Some(share(*filled, fill.rows))
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
