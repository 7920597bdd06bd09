//! Ranks of a crawl of real documents, against those of networkx and of a plain loop over its arrays.

use std::path::Path;

use testweb::{Files, Web};

use testkit::crawled::Crawled;
use testkit::python::script;

const PYTHON: &str = "/usr/share/doc/python3-doc/html";
/// The documents have some hundreds of pages; fewer would mean that the test looks at something else.
const URLS_MIN: usize = 500;

const COMPARE: &str = "
import sys, duckdb, networkx, numpy
dataset, normalized, original = sys.argv[1:]
graph = networkx.DiGraph()
crawled = set()
for url, outcome in duckdb.sql(f\"select url, outcome from '{dataset}/pages/*.parquet'\").fetchall():
    graph.add_node(url)
    if outcome in ('html', 'binary', 'duplicate', 'redirect'):
        crawled.add(url)
graph.add_edges_from(duckdb.sql(f\"select source, target from '{dataset}/links/*.parquet'\").fetchall())
read = lambda path: dict(duckdb.sql(f\"select url, rank from '{path}'\").fetchall())
ours = read(normalized)
theirs = networkx.pagerank(graph, alpha=0.85, tol=1e-15, max_iter=1000)
assert ours.keys() == theirs.keys(), set(ours) ^ set(theirs)
worst = max(abs(ours[url] - theirs[url]) for url in theirs)
assert worst < 1e-6, worst
assert abs(sum(ours.values()) - 1) < 1e-9
urls = list(graph)
links = networkx.to_scipy_sparse_array(graph, nodelist=urls, weight=None, dtype=float)
degree = numpy.maximum(links.sum(axis=1), 1)
rank, change = numpy.ones(len(urls)), 1
while change >= 0.01:
    new = 0.15 + 0.85 * (links.T @ (rank / degree))
    change, rank = numpy.abs(new - rank).max(), new
ours = read(original)
worst_original = max(abs(ours[url] - (rank[at] if url in crawled else 0)) for at, url in enumerate(urls))
assert worst_original < 1e-6, worst_original
print(len(urls), graph.number_of_edges(), worst, worst_original)
";

#[test]
fn ranks_of_real_documents_are_those_of_networkx() {
    assert!(Path::new(PYTHON).join("index.html").exists(), "`apt-get install python3-doc` brings the documents");
    let web = Web::new().site("python.test", Files::new(PYTHON.as_ref()).expect("documents"));
    let crawled = Crawled::of(web, "http://python.test/", &["--no-sitemaps", "--connections-per-site", "8"]);
    let out = |name: &str| format!("{}/{name}.parquet", crawled.dir());
    for (name, flag) in [("normalized", Some("--normalized")), ("original", None)] {
        let arguments: Vec<&str> = flag.into_iter().collect();
        let ran = crawled.run("rank", &[&arguments[..], &["--out", &out(name)]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let dataset = format!("{}/dataset", crawled.dir());
    let told = script(&["networkx", "scipy", "duckdb"], COMPARE, &[&dataset, &out("normalized"), &out("original")]);
    println!("{told}");
    let urls: usize = told.split(' ').next().and_then(|urls| urls.parse().ok()).expect("a number");
    assert!(urls >= URLS_MIN, "{told}");
}
