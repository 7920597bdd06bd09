//! What other pages call a URL: the texts of the links that lead to it.

use dataset::schema::Table;
use dataset::{Column, Layout};
use serde::Serialize;
use weburl::UrlKey;

/// Texts that are told; beyond that they are counted.
const TEXTS_MAX: usize = 10_000;

/// The texts of the links to a URL, in the order in which the pages were fetched.
#[derive(Debug, Default, Serialize)]
pub struct LinkedAs {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub texts: Vec<LinkText>,
}

/// A text, and the page on which it stands.
#[derive(Debug, Serialize)]
pub struct LinkText {
    /// The text.
    pub text: String,
    /// The page.
    pub source: String,
}

impl LinkedAs {
    /// Looks them up in the crawl's dataset; where there is none, none are known.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub(super) fn of(dataset: &Layout, url: UrlKey) -> anyhow::Result<Self> {
        let mut linked = LinkedAs::default();
        let columns = ["target_key", "source", "text"];
        for batch in dataset.batches(Table::Links, &columns)?.only("target_key", url) {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let (Some(text), Some(source)) = (batch.text("text", row), batch.text("source", row)) else { continue };
                linked.count += 1;
                if linked.texts.len() < TEXTS_MAX {
                    linked.texts.push(LinkText { text: text.to_owned(), source: source.to_owned() });
                }
            }
        }
        Ok(linked)
    }
}
