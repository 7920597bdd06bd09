//! The shortest way from page to page by links.

use std::fmt;

use dataset::schema::Table;
use dataset::{Column, Layout};
use graph::{Graph, Vertex, names, shortest_path};
use printable::Printable;
use serde::Serialize;
use weburl::UrlKey;

use crate::QueriedCrawl;

/// A way from page to page.
#[derive(Debug, Serialize)]
pub struct Path {
    /// How many links it has.
    pub links: usize,
    /// The pages, both ends included.
    pub urls: Vec<String>,
    /// The texts of the links; `None` for one without a text.
    pub texts: Vec<Option<String>>,
}

/// A page a line, with the text of the link below each that has a next one.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, url) in self.urls.iter().enumerate() {
            writeln!(f, "{}", Printable(url))?;
            if let Some(text) = self.texts.get(at) {
                writeln!(f, "  \"{}\"", Printable(text.as_deref().unwrap_or_default()))?;
            }
        }
        Ok(())
    }
}

/// The shortest way; `None` where there is none.
///
/// # Errors
/// The dataset cannot be read.
pub fn path(crawl: &QueriedCrawl, graph: &Graph, from: Vertex, to: Vertex) -> anyhow::Result<Option<Path>> {
    let Some(path) = shortest_path(graph, from, to) else { return Ok(None) };
    let keys: Vec<UrlKey> = path.into_iter().map(|vertex| graph.key(vertex)).collect();
    let names = names([&crawl.layout], keys.iter().copied())?;
    let urls = keys.iter().map(|key| names.get(key).cloned().unwrap_or_else(|| key.to_string())).collect();
    let texts = keys.windows(2).map(|ends| link_text(&crawl.layout, ends[0], ends[1]));
    let texts = texts.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Some(Path { links: texts.len(), urls, texts }))
}

/// The first text by which a page links to another; `None` where it has none.
///
/// # Errors
/// The dataset cannot be read.
pub fn link_text(layout: &Layout, from: UrlKey, to: UrlKey) -> anyhow::Result<Option<String>> {
    for batch in layout.batches(Table::Links, &["source_key", "target_key", "text"])?.only("source_key", from) {
        let batch = batch?;
        let leads_there = (0..batch.num_rows()).filter(|row| batch.key("target_key", *row) == Some(to));
        if let Some(text) = leads_there.filter_map(|row| batch.text("text", row)).next() {
            return Ok(Some(text.to_owned()));
        }
    }
    Ok(None)
}
