//! Lists and tallies that stay small however much is counted.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{Both, Named, Ranked};

/// Rows kept of a list. What is beyond is counted only.
pub const ROWS_MAX: usize = 1_000;

/// Different names that a tally tells apart. What comes after counts as [`OTHERS`].
const NAMES_MAX: usize = 10_000;

/// The name of what a tally no longer tells apart.
const OTHERS: &str = "(others)";

/// The greatest of many, by a number. Of equals the first stay.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Top<T> {
    max: usize,
    total: u64,
    kept: Vec<(u64, T)>,
    /// What is not greater than this cannot be among the greatest.
    floor: u64,
}

impl<T> Top<T> {
    pub(crate) fn new(max: usize) -> Self {
        Top { max, total: 0, kept: Vec::new(), floor: 0 }
    }

    /// Offers one of `size`; zero is never kept, nor counted. It is made only if it is kept for now.
    pub(crate) fn offer(&mut self, size: u64, make: impl FnOnce() -> T) {
        if size > 0 {
            self.total += 1;
        }
        if size <= self.floor {
            return;
        }
        self.kept.push((size, make()));
        if self.kept.len() >= self.max * 2 {
            self.cut();
        }
    }

    /// Adds what was offered elsewhere. Of equals the first in their own order stay.
    pub(crate) fn add_all(&mut self, other: Top<T>)
    where
        T: Ord,
    {
        self.total += other.total;
        self.kept.extend(other.kept);
        self.kept.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.cmp(b)));
        self.cut();
    }

    fn cut(&mut self) {
        self.kept.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        self.kept.truncate(self.max);
        if self.kept.len() == self.max {
            self.floor = self.kept.last().map_or(0, |(size, _)| *size);
        }
    }

    /// How many were offered, and the greatest of them, the greatest first.
    pub(crate) fn finish(mut self) -> (u64, Vec<(u64, T)>) {
        self.cut();
        (self.total, self.kept)
    }

    /// The greatest as a list.
    pub(crate) fn ranked(self) -> Ranked<T> {
        let (total, kept) = self.finish();
        Ranked { total, rows: kept.into_iter().map(|(_, row)| row).collect() }
    }
}

/// Counts by name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    counts: HashMap<String, Both<u64>>,
}

impl Tally {
    pub(crate) fn add(&mut self, name: &str, is_seed_site: bool) {
        self.count_of(name).add(is_seed_site, 1);
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn add_all(&mut self, other: Tally) {
        for (name, count) in other.counts {
            let sum = self.count_of(&name);
            *sum = sum.with(count, u64::saturating_add);
        }
    }

    fn count_of(&mut self, name: &str) -> &mut Both<u64> {
        let is_told_apart = self.counts.contains_key(name) || self.counts.len() < NAMES_MAX;
        let name = if is_told_apart { name } else { OTHERS };
        // A name that is there costs no memory.
        if !self.counts.contains_key(name) {
            self.counts.insert(name.to_owned(), Both::default());
        }
        self.counts.entry(name.to_owned()).or_default()
    }

    /// The names with their counts, the greatest first; `always` are there even if none was counted.
    pub(crate) fn ranked(mut self, always: &[&str]) -> Ranked<Named> {
        for name in always {
            self.counts.entry((*name).to_owned()).or_default();
        }
        let mut rows: Vec<Named> = self.counts.into_iter().map(|(name, count)| Named { name, count }).collect();
        rows.sort_by(|a, b| (b.count.all_sites, &a.name).cmp(&(a.count.all_sites, &b.name)));
        let total = rows.len() as u64;
        rows.truncate(ROWS_MAX);
        Ranked { total, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_stay_and_of_equals_the_first() {
        let mut top = Top::new(3);
        for (size, name) in [(1, "a"), (5, "b"), (2, "c"), (5, "d"), (0, "e"), (2, "f"), (9, "g"), (5, "h")] {
            top.offer(size, || name);
        }
        assert_eq!(top.finish(), (7, vec![(9, "g"), (5, "b"), (5, "d")]));
    }

    #[test]
    fn a_tally_stops_telling_names_apart() {
        let mut tally = Tally::default();
        for name in 0..NAMES_MAX + 5 {
            tally.add(&name.to_string(), false);
        }
        tally.add("0", true);
        let ranked = tally.ranked(&[]);
        assert_eq!((ranked.total, ranked.rows.len()), (NAMES_MAX as u64 + 1, ROWS_MAX));
        assert_eq!(ranked.rows[0], Named { name: OTHERS.to_owned(), count: Both { seed_sites: 0, all_sites: 5 } });
        assert_eq!(ranked.rows[1], Named { name: "0".to_owned(), count: Both { seed_sites: 1, all_sites: 2 } });
    }
}
