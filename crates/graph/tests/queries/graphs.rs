//! Graphs by the names of their pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{Crew, Definition, Graph, GraphBuilder, PageKind, Ranks, pagerank};
use weburl::{CanonicalRules, CanonicalUrl};

/// A URL: `site/name`.
pub fn url(name: &str) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("http://{name}"), &CanonicalRules::default()).expect(name)
}

/// A graph of links; what links was fetched, and so were `others`.
pub fn graph(links: &[(&str, &str)], others: &[&str]) -> Arc<Graph> {
    let mut graph = GraphBuilder::default();
    for (source, target) in links {
        graph.page(url(source).key(), PageKind::Fetched).expect("few pages");
        graph.link(url(source).key(), url(target).key()).expect("few pages");
    }
    for page in others {
        graph.page(url(page).key(), PageKind::Fetched).expect("few pages");
    }
    Arc::new(graph.finish().expect("few pages"))
}

/// The ranks of some pages.
pub fn ranks<const N: usize>(graph: &Arc<Graph>, definition: Definition, names: [&str; N]) -> [f64; N] {
    let Ranks { values, is_settled, .. } = pagerank(graph, definition, Crew::threads(1)).expect("an answer");
    assert!(is_settled);
    let values: BTreeMap<_, _> = values.into_iter().collect();
    names.map(|name| values[&url(name).key()])
}
