//! Leaving rows out of finished files: visits may be taken back whose rows were written before.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use crate::items::{self, RULE_KEY};
use crate::read::{covered, metadata_of, schema_of};
use crate::schema::Table;
use crate::target::Target;
use crate::write::TableFile;
use crate::{Batches, DatasetError, Layout, Written};

/// How many rows a visit has in each table of its segment. In every table those of a visit come behind those of the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowsOfVisit {
    links: usize,
    images: usize,
    structured: usize,
    /// By the name of the rule.
    items: Vec<(String, usize)>,
}

impl RowsOfVisit {
    /// Counts them.
    #[must_use]
    pub fn of(written: &Written) -> Self {
        let Written { links, images, structured, items, .. } = written;
        let items = items.iter().filter(|(_, rows)| !rows.is_empty());
        RowsOfVisit {
            links: links.rows.len(),
            images: images.len(),
            structured: structured.len(),
            items: items.map(|(rule, rows)| (rule.clone(), rows.len())).collect(),
        }
    }

    fn in_table(&self, table: Table) -> usize {
        match table {
            Table::Pages => 1,
            Table::Links => self.links,
            Table::Images => self.images,
            Table::Structured => self.structured,
        }
    }

    fn of_rule(&self, rule: &str) -> usize {
        self.items.iter().filter(|(name, _)| name == rule).map(|(_, rows)| rows).sum()
    }
}

/// Writes the finished files of a segment again without some of its visits. `visits` are all that have rows there, in order, and whether each
/// one stays.
///
/// # Errors
/// A file cannot be read or written: it stays as it is.
pub fn leave_out(layout: &Layout, segment: &str, visits: &[(RowsOfVisit, bool)]) -> Result<(), DatasetError> {
    for table in Table::ALL {
        let path = layout.file(table, segment);
        let covered = covered(&path)?.unwrap_or_default();
        let mut stay = rows_that_stay(visits, |rows| rows.in_table(table));
        let mut file = TableFile::begin(table, path.clone())?;
        for batch in Batches::of_file(&path, &[]) {
            let batch = batch?;
            file.write(filter_record_batch(&batch, &next(&mut stay, &batch)))?;
        }
        file.end(covered)?.publish()?;
    }
    for rule in &layout.rules().rules {
        let path = layout.items(&rule.name, segment);
        let (covered, made_by) =
            (covered(&path)?.unwrap_or_default(), metadata_of(&path, RULE_KEY)?.unwrap_or_default());
        let mut stay = rows_that_stay(visits, |rows| rows.of_rule(&rule.name));
        let target = Target::of(path.clone())?;
        let mut writer = items::begin(&target, schema_of(&path)?, &made_by)?;
        for batch in Batches::of_file(&path, &[]) {
            let batch = batch?;
            let chosen = filter_record_batch(&batch, &next(&mut stay, &batch));
            let chosen = chosen.map_err(|error| DatasetError::format(target.unfinished(), error))?;
            writer.write(&chosen).map_err(|error| target.failed(error))?;
        }
        items::end(writer, target, covered)?.publish()?;
    }
    Ok(())
}

/// Whether each row of a table stays, in order.
fn rows_that_stay(visits: &[(RowsOfVisit, bool)], count: impl Fn(&RowsOfVisit) -> usize) -> impl Iterator<Item = bool> {
    visits.iter().flat_map(move |(rows, stays)| std::iter::repeat_n(*stays, count(rows)))
}

/// The same of the rows of a batch. What nobody has counted stays.
fn next(stay: &mut impl Iterator<Item = bool>, batch: &RecordBatch) -> BooleanArray {
    (0..batch.num_rows()).map(|_| Some(stay.next().unwrap_or(true))).collect()
}
