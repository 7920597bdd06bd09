//! The link graph as a picture: the vertices of highest PageRank, the links between them, communities and places.

use std::collections::HashMap;
use std::sync::Arc;

use graph::{Crew, Definition, Grouped, Grouping, Point, communities, names, pagerank, places};
use serde::Serialize;

use crate::QueriedCrawl;

/// Vertices of a picture, at most.
pub const VERTICES_MAX: usize = 20_000;
/// Links of a picture, at most: those of the highest ranks.
const LINKS_MAX: usize = 60_000;

/// A picture of pages or of groups of pages.
#[derive(Clone, Debug, Serialize)]
pub struct Picture {
    /// What is drawn, by rank, the highest first.
    pub vertices: Vec<Drawn>,
    /// The links between them, as places in that list.
    pub links: Vec<(u32, u32)>,
    /// Communities there are.
    pub communities: u32,
    /// Vertices and links that the graph has besides.
    pub left_out: [usize; 2],
}

/// A vertex in the picture.
#[derive(Clone, Debug, Serialize)]
pub struct Drawn {
    /// A URL, or the name of a group.
    pub name: String,
    /// Its PageRank.
    pub rank: f64,
    /// Vertices of the whole graph that link to it.
    pub linked_by: u32,
    /// Its community, from 0, the largest first.
    pub community: u32,
    /// Where it is, from 0 to 1, to the right and downwards.
    pub at: [f32; 2],
}

impl Picture {
    /// Draws the pages of a crawl, or groups of them: the `max` of highest rank.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn of(crawl: &QueriedCrawl, grouping: Option<Grouping>, max: usize) -> anyhow::Result<Self> {
        let graph = crawl.graph_of_visited()?;
        let (graph, group_names) = match grouping.map(|grouping| graph.grouped(grouping, &crawl.layout)).transpose()? {
            Some(Grouped { graph, names }) => (graph, Some(names)),
            None => (graph, None),
        };
        let graph = Arc::new(graph);
        let mut ranks = pagerank(&graph, Definition::Original, Crew::threads(1))?.values;
        ranks.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let all = ranks.len();
        ranks.truncate(max.min(VERTICES_MAX));
        let drawn: Vec<_> = ranks.iter().filter_map(|(key, _)| graph.vertex(*key)).collect();
        let at: HashMap<_, u32> = drawn.iter().copied().zip(0..).collect();
        let mut linked_by = vec![0_u32; drawn.len()];
        for vertex in graph.vertices() {
            for place in
                graph.targets(vertex).iter().filter(|target| **target != vertex).filter_map(|target| at.get(target))
            {
                linked_by[*place as usize] += 1;
            }
        }
        let mut links: Vec<(u32, u32)> = drawn
            .iter()
            .zip(0..)
            .flat_map(|(vertex, from)| {
                let targets = graph.targets(*vertex).iter().filter_map(|target| at.get(target));
                targets.filter(move |to| **to != from).map(move |to| (from, *to))
            })
            .collect();
        let of_communities = communities(drawn.len(), &links);
        let points = places(&of_communities, &links);
        // Where there are too many, those between high ranks stay.
        links.sort_unstable_by_key(|(from, to)| (*from.max(to), *from, *to));
        links.truncate(LINKS_MAX);
        let names = match group_names {
            Some(names) => names,
            None => names([&crawl.layout], ranks.iter().map(|(key, _)| *key))?,
        };
        let vertices: Vec<Drawn> = ranks
            .iter()
            .zip(linked_by)
            .zip(of_communities.iter().zip(points))
            .map(|(((key, rank), linked_by), (community, Point { x, y }))| Drawn {
                name: names.get(key).cloned().unwrap_or_else(|| key.to_string()),
                rank: *rank,
                linked_by,
                community: *community,
                at: [x as f32, y as f32],
            })
            .collect();
        let communities = of_communities.iter().max().map_or(0, |last| last + 1);
        let left_out = [all - vertices.len(), graph.edges().saturating_sub(links.len())];
        Ok(Picture { vertices, links, communities, left_out })
    }
}
