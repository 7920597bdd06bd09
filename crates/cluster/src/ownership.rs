//! What a worker owns, as it knows it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use store_postgres::cluster::{Epoch, GroupName};
use weburl::SiteKey;

/// The groups that a worker owns, and their sites.
#[derive(Default)]
pub struct Owned {
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    groups: HashMap<GroupName, Group>,
    sites: BTreeMap<SiteKey, GroupName>,
}

struct Group {
    epoch: Epoch,
    /// It is being let go of: what is under way is committed, nothing new begun.
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

    /// Adds a site to a group. False if the group is not its own to crawl.
    pub fn add(&self, site: SiteKey, group: &GroupName) -> bool {
        let mut known = self.write();
        match known.groups.get_mut(group) {
            Some(held) if !held.is_leaving => held.sites.insert(site),
            _ => return false,
        };
        known.sites.insert(site, group.clone());
        true
    }

    /// Begins to let go of a group, or keeps it after all. Gives its sites.
    pub fn set_leaving(&self, group: &GroupName, is_leaving: bool) -> Vec<SiteKey> {
        let mut known = self.write();
        let Some(held) = known.groups.get_mut(group) else { return Vec::new() };
        held.is_leaving = is_leaving;
        held.sites.iter().copied().collect()
    }

    /// Forgets a group.
    pub fn forget(&self, group: &GroupName) {
        let mut known = self.write();
        if let Some(held) = known.groups.remove(group) {
            held.sites.iter().for_each(|site| drop(known.sites.remove(site)));
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

    /// True where it may begin something on a site.
    #[must_use]
    pub fn crawls(&self, site: SiteKey) -> bool {
        let known = self.read();
        known.sites.get(&site).and_then(|group| known.groups.get(group)).is_some_and(|held| !held.is_leaving)
    }

    /// The address to which a site is pinned; `None` where its group is the site itself, or not known.
    #[must_use]
    pub fn address(&self, site: SiteKey) -> Option<IpAddr> {
        self.read().sites.get(&site).and_then(GroupName::address)
    }

    /// The sites on which it may begin something, in the order of their keys, from behind `after`, at most `max`.
    #[must_use]
    pub fn sites(&self, after: Option<SiteKey>, max: usize) -> Vec<SiteKey> {
        let known = self.read();
        let from = after.map_or(Unbounded, Excluded);
        let is_active = |group: &GroupName| known.groups.get(group).is_some_and(|held| !held.is_leaving);
        known
            .sites
            .range((from, Unbounded))
            .filter(|(_, group)| is_active(group))
            .map(|(site, _)| *site)
            .take(max)
            .collect()
    }

    /// What a commit about these sites must bear. `None` if one of them is not its own.
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

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner)
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
        assert_eq!(owned.address(SiteKey(5)), Some(IpAddr::from([10, 0, 0, 1])));

        assert_eq!(owned.set_leaving(&group, true), [SiteKey(1), SiteKey(2), SiteKey(5)]);
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
    }
}
