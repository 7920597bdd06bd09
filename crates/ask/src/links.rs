//! The links of a page, out of the dataset.

use dataset::schema::Table;
use dataset::{Column, Layout};
use serde::Serialize;
use weburl::UrlKey;

/// A link, as JSON.
#[derive(Serialize)]
pub struct Link<'a> {
    /// The page.
    pub source: &'a str,
    /// Where it leads.
    pub target: &'a str,
    /// Its text.
    pub text: Option<&'a str>,
    /// The construct it comes from.
    pub kind: &'a str,
    /// Its `rel`.
    pub rel: Option<&'a str>,
}

/// Calls `each` with the links that have a key in a column, in the order in which the pages were fetched, as they stand on them.
///
/// # Errors
/// The dataset cannot be read, or `each` fails.
pub fn each_link(
    layout: &Layout,
    column: &'static str,
    key: UrlKey,
    mut each: impl FnMut(&Link<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let columns = [column, "source", "target", "text", "kind", "rel"];
    for batch in layout.batches(Table::Links, &columns)?.only(column, key) {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let text = |column| batch.text(column, row);
            let (Some(source), Some(target), Some(kind)) = (text("source"), text("target"), text("kind")) else {
                continue;
            };
            each(&Link { source, target, text: text("text"), kind, rel: text("rel") })?;
        }
    }
    Ok(())
}
