//! The links of a page, out of the dataset.

use std::collections::{BTreeMap, BTreeSet};

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

/// The pages that link to URLs: of each the first `max`, and how many links there are.
///
/// # Errors
/// The dataset cannot be read.
pub fn linking_pages(
    layout: &Layout,
    targets: BTreeSet<UrlKey>,
    max: usize,
) -> anyhow::Result<BTreeMap<UrlKey, Linking>> {
    let mut all: BTreeMap<UrlKey, Linking> = BTreeMap::new();
    for batch in layout.batches(Table::Links, &["target_key", "source"])?.only_among("target_key", targets) {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let (Some(target), Some(source)) = (batch.key("target_key", row), batch.text("source", row)) else {
                continue;
            };
            let linking = all.entry(target).or_default();
            linking.links += 1;
            if linking.pages.len() < max && linking.pages.iter().all(|page| page != source) {
                linking.pages.push(source.to_owned());
            }
        }
    }
    Ok(all)
}

/// The pages that link to a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linking {
    /// Links to it.
    pub links: u64,
    /// The first pages that have them.
    pub pages: Vec<String>,
}
