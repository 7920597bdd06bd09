//! The URLs of keys.

use std::collections::{BTreeSet, HashMap};

use dataset::schema::Table;
use dataset::{Column, DatasetError, Layout};
use weburl::UrlKey;

/// The URLs of some keys, from one or several datasets: of pages, and of what pages only link to. What they do not know is left
/// out.
///
/// # Errors
/// A dataset cannot be read.
pub fn names<'a>(
    layouts: impl IntoIterator<Item = &'a Layout, IntoIter: Clone>,
    keys: impl IntoIterator<Item = UrlKey>,
) -> Result<HashMap<UrlKey, String>, DatasetError> {
    let mut missing: BTreeSet<UrlKey> = keys.into_iter().collect();
    let mut names = HashMap::with_capacity(missing.len());
    let layouts = layouts.into_iter();
    let pages = layouts.clone().map(|layout| (layout, Table::Pages, "url_key", "url"));
    for (layout, table, key_column, column) in
        pages.chain(layouts.map(|layout| (layout, Table::Links, "target_key", "target")))
    {
        if missing.is_empty() {
            break;
        }
        for batch in layout.batches(table, &[key_column, column])?.only_among(key_column, missing.clone()) {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                if let (Some(key), Some(url)) = (batch.key(key_column, row), batch.text(column, row))
                    && missing.remove(&key)
                {
                    names.insert(key, url.to_owned());
                }
            }
        }
    }
    Ok(names)
}
