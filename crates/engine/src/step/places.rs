//! Places in front, when there are more sites than places. A domain or address with many places gives one up for a site of another, so a farm
//! of any size leaves room for others. Sites without a place wait outside.
//!
//! Sites of seeds come first. A site counts for two holders: its domain and its address. While it waits, the holder with more places stands for it.

use std::collections::{BTreeSet, VecDeque};

use foldhash::{HashMap, HashSet};
use model::{Network, Timestamp};
use weburl::{Site, SiteKey};

use super::room::OUTSIDE_BYTES;
use super::shares::{Holder, domain_of};
use super::{Leaving, Slot, State};
use crate::Record;

/// Sites that wait outside, some 30 bytes each. More are left to the store, and looked for there.
const OUTSIDE_MAX: usize = 2_000_000;

/// The part of the front's bytes for sites outside: one in this many.
const OUTSIDE_PART: usize = 4;

/// Sites of a holder that are looked at for one that can leave at once.
const LOOKED_AT_MAX: usize = 32;

/// Sites brought to front in place of others for one event.
const EXCHANGED_AT_ONCE_MAX: usize = 64;

/// How many new sites must wait outside, or the store is asked for more.
const STRANGERS_MIN: usize = 1_000;

/// The places in front, and who waits for one.
#[derive(Default)]
pub(super) struct Places {
    /// For whom each site in front counts.
    holders: HashMap<SiteKey, [Option<Holder>; 2]>,
    members: HashMap<Holder, BTreeSet<SiteKey>>,
    sizes: BTreeSet<(usize, Holder)>,
    /// Sites of seeds, and the others.
    queues: [Queue; 2],
    /// All who wait.
    waiting: HashSet<SiteKey>,
}

/// The queues: a place goes to a site of the first that has one. Sites of seeds are in it until they had a place.
const SEEDS: usize = 0;
const OTHERS: usize = 1;

/// Sites that wait for a place.
#[derive(Default)]
struct Queue {
    /// Sites by a holder that has many places.
    of_holders: HashMap<Holder, VecDeque<SiteKey>>,
    /// The holders of these sites, which take turns.
    turns: VecDeque<Holder>,
    /// Sites without a known holder.
    strangers: VecDeque<SiteKey>,
    /// The next place goes to a site whose holder is known.
    is_turn_of_known: bool,
}

impl Places {
    pub(super) fn is_waiting(&self, site: SiteKey) -> bool {
        self.waiting.contains(&site)
    }

    pub(super) fn nobody_waits(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many domains and addresses have places.
    pub(super) fn holders(&self) -> usize {
        self.members.len()
    }

    pub(super) fn len_outside(&self) -> usize {
        self.waiting.len()
    }

    /// Lets a site no longer wait.
    pub(super) fn forget(&mut self, site: SiteKey) {
        self.waiting.remove(&site);
    }

    /// Counts a site in front for its domain.
    pub(super) fn enter(&mut self, site: SiteKey, domain: SiteKey) {
        self.count(site, 0, Some(Holder::Domain(domain)));
    }

    /// Counts a site in front for its address.
    pub(super) fn found_at(&mut self, site: SiteKey, network: Network) {
        self.count(site, 1, Some(Holder::Address(network)));
    }

    /// A site has left the front.
    pub(super) fn leave(&mut self, site: SiteKey) {
        self.count(site, 0, None);
        self.count(site, 1, None);
        self.holders.remove(&site);
    }

    fn count(&mut self, site: SiteKey, kind: usize, holder: Option<Holder>) {
        let Some(entry) = self.holders.entry(site).or_default().get_mut(kind) else { return };
        let before = std::mem::replace(entry, holder);
        if before == holder {
            return;
        }
        for (holder, enters) in [(before, false), (holder, true)] {
            let Some(holder) = holder else { continue };
            let members = self.members.entry(holder).or_default();
            self.sizes.remove(&(members.len(), holder));
            if enters {
                members.insert(site);
            } else {
                members.remove(&site);
            }
            if members.is_empty() {
                self.members.remove(&holder);
            } else {
                self.sizes.insert((members.len(), holder));
            }
        }
    }

    /// The holder with the most places, if that is more than its fair share.
    fn largest(&self, fair: usize) -> Option<Holder> {
        self.sizes.last().filter(|(size, _)| *size > fair).map(|(_, holder)| *holder)
    }

    fn size(&self, holder: Holder) -> usize {
        self.members.get(&holder).map_or(0, BTreeSet::len)
    }

    /// The holder of a site in front: its domain or its address, whichever has more places.
    fn holder_of(&self, site: SiteKey) -> Option<Holder> {
        let holders = self.holders.get(&site)?.iter().flatten().copied();
        holders.max_by_key(|holder| self.size(*holder))
    }

    /// True if a site must leave its place after its turns. A site whose holder has no more than the fair part stays while another holder has
    /// more.
    fn must_take_turns(&self, site: SiteKey, fair: usize) -> bool {
        self.largest(fair).is_none() || self.holder_of(site).is_some_and(|holder| self.size(holder) > fair)
    }

    /// The first waiting holder of a queue that would have fewer than `size` places with one more, as an index into the turns. Few holders
    /// are skipped, since each of those has almost `size` places.
    fn poorer_than(&self, queue: usize, size: usize) -> Option<usize> {
        self.queues[queue].turns.iter().position(|holder| self.size(*holder) + 1 < size)
    }

    /// True if a site waits that may replace one of a holder with `size` places.
    fn may_replace(&self, size: usize) -> bool {
        [SEEDS, OTHERS]
            .into_iter()
            .any(|queue| !self.queues[queue].strangers.is_empty() || self.poorer_than(queue, size).is_some())
    }

    /// Adds a site to those outside. False if `max` sites wait already.
    fn wait(&mut self, queue: usize, site: SiteKey, holder: Option<Holder>, max: usize) -> bool {
        if self.waiting.len() >= max {
            return false;
        }
        if !self.waiting.insert(site) {
            return true;
        }
        let Queue { of_holders, turns, strangers, .. } = &mut self.queues[queue];
        match holder {
            None => strangers.push_back(site),
            Some(holder) => {
                let sites = of_holders.entry(holder).or_default();
                if sites.is_empty() {
                    turns.push_back(holder);
                }
                sites.push_back(site);
            }
        }
        true
    }

    /// Lets a waiting site have the next place, since it turned out to be that of a seed.
    pub(super) fn prefer(&mut self, site: SiteKey) {
        if self.waiting.contains(&site) {
            // Where it waited before it is passed over.
            self.queues[SEEDS].strangers.push_back(site);
        }
    }

    /// Lets the last site no longer wait that is not that of a seed. False if there is none without a holder.
    fn forget_last(&mut self) -> bool {
        let strangers = &mut self.queues[OTHERS].strangers;
        std::iter::from_fn(|| strangers.pop_back()).any(|site| self.waiting.remove(&site))
    }

    fn next_stranger(&mut self, queue: usize) -> Option<SiteKey> {
        while let Some(site) = self.queues[queue].strangers.pop_front() {
            if self.waiting.remove(&site) {
                return Some(site);
            }
        }
        None
    }

    fn next_of(&mut self, queue: usize, turn: usize) -> Option<SiteKey> {
        let Queue { of_holders, turns, .. } = &mut self.queues[queue];
        let holder = turns.remove(turn)?;
        let sites = of_holders.get_mut(&holder)?;
        let site = sites.pop_front();
        if sites.is_empty() {
            of_holders.remove(&holder);
        } else {
            turns.push_back(holder);
        }
        site.filter(|site| self.waiting.remove(site))
    }

    /// The next site of a queue to replace one of a holder with `size` places. Strangers and sites of poorer holders take turns.
    fn next_in_place_of(&mut self, queue: usize, size: usize) -> Option<SiteKey> {
        let is_turn_of_known = &mut self.queues[queue].is_turn_of_known;
        *is_turn_of_known = !*is_turn_of_known;
        if !*is_turn_of_known && let Some(site) = self.next_stranger(queue) {
            return Some(site);
        }
        while let Some(turn) = self.poorer_than(queue, size) {
            if let Some(site) = self.next_of(queue, turn) {
                return Some(site);
            }
        }
        self.next_stranger(queue)
    }

    /// The next site for a free place. Sites of seeds come first. Of a queue, first one that may replace another, then the one that has waited
    /// longest. Holders take turns.
    fn next(&mut self, fair: usize) -> Option<SiteKey> {
        [SEEDS, OTHERS].into_iter().find_map(|queue| self.next_in_queue(queue, fair))
    }

    fn next_in_queue(&mut self, queue: usize, fair: usize) -> Option<SiteKey> {
        let size = self.sizes.last().map(|(size, _)| *size).filter(|size| *size > fair);
        let site = size.and_then(|size| self.next_in_place_of(queue, size)).or_else(|| self.next_stranger(queue));
        if site.is_some() {
            return site;
        }
        while !self.queues[queue].turns.is_empty() {
            if let Some(site) = self.next_of(queue, 0) {
                return Some(site);
            }
        }
        None
    }
}

impl State {
    /// The places that a holder may have while others wait.
    pub(super) fn fair_part(&self) -> usize {
        (self.settings.sites_in_front_max / self.settings.places_part.max(1)).max(1)
    }

    /// How many sites may wait outside: as many as fit into their part of the front's bytes, and into the bytes left.
    fn outside_max(&self) -> usize {
        let left = self.settings.front_bytes_max.saturating_sub(self.bytes_spoken_for());
        let more = self.places.len_outside() + left / OUTSIDE_BYTES;
        OUTSIDE_MAX.min(self.settings.front_bytes_max / OUTSIDE_PART / OUTSIDE_BYTES).min(more)
    }

    /// True if a new site would find a place.
    pub(super) fn has_place_for_strangers(&self) -> bool {
        let strangers: usize = self.places.queues.iter().map(|queue| queue.strangers.len()).sum();
        strangers < STRANGERS_MIN && self.places.largest(self.fair_part()).is_some()
    }

    /// Lets a site wait outside that found no place in front.
    pub(super) fn wait_outside(&mut self, site: SiteKey, url: Option<&Site>) {
        let domain = url.map(|site| Holder::Domain(domain_of(site)));
        let has_many = domain.filter(|domain| self.places.largest(self.fair_part()) == Some(*domain));
        let (queue, max) = (if self.first_sites.contains(&site) { SEEDS } else { OTHERS }, self.outside_max());
        if self.places.wait(queue, site, has_many, max) {
            return;
        }
        // One site is left to the store: that of a seed only if all are.
        self.sites_missed = true;
        if queue == SEEDS && self.places.forget_last() {
            self.places.wait(queue, site, has_many, max);
        }
    }

    /// Brings waiting sites to front: into free places, and in place of sites whose holder has many.
    pub(super) fn fill_places(&mut self, now: Timestamp) {
        let max = self.settings.sites_in_front_max;
        for _ in 0..EXCHANGED_AT_ONCE_MAX {
            while !self.places.nobody_waits() && self.make_room(max) {
                match self.places.next(self.fair_part()) {
                    Some(site) => self.bring_to_front(site),
                    None => break,
                }
            }
            if !self.exchange(now) {
                break;
            }
        }
    }

    /// Moves a site of the largest holder outside if another site should have its place. False if no site can leave at once.
    fn exchange(&mut self, now: Timestamp) -> bool {
        let Some(holder) = self.places.largest(self.fair_part()) else { return false };
        if !self.places.may_replace(self.places.size(holder)) {
            return false;
        }
        let members = self.places.members.get(&holder);
        let some: Vec<SiteKey> = members.into_iter().flatten().take(LOOKED_AT_MAX).copied().collect();
        some.into_iter().find(|site| self.can_leave(now, *site)).is_some_and(|site| self.leave_to_others(now, site))
    }

    /// The site that leaves a front that is too large: one that had a turn, of the largest holder.
    pub(super) fn who_leaves(&self, now: Timestamp) -> Option<SiteKey> {
        let members = self.places.sizes.iter().rev().filter_map(|(_, holder)| self.places.members.get(holder));
        let had_a_turn = |site: &SiteKey| {
            matches!(self.sites.get(site), Some(Slot::Here(front)) if front.turns > 0) && self.can_leave(now, *site)
        };
        members.flatten().take(LOOKED_AT_MAX).copied().find(had_a_turn)
    }

    fn can_leave(&self, now: Timestamp, site: SiteKey) -> bool {
        let Some(Slot::Here(front)) = self.sites.get(&site) else { return false };
        !front.is_busy() && front.leaving == Leaving::No && !front.state.is_aside(now) && front.parked.is_none()
    }

    /// True if a site had many turns while others wait for a place: it leaves.
    pub(super) fn has_had_its_turns(&mut self, now: Timestamp, site: SiteKey) -> bool {
        let turns = self.front(site).map_or(0, |front| front.turns);
        let is_through = turns >= self.settings.turns_in_front_max && !self.places.nobody_waits();
        if !is_through || !self.places.must_take_turns(site, self.fair_part()) || !self.can_leave(now, site) {
            return false;
        }
        self.leave_to_others(now, site);
        true
    }

    /// Moves a site outside, at once or after the commit of its record. True if it has left.
    pub(super) fn leave_to_others(&mut self, now: Timestamp, site: SiteKey) -> bool {
        let again_at = now + self.settings.site_rules.politeness.backoff;
        let Some(front) = self.front(site) else { return false };
        if let Some(site_record) = front.state.record_at_leaving(again_at) {
            front.yields = true;
            self.bench.withdraw(site);
            self.weigh(site);
            let mut record = Record::of(site);
            record.site_record = Some(site_record);
            self.record(record);
            return false;
        }
        self.yield_place(site);
        true
    }

    /// Moves a site outside whose record is committed.
    pub(super) fn yield_place(&mut self, site: SiteKey) {
        let holder = self.places.holder_of(site);
        self.leave_front(site);
        if !self.places.wait(OTHERS, site, holder, self.outside_max()) {
            self.sites_missed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: Holder = Holder::Domain(SiteKey(1000));

    #[test]
    fn who_has_most_places_is_known() {
        let mut places = Places::default();
        assert_eq!(places.largest(0), None);
        for site in 0..5 {
            places.enter(SiteKey(site), SiteKey(1000));
            places.found_at(SiteKey(site), Network::of([10, 0, 0, u8::from(site < 2)].into()));
        }
        assert_eq!((places.largest(4), places.largest(5)), (Some(DOMAIN), None));
        places.enter(SiteKey(4), SiteKey(2000));
        places.leave(SiteKey(3));
        assert_eq!((places.largest(2), places.largest(3)), (Some(DOMAIN), None));
        (0..5).for_each(|site| places.leave(SiteKey(site)));
        assert!(places.members.is_empty() && places.sizes.is_empty() && places.holders.is_empty());
    }

    #[test]
    fn strangers_come_first_and_holders_take_turns() {
        let mut places = Places::default();
        let other = Holder::Domain(SiteKey(2000));
        for (site, holder) in
            [(1, Some(DOMAIN)), (2, Some(DOMAIN)), (3, Some(DOMAIN)), (4, Some(other)), (5, None), (6, None)]
        {
            assert!(places.wait(OTHERS, SiteKey(site), holder, 100));
        }
        places.forget(SiteKey(6));
        let order: Vec<u64> = std::iter::from_fn(|| places.next(1)).map(|site| site.0).collect();
        assert_eq!(order, [5, 1, 4, 2, 3]);
        assert!(places.nobody_waits());
    }

    #[test]
    fn sites_of_seeds_come_before_all_others() {
        let mut places = Places::default();
        for (queue, site, holder) in [
            (OTHERS, 1, None),
            (OTHERS, 2, Some(DOMAIN)),
            (SEEDS, 3, Some(DOMAIN)),
            (SEEDS, 4, None),
            (OTHERS, 5, None),
        ] {
            assert!(places.wait(queue, SiteKey(site), holder, 5));
        }
        assert!(!places.wait(SEEDS, SiteKey(6), None, 5), "no more wait");
        assert!(places.forget_last() && places.wait(SEEDS, SiteKey(6), None, 5), "in place of another");
        places.prefer(SiteKey(1));
        places.prefer(SiteKey(7));
        let order: Vec<u64> = std::iter::from_fn(|| places.next(1)).map(|site| site.0).collect();
        assert_eq!(order, [4, 6, 1, 3, 2]);
        assert!(places.nobody_waits());
    }

    #[test]
    fn who_would_have_fewer_places_comes_before_who_has_most() {
        let mut places = Places::default();
        let other = Holder::Domain(SiteKey(2000));
        (0..4).for_each(|site| places.enter(SiteKey(site), SiteKey(1000)));
        places.enter(SiteKey(4), SiteKey(2000));
        for (site, holder) in [(5, Some(DOMAIN)), (6, Some(other)), (7, None), (8, Some(other)), (9, None)] {
            places.wait(OTHERS, SiteKey(site), holder, 100);
        }
        assert!(places.must_take_turns(SiteKey(0), 1) && !places.must_take_turns(SiteKey(4), 1));
        let order: Vec<u64> = std::iter::from_fn(|| places.next_in_place_of(OTHERS, 4)).map(|site| site.0).collect();
        assert_eq!(order, [6, 7, 8, 9]);
        assert_eq!(places.next(1), Some(SiteKey(5)));
    }
}
