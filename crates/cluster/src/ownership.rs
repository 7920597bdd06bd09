//! The groups of a worker, as it knows them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use coordination::{Epoch, GroupName};
use engine::Pin;
use weburl::SiteKey;

/// The groups that a worker owns, and their sites.
#[derive(Default)]
pub struct Owned {
    known: RwLock<Groups>,
}

#[derive(Default)]
struct Groups {
    groups: HashMap<GroupName, Group>,
    sites: BTreeMap<SiteKey, GroupName>,
    /// Sites being moved to another address, until they are pinned to it.
    moving: HashMap<SiteKey, IpAddr>,
}

struct Group {
    epoch: Epoch,
    /// It is being released: fetches under way are committed, and no new ones begin.
    is_leaving: bool,
    sites: BTreeSet<SiteKey>,
}

impl Owned {
    /// Takes a group over, with its sites.
    pub fn take(&self, group: &GroupName, epoch: Epoch, sites: &[SiteKey]) {
        let mut known = self.write();
        for site in sites {
            known.sites.insert(*site, group.clone());
        }
        let sites = sites.iter().copied().collect();
        known.groups.insert(group.clone(), Group { epoch, is_leaving: false, sites });
    }

    /// Adds a site to a group. False if the worker does not own the group.
    pub fn add(&self, site: SiteKey, group: &GroupName) -> bool {
        let mut known = self.write();
        if known.moving.contains_key(&site) {
            return false;
        }
        match known.groups.get_mut(group) {
            Some(held) if !held.is_leaving => held.sites.insert(site),
            _ => return false,
        };
        known.sites.insert(site, group.clone());
        true
    }

    /// Begins to release a group, or keeps it after all. Returns its sites.
    pub fn set_leaving(&self, group: &GroupName, is_leaving: bool) -> Vec<SiteKey> {
        let mut known = self.write();
        let Some(held) = known.groups.get_mut(group) else { return Vec::new() };
        held.is_leaving = is_leaving;
        held.sites.iter().copied().collect()
    }

    /// Begins no more fetches of one of its sites, which moves to another address.
    pub fn set_moving(&self, site: SiteKey, address: IpAddr) {
        let mut known = self.write();
        if known.sites.contains_key(&site) {
            known.moving.insert(site, address);
        }
    }

    /// The address to which one of its sites moves, if it does.
    #[must_use]
    pub fn moving_to(&self, site: SiteKey) -> Option<IpAddr> {
        self.read().moving.get(&site).copied()
    }

    /// Forgets a site that was pinned elsewhere.
    pub fn moved(&self, site: SiteKey) {
        let mut known = self.write();
        known.moving.remove(&site);
        if let Some(group) = known.sites.remove(&site)
            && let Some(held) = known.groups.get_mut(&group)
        {
            held.sites.remove(&site);
        }
    }

    /// Forgets a group.
    pub fn forget(&self, group: &GroupName) {
        let mut known = self.write();
        if let Some(held) = known.groups.remove(group) {
            for site in &held.sites {
                known.sites.remove(site);
                known.moving.remove(site);
            }
        }
    }

    /// The epoch under which it owns a group.
    #[must_use]
    pub fn epoch(&self, group: &GroupName) -> Option<Epoch> {
        self.read().groups.get(group).map(|held| held.epoch)
    }

    /// The groups that it owns, with their epochs.
    #[must_use]
    pub fn groups(&self) -> Vec<(GroupName, Epoch)> {
        self.read().groups.iter().map(|(group, held)| (group.clone(), held.epoch)).collect()
    }

    /// The group of a site of its own.
    #[must_use]
    pub fn group(&self, site: SiteKey) -> Option<GroupName> {
        self.read().sites.get(&site).cloned()
    }

    /// True if it may begin fetches of a site.
    #[must_use]
    pub fn crawls(&self, site: SiteKey) -> bool {
        let known = self.read();
        known.group_of(site).is_some_and(|(_, held)| !held.is_leaving)
    }

    /// The addresses at which a site may get requests, if groups are addresses.
    #[must_use]
    pub fn pin(&self, site: SiteKey) -> Pin {
        let known = self.read();
        match known.group_of(site) {
            Some((group, _)) => match (group.address(), group.network()) {
                (Some(address), _) => Pin::At(address),
                (None, Some(network)) => Pin::Within(network),
                (None, None) => Pin::Nowhere,
            },
            None => Pin::Gone,
        }
    }

    /// True if it may send requests to an address, if groups are addresses.
    #[must_use]
    pub fn asks_at(&self, address: IpAddr) -> bool {
        self.read().groups.get(&GroupName::of_address(address)).is_some_and(|held| !held.is_leaving)
    }

    /// The sites of which it may begin fetches, in key order, after `after`, at most `max`.
    #[must_use]
    pub fn sites(&self, after: Option<SiteKey>, max: usize) -> Vec<SiteKey> {
        let known = self.read();
        let from = after.map_or(Unbounded, Excluded);
        let is_active = |site: &SiteKey| known.group_of(*site).is_some_and(|(_, held)| !held.is_leaving);
        known.sites.range((from, Unbounded)).map(|(site, _)| *site).filter(is_active).take(max).collect()
    }

    /// The epochs that a commit about these sites must carry. `None` if it does not own one of them.
    #[must_use]
    pub fn fence(&self, sites: impl Iterator<Item = SiteKey>) -> Option<Vec<(GroupName, Epoch)>> {
        let known = self.read();
        let mut fence = BTreeMap::new();
        for site in sites {
            let group = known.sites.get(&site)?;
            fence.insert(group.clone(), known.groups.get(group)?.epoch);
        }
        Some(fence.into_iter().collect())
    }

    fn read(&self) -> RwLockReadGuard<'_, Groups> {
        self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Groups> {
        self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Groups {
    /// The group of a site that it owns and keeps.
    fn group_of(&self, site: SiteKey) -> Option<(&GroupName, &Group)> {
        let group = self.sites.get(&site).filter(|_| !self.moving.contains_key(&site))?;
        Some((group, self.groups.get(group)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_leaves_is_still_fenced_and_not_crawled() {
        let owned = Owned::default();
        let group = GroupName::of_address(IpAddr::from([10, 0, 0, 1]));
        let other = GroupName::of_address(IpAddr::from([10, 0, 0, 2]));
        let sites = [SiteKey(1), SiteKey(2)];
        owned.take(&group, Epoch(3), &sites);
        assert!(owned.add(SiteKey(5), &group) && !owned.add(SiteKey(6), &other));
        assert!(owned.crawls(SiteKey(5)) && !owned.crawls(SiteKey(6)));
        assert_eq!(owned.sites(Some(SiteKey(1)), 9), [SiteKey(2), SiteKey(5)]);
        assert!(owned.asks_at(IpAddr::from([10, 0, 0, 1])) && !owned.asks_at(IpAddr::from([10, 0, 0, 2])));
        assert_eq!(owned.pin(SiteKey(5)), Pin::At(IpAddr::from([10, 0, 0, 1])));

        assert_eq!(owned.set_leaving(&group, true), [SiteKey(1), SiteKey(2), SiteKey(5)]);
        assert!(!owned.asks_at(IpAddr::from([10, 0, 0, 1])), "nothing new is begun there");
        assert!(!owned.crawls(SiteKey(1)) && !owned.add(SiteKey(7), &group) && owned.sites(None, 9).is_empty());
        assert_eq!(
            owned.fence(sites.into_iter()),
            Some(vec![(group.clone(), Epoch(3))]),
            "what is under way is committed"
        );
        assert_eq!(owned.fence([SiteKey(6)].into_iter()), None);
        owned.set_leaving(&group, false);
        assert!(owned.crawls(SiteKey(1)));

        owned.forget(&group);
        assert_eq!((owned.epoch(&group), owned.fence(sites.into_iter())), (None, None));
        assert_eq!(owned.pin(SiteKey(1)), Pin::Gone);
    }

    #[test]
    fn nothing_is_begun_on_a_site_that_moves_and_others_of_its_group_go_on() {
        let owned = Owned::default();
        let site = weburl::Site::from_text("http://one.test").expect("a site");
        let (group, other) = (GroupName::of_site(&site), GroupName::of_address(IpAddr::from([10, 0, 0, 2])));
        let sites = [SiteKey(1), SiteKey(2)];
        owned.take(&group, Epoch(1), &sites);
        assert_eq!(owned.pin(SiteKey(1)), Pin::Nowhere);
        owned.set_moving(SiteKey(1), IpAddr::from([10, 0, 0, 2]));
        assert!(!owned.crawls(SiteKey(1)) && owned.pin(SiteKey(1)) == Pin::Gone && !owned.add(SiteKey(1), &group));
        assert!(owned.crawls(SiteKey(2)) && owned.sites(None, 9) == [SiteKey(2)]);
        assert!(owned.fence([SiteKey(1)].into_iter()).is_some(), "what is under way is committed");
        assert_eq!(owned.moving_to(SiteKey(1)), Some(IpAddr::from([10, 0, 0, 2])));
        owned.moved(SiteKey(1));
        assert_eq!((owned.group(SiteKey(1)), owned.moving_to(SiteKey(1))), (None, None));
        assert_eq!(owned.set_leaving(&group, false), [SiteKey(2)]);
        owned.take(&other, Epoch(1), &[]);
        assert!(owned.add(SiteKey(1), &other) && owned.crawls(SiteKey(1)), "it may come back in another group");
        owned.set_moving(SiteKey(9), IpAddr::from([10, 0, 0, 2]));
        assert_eq!(owned.moving_to(SiteKey(9)), None, "it is not its own");
    }
}
