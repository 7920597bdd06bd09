//! The links of a page, out of the dataset.

use std::collections::{BTreeMap, BTreeSet};

use dataset::schema::Table;
use dataset::{Column, Layout};
use serde::{Deserialize, Serialize};
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

/// The pages that link to URLs: of each the first `max` by their names, and how many links there are.
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
            linking.name(source, max);
        }
    }
    Ok(all)
}

/// The pages that link to a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linking {
    /// Links to it.
    pub links: u64,
    /// The first pages that have them, by their names.
    pub pages: Vec<String>,
}

impl Linking {
    /// Takes in what another dataset tells. It has the links of other pages.
    pub fn add(&mut self, other: Linking, max: usize) {
        self.links += other.links;
        other.pages.iter().for_each(|page| self.name(page, max));
    }

    /// Names a page, if it is among the first `max`: so they do not depend on the order in which pages were fetched.
    fn name(&mut self, page: &str, max: usize) {
        if let Err(at) = self.pages.binary_search_by(|named| named.as_str().cmp(page))
            && at < max
        {
            self.pages.insert(at, page.to_owned());
            self.pages.truncate(max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_named_do_not_depend_on_the_order_in_which_they_are_found() {
        let of = |pages: &[&str]| {
            let mut linking = Linking::default();
            for page in pages {
                linking.links += 1;
                linking.name(page, 2);
            }
            linking
        };
        let whole = of(&["c", "a", "b", "a"]);
        assert_eq!(whole, Linking { links: 4, pages: vec!["a".to_owned(), "b".to_owned()] });
        for (one, other) in [(["c", "a"], ["b", "a"]), (["b", "a"], ["a", "c"])] {
            let mut sum = of(&one);
            sum.add(of(&other), 2);
            assert_eq!(sum, whole, "{one:?} {other:?}");
        }
    }
}
