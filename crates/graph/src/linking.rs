//! The rounds before those of a query: each worker gets the vertices that it owns, and learns which of them others have edges to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use timely::ExchangeData;
use weburl::{SiteKey, UrlKey};

use crate::part::Part;
use crate::rounds::{Crew, Rounds, Step, run};
use crate::shard::{Hashed, Ranges, Shard};
use crate::{Graph, GraphError, PageKind, Vertex};

/// A query to a part of the graph that is linked to the others, in rounds, as [`Rounds`].
pub(crate) trait Query: 'static {
    type Message: ExchangeData + Clone;
    type Answer: Send + 'static;

    fn round(&mut self, shard: &Shard, inbox: Vec<Self::Message>) -> Step<Self::Message, Self::Answer>;
}

/// Asks all workers. Gives the answers of those of this process, in order.
///
/// # Errors
/// A worker was lost.
pub(crate) fn ask<Q: Query>(
    graph: &Arc<Graph>,
    crew: Crew,
    query: impl Fn() -> Q + Send + Sync + 'static,
) -> Result<Vec<Q::Answer>, GraphError> {
    let graph = Arc::clone(graph);
    let (processes, threads) = (crew.processes(), crew.of_each_process());
    run(crew, move |own, peers| {
        if processes > 1 {
            let known = LocalGraph { graph: graph.clone(), owners: Hashed { processes, threads }, own };
            let is_of_visits = graph.is_of_visits();
            return Linked {
                known: Some(known),
                shard: Shard::default(),
                is_linked: false,
                is_of_visits,
                query: query(),
            };
        }
        let ranges = Ranges::of(&graph, peers);
        let shard = Shard::of(&graph, own, peers, |vertex| ranges.owner(vertex));
        // All is known here, so that all vertices are there.
        Linked { known: None, shard, is_linked: false, is_of_visits: false, query: query() }
    })
}

/// A query with the rounds before it.
struct Linked<Q> {
    /// What is known before workers told each other; `None` if all is known to all.
    known: Option<LocalGraph>,
    shard: Shard,
    is_linked: bool,
    /// What others have edges to is a vertex only where it was visited.
    is_of_visits: bool,
    query: Q,
}

/// The graph that one of several processes knows.
struct LocalGraph {
    graph: Arc<Graph>,
    owners: Hashed,
    own: usize,
}

impl LocalGraph {
    /// What each worker receives: the vertices that it owns, with their edges. A thread tells of those that belong to the
    /// thread of its number, in whichever process.
    fn parts(&self) -> Vec<Vec<u8>> {
        let (graph, Hashed { processes, threads }) = (&self.graph, self.owners);
        let mut sources: Vec<Vec<Vertex>> = vec![Vec::new(); processes * threads];
        for vertex in graph.vertices() {
            let owner = self.owners.owner(graph.key(vertex));
            // The edges name the targets that have no page of their own.
            let is_told = graph.kind(vertex) != PageKind::Linked || !graph.targets(vertex).is_empty();
            if is_told && owner % threads == self.own % threads {
                sources[owner].push(vertex);
            }
        }
        let mut numbers = vec![0; graph.len()];
        let part = |sources: &Vec<Vertex>| match sources.is_empty() {
            true => Vec::new(),
            false => graph.part(sources, &mut numbers).to_bytes(0),
        };
        sources.iter().map(part).collect()
    }

    /// The vertices that a worker owns, of what all told it. What is wrong with that ends the query in every process, as the loss
    /// of this worker would.
    fn shard(&self, parts: impl Iterator<Item = Vec<u8>>) -> Shard {
        let part = |bytes: Vec<u8>| {
            Part::from_bytes(&bytes, 0).unwrap_or_else(|| panic!("another version of the program sent a part"))
        };
        let parts = parts.filter(|bytes| !bytes.is_empty()).map(part).collect();
        let mut graph = Graph::merge(parts).unwrap_or_else(|error| panic!("{error}"));
        if self.graph.is_of_visits() {
            graph.keep_visited(|key| self.owners.owner(key) == self.own);
        }
        let Hashed { processes, threads } = self.owners;
        Shard::of(&graph, self.own, processes * threads, |vertex| self.owners.owner(graph.key(vertex)))
    }
}

/// What workers tell each other.
#[derive(Clone, Serialize, Deserialize)]
enum Message<M> {
    /// Vertices of the receiver with their edges, as the sender knows them.
    Part(Vec<u8>),
    /// The keys of the vertices that the sender has edges to.
    Slots(Vec<WireKey>),
    /// Which of the slots of the receiver stand for no vertex.
    Absent(Vec<u32>),
    /// Something of the query.
    Query(M),
}

/// A key as it travels.
pub(crate) type WireKey = (u64, u64);

pub(crate) fn to_wire(key: UrlKey) -> WireKey {
    (key.site.0, key.url)
}

pub(crate) fn from_wire((site, url): WireKey) -> UrlKey {
    UrlKey { site: SiteKey(site), url }
}

impl<Q: Query> Linked<Q> {
    fn slots<A>(&self) -> Step<Message<Q::Message>, A> {
        let keys = |others: &std::ops::Range<usize>| {
            Message::Slots(self.shard.others[others.clone()].iter().copied().map(to_wire).collect())
        };
        Step::Send(self.shard.outgoing.iter().map(keys).collect())
    }
}

impl<Q: Query> Rounds for Linked<Q> {
    type Message = Message<Q::Message>;
    type Answer = Q::Answer;

    fn round(&mut self, inbox: Vec<Self::Message>) -> Step<Self::Message, Self::Answer> {
        if inbox.is_empty() {
            return match &self.known {
                Some(known) => Step::Send(known.parts().into_iter().map(Message::Part).collect()),
                None => self.slots(),
            };
        }
        // All that is said in a round is of one kind.
        let (mut parts, mut slots, mut absent, mut said) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for message in inbox {
            match message {
                Message::Part(part) => parts.push(part),
                Message::Slots(keys) => slots.push(keys.into_iter().map(from_wire).collect()),
                Message::Absent(slots) => absent.push(slots),
                Message::Query(message) => said.push(message),
            }
        }
        if let Some(known) = self.known.take() {
            self.shard = known.shard(parts.into_iter());
            return self.slots();
        }
        if self.is_of_visits && !slots.is_empty() {
            return Step::Send(self.shard.link_known(&slots).into_iter().map(Message::Absent).collect());
        }
        if !self.is_linked {
            self.is_linked = true;
            match self.is_of_visits {
                true => self.shard.drop_slots(&absent),
                false => self.shard.link(slots),
            }
        }
        match self.query.round(&self.shard, said) {
            Step::Send(messages) => Step::Send(messages.into_iter().map(Message::Query).collect()),
            Step::End(answer) => Step::End(answer),
        }
    }
}
