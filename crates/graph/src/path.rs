//! The shortest way from one page to another by links.

use std::collections::VecDeque;

use crate::{Graph, Vertex};

/// A shortest path from one vertex to another, both included; of several the one whose vertices come first. `None` if no links
/// lead there.
#[must_use]
pub fn shortest_path(graph: &Graph, from: Vertex, to: Vertex) -> Option<Vec<Vertex>> {
    const UNKNOWN: Vertex = Vertex::MAX;
    let mut found_on = vec![UNKNOWN; graph.len()];
    found_on[from as usize] = from;
    let mut waiting = VecDeque::from([from]);
    while let Some(vertex) = waiting.pop_front() {
        if vertex == to {
            let mut path = vec![to];
            while let Some(last) = path.last().copied().filter(|last| *last != from) {
                path.push(found_on[last as usize]);
            }
            path.reverse();
            return Some(path);
        }
        for target in graph.targets(vertex) {
            if found_on[*target as usize] == UNKNOWN {
                found_on[*target as usize] = vertex;
                waiting.push_back(*target);
            }
        }
    }
    None
}
