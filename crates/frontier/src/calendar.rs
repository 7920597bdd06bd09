//! Pages in the order in which they are due.
//!
//! A radix heap (Ahuja et al., *Faster algorithms for the shortest path problem*, JACM 1990): bucket `n` holds what differs from the time
//! reached in bit `n − 1` and in none above it. Nothing is due before the time reached, so an entry only ever moves to a lower bucket:
//! taking one costs O(1) amortised, at most 32 moves over the whole life of an entry. An entry takes 16 bytes. Buckets are lists of
//! blocks that go from one to the other, so there is no room that lies idle but for a block of each.

use std::collections::VecDeque;

/// Entries of a block.
const BLOCK: usize = 512;
/// Bits of a time, and one bucket for what is due now.
const BUCKETS: usize = u32::BITS as usize + 1;

/// A page and when it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The URL, by its part of the key.
    pub url: u64,
    /// The site, by a number that the owner of the calendar gives it.
    pub site: u32,
    /// The time, in seconds since the calendar began.
    pub at: u32,
}

/// Pages by the time when they are due. Time goes on to that of the page taken last.
#[derive(Clone, Debug)]
pub struct Calendar {
    now: u32,
    len: usize,
    buckets: [VecDeque<Vec<Due>>; BUCKETS],
    spare: Vec<Vec<Due>>,
}

impl Default for Calendar {
    fn default() -> Self {
        Calendar { now: 0, len: 0, buckets: std::array::from_fn(|_| VecDeque::new()), spare: Vec::new() }
    }
}

impl Calendar {
    /// The time reached.
    #[must_use]
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Pages in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True where there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let blocks = self.buckets.iter().map(VecDeque::len).sum::<usize>() + self.spare.len();
        let lists = self.buckets.iter().map(VecDeque::capacity).sum::<usize>() + self.spare.capacity();
        size_of::<Self>() + blocks * BLOCK * size_of::<Due>() + lists * size_of::<Vec<Due>>()
    }

    /// Puts a page in, due after so many seconds. Gives when that is.
    pub fn put(&mut self, url: u64, site: u32, seconds: u32) -> u32 {
        let at = self.now.saturating_add(seconds);
        self.len += 1;
        self.push(Due { url, site, at });
        at
    }

    /// Takes the page that is due first, whenever that is.
    pub fn take(&mut self) -> Option<Due> {
        let bucket = self.buckets.iter().position(|blocks| !blocks.is_empty())?;
        if bucket > 0 {
            let blocks = std::mem::take(&mut self.buckets[bucket]);
            self.now = blocks.iter().flatten().map(|due| due.at).min().unwrap_or(self.now);
            for mut block in blocks {
                block.drain(..).for_each(|due| self.push(due));
                self.spare.push(block);
            }
            // More than is of use soon: what moves up takes no more than moves down.
            self.spare.truncate(BUCKETS.max(self.len / (8 * BLOCK)));
        }
        let blocks = &mut self.buckets[0];
        let block = blocks.back_mut()?;
        let due = block.pop()?;
        if block.is_empty() {
            self.spare.extend(blocks.pop_back());
        }
        self.len -= 1;
        Some(due)
    }

    fn push(&mut self, due: Due) {
        let bucket = (u32::BITS - (due.at ^ self.now).leading_zeros()) as usize;
        let blocks = &mut self.buckets[bucket];
        match blocks.back_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => block.push(due),
            None => {
                let mut block = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(BLOCK));
                block.push(due);
                blocks.push_back(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_come_in_the_order_in_which_they_are_due(steps in prop::collection::vec((0u32..5_000_000, 0usize..4), 1..2_000)) {
            let mut calendar = Calendar::default();
            let mut waiting = Vec::new();
            for (url, (seconds, takes)) in (0u64..).zip(steps) {
                waiting.push((calendar.put(url, 7, seconds), url));
                for _ in 0..takes {
                    let first = waiting.iter().map(|(at, _)| *at).min();
                    let taken = calendar.take();
                    prop_assert_eq!(taken.map(|due| due.at), first);
                    let Some(taken) = taken else { break };
                    prop_assert_eq!(taken.at, calendar.now());
                    let place = waiting.iter().position(|waiting| *waiting == (taken.at, taken.url));
                    waiting.swap_remove(place.expect("what was put in, once"));
                }
                prop_assert_eq!(calendar.len(), waiting.len());
            }
        }
    }

    #[test]
    fn a_page_takes_sixteen_bytes() {
        let mut calendar = Calendar::default();
        assert!(calendar.is_empty() && calendar.take().is_none());
        let pages = 1_000_000;
        (0..pages).for_each(|url| _ = calendar.put(url, 0, (url as u32).wrapping_mul(2_654_435_761) >> 8));
        for _ in 0..3 * pages {
            let due = calendar.take().expect("a page");
            calendar.put(due.url, due.site, (due.url as u32).wrapping_mul(2_654_435_761) >> 8);
        }
        let bytes = calendar.bytes() as f64 / pages as f64;
        assert!(bytes < 17.0, "{bytes}");
    }
}
