//! `argiope export DIR webgraph`, loaded by WebGraph itself.

use std::collections::BTreeSet;
use std::path::Path;

use dataset::schema::Table;
use dataset::{Column, Layout};
use webgraph::prelude::{BvGraph, RandomAccessGraph, RandomAccessLabeling, SequentialLabeling};

use crate::crawled::{ADVANCED, Crawled, command, expected};

struct Graph {
    urls: Vec<String>,
    arcs: BTreeSet<(String, String)>,
}

/// Loads a graph, and names its nodes.
fn load(basename: &str) -> Graph {
    let urls = std::fs::read_to_string(format!("{basename}.urls")).expect("the URLs");
    let urls: Vec<String> = urls.lines().map(str::to_owned).collect();
    let graph = BvGraph::with_basename(basename).load().expect("a graph");
    assert_eq!(graph.num_nodes(), urls.len());
    let mut arcs = BTreeSet::new();
    for node in 0..graph.num_nodes() {
        arcs.extend(graph.successors(node).map(|to| (urls[node].clone(), urls[to].clone())));
    }
    assert_eq!(graph.num_arcs(), arcs.len() as u64, "each arc once");
    Graph { urls, arcs }
}

fn links(dir: &str) -> BTreeSet<(String, String)> {
    let mut links = BTreeSet::new();
    for batch in Layout::at(Path::new(dir).join("dataset")).batches(Table::Links, &["source", "target"]).expect("links")
    {
        let batch = batch.expect("a batch");
        for row in 0..batch.num_rows() {
            let end = |column| batch.text(column, row).expect("a URL").to_owned();
            links.insert((end("source"), end("target")));
        }
    }
    links
}

fn from<'g>(graph: &'g Graph, path: &str) -> Vec<&'g str> {
    let source = format!("{ADVANCED}{path}");
    let to = graph.arcs.iter().filter(|(from, _)| *from == source).map(|(_, to)| to.as_str());
    to.map(|to| to.strip_prefix(ADVANCED).filter(|path| path.starts_with('/')).unwrap_or(to)).collect()
}

#[test]
fn the_graph_has_the_links_of_the_crawl() {
    let crawled = Crawled::advanced();
    let basename = crawled.path("web");
    crawled.export("webgraph", &["-o", &basename]);
    let graph = load(&basename);
    assert_eq!(graph.arcs, links(&crawled.path("crawl")));

    let nodes: BTreeSet<&str> = graph.urls.iter().map(String::as_str).collect();
    assert_eq!(nodes.len(), graph.urls.len(), "each URL once");
    for url in expected().keys() {
        assert!(nodes.contains(url.as_str()), "{url}");
    }
    assert!(nodes.contains("http://advanced.test/links/never-meta.html"), "only linked to");
    let mut sites: Vec<&str> = graph.urls.iter().filter_map(|url| url.split('/').nth(2)).collect();
    sites.dedup();
    let count = sites.len();
    assert_eq!(sites.into_iter().collect::<BTreeSet<_>>().len(), count, "the URLs of a site lie together");

    let sections =
        ["/documents/", "/duplicates/", "/encodings/", "/errors/", "/links/", "/redirects/", "/robots/", "/traps/"];
    assert_eq!(from(&graph, "/"), sections);
    assert_eq!(
        from(&graph, "/links/elsewhere.html"),
        ["http://advanced.test.evil.test/", "http://other.test/", "http://sub.advanced.test/page.html"]
    );
    assert_eq!(from(&graph, "/links/nofollow-meta.html"), ["/links/never-meta.html"]);
    assert_eq!(from(&graph, "/redirects/other-host"), ["http://other.test/landing.html"]);
    assert_eq!(from(&graph, "/redirects/self"), ["/redirects/self"]);
    assert_eq!(from(&graph, "/redirects/no-location"), Vec::<&str>::new());
}

#[test]
fn a_filter_gives_the_graph_among_its_urls() {
    let crawled = Crawled::advanced();
    let basename = crawled.path("errors");
    crawled.export("webgraph", &["--outcome", "http_error", "--outcome", "redirect", "-o", &basename]);
    let graph = load(&basename);
    let rows = crawled.rows();
    let chosen: BTreeSet<&str> = rows
        .iter()
        .filter(|(_, row)| row["outcome"] == "http_error" || row["outcome"] == "redirect")
        .map(|(url, _)| url.as_str())
        .collect();
    assert_eq!(graph.urls.iter().map(String::as_str).collect::<BTreeSet<_>>(), chosen);
    let mut with_dot = command(&["export", &crawled.path("crawl"), "webgraph", "-o", &crawled.path("gov.si")]);
    let refused = with_dot.output().expect("the binary starts");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a name without a dot"), "{refused:?}");
    let missing = ("http://advanced.test/redirects/to-missing", "http://advanced.test/redirects/missing.html");
    assert!(graph.arcs.contains(&(missing.0.to_owned(), missing.1.to_owned())));
    assert!(graph.arcs.iter().all(|(from, to)| chosen.contains(from.as_str()) && chosen.contains(to.as_str())));
}
