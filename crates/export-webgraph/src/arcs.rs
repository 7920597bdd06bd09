//! The arcs: pairs of numbers of nodes, in order, each once.

use std::path::Path;

use dataset::Column;
use dataset::schema::Table;
use export::{Crawl, ExportError};
use sort::{Sorted, Sorter};

use crate::nodes::{KEY, Nodes};

/// Sorts the arcs; what is no node has none. The runs lie beside `target`.
pub(crate) fn sorted(
    crawl: &Crawl<'_>,
    nodes: &Nodes,
    target: &Path,
) -> Result<impl Iterator<Item = Result<(usize, usize), ExportError>> + use<>, ExportError> {
    let by_source = by_source(crawl, target)?;
    let by_target = numbered(by_source, nodes, Sorter::beside(target))?;
    let mut arcs = Arcs { sorted: numbered(by_target, nodes, Sorter::beside(target))?, last: Vec::new() };
    Ok(std::iter::from_fn(move || arcs.next().transpose()))
}

/// The links: the source's key, the target's key.
fn by_source(crawl: &Crawl<'_>, target: &Path) -> Result<Sorted, ExportError> {
    let mut sorter = Sorter::beside(target);
    for batch in crawl.table(Table::Links, &["source_key", "target_key"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if let (Some(from), Some(to)) = (batch.key("source_key", row), batch.key("target_key", row)) {
                sorter.push(&[&from.to_bytes(), &to.to_bytes()])?;
            }
        }
    }
    Ok(sorter.sorted()?)
}

/// Takes records that begin with a key: puts the number of its node behind the rest, and sorts them by that rest. Done with
/// a source's key and then with a target's, it makes a pair of keys a pair of numbers in its order.
fn numbered(mut records: Sorted, nodes: &Nodes, mut sorter: Sorter) -> Result<Sorted, ExportError> {
    nodes.each(|number, key| {
        let mut last = Vec::new();
        while let Some(record) = records.next_of(key)? {
            if record != last {
                sorter.push(&[&record[KEY..], &number.to_be_bytes()])?;
                last = record;
            }
        }
        Ok(())
    })?;
    Ok(sorter.sorted()?)
}

struct Arcs {
    sorted: Sorted,
    last: Vec<u8>,
}

impl Arcs {
    fn next(&mut self) -> Result<Option<(usize, usize)>, ExportError> {
        while let Some(record) = self.sorted.next().transpose()? {
            if record == self.last {
                continue;
            }
            let pair = record.as_chunks::<8>();
            let ([from, to], []) = pair else { continue };
            let number = |bytes: &[u8; 8]| usize::try_from(u64::from_be_bytes(*bytes)).unwrap_or(usize::MAX);
            let pair = (number(from), number(to));
            self.last = record;
            return Ok(Some(pair));
        }
        Ok(None)
    }
}
