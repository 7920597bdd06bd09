//! Which patterns a path begins with, found by a binary search instead of one by one.

use std::cmp::Ordering;

use crate::packed_rule::RuleId;
use crate::pattern::{self, octets_in_common, plain};
use crate::rules::Rules;
use crate::steps::{Steps, StepsExceeded};

/// What of a pattern the path has to begin with: its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// What is before the special characters, which are at its end.
    Literal,
    /// All of it, special characters standing for themselves.
    Plain,
}

/// Rules in the order of their keys, each with the one before it whose key is the longest that its own begins with.
///
/// All keys that a path begins with are then on one way, which starts at the last key that is not behind the path.
#[derive(Debug)]
pub(crate) struct PrefixTable {
    key: Key,
    rules: Box<[RuleId]>,
    /// Places in `rules`.
    shorter: Box<[u16]>,
}

/// There is no shorter key.
const NOTHING: u16 = u16::MAX;

impl PrefixTable {
    /// A table of these rules. Takes n log n comparisons, and memory in proportion.
    pub(crate) fn new(ids: impl Iterator<Item = RuleId>, rules: &Rules, key: Key) -> Self {
        let ids = sorted(ids, rules, key);
        let mut shorter = Vec::with_capacity(ids.len());
        let mut way: Vec<usize> = Vec::new();
        for (place, id) in ids.iter().enumerate() {
            let pattern = rules.pattern(*id);
            while way.pop_if(|at| !begins_with(pattern, rules.pattern(ids[*at]), key)).is_some() {}
            shorter.push(way.last().map_or(NOTHING, |at| *at as u16));
            way.push(place);
        }
        Self { key, rules: ids, shorter: shorter.into() }
    }

    /// Calls `found` with every rule whose key `path` begins with, those of longer keys first.
    pub(crate) fn each_prefix(
        &self,
        path: &[u8],
        rules: &Rules,
        steps: &mut Steps,
        mut found: impl FnMut(RuleId),
    ) -> Result<(), StepsExceeded> {
        let (mut low, mut high) = (0, self.rules.len());
        let mut common = 0;
        while low < high {
            let middle = low.midpoint(high);
            let pattern = rules.pattern(self.rules[middle]);
            let octets = self.octets_in_common(pattern, path);
            steps.take(1 + octets / 32)?;
            if self.order(pattern, path, octets) == Ordering::Greater {
                high = middle;
            } else {
                (low, common) = (middle + 1, octets);
            }
        }
        let mut next = low.checked_sub(1);
        while let Some(place) = next {
            let id = self.rules[place];
            steps.take(1)?;
            if self.ends(rules.pattern(id), common) {
                found(id);
            }
            next = Some(self.shorter[place]).filter(|place| *place != NOTHING).map(usize::from);
        }
        Ok(())
    }

    /// How many octets the key and the path begin with alike. A path has no special characters: a literal key ends at the first.
    fn octets_in_common(&self, pattern: &[u8], path: &[u8]) -> usize {
        match self.key {
            Key::Literal => octets_in_common(pattern, path, |octet| octet),
            Key::Plain => octets_in_common(pattern, path, plain),
        }
    }

    /// Whether a key has no more octets than so many.
    fn ends(&self, pattern: &[u8], octets: usize) -> bool {
        pattern.get(octets).is_none_or(|octet| self.key == Key::Literal && pattern::is_special(*octet))
    }

    /// Where the key is: equal is what the path begins with.
    fn order(&self, pattern: &[u8], path: &[u8], octets: usize) -> Ordering {
        if self.ends(pattern, octets) {
            return Ordering::Equal;
        }
        let next = if self.key == Key::Plain { plain(pattern[octets]) } else { pattern[octets] };
        path.get(octets).map_or(Ordering::Greater, |octet| next.cmp(octet))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.rules) + size_of_val(&*self.shorter)
    }
}

/// In the order of their keys. Special characters are before all others, so literals with different ends stay together.
fn sorted(ids: impl Iterator<Item = RuleId>, rules: &Rules, key: Key) -> Box<[RuleId]> {
    let read = |octet: u8| if key == Key::Plain { plain(octet) } else { octet };
    let ids: Vec<RuleId> = ids.collect();
    let Some(first) = ids.first().map(|id| rules.pattern(*id)) else {
        return Box::default();
    };
    // Most comparisons end within the octets behind what all have in common: those are looked at first, as a number.
    let common =
        ids.iter().fold(first.len(), |common, id| octets_in_common(&first[..common], rules.pattern(*id), |o| o));
    let head = |id: RuleId| {
        let octets = rules.pattern(id)[common..].iter().map(|octet| read(*octet)).chain(std::iter::repeat(0));
        octets.take(8).fold(0, |head, octet| head << 8 | u64::from(octet))
    };
    let mut keyed: Vec<(u64, RuleId)> = ids.into_iter().map(|id| (head(id), id)).collect();
    keyed.sort_unstable_by(|(one_head, one), (other_head, other)| {
        one_head.cmp(other_head).then_with(|| {
            let (one, other) = (&rules.pattern(*one)[common..], &rules.pattern(*other)[common..]);
            match key {
                Key::Literal => one.cmp(other),
                Key::Plain => cmp_plain(one, other),
            }
        })
    });
    keyed.into_iter().map(|(_, id)| id).collect()
}

/// Compares patterns whose special characters stand for themselves.
fn cmp_plain(mut one: &[u8], mut other: &[u8]) -> Ordering {
    loop {
        let common = octets_in_common(one, other, |octet| octet);
        let next = |pattern: &[u8]| pattern.get(common).map(|octet| plain(*octet));
        let order = next(one).cmp(&next(other));
        if order.is_ne() || one.len() == common {
            return order;
        }
        (one, other) = (&one[common + 1..], &other[common + 1..]);
    }
}

/// Whether the key of `pattern` begins with that of `other`.
fn begins_with(pattern: &[u8], other: &[u8], key: Key) -> bool {
    match key {
        Key::Literal => pattern.starts_with(pattern::literal(other)),
        Key::Plain => pattern.len() >= other.len() && pattern.iter().zip(other).all(|(&a, &b)| plain(a) == plain(b)),
    }
}
