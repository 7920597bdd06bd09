//! The graph behind the API is that of what crawls visited (document 002, "Crawl depth" and "Unreachable URLs"): a vertex is a URL that a crawl
//! went to, with success or in vain, and an edge a link between two of them out of a page whose depth allowed to follow links.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tempfile::TempDir;
use testweb::{Pages, Reply, Web};

use crate::lab::{Lab, Laid};
use testkit::ran::argiope;

const U: &str = "http://g1.test/";
const P: &str = "http://g2.test/p.html";

/// Two sites. From the first page four others are in reach, of which two cannot be had; pages below link back, across and further down.
fn web() -> Laid {
    let one = Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /forbidden.html\n")
        .html(
            "/",
            "<a href=a.html>a</a> <a href=./x/../b.html>b</a> <a href=/a.html>a</a> <a href=gone.html>gone</a>
             <a href=silent.html>silent</a> <a href=forbidden.html>no</a> <a href=http://g3.test/>out of scope</a>",
        )
        .html("/a.html", format!("<a href=/>up</a> <a href=b.html>b</a> <a href=c.html>c</a> <a href={P}>p</a>"))
        .html("/b.html", format!("<a href=a.html>a</a> <a href=d.html>d</a> <a href={P}>p</a>"))
        .html("/c.html", "nothing")
        .html("/d.html", format!("<a href={P}>p</a> <a href=gone.html>gone</a>"))
        .reply("/silent.html", Reply::raw(std::iter::empty));
    let other = Pages::new()
        .html("/p.html", "<a href=http://g1.test/a.html>a</a> <a href=q.html>q</a>")
        .html("/q.html", "<a href=p.html>p</a>");
    Laid::apart(Web::new().site("g1.test", one).site("g2.test", other), &["g1.test", "g2.test"])
}

fn rows<'a>(rank: &'a Value, of: &str, name: &str) -> Vec<(&'a str, &'a Value)> {
    let rows = rank[of].as_array().expect("ranks").iter();
    rows.map(|row| (row[name].as_str().expect("a URL"), &row["rank"])).collect()
}

/// The vertices, the number of edges, and the answers of several workers, which do not depend on how many they are.
fn graph(lab: &Lab) -> (BTreeSet<String>, u64, Value) {
    let rank = lab.served.asked(&["rank", "--top", "100"]);
    let ranked = rows(&rank, "ranked", "url");
    assert_eq!(rank["vertices"], ranked.len());
    let vertices = ranked.iter().map(|(url, _)| (*url).to_owned()).collect();
    (
        vertices,
        rank["edges"].as_u64().expect("a number"),
        json!([rank["vertices"], rank["edges"], rank["rounds"], ranked]),
    )
}

/// The same answers of one process about a crawl's directory.
fn answers(dir: &str) -> Value {
    let ran = argiope(&["rank", dir, "--visited", "--top", "100", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let rank = ran.json();
    json!([rank["vertices"], rank["edges"], rank["rounds"], rows(&rank, "rows", "name")])
}

fn urls(host: &str, paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| format!("http://{host}.test/{path}")).collect()
}

/// The overlap of the two sites, and how many pages are in reach in each.
fn overlap(lab: &Lab) -> (u64, Value) {
    let told = lab.served.asked(&["overlap", U, P]);
    (told["overlap"].as_u64().expect("a number"), told["reachable"].clone())
}

#[test]
fn the_graph_has_what_crawls_visited_and_the_links_that_they_were_allowed_to_follow() {
    let mut lab = Lab::new(web(), &[]);
    let workers = [lab.worker(), lab.worker()];
    lab.served.crawl(U, 0);
    let (vertices, edges, _) = graph(&lab);
    assert_eq!((vertices, edges), (urls("g1", &[""]), 0), "one node");

    lab.served.crawl(U, 1);
    let (vertices, edges, together) = graph(&lab);
    let one = urls("g1", &["", "a.html", "b.html", "gone.html", "silent.html"]);
    assert_eq!((&vertices, edges), (&one, 4), "1 + N nodes, also those that cannot be had");
    let alone = TempDir::new().expect("a directory");
    let dir = alone.path().to_str().expect("UTF-8");
    let ran =
        argiope(&[&["crawl", U, "-o", dir, "--depth", "1", "--progress", "none"], &lab.web.arguments()[..]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(together, answers(dir), "as of one process");
    let ran = argiope(&["overlap", dir, "--visited", U, P]);
    assert!(ran.code == 1 && ran.stderr.contains("the crawl has not visited it"), "{ran:?}");
    assert_eq!(lab.served.refused(&["overlap", U, P]).rsplit(": ").next(), Some("the crawl has not visited it"));
    assert_eq!(lab.served.asked(&["rank", P])["ranked"][0]["rank"], 0.0);

    // Links of g1's children were not followed, and p.html is a page of depth 0.
    lab.served.crawl(P, 0);
    let (vertices, edges, _) = graph(&lab);
    assert_eq!((vertices, edges), (&one | &urls("g2", &["p.html"]), 4));
    assert_eq!(overlap(&lab), (0, json!([5, 1])));

    // Pages that were at the bottom are not any more: their links count, though nobody fetches them again.
    let asked = lab.web.log().len();
    lab.served.crawl(U, 2);
    assert_eq!(lab.web.log().len(), asked + 2, "two new pages");
    let (vertices, edges, _) = graph(&lab);
    let deeper = &one | &urls("g1", &["c.html", "d.html"]);
    assert_eq!((vertices, edges), (&deeper | &urls("g2", &["p.html"]), 4 + 4 + 3), "no edge out of d");
    assert_eq!(overlap(&lab), (2, json!([7, 1])));

    // The deepest call counts, in whatever order they come.
    lab.served.crawl(P, 1);
    lab.served.crawl(P, 0);
    let (vertices, edges, together) = graph(&lab);
    assert_eq!((vertices, edges), (&deeper | &urls("g2", &["p.html", "q.html"]), 4 + 4 + 3 + 2));
    assert_eq!(overlap(&lab), (3, json!([7, 2])));
    let listed = lab.served.asked(&["overlap", U, P, "--list"])["edges"].take();
    let edge = |source: &str, target: &str| json!({"source": source, "target": target});
    let expect = [edge("http://g1.test/a.html", P), edge("http://g1.test/b.html", P), edge(P, "http://g1.test/a.html")];
    let listed = listed.as_array().expect("edges");
    assert!(listed.len() == 3 && expect.iter().all(|edge| listed.contains(edge)), "{listed:?}");

    // The archive answers the same when all have gone.
    for worker in workers {
        assert_eq!(worker.leave().0, Some(0));
    }
    lab.served.kill();
    let dir = lab.shared();
    let dir = dir.to_str().expect("UTF-8");
    assert_eq!(together, answers(dir));
    let whole = argiope(&["rank", dir, "--json"]).json();
    assert_eq!(whole["vertices"], 11, "without --visited also what is forbidden, and what is out of scope");
}
