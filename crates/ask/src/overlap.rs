//! How closely two domains are linked.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::bail;
use graph::{Crew, Graph, domain_of, names};
use serde::Serialize;
use weburl::{CanonicalUrl, UrlKey};

use crate::QueriedCrawl;
use crate::target::domain_name;

/// The links between two domains, among the pages in reach of a page of each.
#[derive(Debug, Serialize)]
pub struct Overlap {
    /// How many links there are, both ways together.
    pub overlap: usize,
    /// The domains: hosts and ports.
    pub domains: [String; 2],
    /// The pages of each domain in reach of its page.
    pub reachable: [u64; 2],
    /// The links out of each domain.
    pub edges: [Vec<Edge>; 2],
}

/// A link.
#[derive(Debug, Serialize)]
pub struct Edge {
    /// The page.
    pub source: String,
    /// Where it leads.
    pub target: String,
}

/// The links between the domains of two pages. Only if `names_pages`, the ends of links have their URLs.
///
/// # Errors
/// Both pages are of one domain, or the dataset cannot be read.
pub fn overlap(
    crawl: &QueriedCrawl,
    graph: Graph,
    pages: [&CanonicalUrl; 2],
    names_pages: bool,
    crew: Crew,
) -> anyhow::Result<Overlap> {
    let domains = pages.map(domain_name);
    if domain_of(pages[0]) == domain_of(pages[1]) {
        bail!("both URLs are in {}: an overlap needs two domains (host and port)", domains[0]);
    }
    let graph::Overlap { reachable, edges } = graph::overlap(&Arc::new(graph), pages, crew)?;
    let ends = edges.iter().flatten().flat_map(|edge| [edge.source, edge.target]);
    let names = if names_pages { names([&crawl.layout], ends)? } else { HashMap::new() };
    let name = |key: UrlKey| names.get(&key).cloned().unwrap_or_else(|| key.to_string());
    let edges = edges.map(|edges| {
        edges.into_iter().map(|edge| Edge { source: name(edge.source), target: name(edge.target) }).collect::<Vec<_>>()
    });
    Ok(Overlap { overlap: edges.iter().map(Vec::len).sum(), domains, reachable, edges })
}
