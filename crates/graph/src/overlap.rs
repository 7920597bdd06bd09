//! Overlap: how closely two domains are linked, seen from a page of each.
//!
//! Given a page in one domain and a page in another: G1 is what can be reached from the first by links within its domain, G2 the
//! same for the second. The overlap is the number of edges from G1 to G2 and from G2 to G1. A domain is what stands between
//! `http://` and the next `/`: host and port, whatever the scheme.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::linking::{Query, WireKey, ask, from_wire, to_wire};
use crate::rounds::{Crew, Step};
use crate::shard::Shard;
use crate::{Graph, GraphError};

/// An edge, from page to page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The page with the link.
    pub source: UrlKey,
    /// Where it leads.
    pub target: UrlKey,
}

/// The overlap of two domains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// How many pages can be reached in each domain, the page that was requested included.
    pub reachable: [u64; 2],
    /// The edges from the first to the second, in order, and those back.
    pub edges: [Vec<Edge>; 2],
}

/// The domain of a URL, for overlap: the keys of the sites that have its host and port.
#[must_use]
pub fn domain_of(url: &CanonicalUrl) -> [SiteKey; 2] {
    let site = url.site();
    let authority = site.as_str().split_once("://").map_or("", |(_, authority)| authority);
    ["http", "https"].map(|scheme| SiteKey::of(&format!("{scheme}://{authority}")))
}

/// The overlap of the domains of two URLs, which must not be the same, as seen from these URLs. Of several processes each has a
/// part of the answer: the sums of all of them are the answer.
///
/// # Errors
/// A worker was lost.
pub fn overlap(graph: &Arc<Graph>, roots: [&CanonicalUrl; 2], crew: Crew) -> Result<Overlap, GraphError> {
    let (domains, roots) = (roots.map(domain_of), roots.map(CanonicalUrl::key));
    let query = move || Meeting { domains, roots, reached: Vec::new(), has_ended: false };
    let answers = ask(graph, crew, query)?;
    let mut overlap = Overlap::default();
    for answer in answers {
        for (all, some) in overlap.reachable.iter_mut().zip(answer.reachable) {
            *all += some;
        }
        for (all, some) in overlap.edges.iter_mut().zip(answer.edges) {
            all.extend(some);
        }
    }
    overlap.edges.iter_mut().for_each(|edges| edges.sort_unstable());
    Ok(overlap)
}

/// The part of a worker.
struct Meeting {
    domains: [[SiteKey; 2]; 2],
    roots: [UrlKey; 2],
    /// By slot, of which roots it is known that they reach it: a bit each. Of the slots of others, what they were told.
    reached: Vec<u8>,
    has_ended: bool,
}

/// What a worker tells another.
#[derive(Clone, Serialize, Deserialize)]
enum Message {
    /// Slots of the other that were reached, and from which roots; how many vertices were reached by all that it has to tell.
    Reached { slots: Vec<(u32, u8)>, count: u64 },
    /// Pages that were reached from a root, with links to slots of the other that lie in the domain of the other root.
    Edges(Vec<(WireKey, u32)>),
}

/// The bit of a root.
const fn bit(root: usize) -> u8 {
    1 << root
}

impl Meeting {
    /// The root whose domain a key lies in.
    fn domain(&self, key: UrlKey) -> Option<usize> {
        self.domains.iter().position(|sites| sites.contains(&key.site))
    }

    /// Goes on from vertices that were reached just now, within their domains, as far as the worker's own go.
    fn walk(&mut self, shard: &Shard, mut waiting: Vec<u32>) -> Vec<Message> {
        let mut slots: Vec<Vec<(u32, u8)>> = vec![Vec::new(); shard.peers()];
        let mut count = 0;
        while let Some(vertex) = waiting.pop() {
            let bits = self.reached[vertex as usize];
            for slot in shard.targets(vertex) {
                let Some(root) = self.domain(shard.key_of(*slot)) else { continue };
                let known = &mut self.reached[*slot as usize];
                if bits & bit(root) == 0 || *known & bit(root) != 0 {
                    continue;
                }
                *known |= bit(root);
                match (*slot as usize).checked_sub(shard.len()) {
                    None => waiting.push(*slot),
                    Some(other) => {
                        let peer = shard.outgoing.partition_point(|others| others.end <= other);
                        let place = other - shard.outgoing[peer].start;
                        slots[peer].push((place as u32, bit(root)));
                        count += 1;
                    }
                }
            }
        }
        slots.into_iter().map(|slots| Message::Reached { slots, count }).collect()
    }

    /// The edges between what was reached in one domain and in the other, each sent to who owns its end.
    fn edges(&self, shard: &Shard) -> Vec<Message> {
        let mut edges: Vec<Vec<(WireKey, u32)>> = vec![Vec::new(); shard.peers()];
        for vertex in (0..shard.len() as u32).filter(|vertex| self.reached[*vertex as usize] != 0) {
            let source = shard.key_of(vertex);
            let from = self.domain(source);
            for slot in shard.targets(vertex) {
                let to = self.domain(shard.key_of(*slot));
                if to.is_none() || to == from {
                    continue;
                }
                match (*slot as usize).checked_sub(shard.len()) {
                    None => edges[shard.own].push((to_wire(source), *slot)),
                    Some(other) => {
                        let peer = shard.outgoing.partition_point(|others| others.end <= other);
                        edges[peer].push((to_wire(source), (other - shard.outgoing[peer].start) as u32));
                    }
                }
            }
        }
        edges.into_iter().map(Message::Edges).collect()
    }
}

impl Query for Meeting {
    type Message = Message;
    type Answer = Overlap;

    fn round(&mut self, shard: &Shard, inbox: Vec<Message>) -> Step<Message, Overlap> {
        if inbox.is_empty() {
            self.reached = vec![0; shard.slots()];
            let mut waiting = Vec::new();
            for (root, key) in self.roots.iter().enumerate() {
                if let Ok(vertex) = shard.keys.binary_search(key) {
                    self.reached[vertex] |= bit(root);
                    waiting.push(vertex as u32);
                }
            }
            return Step::Send(self.walk(shard, waiting));
        }
        if self.has_ended {
            return Step::End(self.answer(shard, inbox));
        }
        let mut waiting = Vec::new();
        let mut is_over = true;
        for (message, vertices) in inbox.into_iter().zip(&shard.incoming) {
            let Message::Reached { slots, count } = message else { continue };
            is_over &= count == 0;
            for (place, bits) in slots {
                let vertex = vertices[place as usize];
                let known = &mut self.reached[vertex as usize];
                if bits & !*known != 0 {
                    *known |= bits;
                    waiting.push(vertex);
                }
            }
        }
        if is_over {
            self.has_ended = true;
            return Step::Send(self.edges(shard));
        }
        Step::Send(self.walk(shard, waiting))
    }
}

impl Meeting {
    fn answer(&self, shard: &Shard, inbox: Vec<Message>) -> Overlap {
        let mut overlap = Overlap::default();
        for reached in &self.reached[..shard.len()] {
            for (root, count) in overlap.reachable.iter_mut().enumerate() {
                *count += u64::from(reached & bit(root) != 0);
            }
        }
        for (peer, message) in inbox.into_iter().enumerate() {
            let Message::Edges(edges) = message else { continue };
            for (source, place) in edges {
                let vertex = if peer == shard.own { place } else { shard.incoming[peer][place as usize] };
                let edge = Edge { source: from_wire(source), target: shard.key_of(vertex) };
                if self.reached[vertex as usize] != 0
                    && let Some(root) = self.domain(edge.source)
                {
                    overlap.edges[root].push(edge);
                }
            }
        }
        overlap
    }
}
