//! The workbench: the sites in front, by the time they are due, under the addresses they share.
//!
//! After BUbiNG (Boldi, Marino, Santini, Vigna: "BUbiNG: Massive Crawling for the Masses", 2018): an entry for each
//! address holds the sites on it; taking a site takes its address too, so the limit per site and the limit per address
//! both hold without scanning. All operations cost the logarithm of the number of sites.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use foldhash::HashMap;
use model::{Network, Timestamp};
use weburl::SiteKey;

/// A visit that takes this long or longer counts for as long as it took: its site lets each other site of its address have as much time first,
/// as far as these come soon and before it would be done.
pub const SLOW_VISIT_MIN: Duration = Duration::from_secs(2);

/// The longest that a slow site lets others go first.
const BEHIND_MAX: Duration = Duration::from_secs(600);

/// A slow site waits for others that come so soon. For later ones no address is idle, however slow the visit.
const SOON: Duration = Duration::from_secs(10);

/// So many others are counted: for more, each slow site waits as long as it ever does.
const OTHERS_MAX: usize = 300;

/// The unit that shares a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// All sites on an address, or in the same network of IPv6.
    Address(Network),
    /// A site on its own: there is no delay per address, or no address is known (behind a proxy).
    Site(SiteKey),
}

/// The entries of a group, which take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Visitor {
    /// A site that wants a visit.
    Site(SiteKey),
    /// One request on behalf of other sites, by its number.
    Errand(u64),
}

impl From<SiteKey> for Visitor {
    fn from(site: SiteKey) -> Self {
        Visitor::Site(site)
    }
}

impl Group {
    /// The group of an address.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Self {
        Group::Address(Network::of(address))
    }
}

/// The sites that want a visit.
#[derive(Debug)]
pub struct Workbench {
    /// Visits at once within a [`Group::Site`]; within an address it is one.
    connections_per_site: usize,
    /// No group is due before this: visits of an earlier run may have ended just now.
    quiet_until: Timestamp,
    groups: HashMap<Group, Entry>,
    /// The groups with something to do, by the time they are due.
    ready: BTreeSet<(Timestamp, Group)>,
    /// The groups with nothing to do, until their due time, when they are forgotten.
    idle: BTreeSet<(Timestamp, Group)>,
    waiting: HashMap<Visitor, Place>,
}

/// Where a site waits.
#[derive(Clone, Copy, Debug)]
struct Place {
    group: Group,
    due: Timestamp,
    is_slow: bool,
}

/// The place of a site whose last visit was slow.
#[derive(Clone, Copy, Debug)]
struct Slow {
    due: Timestamp,
    /// How long its last visit took.
    took: Duration,
    /// How long it lets others of its address go first at most.
    until: Timestamp,
}

/// The place of a site that wants a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its group.
    pub group: Group,
    /// When the site is due.
    pub due: Timestamp,
    /// When its group is due.
    pub group_due: Timestamp,
    /// The group has as many visits under way as it may.
    pub is_taken: bool,
    /// From when on the next visit of the group is its own; `None` if others of its group come first.
    pub first_from: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Entry {
    due: Timestamp,
    in_flight: usize,
    /// The one whose visit began last.
    last: Option<Visitor>,
    visitors: BTreeSet<(Timestamp, Visitor)>,
    /// Those whose last visit was slow.
    slow: BTreeMap<(Timestamp, Visitor), Slow>,
}

impl Workbench {
    /// An empty workbench. No group is due before `quiet_until`.
    #[must_use]
    pub fn new(connections_per_site: usize, quiet_until: Timestamp) -> Self {
        Workbench {
            connections_per_site: connections_per_site.max(1),
            quiet_until,
            groups: HashMap::default(),
            ready: BTreeSet::new(),
            idle: BTreeSet::new(),
            waiting: HashMap::default(),
        }
    }

    /// Puts a site on the workbench: it wants one visit, not before `due`. A site that is there already is moved.
    pub fn offer(&mut self, site: impl Into<Visitor>, group: Group, due: Timestamp) {
        self.offer_after(site, group, due, Duration::ZERO);
    }

    /// The same for a site whose last visit took so long. If that was slow, others of its address come first that wait now, or are due before a visit
    /// that takes as long would be done.
    pub fn offer_after(&mut self, site: impl Into<Visitor>, group: Group, due: Timestamp, took: Duration) {
        let site = site.into();
        self.withdraw(site);
        let quiet_until = self.quiet_until;
        let is_slow = took >= SLOW_VISIT_MIN && matches!(group, Group::Address(_));
        self.change(group, |entry| {
            entry.due = entry.due.max(quiet_until);
            if is_slow {
                let until = due + took.saturating_mul(entry.others_before(site, due, took)).min(BEHIND_MAX);
                entry.slow.insert((due, site), Slow { due, took, until });
            } else {
                entry.visitors.insert((due, site));
            }
        });
        self.waiting.insert(site, Place { group, due, is_slow });
    }

    /// Takes a site off the workbench, if it is there.
    pub fn withdraw(&mut self, site: impl Into<Visitor>) {
        let site = site.into();
        if let Some(place) = self.waiting.remove(&site) {
            self.change(place.group, |entry| entry.remove(site, place));
        }
    }

    /// Takes the site that has been due the longest, with its group. The visit must be ended by [`Workbench::end`].
    pub fn pick(&mut self, now: Timestamp) -> Option<(Visitor, Group)> {
        self.forget_idle(now);
        let (_, group) = *self.ready.first().filter(|(due, _)| *due <= now)?;
        let (_, site) = self.groups.get(&group)?.first()?;
        self.begin(site).map(|group| (site, group))
    }

    /// Takes a certain site, with its group, if both are due and the group is free. The visit must be ended by [`Workbench::end`].
    pub fn take(&mut self, site: impl Into<Visitor>, now: Timestamp) -> Option<Group> {
        let site = site.into();
        let Waiting { due, group_due, is_taken, .. } = self.waiting(site)?;
        if is_taken || due.max(group_due) > now {
            return None;
        }
        self.begin(site)
    }

    fn begin(&mut self, site: Visitor) -> Option<Group> {
        let place = self.waiting.remove(&site)?;
        self.change(place.group, |entry| {
            entry.remove(site, place);
            entry.in_flight += 1;
            entry.last = Some(site);
        });
        Some(place.group)
    }

    /// Ends a visit that [`Workbench::pick`] began. The group is not due before `due`.
    pub fn end(&mut self, group: Group, due: Timestamp) {
        self.change(group, |entry| {
            entry.in_flight = entry.in_flight.saturating_sub(1);
            entry.due = entry.due.max(due);
        });
    }

    /// When the next site is due. `None`: nothing waits, or what waits waits for visits to end.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.ready.first().map(|(due, _)| *due)
    }

    /// True if a site wants a visit.
    #[must_use]
    pub fn is_waiting(&self, site: impl Into<Visitor>) -> bool {
        self.waiting.contains_key(&site.into())
    }

    /// The number of sites that want a visit.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The number of groups with a due time.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// True if no site wants a visit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The place of a site; `None` if it wants no visit.
    #[must_use]
    pub fn waiting(&self, site: impl Into<Visitor>) -> Option<Waiting> {
        let site = site.into();
        let Place { group, due, .. } = *self.waiting.get(&site)?;
        let entry = self.groups.get(&group)?;
        Some(Waiting {
            group,
            due,
            group_due: entry.due,
            is_taken: entry.in_flight >= self.visits_max(group),
            first_from: entry.first().filter(|(_, first)| *first == site).map(|(from, _)| from),
        })
    }

    /// The number of visits at once within a group.
    fn visits_max(&self, group: Group) -> usize {
        match group {
            Group::Address(_) => 1,
            Group::Site(_) => self.connections_per_site,
        }
    }

    /// Changes an entry and puts it where it belongs afterwards.
    fn change(&mut self, group: Group, change: impl FnOnce(&mut Entry)) {
        let visits_max = self.visits_max(group);
        let entry = self.groups.entry(group).or_default();
        if let Some(due) = entry.ready_at(visits_max) {
            self.ready.remove(&(due, group));
        }
        self.idle.remove(&(entry.due, group));
        change(entry);
        if let Some(due) = entry.ready_at(visits_max) {
            self.ready.insert((due, group));
        } else if entry.in_flight == 0 {
            self.idle.insert((entry.due, group));
        }
    }

    fn forget_idle(&mut self, now: Timestamp) {
        while let Some((due, group)) = self.idle.first().copied().filter(|(due, _)| *due <= now) {
            self.idle.remove(&(due, group));
            self.groups.remove(&group);
        }
    }
}

impl Entry {
    /// When its first site is due; `None` where it has none or all its visits are under way.
    fn ready_at(&self, visits_max: usize) -> Option<Timestamp> {
        let (due, _) = self.first()?;
        (self.in_flight < visits_max).then(|| self.due.max(due))
    }

    /// The next site, and when it is due.
    fn first(&self) -> Option<(Timestamp, Visitor)> {
        let other = self.visitors.first().copied();
        let Some((site, slow)) = self.first_slow() else { return other };
        let is_kept = other.is_some_and(|(at, _)| at < self.waits_for(slow));
        let at = if is_kept { slow.until } else { slow.due };
        other.filter(|(before, _)| *before <= at).or(Some((at, site)))
    }

    /// The slow site that comes before all other slow ones: it waits for none that lets others go first for a shorter time.
    fn first_slow(&self) -> Option<(Visitor, Slow)> {
        let mut first: Option<(Visitor, Slow)> = None;
        for ((due, site), slow) in self.slow.iter().take(OTHERS_MAX) {
            match first {
                Some((_, first)) if *due >= self.waits_for(first) => break,
                Some((_, first)) if slow.until >= first.until => {}
                _ => first = Some((*site, *slow)),
            }
        }
        first
    }

    /// A slow site waits for others that are due before this.
    fn waits_for(&self, slow: Slow) -> Timestamp {
        self.end_of(slow.due, slow.took.min(SOON))
    }

    /// When a visit would be done that is due then, and takes so long.
    fn end_of(&self, due: Timestamp, took: Duration) -> Timestamp {
        self.due.max(due) + took
    }

    /// How many others come before such a visit of a site would be done, as far as they count.
    fn others_before(&self, site: Visitor, due: Timestamp, took: Duration) -> u32 {
        let end = (self.end_of(due, took), Visitor::Site(SiteKey(0)));
        let waiting = self.visitors.range(..end).map(|_| ()).chain(self.slow.range(..end).map(|_| ()));
        let is_another_under_way = self.in_flight > 0 && self.last != Some(site);
        let others = waiting.take(OTHERS_MAX).count() + usize::from(is_another_under_way);
        u32::try_from(others).unwrap_or(u32::MAX)
    }

    fn remove(&mut self, site: Visitor, place: Place) {
        match place.is_slow {
            true => _ = self.slow.remove(&(place.due, site)),
            false => _ = self.visitors.remove(&(place.due, site)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: Group = Group::Address(Network::of(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)));

    fn bench() -> Workbench {
        Workbench::new(1, Timestamp(0))
    }

    #[test]
    fn the_longest_due_site_comes_first() {
        let mut bench = bench();
        for (site, due) in [(1, 30), (2, 10), (3, 20)] {
            bench.offer(SiteKey(site), Group::Site(SiteKey(site)), Timestamp(due));
        }
        assert_eq!(bench.pick(Timestamp(9)), None);
        assert_eq!(bench.next_due(), Some(Timestamp(10)));
        let order: Vec<Visitor> = std::iter::from_fn(|| bench.pick(Timestamp(99))).map(|(site, _)| site).collect();
        assert_eq!(order, [2, 3, 1].map(|site| Visitor::Site(SiteKey(site))));
    }

    #[test]
    fn a_slow_site_leaves_as_much_time_to_each_other_of_its_address() {
        let (mut bench, mut now, second) = (bench(), Timestamp(0), Duration::from_secs(1));
        let took = |site: Visitor| second * if site == Visitor::Site(SiteKey(1)) { 30 } else { 1 };
        let mut visits = std::collections::BTreeMap::<Visitor, u32>::new();
        (1..=10).for_each(|site| bench.offer(SiteKey(site), ADDRESS, now));
        while now < Timestamp(0) + second * 3_000 {
            let (site, group) = bench.pick(now).expect("some site is always due");
            now = now + took(site);
            bench.end(group, now);
            bench.offer_after(site, group, now, took(site));
            *visits.entry(site).or_default() += 1;
        }
        let slow = visits.remove(&Visitor::Site(SiteKey(1))).unwrap_or(0);
        assert!((8..=12).contains(&slow) && visits.values().all(|n| (290..=310).contains(n)), "{slow} {visits:?}");
    }

    /// How often each site of an address is visited within so many seconds: how long a visit takes, and how long the site waits after it, in tenths
    /// of a second.
    fn visits_within(seconds: u32, sites: &[(u32, u32)]) -> Vec<u32> {
        let (mut bench, mut now, tenth) = (bench(), Timestamp(0), Duration::from_millis(100));
        let mut visits = vec![0; sites.len()];
        (0..).zip(sites).for_each(|(site, _)| bench.offer(SiteKey(site), ADDRESS, now));
        while now < Timestamp(0) + tenth * seconds * 10 {
            let (site, group) = bench.pick(now).expect("one is due");
            let at = (0..).position(|n| site == Visitor::Site(SiteKey(n))).expect("a site");
            let (took, wait) = (tenth * sites[at].0, tenth * sites[at].1);
            now = now + took;
            bench.end(group, now);
            bench.offer_after(site, group, now + wait, took);
            visits[at] += 1;
            now = now.max(bench.next_due().expect("all wait"));
        }
        visits
    }

    #[test]
    fn slow_sites_leave_time_to_each_other_by_how_slow_they_are() {
        let visits = visits_within(6_000, &[&[(600, 10)][..], &[(20, 10); 9]].concat());
        assert!((9..=11).contains(&visits[0]) && visits[1..].iter().all(|n| (270..=310).contains(n)), "{visits:?}");
    }

    #[test]
    fn a_slow_site_does_not_wait_for_sites_that_come_after_it_is_done() {
        // Its neighbours have long delays, so its address has nothing to do for most of the time.
        let visits = visits_within(3_000, &[&[(25, 10)][..], &[(3, 3_000); 19]].concat());
        assert!(visits[0] > 700 && visits[1..].iter().all(|n| *n == 10), "{visits:?}");
        // However slow these are themselves, and however long it takes.
        let visits = visits_within(3_000, &[&[(600, 10)][..], &[(20, 3_000); 9]].concat());
        assert!(visits[0] > 30 && visits[1..].iter().all(|n| (8..=10).contains(n)), "{visits:?}");
        let visits = visits_within(3_000, &[(1_100, 10), (20, 300)]);
        assert!(
            visits[0] > 20 && visits[1] + 1 >= visits[0],
            "its address is idle for ten seconds at most: {visits:?}"
        );
    }

    #[test]
    fn what_others_let_a_slow_site_wait_for_ends_with_them() {
        let (mut bench, second) = (bench(), Duration::from_secs(1));
        let at = |seconds: u32| Timestamp(0) + second * seconds;
        (1..10).for_each(|site| bench.offer(SiteKey(site), ADDRESS, at(0)));
        bench.offer_after(SiteKey(0), ADDRESS, at(0), second * 60);
        // All the others are due at once, and then not for long.
        for n in 0..9 {
            let (site, group) = bench.pick(at(2 * n)).expect("another");
            assert_ne!(site, Visitor::Site(SiteKey(0)));
            bench.end(group, at(2 * n + 2));
            bench.offer_after(site, group, at(300), second * 2);
        }
        assert_eq!(bench.pick(at(18)), Some((Visitor::Site(SiteKey(0)), ADDRESS)));
    }

    #[test]
    fn a_slow_site_lets_each_other_go_first_once_whichever_has_its_turn() {
        let at = |seconds: u32| Timestamp(0) + Duration::from_secs(1) * seconds;
        let [slow, other] = [1, 2].map(SiteKey);
        for is_own in [true, false] {
            let mut bench = bench();
            bench.offer(slow, ADDRESS, at(0));
            bench.offer(other, ADDRESS, at(0));
            assert_eq!(bench.pick(at(0)), Some((slow.into(), ADDRESS)));
            if !is_own {
                bench.end(ADDRESS, at(0));
                assert_eq!(bench.pick(at(0)), Some((other.into(), ADDRESS)));
            }
            bench.offer_after(slow, ADDRESS, at(0), Duration::from_secs(30));
            bench.end(ADDRESS, at(0));
            bench.offer(other, ADDRESS, at(0));
            let turn = (0..100).find(|second| {
                let (site, group) = bench.pick(at(*second)).expect("one is due");
                bench.end(group, at(second + 1));
                bench.offer(site, group, at(second + 1));
                site == slow.into()
            });
            assert_eq!(turn, Some(31), "{is_own}");
        }
    }

    #[test]
    fn a_slow_site_waits_for_another_slow_one_that_comes_soon() {
        let at = |seconds: u32| Timestamp(0) + Duration::from_secs(1) * seconds;
        // When each site is due, how long its visits take, and which has its turn when.
        for (sites, expect) in [
            ([(45, 3), (0, 300), (5, 100)], [(5, 2), (105, 0), (108, 1)]),
            ([(45, 3), (0, 300), (10, 100)], [(0, 1), (300, 0), (303, 2)]),
            ([(45, 3), (0, 3), (5, 100)], [(0, 1), (5, 2), (105, 0)]),
            ([(5, 3), (0, 300), (5, 100)], [(5, 0), (8, 2), (108, 1)]),
        ] {
            let mut bench = bench();
            (0..).zip(sites).for_each(|(site, (due, _))| bench.offer(SiteKey(site), ADDRESS, at(due)));
            for (site, (due, took)) in (0..).zip(sites) {
                bench.offer_after(SiteKey(site), ADDRESS, at(due), Duration::from_secs(took));
            }
            let turns = expect.map(|(_, n)| {
                let now = bench.next_due().expect("one waits");
                assert_eq!(bench.pick(now), Some((SiteKey(n).into(), ADDRESS)), "{sites:?} {now:?}");
                bench.end(ADDRESS, now + Duration::from_secs(sites[usize::try_from(n).expect("small")].1));
                now
            });
            assert_eq!(turns, expect.map(|(turn, _)| at(turn)), "{sites:?}");
        }
    }

    #[test]
    fn a_slow_site_waits_for_nobody_where_nobody_waits() {
        let mut bench = bench();
        let slow = Duration::from_secs(30);
        bench.offer(SiteKey(2), ADDRESS, Timestamp(50));
        bench.offer_after(SiteKey(1), ADDRESS, Timestamp(10), slow);
        let waiting = bench.waiting(SiteKey(1)).expect("it waits");
        assert_eq!((waiting.due, waiting.first_from), (Timestamp(10), None));
        assert_eq!((bench.pick(Timestamp(20)), bench.next_due()), (None, Some(Timestamp(50))));
        bench.withdraw(SiteKey(2));
        assert_eq!(
            (bench.next_due(), bench.waiting(SiteKey(1)).unwrap().first_from),
            (Some(Timestamp(10)), Some(Timestamp(10)))
        );
        // The other comes when it would be done: it takes its turn before.
        bench.offer(SiteKey(2), ADDRESS, Timestamp(10) + slow);
        assert_eq!(bench.waiting(SiteKey(1)).unwrap().first_from, Some(Timestamp(10)));
        bench.withdraw(SiteKey(2));
        assert!(bench.pick(Timestamp(20)).is_some() && bench.is_empty());
        bench.offer_after(SiteKey(1), Group::Site(SiteKey(1)), Timestamp(10), slow);
        bench.offer_after(SiteKey(1), Group::Site(SiteKey(1)), Timestamp(10), slow);
        assert_eq!(bench.next_due(), Some(Timestamp(10)), "its own connections are no others");
    }

    #[test]
    fn a_certain_site_is_taken_when_it_is_due_and_its_address_is_free() {
        let mut bench = bench();
        bench.offer(SiteKey(1), ADDRESS, Timestamp(0));
        bench.offer(SiteKey(2), ADDRESS, Timestamp(10));
        assert_eq!((bench.take(SiteKey(3), Timestamp(20)), bench.take(SiteKey(2), Timestamp(9))), (None, None));
        assert_eq!(bench.take(SiteKey(2), Timestamp(10)), Some(ADDRESS));
        assert_eq!((bench.take(SiteKey(1), Timestamp(20)), bench.is_waiting(SiteKey(2))), (None, false), "it is taken");
        bench.end(ADDRESS, Timestamp(30));
        assert_eq!(
            (bench.take(SiteKey(1), Timestamp(29)), bench.take(SiteKey(1), Timestamp(30))),
            (None, Some(ADDRESS))
        );
    }

    #[test]
    fn sites_on_one_address_take_turns_with_its_delay_between_them() {
        let mut bench = bench();
        bench.offer(SiteKey(1), ADDRESS, Timestamp(0));
        bench.offer(SiteKey(2), ADDRESS, Timestamp(0));
        let (first, group) = bench.pick(Timestamp(5)).expect("one is due");
        assert_eq!(bench.pick(Timestamp(1_000)), None, "the address is taken");
        assert_eq!(bench.next_due(), None);
        bench.end(group, Timestamp(30));
        assert_eq!(bench.pick(Timestamp(29)), None);
        let (second, _) = bench.pick(Timestamp(30)).expect("the other is due");
        assert_ne!(first, second);
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one() {
        let mut bench = bench();
        let group = |text: &str| Group::of_address(text.parse().expect(text));
        for (site, address) in [(1, "2001:db8::1"), (2, "2001:db8::2:3"), (3, "2001:db8:0:1::1")] {
            bench.offer(SiteKey(site), group(address), Timestamp(0));
        }
        let taken: Vec<_> = std::iter::from_fn(|| bench.pick(Timestamp(9))).collect();
        assert_eq!(taken.len(), 2, "{taken:?}");
        bench.end(group("2001:db8::ffff"), Timestamp(9));
        assert!(bench.pick(Timestamp(9)).is_some());
    }

    #[test]
    fn an_address_remembers_its_delay_while_no_site_waits_on_it() {
        let mut bench = bench();
        bench.offer(SiteKey(1), ADDRESS, Timestamp(0));
        let (_, group) = bench.pick(Timestamp(0)).expect("due");
        bench.end(group, Timestamp(50));
        assert_eq!(bench.pick(Timestamp(49)), None);
        bench.offer(SiteKey(2), ADDRESS, Timestamp(0));
        assert_eq!(bench.next_due(), Some(Timestamp(50)));
        bench.withdraw(SiteKey(2));
        assert!(bench.is_empty());
        assert_eq!(bench.pick(Timestamp(50)), None);
        assert!(bench.groups.is_empty(), "forgotten when the delay is over");
    }

    #[test]
    fn offering_again_moves_a_site() {
        let mut bench = bench();
        bench.offer(SiteKey(1), ADDRESS, Timestamp(10));
        bench.offer(SiteKey(1), Group::Site(SiteKey(1)), Timestamp(20));
        assert_eq!((bench.len(), bench.next_due()), (1, Some(Timestamp(20))));
    }

    #[test]
    fn a_site_of_its_own_may_have_several_visits() {
        let mut bench = Workbench::new(2, Timestamp(0));
        let group = Group::Site(SiteKey(1));
        for expect in [true, true, false] {
            bench.offer(SiteKey(1), group, Timestamp(0));
            assert_eq!(bench.pick(Timestamp(0)).is_some(), expect);
        }
        bench.end(group, Timestamp(0));
        assert!(bench.pick(Timestamp(0)).is_some());
    }

    #[test]
    fn after_a_restart_all_is_quiet_for_a_while() {
        let mut bench = Workbench::new(1, Timestamp(100));
        bench.offer(SiteKey(1), ADDRESS, Timestamp(0));
        assert_eq!(bench.next_due(), Some(Timestamp(100)));
    }
}
