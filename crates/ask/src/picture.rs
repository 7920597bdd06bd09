//! The link graph as a picture: the vertices of highest PageRank, the links between them, communities and places.

use std::collections::HashMap;
use std::sync::Arc;

use graph::{
    Crew, Definition, Graph, GraphError, Grouped, Grouping, Point, Vertex, communities, names, pagerank, places,
};
use serde::{Deserialize, Serialize};
use weburl::UrlKey;

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
        let sketch = Sketch::of(&Arc::new(graph), max)?;
        let names = match group_names {
            Some(names) => names,
            None => names([&crawl.layout], sketch.keys())?,
        };
        Ok(sketch.drawn(&names))
    }
}

/// What a picture is made of: vertices and the links between them.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// The vertices of highest rank, in order.
    pub ranks: Vec<(UrlKey, f64)>,
    /// The links between them, and into them.
    pub among: Among,
    /// Vertices and links of the whole graph.
    pub all: [usize; 2],
}

/// The links between some vertices of a graph, and into them. A vertex does not count as linked to itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Among {
    /// For each vertex: how many vertices of the whole graph link to it.
    pub linked_by: Vec<u32>,
    /// From place to place.
    pub links: Vec<(u32, u32)>,
}

impl Among {
    /// Those of a graph.
    #[must_use]
    pub fn of(graph: &Graph, keys: impl Iterator<Item = UrlKey>) -> Self {
        let keys: Vec<UrlKey> = keys.collect();
        let at: HashMap<Vertex, u32> =
            (0..).zip(&keys).filter_map(|(place, key)| Some((graph.vertex(*key)?, place))).collect();
        let mut among = Among::none(keys.len());
        for vertex in graph.vertices() {
            let from = at.get(&vertex);
            for target in graph.targets(vertex).iter().filter(|target| **target != vertex) {
                let Some(to) = at.get(target) else { continue };
                among.linked_by[*to as usize] += 1;
                among.links.extend(from.map(|from| (*from, *to)));
            }
        }
        among.links.sort_unstable();
        among
    }

    /// None yet, between so many vertices.
    #[must_use]
    pub fn none(vertices: usize) -> Self {
        Among { linked_by: vec![0; vertices], links: Vec::new() }
    }

    /// Takes in those that another process knows, which has other pages.
    pub fn add(&mut self, other: &Among) {
        self.linked_by.iter_mut().zip(&other.linked_by).for_each(|(all, some)| *all = all.saturating_add(*some));
        // It is another process that says so.
        let is_place = |place: u32| (place as usize) < self.linked_by.len();
        self.links.extend(other.links.iter().filter(|(from, to)| is_place(*from) && is_place(*to)));
        self.links.sort_unstable();
        self.links.dedup();
    }
}

impl Sketch {
    /// The `max` vertices of highest rank of a graph.
    ///
    /// # Errors
    /// A worker was lost.
    pub fn of(graph: &Arc<Graph>, max: usize) -> Result<Self, GraphError> {
        let mut ranks = pagerank(graph, Definition::Original, Crew::threads(1))?.values;
        ranks.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let all = [ranks.len(), graph.edges()];
        ranks.truncate(max.min(VERTICES_MAX));
        let among = Among::of(graph, ranks.iter().map(|(key, _)| *key));
        Ok(Sketch { ranks, among, all })
    }

    /// The keys of the vertices.
    pub fn keys(&self) -> impl Iterator<Item = UrlKey> {
        self.ranks.iter().map(|(key, _)| *key)
    }

    /// The picture, with these names.
    #[must_use]
    pub fn drawn(self, names: &HashMap<UrlKey, String>) -> Picture {
        let Sketch { ranks, among: Among { linked_by, mut links }, all } = self;
        let of_communities = communities(ranks.len(), &links);
        let points = places(&of_communities, &links);
        // Where there are too many, those between high ranks stay.
        links.sort_unstable_by_key(|(from, to)| (*from.max(to), *from, *to));
        links.truncate(LINKS_MAX);
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
        let left_out = [all[0].saturating_sub(vertices.len()), all[1].saturating_sub(links.len())];
        Picture { vertices, links, communities, left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_put_together_what_each_knows() {
        let mut all = Among::none(2);
        for links in [vec![(0, 1), (1, 0)], vec![(0, 1), (1, 2), (7, 0)]] {
            all.add(&Among { linked_by: vec![2, 1, 9], links });
        }
        assert_eq!(all, Among { linked_by: vec![4, 2], links: vec![(0, 1), (1, 0)] });
    }
}
