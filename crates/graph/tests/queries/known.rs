//! Graphs whose answers are known.

use graph::{Crew, Definition, Edge, GraphBuilder, Overlap, PageKind, overlap, shortest_path};

use crate::graphs::{graph, ranks, url};

/// The ranks by the original definition, as far as its precision of 0.01 goes: the error left is that times d / (1-d).
#[track_caller]
fn check<const N: usize>(links: &[(&str, &str)], others: &[&str], expect: [(&str, f64); N]) {
    let found = ranks(&graph(links, others), Definition::Original, expect.map(|(name, _)| name));
    for ((name, rank), found) in expect.into_iter().zip(found) {
        assert!((rank - found).abs() < 0.06, "{name}: {found}, not {rank}");
    }
}

#[test]
fn ranks_by_the_original_definition() {
    // The example of the explanation that course 002 refers to.
    let links = [("t/a", "t/b"), ("t/a", "t/c"), ("t/b", "t/c"), ("t/c", "t/a"), ("t/d", "t/c")];
    check(&links, &[], [("t/a", 1.49), ("t/b", 0.78), ("t/c", 1.58), ("t/d", 0.15)]);
    // Cycles keep what they begin with.
    check(&[("t/a", "t/b"), ("t/b", "t/a")], &[], [("t/a", 1.0), ("t/b", 1.0)]);
    check(&[("t/a", "t/a")], &[], [("t/a", 1.0)]);
    // What a page without links has is lost.
    check(&[("t/a", "t/b")], &["t/b", "t/alone"], [("t/a", 0.15), ("t/b", 0.2775), ("t/alone", 0.15)]);
    // A page that links twice to one page and once to another gives both the same.
    let repeated = [("t/a", "t/b"), ("t/a", "t/b"), ("t/a", "t/c"), ("t/b", "t/a"), ("t/c", "t/a")];
    check(&repeated, &[], [("t/a", 1.4595), ("t/b", 0.7703), ("t/c", 0.7703)]);
}

#[test]
fn what_was_not_crawled_has_no_rank_by_the_original_definition() {
    let mut builder = GraphBuilder::default();
    let key = |name| url(name).key();
    builder.page(key("t/a"), PageKind::Fetched).expect("few");
    builder.page(key("t/moved"), PageKind::Redirect).expect("few");
    builder.page(key("t/broken"), PageKind::Failed).expect("few");
    for (source, target) in [("t/a", "t/moved"), ("t/a", "t/broken"), ("t/a", "t/seen"), ("t/moved", "t/a")] {
        builder.link(key(source), key(target)).expect("few");
    }
    let graph = std::sync::Arc::new(builder.finish().expect("few"));
    assert_eq!((graph.len(), graph.edges()), (4, 4), "unreachable pages and pages only linked to are vertices");
    let [a, moved, broken, seen] = ranks(&graph, Definition::Original, ["t/a", "t/moved", "t/broken", "t/seen"]);
    assert_eq!((broken, seen), (0.0, 0.0));
    assert!(moved > 0.15 && a > moved, "{a} {moved}");
    let [a, moved, broken, seen] = ranks(&graph, Definition::Normalized, ["t/a", "t/moved", "t/broken", "t/seen"]);
    assert!((a + moved + broken + seen - 1.0).abs() < 1e-12 && broken > 0.0 && seen == broken);
}

#[test]
fn normalized_ranks_are_those_of_the_equations() {
    // A links to B, B to nothing: x = 0.075 + 0.425 y, y = 0.075 + 0.425 y + 0.85 x, x + y = 1.
    let [a, b] = ranks(&graph(&[("t/a", "t/b")], &["t/b"]), Definition::Normalized, ["t/a", "t/b"]);
    let x = 0.5 / 1.425;
    assert!((a - x).abs() < 1e-9 && (b - (1.0 - x)).abs() < 1e-9, "{a} {b}");
}

#[test]
fn nothing_has_no_ranks() {
    for definition in [Definition::Original, Definition::Normalized] {
        assert_eq!(ranks(&graph(&[], &[]), definition, []), [0.0_f64; 0]);
    }
}

/// The figure of course 002: two sites, two links between them.
const COURSE: [(&str, &str); 7] = [
    ("www.d1.test/index.html", "www.d1.test/edu.html"),
    ("www.d1.test/index.html", "www.d2.test/research.html"),
    ("www.d1.test/edu.html", "www.d3.test/"),
    ("www.d2.test/research.html", "www.d2.test/giantworm.html"),
    ("www.d2.test/giantworm.html", "www.d1.test/index.html"),
    ("www.d2.test/giantworm.html", "www.d2.test/research.html"),
    ("www.d3.test/", "www.d1.test/news.html"),
];

#[track_caller]
fn meet(links: &[(&str, &str)], one: &str, other: &str) -> Overlap {
    overlap(&graph(links, &[]), [&url(one), &url(other)], Crew::threads(1)).expect("an answer")
}

fn edge(source: &str, target: &str) -> Edge {
    Edge { source: url(source).key(), target: url(target).key() }
}

#[test]
fn overlap_counts_the_edges_between_what_is_reachable_in_each_domain() {
    let found = meet(&COURSE, "www.d1.test/index.html", "www.d2.test/research.html");
    assert_eq!(found.reachable, [2, 2]);
    assert_eq!(found.edges[0], [edge("www.d1.test/index.html", "www.d2.test/research.html")]);
    assert_eq!(found.edges[1], [edge("www.d2.test/giantworm.html", "www.d1.test/index.html")]);
    let turned = meet(&COURSE, "www.d2.test/research.html", "www.d1.test/index.html");
    assert_eq!((turned.edges[0].len(), turned.edges[1].len()), (1, 1));
    let none = meet(&COURSE, "www.d1.test/edu.html", "www.d2.test/research.html");
    assert_eq!((none.reachable, none.edges), ([1, 2], [vec![], vec![]]));
    // The way leads through another domain, so the page is not reached.
    let around = meet(&COURSE, "www.d1.test/edu.html", "www.d3.test/");
    assert_eq!((around.reachable, around.edges[0].len(), around.edges[1].len()), ([1, 1], 1, 0));
}

#[test]
fn a_domain_is_host_and_port_whatever_the_scheme() {
    let mut builder = GraphBuilder::default();
    let parse = |text: &str| weburl::CanonicalUrl::parse(text, &weburl::CanonicalRules::default()).expect(text);
    let links = [
        ("http://a.test/", "https://a.test/in"),
        ("https://a.test/in", "http://b.test/"),
        ("http://a.test/", "http://b.test:8080/"),
    ];
    for (source, target) in links {
        builder.link(parse(source).key(), parse(target).key()).expect("few");
    }
    let graph = std::sync::Arc::new(builder.finish().expect("few"));
    let roots = [&parse("http://a.test/"), &parse("http://b.test/")];
    let found = overlap(&graph, roots, Crew::threads(2)).expect("an answer");
    assert_eq!((found.reachable, found.edges[0].len()), ([2, 1], 1), "another port is another domain");
}

#[test]
fn paths_are_shortest() {
    let links = [("t/a", "t/b"), ("t/b", "t/c"), ("t/c", "t/d"), ("t/a", "t/c"), ("t/d", "t/a"), ("t/e", "t/a")];
    let graph = graph(&links, &[]);
    let path = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|name| graph.vertex(url(name).key()).expect(name));
        shortest_path(&graph, from, to).map(|path| path.into_iter().map(|vertex| graph.key(vertex)).collect::<Vec<_>>())
    };
    let keys = |names: &[&str]| Some(names.iter().map(|name| url(name).key()).collect::<Vec<_>>());
    assert_eq!(path("t/a", "t/d"), keys(&["t/a", "t/c", "t/d"]));
    assert_eq!(path("t/b", "t/a"), keys(&["t/b", "t/c", "t/d", "t/a"]));
    assert_eq!(path("t/a", "t/a"), keys(&["t/a"]));
    assert_eq!(path("t/a", "t/e"), None);
}
