//! The first two rounds of every query: workers tell each other which of their vertices they have edges to.

use serde::{Deserialize, Serialize};
use timely::ExchangeData;
use weburl::{SiteKey, UrlKey};

use crate::rounds::{Rounds, Step};
use crate::shard::Shard;

/// A query to a part of the graph that is linked to the others, in rounds, as [`Rounds`].
pub(crate) trait Query: 'static {
    type Message: ExchangeData + Clone;
    type Answer: Send + 'static;

    fn round(&mut self, shard: &Shard, inbox: Vec<Self::Message>) -> Step<Self::Message, Self::Answer>;
}

/// A query with the rounds before it.
pub(crate) struct Linked<Q> {
    pub(crate) shard: Shard,
    pub(crate) query: Q,
    is_linked: bool,
}

impl<Q> Linked<Q> {
    pub(crate) fn new(shard: Shard, query: Q) -> Self {
        Linked { shard, query, is_linked: false }
    }
}

/// What workers tell each other.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Message<M> {
    /// The keys of the vertices that the sender has edges to.
    Slots(Vec<WireKey>),
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

impl<Q: Query> Rounds for Linked<Q> {
    type Message = Message<Q::Message>;
    type Answer = Q::Answer;

    fn round(&mut self, inbox: Vec<Self::Message>) -> Step<Self::Message, Self::Answer> {
        if inbox.is_empty() {
            let slots = |others: &std::ops::Range<usize>| {
                Message::Slots(self.shard.others[others.clone()].iter().copied().map(to_wire).collect())
            };
            return Step::Send(self.shard.outgoing.iter().map(slots).collect());
        }
        let mut said = Vec::new();
        if self.is_linked {
            said.extend(inbox.into_iter().filter_map(|message| match message {
                Message::Query(said) => Some(said),
                Message::Slots(_) => None,
            }));
        } else {
            self.is_linked = true;
            let slots = inbox.into_iter().map(|message| match message {
                Message::Slots(keys) => keys.into_iter().map(from_wire).collect(),
                Message::Query(_) => Vec::new(),
            });
            self.shard.link(slots.collect());
        }
        match self.query.round(&self.shard, said) {
            Step::Send(messages) => Step::Send(messages.into_iter().map(Message::Query).collect()),
            Step::End(answer) => Step::End(answer),
        }
    }
}
