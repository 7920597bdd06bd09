//! PageRank (Brin and Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine", 1998), in two definitions.
//!
//! Ranks are integers, units of a small power of two: sums of integers do not depend on their order, so that the answer is the
//! same to the last bit however many workers compute it. Divisions are multiplications by parts of 2^64, rounded to the nearest
//! unit.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weburl::UrlKey;

use crate::linking::{Query, ask};
use crate::rounds::{Crew, Step};
use crate::shard::Shard;
use crate::{Graph, GraphError};

/// The damping factor, as the paper has it.
pub const DAMPING: f64 = DAMPING_PERCENT as f64 / 100.0;
const DAMPING_PERCENT: u64 = 85;
/// The same as a part of 2^64.
const DAMPING_PART: u64 = ((DAMPING_PERCENT as u128) << 64).div_ceil(100) as u64;
/// Ranks that do not settle are given as they are after so many rounds.
const ROUNDS_MAX: u32 = 1_000;

/// What a rank is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Definition {
    /// `PR(A) = (1-d) + d (PR(T1)/C(T1) + … + PR(Tn)/C(Tn))` over the pages T that link to A and link to C(T) pages; every page
    /// begins with 1. Computed until no rank changes by 0.01 or more. What was not crawled has none.
    #[default]
    Original,
    /// The same, divided by the number of vertices, with the rank of vertices without links spread over all: the chance to be
    /// at a page, which sums to 1. Computed until all changes together are less than 1e-9. What was not crawled has one too.
    Normalized,
}

/// The ranks of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// The rank of each vertex, in order. In a process among others only those of the vertices that its workers own, in no order.
    pub values: Vec<(UrlKey, f64)>,
    /// Vertices of the whole graph.
    pub vertices: u64,
    /// Edges of the whole graph.
    pub edges: u64,
    /// How many rounds it took.
    pub rounds: u32,
    /// Whether the ranks settled; where they did not, they are as after the last round.
    pub is_settled: bool,
}

/// The ranks of the vertices of a graph.
///
/// # Errors
/// A worker was lost.
pub fn pagerank(graph: &Arc<Graph>, definition: Definition, crew: Crew) -> Result<Ranks, GraphError> {
    match definition {
        Definition::Original => ranks::<Short>(graph, definition, crew),
        Definition::Normalized => ranks::<u64>(graph, definition, crew),
    }
}

fn ranks<G: EdgeWeight>(graph: &Arc<Graph>, definition: Definition, crew: Crew) -> Result<Ranks, GraphError> {
    let answers = ask(graph, crew, move || PageRank::<G> { definition, ..PageRank::default() })?;
    let mut ranks = Ranks { values: Vec::new(), vertices: 0, edges: 0, rounds: 0, is_settled: true };
    for answer in answers {
        ranks.values.extend(answer.ranks.into_iter().map(|(key, units)| (key, units as f64 / answer.units as f64)));
        (ranks.vertices, ranks.edges) = (answer.vertices, answer.edges);
        (ranks.rounds, ranks.is_settled) = (answer.rounds, answer.is_settled);
    }
    Ok(ranks)
}

/// What the numbers stand for.
#[derive(Clone, Copy)]
struct Scale {
    definition: Definition,
    /// Vertices of the whole graph.
    vertices: u64,
    /// The units of a rank of 1.
    units: u64,
}

impl Scale {
    fn of(definition: Definition, vertices: u64) -> Self {
        /// The sum of all ranks is less than 2 to this power, so that no sum overflows.
        const SUM_BITS: u32 = 62;
        /// More is no gain.
        const UNIT_BITS_MAX: u32 = 52;
        let unit_bits = match definition {
            Definition::Original => (SUM_BITS - (u64::BITS - vertices.leading_zeros())).min(UNIT_BITS_MAX),
            Definition::Normalized => SUM_BITS,
        };
        Scale { definition, vertices: vertices.max(1), units: 1 << unit_bits }
    }

    /// The rank with which every vertex begins.
    fn first(self) -> u64 {
        match self.definition {
            Definition::Original => self.units,
            Definition::Normalized => self.units / self.vertices,
        }
    }

    /// What every vertex has besides what it is given, where vertices without links have so much together.
    fn base(self, dangling: u64) -> u64 {
        let spread = match self.definition {
            Definition::Original => 0,
            Definition::Normalized => dangling / self.vertices,
        };
        self.first() - part_of(self.first(), DAMPING_PART) + part_of(spread, DAMPING_PART)
    }

    /// Whether ranks have settled, by what changed.
    fn is_settled(self, changes: impl Iterator<Item = u64>) -> bool {
        match self.definition {
            Definition::Original => changes.max().unwrap_or(0) < self.units / 100,
            Definition::Normalized => changes.fold(0u64, u64::saturating_add) < self.units / 1_000_000_000,
        }
    }

    /// The change of a vertex, joined to those of others.
    fn join(self, changes: u64, change: u64) -> u64 {
        match self.definition {
            Definition::Original => changes.max(change),
            Definition::Normalized => changes.saturating_add(change),
        }
    }
}

/// A part of a number: `part` is in 2^64ths of it.
fn part_of(number: u64, part: u64) -> u64 {
    ((u128::from(number) * u128::from(part) + (1 << 63)) >> 64) as u64
}

/// How what is given along an edge is kept. It is read all over the place: the less there is of it, the more of it is in the cache.
trait EdgeWeight: Copy + Default + Send + 'static {
    fn of(number: u64) -> Self;
    fn number(self) -> u64;
}

/// As it is: what settles to less than a thousand-millionth needs it.
impl EdgeWeight for u64 {
    fn of(number: u64) -> Self {
        number
    }

    fn number(self) -> u64 {
        self
    }
}

/// A number in half the space, rounded to 26 bits (to 1.5e-8 of itself at worst), with the number of zeros behind them.
#[derive(Clone, Copy, Default)]
struct Short(u32);

impl Short {
    const BITS: u32 = 26;
}

impl EdgeWeight for Short {
    fn of(number: u64) -> Self {
        let zeros = |number: u64| (u64::BITS - number.leading_zeros()).saturating_sub(Short::BITS);
        let rounded = number + ((1 << zeros(number)) >> 1);
        let zeros = zeros(rounded);
        Short(zeros << Short::BITS | (rounded >> zeros) as u32)
    }

    fn number(self) -> u64 {
        u64::from(self.0 & ((1 << Short::BITS) - 1)) << (self.0 >> Short::BITS)
    }
}

#[derive(Default)]
struct PageRank<G> {
    definition: Definition,
    /// Known once all workers have said how many vertices they have.
    scale: Option<Scale>,
    /// Vertices and edges of the whole graph.
    vertices: u64,
    edges: u64,
    /// Where the edges to a slot end among `sources`.
    ends: Vec<usize>,
    /// The own vertices that edges come from, slot by slot.
    sources: Vec<u32>,
    /// What part of its rank a vertex gives along each of its edges, in 2^64ths; 0 where there is none.
    parts: Vec<u64>,
    ranks: Vec<u64>,
    /// What a vertex gives along each of its edges.
    gives: Vec<G>,
    /// The weights from vertices of others; empty without others.
    arrived: Vec<u64>,
    /// What vertices without links have.
    dangling: u64,
    rounds: u32,
}

/// What a worker tells another.
#[derive(Clone, Serialize, Deserialize)]
enum Message {
    /// How much it has.
    Size { vertices: u64, edges: u64 },
    /// What it gives.
    Block(Block),
}

/// What the vertices of a worker give to those of another, slot by slot, of the ranks that they have; how these changed; what
/// its vertices without links have.
#[derive(Clone, Serialize, Deserialize)]
struct Block {
    gives: Vec<u64>,
    change: u64,
    dangling: u64,
}

struct Computed {
    ranks: Vec<(UrlKey, u64)>,
    units: u64,
    vertices: u64,
    edges: u64,
    rounds: u32,
    is_settled: bool,
}

impl<G: EdgeWeight> PageRank<G> {
    /// Turns the edges around: reading what is given, wherever it lies, is faster than writing there.
    fn begin(&mut self, shard: &Shard, scale: Scale) {
        let mut ends = vec![0; shard.slots()];
        let mut sources = vec![0; shard.edges()];
        for vertex in 0..shard.len() as u32 {
            shard.targets(vertex).iter().for_each(|slot| ends[*slot as usize] += 1);
        }
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        for vertex in 0..shard.len() as u32 {
            for slot in shard.targets(vertex) {
                let next = &mut ends[*slot as usize];
                sources[*next] = vertex;
                *next += 1;
            }
        }
        (self.ends, self.sources) = (ends, sources);
        let part = |vertex| u64::MAX.checked_div(shard.targets(vertex).len() as u64).unwrap_or(0);
        self.parts = (0..shard.len() as u32).map(part).collect();
        self.ranks = vec![scale.first(); shard.len()];
        self.gives = vec![G::default(); shard.len()];
        self.arrived = vec![0; if shard.peers() > 1 { shard.len() } else { 0 }];
        self.give();
    }

    /// Takes what others give, and gives every vertex its new rank. Gives back how much changed.
    fn update(&mut self, shard: &Shard, scale: Scale, inbox: &[Block]) -> u64 {
        self.arrived.fill(0);
        for (block, vertices) in inbox.iter().zip(&shard.incoming) {
            for (gives, vertex) in block.gives.iter().zip(vertices) {
                self.arrived[*vertex as usize] += gives;
            }
        }
        let base = scale.base(inbox.iter().map(|block| block.dangling).sum());
        let (mut change, mut begin) = (0, 0);
        // What is given is read all over the place: nothing else that this loop goes through may crowd it out of the cache.
        for (vertex, (rank, end)) in self.ranks.iter_mut().zip(&self.ends).enumerate() {
            let given = sum(&self.gives, &self.sources[begin..*end]);
            begin = *end;
            let given = given + self.arrived.get(vertex).copied().unwrap_or(0);
            let new = base + part_of(given, DAMPING_PART);
            change = scale.join(change, new.abs_diff(*rank));
            *rank = new;
        }
        self.give();
        change
    }

    /// What every vertex gives of the rank that it has.
    fn give(&mut self) {
        self.dangling = 0;
        for ((gives, rank), part) in self.gives.iter_mut().zip(&self.ranks).zip(&self.parts) {
            *gives = G::of(part_of(*rank, *part));
            if *part == 0 {
                self.dangling += rank;
            }
        }
    }

    /// The messages to each worker about the present ranks.
    fn blocks(&self, shard: &Shard, change: u64) -> Vec<Message> {
        let block = |others: &Range<usize>| {
            let slots = shard.len() + others.start..shard.len() + others.end;
            let mut begin = slots.start.checked_sub(1).map_or(0, |before| self.ends[before]);
            let given = self.ends[slots].iter().map(|end| {
                let given = sum(&self.gives, &self.sources[begin..*end]);
                begin = *end;
                given
            });
            Message::Block(Block { gives: given.collect(), change, dangling: self.dangling })
        };
        shard.outgoing.iter().map(block).collect()
    }
}

/// What some vertices give along one edge each.
fn sum<G: EdgeWeight>(gives: &[G], sources: &[u32]) -> u64 {
    sources.iter().map(|source| gives[*source as usize].number()).sum()
}

impl<G: EdgeWeight> Query for PageRank<G> {
    type Message = Message;
    type Answer = Computed;

    fn round(&mut self, shard: &Shard, inbox: Vec<Message>) -> Step<Message, Computed> {
        if inbox.is_empty() {
            let size = Message::Size { vertices: shard.len() as u64, edges: shard.edges() as u64 };
            return Step::Send(vec![size; shard.peers()]);
        }
        let Some(scale) = self.scale else {
            for message in inbox {
                if let Message::Size { vertices, edges } = message {
                    self.vertices += vertices;
                    self.edges += edges;
                }
            }
            let scale = Scale::of(self.definition, self.vertices);
            self.scale = Some(scale);
            self.begin(shard, scale);
            return Step::Send(self.blocks(shard, u64::MAX));
        };
        let blocks = inbox
            .into_iter()
            .filter_map(|message| if let Message::Block(block) = message { Some(block) } else { None });
        let blocks: Vec<Block> = blocks.collect();
        let is_settled = scale.is_settled(blocks.iter().map(|block| block.change));
        if is_settled || self.rounds >= ROUNDS_MAX {
            // What was not crawled has no rank by the original definition.
            let ranked = shard.keys.iter().zip(&shard.kinds).zip(std::mem::take(&mut self.ranks));
            let ranks = ranked.map(|((key, kind), rank)| match self.definition {
                Definition::Original if !kind.is_crawled() => (*key, 0),
                _ => (*key, rank),
            });
            let ranks = ranks.collect();
            let (units, vertices, edges, rounds) = (scale.units, self.vertices, self.edges, self.rounds);
            return Step::End(Computed { ranks, units, vertices, edges, rounds, is_settled });
        }
        let change = self.update(shard, scale, &blocks);
        self.rounds += 1;
        Step::Send(self.blocks(shard, change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_almost_as_long() {
        for number in [0, 1, 2, (1 << 26) - 1] {
            assert_eq!(Short::of(number).number(), number);
        }
        for number in [1 << 26, (1 << 27) - 1, 123_456_789_012, (1 << 40) + 1, (1 << 62) - 1] {
            let error = Short::of(number).number().abs_diff(number);
            assert!(error as f64 <= number as f64 * 1.5e-8, "{number}: {error}");
        }
    }
}
