//! A worker's part of the graph.
//!
//! A worker holds vertices of its own with their edges. An edge leads to a *slot*: one for each of its own vertices, and behind
//! them one for each vertex of others that its edges lead to, in the order of the others. What is said of the slots of another is
//! a list without names, once it knows which of its vertices they stand for.

use std::ops::Range;

use weburl::UrlKey;

use crate::{Graph, PageKind, Vertex};

/// Vertices with their edges.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    /// The number of this worker.
    pub(crate) own: usize,
    /// The worker's own vertices, in order.
    pub(crate) keys: Vec<UrlKey>,
    /// What is known of them.
    pub(crate) kinds: Vec<PageKind>,
    /// Where their edges end.
    ends: Vec<usize>,
    /// Where their edges lead.
    slots: Vec<u32>,
    /// The vertices that the slots behind the worker's own stand for.
    pub(crate) others: Vec<UrlKey>,
    /// Which of those are each worker's.
    pub(crate) outgoing: Vec<Range<usize>>,
    /// The worker's own vertices that the slots of each worker stand for.
    pub(crate) incoming: Vec<Vec<u32>>,
}

impl Shard {
    /// The part of a worker; `owner` gives the owner of each vertex. The slots of others are not known yet.
    pub(crate) fn of(graph: &Graph, own: usize, peers: usize, owner: impl Fn(Vertex) -> usize) -> Self {
        let is_own: Vec<Vertex> = graph.vertices().filter(|vertex| owner(*vertex) == own).collect();
        const NONE: u32 = u32::MAX;
        let mut slot_of = vec![NONE; graph.len()];
        for (slot, vertex) in (0..).zip(&is_own) {
            slot_of[*vertex as usize] = slot;
        }
        let mut others = Vec::new();
        if peers > 1 {
            const SEEN: u32 = u32::MAX - 1;
            for target in is_own.iter().flat_map(|vertex| graph.targets(*vertex)) {
                let slot = &mut slot_of[*target as usize];
                if *slot == NONE {
                    *slot = SEEN;
                }
            }
            others.extend(graph.vertices().filter(|vertex| slot_of[*vertex as usize] == SEEN));
            // Stable: those of an owner stay in the order of their keys.
            others.sort_by_key(|vertex| owner(*vertex));
            for (slot, vertex) in (is_own.len() as u32..).zip(&others) {
                slot_of[*vertex as usize] = slot;
            }
        }
        let outgoing = (0..peers).map(|peer| {
            let begin = others.partition_point(|vertex| owner(*vertex) < peer);
            begin..others.partition_point(|vertex| owner(*vertex) <= peer)
        });
        let outgoing = outgoing.collect();
        let mut ends = Vec::with_capacity(is_own.len());
        let mut slots = Vec::with_capacity(is_own.iter().map(|vertex| graph.targets(*vertex).len()).sum());
        for vertex in &is_own {
            slots.extend(graph.targets(*vertex).iter().map(|target| slot_of[*target as usize]));
            ends.push(slots.len());
        }
        Shard {
            own,
            keys: is_own.iter().map(|vertex| graph.key(*vertex)).collect(),
            kinds: is_own.iter().map(|vertex| graph.kind(*vertex)).collect(),
            ends,
            slots,
            others: others.iter().map(|vertex| graph.key(*vertex)).collect(),
            outgoing,
            incoming: Vec::new(),
        }
    }

    /// Takes the keys that the slots of each worker stand for, each worker's in order. Vertices that this worker did not know
    /// become its own.
    pub(crate) fn link(&mut self, slots_of: Vec<Vec<UrlKey>>) {
        let mut new = Vec::new();
        for keys in &slots_of {
            new.extend(self.places(keys).zip(keys).filter(|(place, _)| place.is_none()).map(|(_, key)| *key));
        }
        new.sort_unstable();
        new.dedup();
        if !new.is_empty() {
            self.insert(&new);
        }
        self.incoming = slots_of.iter().map(|keys| self.places(keys).flatten().collect()).collect();
    }

    /// Takes the keys that the slots of each worker stand for, as [`Shard::link`], but takes none in: says which of each worker's slots stand for no vertex.
    pub(crate) fn link_known(&mut self, slots_of: &[Vec<UrlKey>]) -> Vec<Vec<u32>> {
        self.incoming = slots_of.iter().map(|keys| self.places(keys).flatten().collect()).collect();
        let absent = |keys: &Vec<UrlKey>| {
            (0..).zip(self.places(keys)).filter(|(_, place)| place.is_none()).map(|(slot, _)| slot).collect()
        };
        slots_of.iter().map(absent).collect()
    }

    /// Drops the slots that stand for no vertex, of those of each worker, and the edges to them.
    pub(crate) fn drop_slots(&mut self, absent_of: &[Vec<u32>]) {
        const DROPPED: u32 = u32::MAX;
        let own = self.keys.len();
        let mut moved: Vec<u32> = vec![0; self.others.len()];
        for (slots, absent) in self.outgoing.iter().zip(absent_of) {
            absent.iter().for_each(|slot| moved[slots.start + *slot as usize] = DROPPED);
        }
        let mut others = Vec::with_capacity(self.others.len());
        for (key, moved) in self.others.iter().zip(&mut moved).filter(|(_, moved)| **moved != DROPPED) {
            *moved = (own + others.len()) as u32;
            others.push(*key);
        }
        self.others = others;
        let mut dropped = 0;
        for (slots, absent) in self.outgoing.iter_mut().zip(absent_of) {
            slots.start -= dropped;
            dropped += absent.len();
            slots.end -= dropped;
        }
        let (mut begin, mut kept) = (0, 0);
        for end in &mut self.ends {
            for edge in begin..*end {
                let slot = self.slots[edge];
                let slot = (slot as usize).checked_sub(own).map_or(slot, |other| moved[other]);
                if slot != DROPPED {
                    self.slots[kept] = slot;
                    kept += 1;
                }
            }
            begin = std::mem::replace(end, kept);
        }
        self.slots.truncate(kept);
    }

    /// Where keys, which are in order, lie among the worker's own; `None` for those that are none of them.
    fn places(&self, keys: &[UrlKey]) -> impl Iterator<Item = Option<u32>> {
        let mut place = 0;
        keys.iter().map(move |key| {
            place += self.keys[place..].iter().take_while(|own| *own < key).count();
            (self.keys.get(place) == Some(key)).then_some(place as u32)
        })
    }

    /// Adds vertices without edges, which are none of the known ones.
    fn insert(&mut self, new: &[UrlKey]) {
        let mut all: Vec<(UrlKey, Option<usize>)> = self.keys.iter().copied().zip((0..).map(Some)).collect();
        all.extend(new.iter().map(|key| (*key, None)));
        all.sort_unstable_by_key(|(key, _)| *key);
        let mut moved = vec![0; self.keys.len()];
        let (mut kinds, mut ends, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (_, was)) in (0u32..).zip(&all) {
            if let Some(was) = was {
                moved[*was] = place;
                slots.extend_from_slice(self.targets(*was as u32));
            }
            kinds.push(was.map_or(PageKind::Linked, |was| self.kinds[was]));
            ends.push(slots.len());
        }
        let (before, added) = (self.keys.len() as u32, new.len() as u32);
        for slot in &mut slots {
            *slot = if *slot < before { moved[*slot as usize] } else { *slot + added };
        }
        let keys = all.into_iter().map(|(key, _)| key).collect();
        (self.keys, self.kinds, self.ends, self.slots) = (keys, kinds, ends, slots);
    }

    /// How many vertices are the worker's own.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of workers.
    pub(crate) fn peers(&self) -> usize {
        self.outgoing.len()
    }

    /// The slots that the edges of one of its vertices lead to.
    pub(crate) fn targets(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        let begin = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.slots[begin..self.ends[vertex]]
    }

    /// How many edges begin at its vertices.
    pub(crate) fn edges(&self) -> usize {
        self.slots.len()
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.keys.len() + self.others.len()
    }

    /// The vertex that a slot stands for.
    pub(crate) fn key_of(&self, slot: u32) -> UrlKey {
        let slot = slot as usize;
        self.keys.get(slot).copied().unwrap_or_else(|| self.others[slot - self.keys.len()])
    }
}

/// Who owns which vertex where the whole graph is at hand: ranges with about as many edges each.
#[derive(Clone, Debug)]
pub(crate) struct Ranges(Vec<Vertex>);

impl Ranges {
    pub(crate) fn of(graph: &Graph, peers: usize) -> Self {
        // A vertex is as much work as an edge.
        let share = (graph.edges() + graph.len()) / peers + 1;
        let (mut ends, mut work) = (Vec::new(), 0);
        for vertex in graph.vertices() {
            work += graph.targets(vertex).len() + 1;
            if work >= share * (ends.len() + 1) {
                ends.push(vertex + 1);
            }
        }
        ends.resize(peers, graph.len() as Vertex);
        Ranges(ends)
    }

    pub(crate) fn owner(&self, vertex: Vertex) -> usize {
        self.0.partition_point(|end| *end <= vertex).min(self.0.len() - 1)
    }
}

/// Who owns which vertex where no process knows all: a process has whole sites, since most links stay within one, and its threads
/// share them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashed {
    pub(crate) processes: usize,
    /// Of each process.
    pub(crate) threads: usize,
}

impl Hashed {
    /// Keys are hashes, so that what is left of a division is as good as any choice.
    pub(crate) fn owner(self, key: UrlKey) -> usize {
        let among = |number: u64, count: usize| (number % count as u64) as usize;
        among(key.site.0, self.processes) * self.threads + among(key.url, self.threads)
    }
}

#[cfg(test)]
mod tests {
    use weburl::SiteKey;

    use super::*;
    use crate::GraphBuilder;

    fn key(url: u64) -> UrlKey {
        UrlKey { site: SiteKey(url / 10), url }
    }

    fn graph(links: &[(u64, u64)]) -> Graph {
        let mut graph = GraphBuilder::default();
        for (source, target) in links {
            graph.link(key(*source), key(*target)).unwrap();
        }
        graph.finish().unwrap()
    }

    #[test]
    fn the_edges_of_all_shards_are_those_of_the_graph() {
        let links = [(1, 2), (1, 11), (1, 25), (11, 1), (11, 12), (25, 1), (25, 2), (25, 26), (26, 26)];
        let graph = graph(&links);
        for peers in 1..5 {
            let ranges = Ranges::of(&graph, peers);
            let mut shards: Vec<Shard> =
                (0..peers).map(|own| Shard::of(&graph, own, peers, |vertex| ranges.owner(vertex))).collect();
            let slots: Vec<Vec<Vec<UrlKey>>> = (0..peers)
                .map(|to| shards.iter().map(|from| from.others[from.outgoing[to].clone()].to_vec()).collect())
                .collect();
            shards.iter_mut().zip(slots).for_each(|(shard, slots)| shard.link(slots));
            let mut edges: Vec<(u64, u64)> = Vec::new();
            for shard in &shards {
                for vertex in 0..shard.len() as u32 {
                    let targets = shard.targets(vertex).iter();
                    edges.extend(targets.map(|slot| (shard.key_of(vertex).url, shard.key_of(*slot).url)));
                }
                for (peer, named) in shards.iter().zip(&shard.incoming) {
                    let named: Vec<UrlKey> = named.iter().map(|own| shard.keys[*own as usize]).collect();
                    assert_eq!(named, peer.others[peer.outgoing[shard.own].clone()]);
                }
            }
            edges.sort_unstable();
            assert_eq!(edges, links, "{peers}");
            assert_eq!(shards.iter().map(Shard::len).sum::<usize>(), graph.len());
        }
    }

    #[test]
    fn slots_that_stand_for_nothing_are_dropped_with_their_edges() {
        let graph = graph(&[(1, 2), (1, 25), (1, 26), (2, 11), (2, 25), (3, 26), (3, 11)]);
        let owner = |vertex| graph.key(vertex).site.0 as usize;
        let mut shard = Shard::of(&graph, 0, 3, owner);
        assert_eq!(
            (shard.others.clone(), shard.outgoing.clone()),
            ([11, 25, 26].map(key).into(), vec![0..0, 0..1, 1..3])
        );
        let absent = shard.link_known(&[Vec::new(), [1, 4, 5].map(key).into(), [0, 3].map(key).into()]);
        assert_eq!(absent, [vec![], vec![1, 2], vec![0]]);
        assert_eq!(shard.incoming, [vec![], vec![0], vec![2]]);
        shard.drop_slots(&[vec![], vec![0], vec![0]]);
        assert_eq!((shard.others.clone(), shard.outgoing.clone()), ([26].map(key).into(), vec![0..0, 0..0, 0..1]));
        let targets = |vertex| shard.targets(vertex).iter().map(|slot| shard.key_of(*slot).url).collect::<Vec<_>>();
        assert_eq!((targets(0), targets(1), targets(2)), (vec![2, 26], vec![], vec![26]));
        assert_eq!(shard.edges(), 3);
    }

    #[test]
    fn a_vertex_that_only_others_link_to_is_taken_in() {
        let graph = graph(&[(1, 2), (2, 1), (2, 25), (5, 1)]);
        let mut shard = Shard::of(&graph, 0, 2, |vertex| usize::from(graph.key(vertex).site.0 > 0));
        shard.link(vec![Vec::new(), vec![key(0), key(2), key(3)]]);
        assert_eq!(shard.keys, [0, 1, 2, 3, 5].map(key));
        assert_eq!(shard.incoming[1], [0, 2, 3]);
        assert_eq!((shard.targets(1), shard.targets(2), shard.targets(3)), (&[2][..], &[1, 5][..], &[][..]));
        assert_eq!((shard.targets(4), shard.key_of(5)), (&[1][..], key(25)));
    }
}
