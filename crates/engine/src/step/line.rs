//! The line of sites whose turn came while as many robots.txt files were being read as may be. Each keeps its place until its own is read.

use std::collections::BTreeMap;

use foldhash::HashMap;
use weburl::SiteKey;

/// Sites that wait to have their robots.txt read, the first to come first.
#[derive(Default)]
pub(super) struct Line {
    /// The places of those in line, and of those that were called.
    places: HashMap<SiteKey, u64>,
    /// Those in line. None of them is on the workbench.
    waiting: BTreeMap<u64, SiteKey>,
    next_place: u64,
}

impl Line {
    /// Puts a site in line: at the end, or at its place if it was called and came too late.
    pub(super) fn join(&mut self, site: SiteKey) {
        let place = *self.places.entry(site).or_insert(self.next_place);
        self.next_place += u64::from(place == self.next_place);
        self.waiting.insert(place, site);
    }

    /// Calls the first site in line: it has its turn when its group has. It keeps its place until it leaves.
    pub(super) fn call(&mut self) -> Option<SiteKey> {
        self.waiting.pop_first().map(|(_, site)| site)
    }

    /// A site gives up its place: its rules have come, or it has left the front.
    pub(super) fn leave(&mut self, site: SiteKey) {
        if let Some(place) = self.places.remove(&site) {
            self.waiting.remove(&place);
        }
    }

    /// True if a site is in line, and was not called.
    pub(super) fn has(&self, site: SiteKey) -> bool {
        self.places.get(&site).is_some_and(|place| self.waiting.contains_key(place))
    }

    /// The number of sites in line.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SiteKey = SiteKey(1);
    const B: SiteKey = SiteKey(2);
    const C: SiteKey = SiteKey(3);

    fn called(line: &mut Line) -> Vec<SiteKey> {
        std::iter::from_fn(|| line.call()).collect()
    }

    #[test]
    fn sites_are_called_in_the_order_in_which_they_came() {
        let mut line = Line::default();
        [C, A, B, A].into_iter().for_each(|site| line.join(site));
        assert!(line.has(A) && line.len() == 3);
        assert_eq!(called(&mut line), [C, A, B]);
        assert!(!line.has(A) && line.len() == 0);
    }

    #[test]
    fn a_site_that_was_called_keeps_its_place_until_it_leaves() {
        let mut line = Line::default();
        line.join(A);
        assert_eq!(line.call(), Some(A));
        [B, C, A].into_iter().for_each(|site| line.join(site));
        assert_eq!(line.call(), Some(A), "it came before the others");
        line.leave(A);
        line.leave(B);
        line.join(A);
        assert_eq!(called(&mut line), [C, A]);
        assert!(line.waiting.is_empty());
    }
}
