//! Random graphs against plain implementations, with any number of workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use graph::{Crew, Definition, Edge, Graph, GraphBuilder, PageKind, overlap, pagerank, shortest_path};
use proptest::prelude::*;
use weburl::{CanonicalUrl, UrlKey};

use crate::graphs::url;

/// Pages of three domains.
fn page(number: usize) -> CanonicalUrl {
    url(&format!("{}.test/{number}", ["a", "b", "c"][number % 3]))
}

fn graph_of(pages: &[PageKind], links: &[(usize, usize)]) -> Arc<Graph> {
    let mut graph = GraphBuilder::default();
    for (number, kind) in pages.iter().enumerate() {
        graph.page(page(number).key(), *kind).expect("few");
    }
    for (source, target) in links {
        graph.link(page(*source).key(), page(*target).key()).expect("few");
    }
    Arc::new(graph.finish().expect("few"))
}

/// The ranks after so many rounds, and whether they have settled then.
fn plain_ranks(
    pages: usize,
    links: &BTreeSet<(usize, usize)>,
    definition: Definition,
    rounds: u32,
) -> (Vec<f64>, bool) {
    let first = if definition == Definition::Original { 1.0 } else { 1.0 / pages as f64 };
    let (mut ranks, mut is_settled) = (vec![first; pages], false);
    let degree = |page: usize| links.iter().filter(|(source, _)| *source == page).count();
    let degrees: Vec<usize> = (0..pages).map(degree).collect();
    for _ in 0..rounds {
        let lost: f64 = (0..pages).filter(|page| degrees[*page] == 0).map(|page| ranks[page]).sum();
        let spread = if definition == Definition::Original { 0.0 } else { lost / pages as f64 };
        let given = |page: usize| -> f64 {
            let sources = links.iter().filter(|(_, target)| *target == page);
            sources.map(|(source, _)| ranks[*source] / degrees[*source] as f64).sum()
        };
        let new: Vec<f64> = (0..pages).map(|page| 0.15 * first + 0.85 * (given(page) + spread)).collect();
        let changes = new.iter().zip(&ranks).map(|(new, old)| (new - old).abs());
        is_settled = match definition {
            Definition::Original => changes.fold(0.0, f64::max) < 0.01,
            Definition::Normalized => changes.sum::<f64>() < 1e-9,
        };
        ranks = new;
    }
    (ranks, is_settled)
}

fn within_reach(links: &BTreeSet<(usize, usize)>, root: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([root]);
    loop {
        let on = |(source, target): &&(usize, usize)| reached.contains(source) && target % 3 == root % 3;
        let more: Vec<usize> = links.iter().filter(on).map(|(_, target)| *target).collect();
        let before = reached.len();
        reached.extend(more);
        if reached.len() == before {
            return reached;
        }
    }
}

fn distance(links: &BTreeSet<(usize, usize)>, from: usize, to: usize) -> Option<usize> {
    let mut reached = BTreeSet::from([from]);
    for distance in 0.. {
        if reached.contains(&to) {
            return Some(distance);
        }
        let more: Vec<usize> =
            links.iter().filter(|(source, _)| reached.contains(source)).map(|(_, target)| *target).collect();
        let before = reached.len();
        reached.extend(more);
        if reached.len() == before {
            return None;
        }
    }
    None
}

fn kinds() -> impl Strategy<Value = PageKind> {
    prop_oneof![
        6 => Just(PageKind::Fetched),
        1 => Just(PageKind::Redirect),
        1 => Just(PageKind::Failed),
        1 => Just(PageKind::Linked)
    ]
}

fn graphs() -> impl Strategy<Value = (Vec<PageKind>, Vec<(usize, usize)>)> {
    prop::collection::vec(kinds(), 2..40).prop_flat_map(|pages| {
        let links = prop::collection::vec((0..pages.len(), 0..pages.len()), 0..120);
        (Just(pages), links)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn ranks_are_those_of_a_plain_implementation((pages, links) in graphs()) {
        let graph = graph_of(&pages, &links);
        let links: BTreeSet<(usize, usize)> = links.into_iter().collect();
        for definition in [Definition::Original, Definition::Normalized] {
            let found = pagerank(&graph, definition, Crew::threads(1)).expect("an answer");
            let values: BTreeMap<UrlKey, f64> = found.values.iter().copied().collect();
            prop_assert_eq!(values.len(), pages.len());
            let (expect, is_settled) = plain_ranks(pages.len(), &links, definition, found.rounds);
            prop_assert!(is_settled && found.is_settled);
            prop_assert!(!plain_ranks(pages.len(), &links, definition, found.rounds - 1).1, "no round too many");
            for (number, kind) in pages.iter().enumerate() {
                let is_ranked = definition == Definition::Normalized || kind.is_crawled();
                let expect = if is_ranked { expect[number] } else { 0.0 };
                let found = values[&page(number).key()];
                // Settled to 0.01, ranks of the original definition are kept with eight digits.
                let tolerance = if definition == Definition::Original { 1e-6 } else { 1e-9 };
                prop_assert!((found - expect).abs() < tolerance, "{} of {}, not {}", found, page(number), expect);
            }
            for threads in [2, 4] {
                prop_assert_eq!(&pagerank(&graph, definition, Crew::threads(threads)).expect("an answer"), &found);
            }
        }
    }

    #[test]
    fn overlaps_and_paths_are_those_of_a_plain_implementation((pages, links) in graphs(), roots in (0..40usize, 0..40usize)) {
        let graph = graph_of(&pages, &links);
        let links: BTreeSet<(usize, usize)> = links.into_iter().collect();
        let (one, other) = (roots.0 % pages.len(), roots.1 % pages.len());
        let vertex = |number: usize| graph.vertex(page(number).key()).expect("a page");
        let path = shortest_path(&graph, vertex(one), vertex(other));
        prop_assert_eq!(path.map(|path| path.len() - 1), distance(&links, one, other));
        if one % 3 == other % 3 {
            return Ok(());
        }
        let reached = [within_reach(&links, one), within_reach(&links, other)];
        let edges = |from: &BTreeSet<usize>, to: &BTreeSet<usize>| {
            let across = links.iter().filter(|(source, target)| from.contains(source) && to.contains(target));
            let edge = |(source, target): &(usize, usize)| Edge { source: page(*source).key(), target: page(*target).key() };
            let mut edges: Vec<Edge> = across.map(edge).collect();
            edges.sort_unstable();
            edges
        };
        for threads in [1, 2, 4] {
            let found = overlap(&graph, [&page(one), &page(other)], Crew::threads(threads)).expect("an answer");
            prop_assert_eq!(found.reachable, [reached[0].len() as u64, reached[1].len() as u64]);
            prop_assert_eq!(&found.edges[0], &edges(&reached[0], &reached[1]));
            prop_assert_eq!(&found.edges[1], &edges(&reached[1], &reached[0]));
        }
    }
}
