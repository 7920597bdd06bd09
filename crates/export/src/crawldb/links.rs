//! The table of links.

use dataset::Column;
use dataset::schema::Table;
use postgres::Transaction;
use postgres::types::Type;
use weburl::UrlKey;

use super::copy::Copy;
use super::{Export, Failed};

/// Each pair once, and only between pages that are there.
const JOIN: &str = "
    INSERT INTO link (from_page, to_page)
    SELECT DISTINCT source.id, target.id
    FROM found_link found
        JOIN page_key source ON source.key = found.from_key
        JOIN page_key target ON target.key = found.to_key
    ORDER BY 1, 2";

/// Fills the table: links of pages, redirects, and from each duplicate to its original.
///
/// # Errors
/// The crawl or its dataset cannot be read, or the database refuses something.
pub(super) fn write(export: &Export<'_, '_>, into: &mut Transaction<'_>) -> Result<(), Failed> {
    let mut copy = Copy::into(into, "found_link", &[("from_key", Type::BYTEA), ("to_key", Type::BYTEA)])?;
    let mut add = |from: UrlKey, to: UrlKey| copy.row(&[&&from.to_bytes()[..], &&to.to_bytes()[..]]);
    for batch in export.crawl.table(Table::Links, &["source_key", "target_key"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if let (Some(from), Some(to)) = (batch.key("source_key", row), batch.key("target_key", row)) {
                add(from, to)?;
            }
        }
    }
    export.pages(&mut |_| {}, |_, selected| {
        match selected.entry.visit.as_ref().and_then(|visit| visit.duplicate_of) {
            Some(original) => add(selected.entry.candidate.url.key(), original),
            None => Ok(()),
        }
    })?;
    copy.finish()?;
    into.batch_execute("ANALYZE found_link")?;
    into.batch_execute(JOIN)?;
    Ok(())
}
