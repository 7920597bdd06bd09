//! Who has a place in front where there are more sites than places. A domain or an address that has many gives one up for a site of
//! another, so however many hosts a farm has, others are visited beside it. Who has no place waits outside.

use std::collections::{BTreeSet, VecDeque};

use foldhash::{HashMap, HashSet};
use model::{Network, Timestamp};
use weburl::{Site, SiteKey};

use super::shares::{Holder, domain_of};
use super::{Leaving, Slot, State};
use crate::Record;

/// So small a part of the places in front nobody has to give up.
const FAIR_PART: usize = 256;

/// Sites that wait outside, some 30 bytes each. More are left to the store, and looked for there.
const OUTSIDE_MAX: usize = 2_000_000;

/// Visits after which a site leaves its place to others that wait outside.
pub(super) const TURNS_MAX: u32 = 256;

/// Sites of a holder that are looked at for one that can leave at once.
const LOOKED_AT_MAX: usize = 32;

/// Sites brought to front in place of others for one event.
const EXCHANGED_AT_ONCE_MAX: usize = 64;

/// How many sites that nobody knows of wait outside before the store is asked for more.
const STRANGERS_MIN: usize = 1_000;

/// The places in front, and who waits for one.
#[derive(Default)]
pub(super) struct Places {
    /// For whom each site in front counts.
    holders: HashMap<SiteKey, [Option<Holder>; 2]>,
    members: HashMap<Holder, BTreeSet<SiteKey>>,
    sizes: BTreeSet<(usize, Holder)>,
    /// Who waits, by a holder that has many places.
    outside: HashMap<Holder, VecDeque<SiteKey>>,
    /// The holders of those, who take turns.
    turns: VecDeque<Holder>,
    /// Who waits and is not known to belong to anybody.
    strangers: VecDeque<SiteKey>,
    /// All who wait.
    waiting: HashSet<SiteKey>,
}

impl Places {
    pub(super) fn is_waiting(&self, site: SiteKey) -> bool {
        self.waiting.contains(&site)
    }

    pub(super) fn nobody_waits(&self) -> bool {
        self.waiting.is_empty()
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

    /// Who has most places, if that is more than is fair.
    fn largest(&self, fair: usize) -> Option<Holder> {
        self.sizes.last().filter(|(size, _)| *size > fair).map(|(_, holder)| *holder)
    }

    /// Lets a site wait outside. False where too many do.
    fn wait(&mut self, site: SiteKey, holder: Option<Holder>) -> bool {
        if self.waiting.len() >= OUTSIDE_MAX {
            return false;
        }
        if !self.waiting.insert(site) {
            return true;
        }
        match holder {
            None => self.strangers.push_back(site),
            Some(holder) => {
                let queue = self.outside.entry(holder).or_default();
                if queue.is_empty() {
                    self.turns.push_back(holder);
                }
                queue.push_back(site);
            }
        }
        true
    }

    fn next_stranger(&mut self) -> Option<SiteKey> {
        while let Some(site) = self.strangers.pop_front() {
            if self.waiting.remove(&site) {
                return Some(site);
            }
        }
        None
    }

    /// Who has waited longest; the holders take turns.
    fn next(&mut self) -> Option<SiteKey> {
        if let Some(site) = self.next_stranger() {
            return Some(site);
        }
        while let Some(holder) = self.turns.pop_front() {
            let Some(queue) = self.outside.get_mut(&holder) else { continue };
            let site = queue.pop_front();
            if queue.is_empty() {
                self.outside.remove(&holder);
            } else {
                self.turns.push_back(holder);
            }
            if let Some(site) = site.filter(|site| self.waiting.remove(site)) {
                return Some(site);
            }
        }
        None
    }
}

impl State {
    fn fair_part(&self) -> usize {
        (self.settings.sites_in_front_max / FAIR_PART).max(1)
    }

    /// True where a site that nobody knows of would find a place.
    pub(super) fn has_place_for_strangers(&self) -> bool {
        self.places.strangers.len() < STRANGERS_MIN && self.places.largest(self.fair_part()).is_some()
    }

    /// Lets a site wait outside that found no place in front.
    pub(super) fn wait_outside(&mut self, site: SiteKey, url: Option<&Site>) {
        let domain = url.map(|site| Holder::Domain(domain_of(site)));
        let has_many = domain.filter(|domain| self.places.largest(self.fair_part()) == Some(*domain));
        if !self.places.wait(site, has_many) {
            self.sites_missed = true;
        }
    }

    /// Brings to front who waits outside: as far as there is room, and strangers in place of sites whose holder has many.
    pub(super) fn fill_places(&mut self, now: Timestamp) {
        let max = self.settings.sites_in_front_max;
        for _ in 0..EXCHANGED_AT_ONCE_MAX {
            while !self.places.nobody_waits() && self.make_room(max) {
                match self.places.next() {
                    Some(site) => self.bring_to_front(site),
                    None => break,
                }
            }
            if self.places.strangers.is_empty() || !self.exchange(now) {
                break;
            }
        }
    }

    /// Has a site of who has most places wait outside. False where none can leave at once.
    fn exchange(&mut self, now: Timestamp) -> bool {
        let Some(holder) = self.places.largest(self.fair_part()) else { return false };
        let members = self.places.members.get(&holder);
        let some: Vec<SiteKey> = members.into_iter().flatten().take(LOOKED_AT_MAX).copied().collect();
        some.into_iter().find(|site| self.can_leave(now, *site)).is_some_and(|site| self.leave_to_others(now, site))
    }

    fn can_leave(&self, now: Timestamp, site: SiteKey) -> bool {
        let Some(Slot::Here(front)) = self.sites.get(&site) else { return false };
        !front.is_busy() && front.leaving == Leaving::No && !front.state.is_aside(now) && front.parked.is_none()
    }

    /// True where a site had many turns while others wait for a place: it leaves.
    pub(super) fn has_had_its_turns(&mut self, now: Timestamp, site: SiteKey) -> bool {
        let turns = self.front(site).map_or(0, |front| front.turns);
        if turns < TURNS_MAX || self.places.nobody_waits() || !self.can_leave(now, site) {
            return false;
        }
        self.leave_to_others(now, site);
        true
    }

    /// Has a site wait outside, at once or as soon as its record is committed. Tells whether it has left.
    fn leave_to_others(&mut self, now: Timestamp, site: SiteKey) -> bool {
        let again_at = now + self.settings.site_rules.politeness.backoff;
        let Some(front) = self.front(site) else { return false };
        if let Some(site_record) = front.state.record_at_leaving(again_at) {
            front.yields = true;
            self.bench.withdraw(site);
            let mut record = Record::of(site);
            record.site_record = Some(site_record);
            self.record(record);
            return false;
        }
        self.yield_place(site);
        true
    }

    /// Has a site wait outside of which all is written.
    pub(super) fn yield_place(&mut self, site: SiteKey) {
        let holder = self.places.holders.get(&site).and_then(|[domain, address]| address.or(*domain));
        self.leave_front(site);
        if !self.places.wait(site, holder) {
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
            assert!(places.wait(SiteKey(site), holder));
        }
        places.forget(SiteKey(6));
        let order: Vec<u64> = std::iter::from_fn(|| places.next()).map(|site| site.0).collect();
        assert_eq!(order, [5, 1, 4, 2, 3]);
        assert!(places.nobody_waits());
    }
}
