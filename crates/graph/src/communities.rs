//! Communities: groups of vertices with more links inside than chance would make.
//!
//! The method is that of Blondel, Guillaume, Lambiotte and Lefebvre (*Fast unfolding of communities in large networks*, 2008): each vertex
//! moves to the community of a neighbour as long as modularity grows, then communities become vertices, and so on. The order is fixed, so the
//! same graph gives the same communities.

use std::collections::BTreeMap;

/// Times that communities become vertices, at most. Each time there are far fewer.
const LEVELS_MAX: usize = 10;
/// Rounds over all vertices of a level, at most: most moves are made in the first ones.
const ROUNDS_MAX: usize = 20;
/// The least gain that a vertex moves for, as a share of its own links.
const GAIN_MIN: f64 = 1e-7;

/// The community of each of `count` vertices, given the edges between them, whose direction does not matter. Communities are numbered from 0,
/// the largest first.
#[must_use]
pub fn communities(count: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let mut level = Level::of(count, edges.iter().map(|&(from, to)| (from, to, 1.0)));
    let mut of: Vec<u32> = (0..).take(count).collect();
    for _ in 0..LEVELS_MAX {
        let moved = level.moved();
        let communities = moved.iter().max().map_or(0, |last| *last as usize + 1);
        for community in &mut of {
            *community = moved[*community as usize];
        }
        if communities == level.neighbours.len() {
            break;
        }
        level = level.of_communities(communities, &moved);
    }
    by_size(of)
}

/// A weighted graph without directions.
struct Level {
    /// Of each vertex the others that it is linked with.
    neighbours: Vec<Vec<(u32, f64)>>,
    /// The weight of the links of each vertex to itself, both ends counted.
    loops: Vec<f64>,
}

impl Level {
    fn of(count: usize, edges: impl Iterator<Item = (u32, u32, f64)>) -> Self {
        let mut weights: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for (from, to, weight) in edges {
            *weights.entry((from.min(to), from.max(to))).or_default() += weight;
        }
        let mut level = Level { neighbours: vec![Vec::new(); count], loops: vec![0.0; count] };
        for ((one, other), weight) in weights {
            if one == other {
                level.loops[one as usize] += 2.0 * weight;
            } else {
                level.neighbours[one as usize].push((other, weight));
                level.neighbours[other as usize].push((one, weight));
            }
        }
        level
    }

    /// Its communities as vertices.
    fn of_communities(&self, communities: usize, of: &[u32]) -> Self {
        let between = self.neighbours.iter().enumerate().flat_map(|(vertex, neighbours)| {
            let larger = neighbours.iter().filter(move |(other, _)| *other as usize > vertex);
            larger.map(move |(other, weight)| (of[vertex], of[*other as usize], *weight))
        });
        let inside = self.loops.iter().zip(of).map(|(weight, community)| (*community, *community, weight / 2.0));
        Level::of(communities, between.chain(inside))
    }

    /// The community of each vertex after no move makes modularity grow; numbered from 0 without gaps.
    fn moved(&self) -> Vec<u32> {
        let degree: Vec<f64> = self
            .neighbours
            .iter()
            .zip(&self.loops)
            .map(|(neighbours, loops)| neighbours.iter().map(|(_, weight)| weight).sum::<f64>() + loops)
            .collect();
        let whole: f64 = degree.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut of: Vec<u32> = (0..).take(degree.len()).collect();
        let mut total = degree.clone();
        let mut to: BTreeMap<u32, f64> = BTreeMap::new();
        for _ in 0..ROUNDS_MAX {
            let mut is_moved = false;
            for vertex in 0..degree.len() {
                to.clear();
                for (other, weight) in &self.neighbours[vertex] {
                    *to.entry(of[*other as usize]).or_default() += weight;
                }
                let own = of[vertex];
                total[own as usize] -= degree[vertex];
                let gain = |community: u32, weight: f64| weight - total[community as usize] * degree[vertex] / whole;
                let stay = gain(own, to.get(&own).copied().unwrap_or_default());
                let (best, most) = to.iter().map(|(community, weight)| (*community, gain(*community, *weight))).fold(
                    (own, stay + GAIN_MIN * degree[vertex]),
                    |best, next| if next.1 > best.1 { next } else { best },
                );
                let best = if most > stay { best } else { own };
                total[best as usize] += degree[vertex];
                is_moved |= best != own;
                of[vertex] = best;
            }
            if !is_moved {
                break;
            }
        }
        let mut numbers = BTreeMap::new();
        for community in &of {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            numbers.entry(*community).or_insert(next);
        }
        of.iter().map(|community| numbers[community]).collect()
    }
}

/// The same communities, numbered by their size.
fn by_size(mut of: Vec<u32>) -> Vec<u32> {
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    for community in &of {
        *sizes.entry(*community).or_default() += 1;
    }
    let mut order: Vec<(usize, u32)> = sizes.into_iter().map(|(community, size)| (size, community)).collect();
    order.sort_by_key(|(size, community)| (std::cmp::Reverse(*size), *community));
    let numbers: BTreeMap<u32, u32> = order.into_iter().map(|(_, community)| community).zip(0..).collect();
    for community in &mut of {
        *community = numbers[community];
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_many_links_inside_are_found() {
        // Three groups of 12, 10 and 8, each linked all with all, in a ring of three links.
        let (mut edges, mut first, mut firsts) = (Vec::new(), 0, Vec::new());
        for size in [10, 12, 8] {
            edges.extend((first..first + size).flat_map(|one| (first..one).map(move |other| (one, other))));
            firsts.push(first);
            first += size;
        }
        edges.extend([(firsts[0], firsts[1]), (firsts[1], firsts[2]), (firsts[2], firsts[0])]);
        let found = communities(30, &edges);
        assert_eq!(found[..10], [1; 10]);
        assert_eq!(found[10..22], [0; 12], "the largest is the first");
        assert_eq!(found[22..], [2; 8]);
    }

    #[test]
    fn graphs_without_links_or_vertices() {
        assert_eq!(communities(0, &[]), Vec::<u32>::new());
        assert_eq!(communities(3, &[]), [0, 1, 2]);
        assert_eq!(communities(2, &[(0, 0), (1, 1)]), [0, 1]);
        assert_eq!(communities(2, &[(0, 1), (1, 0), (0, 1)]), [0, 0]);
    }
}
