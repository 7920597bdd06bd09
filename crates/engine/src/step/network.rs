//! The machine's own network: if no site at all can be reached, the network is down, and no failure counts.

use std::time::Duration;

use foldhash::HashSet;
use frontier::Group;
use model::{Failure, FailureKind, Network, Timestamp};
use weburl::SiteKey;

use super::{Front, Slot, State};
use crate::Unreached;

/// So many sites must fail that were reached before, one after the other and none answering, or all in front with something to do if they
/// are fewer: but not less than [`SITES_MIN`], since of one or two sites nobody can tell.
const SITES_ENOUGH: usize = 8;
const SITES_MIN: usize = 3;

/// They must fail at so many places: the sites of one address fail together when its machine does.
const PLACES_MIN: usize = 3;

/// A site that has failed for so long when others begin to fail is out of order by itself, and says nothing of the network.
const FAILED_BEFORE_MIN: Duration = Duration::from_secs(60);

/// The time without an answer from any site.
const SILENT_FOR_MIN: Duration = Duration::from_secs(2);

/// The waits between two attempts to reach something; the last one repeats.
const PROBE_WAITS: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_secs(60),
];

/// What is known of the machine's own network.
#[derive(Default)]
pub(super) struct OwnNetwork {
    /// Sites that could not be reached since one was; no more than are enough.
    failed: HashSet<SiteKey>,
    /// Where; no more than are enough.
    places: HashSet<Place>,
    failed_since: Option<Timestamp>,
    down: Option<Down>,
    /// Something was reached in this run.
    was_reached: bool,
    /// The site that could not be reached last.
    last_failure: Option<Unreached>,
}

/// Where a site failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// At its addresses: the least of them, whichever of them is in use. So all sites with the same addresses are at one place.
    Network(Network),
    /// At the look-up of its name.
    Name(SiteKey),
}

/// The network is down.
#[derive(Clone, Copy)]
struct Down {
    since: Timestamp,
    /// When something is tried again.
    probe_at: Timestamp,
    probes: usize,
    /// The site whose name the last probe found. To connect to it belongs to the same probe: names may be known nearby, and hold for a shorter time
    /// than the wait for the next one.
    found: Option<SiteKey>,
}

impl OwnNetwork {
    /// Since when it is down, if it is.
    pub(super) fn down_since(&self) -> Option<Timestamp> {
        self.down.map(|down| down.since)
    }

    /// True if some site has answered in this run, in any way.
    pub(super) fn was_reached(&self) -> bool {
        self.was_reached
    }

    /// The site that could not be reached last.
    pub(super) fn last_failure(&self) -> Option<Unreached> {
        self.last_failure.clone()
    }

    /// Before when nothing may be tried.
    pub(super) fn quiet_until(&self) -> Option<Timestamp> {
        self.down.map(|down| down.probe_at)
    }

    /// True if a request may be tried. If the network is down, this uses up the attempt.
    pub(super) fn may_try(&mut self, now: Timestamp) -> bool {
        let Some(down) = &mut self.down else { return true };
        if down.probe_at > now {
            return false;
        }
        down.probe_at = now + PROBE_WAITS[down.probes.min(PROBE_WAITS.len() - 1)];
        down.probes += 1;
        true
    }

    /// The name of a site was found.
    pub(super) fn found_name(&mut self, site: SiteKey) {
        if let Some(down) = &mut self.down {
            down.found = Some(site);
        }
    }

    /// The site whose turn it is as part of a probe.
    pub(super) fn found(&self) -> Option<SiteKey> {
        self.down?.found
    }

    /// That site has had its turn, or wants none.
    pub(super) fn found_had_its_turn(&mut self) {
        if let Some(down) = &mut self.down {
            down.found = None;
        }
    }

    /// The answer of some site has begun to come.
    fn answer_has_begun(&mut self) {
        self.was_reached = true;
    }

    /// Some site has answered.
    pub(super) fn reached(&mut self) {
        self.was_reached = true;
        self.failed.clear();
        self.places.clear();
        self.failed_since = None;
        self.down = None;
    }

    /// A site could not be reached at a place. True if the network is the cause, not the site. `is_evidence`: the site answered before, and
    /// has not failed for long; `have_all` says whether all such sites are among those that failed since then.
    fn is_down(
        &mut self,
        now: Timestamp,
        (site, place): (SiteKey, Place),
        is_evidence: impl FnOnce(Timestamp) -> bool,
        have_all: impl FnOnce(&HashSet<SiteKey>, Timestamp) -> bool,
    ) -> bool {
        if self.down.is_some() {
            return true;
        }
        let since = *self.failed_since.get_or_insert(now);
        let is_evidence = is_evidence(since);
        if is_evidence && self.failed.len() < SITES_ENOUGH {
            self.failed.insert(site);
        }
        if is_evidence && self.places.len() < PLACES_MIN {
            self.places.insert(place);
        }
        let may_be = self.failed.len() >= SITES_MIN
            && self.places.len() >= PLACES_MIN
            && now.since(since) >= SILENT_FOR_MIN
            && (self.failed.len() >= SITES_ENOUGH || have_all(&self.failed, since));
        if !may_be {
            return false;
        }
        self.down = Some(Down { since, probe_at: now + PROBE_WAITS[0], probes: 1, found: None });
        true
    }
}

/// Whether a failure of this site may be that of the network, where sites fail since then.
fn may_tell_of_network(front: &Front, since: Timestamp) -> bool {
    let fails_by_itself = front.state.failing().is_some_and(|failing| failing.since + FAILED_BEFORE_MIN <= since);
    front.state.was_reached() && !front.state.needs_no_network() && !fails_by_itself
}

impl State {
    /// Notes the failure of a site. True if the machine's own network is the cause: then it does not count.
    pub(super) fn is_fault_of_network(&mut self, now: Timestamp, site: SiteKey, failure: &Failure) -> bool {
        match failure.kind {
            kind if kind.is_silence() => {}
            // Neither says anything of the network.
            FailureKind::Internal | FailureKind::NameNotFound | FailureKind::AddressDenied => return false,
            _ => {
                if self.network.down_since().is_some() {
                    self.patience.begins(now);
                }
                self.network.reached();
                return false;
            }
        }
        let (sites, network) = (&self.sites, &mut self.network);
        let front = match sites.get(&site) {
            Some(Slot::Here(front)) => Some(front),
            Some(Slot::Loading(_)) | None => None,
        };
        let unreached =
            front.map(|front| Unreached { site: front.state.site().clone(), detail: failure.detail.clone() });
        let addresses = front.filter(|_| failure.kind != FailureKind::NameServer);
        let address = addresses.and_then(|front| front.state.addresses.as_ref()?.iter().min());
        let place = address.map_or(Place::Name(site), |address| Place::Network(Network::of(*address)));
        network.last_failure = unreached.or(network.last_failure.take());
        let is_evidence = |since| front.is_some_and(|front| may_tell_of_network(front, since));
        network.is_down(now, (site, place), is_evidence, |failed, since| {
            sites.iter().all(|(site, slot)| match slot {
                Slot::Here(front) => {
                    failed.contains(site) || front.parked.is_some() || !may_tell_of_network(front, since)
                }
                Slot::Loading(_) => false,
            })
        })
    }

    /// Takes the turn of the site whose name a probe found, where it is due and its address is free. Until then it waits.
    pub(super) fn take_found(&mut self, now: Timestamp) -> Option<(SiteKey, Group)> {
        let site = self.network.found()?;
        let group = self.bench.take(site, now);
        if group.is_some() || !self.bench.is_waiting(site) {
            self.network.found_had_its_turn();
        }
        Some((site, group?))
    }

    /// When the next turn is due: while the network is down, the next probe, or what belongs to the last one.
    pub(super) fn next_turn(&self) -> Option<Timestamp> {
        let due = self.bench.next_due()?;
        let Some(quiet) = self.network.quiet_until() else { return Some(due) };
        let found = self.network.found().and_then(|site| self.bench.waiting(site)).filter(|found| !found.is_taken);
        let found = found.map(|found| found.due.max(found.group_due));
        Some(due.max(quiet).min(found.unwrap_or(Timestamp::MAX)))
    }

    /// Takes note that the answer of some site has begun to come: a run that fetched nothing waits for its end.
    pub fn answer_has_begun(&mut self) {
        self.network.answer_has_begun();
    }

    /// Since when no site at all can be reached.
    #[must_use]
    pub fn network_down_since(&self) -> Option<Timestamp> {
        self.network.down_since()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Timestamp = |seconds| Timestamp(seconds * 1_000_000);

    #[test]
    fn the_network_is_down_where_no_site_at_all_is_reached_for_a_while() {
        // Each site is at a place of its own, but those of two hundreds and more.
        let place = |site: u64| Place::Name(SiteKey(if site < 200 { site } else { 200 }));
        // Sites there are; failures as (second, site), where site 0 stands for an answer; since when the network is down.
        let check = |sites: usize, events: &[(u64, u64)], expect: Option<u64>| {
            let mut network = OwnNetwork::default();
            for (second, site) in events {
                match site {
                    0 => network.reached(),
                    _ => {
                        let was_reached = *site < 100 || *site >= 200;
                        let all = sites.clamp(SITES_MIN, SITES_ENOUGH);
                        let have_all = |failed: &HashSet<SiteKey>, _| failed.len() >= all;
                        network.is_down(S(*second), (SiteKey(*site), place(*site)), |_| was_reached, have_all);
                    }
                }
            }
            assert_eq!(network.down_since(), expect.map(S), "{sites} sites, {events:?}");
        };
        check(50, &[(5, 1), (5, 2), (5, 3), (5, 4), (6, 5), (6, 6), (7, 7), (8, 8)], Some(5));
        check(50, &[(5, 1), (5, 2), (5, 3), (5, 4), (6, 5), (6, 6), (7, 7), (8, 7)], None);
        check(50, &[(5, 1), (5, 2), (5, 3), (5, 4), (5, 5), (5, 6), (5, 7), (6, 8)], None);
        check(50, &[(5, 1), (5, 2), (5, 3), (6, 0), (7, 4), (7, 5), (8, 6), (9, 7), (9, 8), (9, 9)], None);
        check(3, &[(1, 1), (1, 2), (3, 3)], Some(1));
        check(1, &[(1, 1), (3, 1), (9, 1)], None);
        check(3, &[(1, 1), (1, 2), (3, 3), (4, 0)], None);
        // Some that were never reached may never be.
        check(3, &[(1, 101), (1, 102), (3, 103), (4, 104)], None);
        // One machine has sites enough, but it is one.
        let of_one: Vec<(u64, u64)> = (1..20).map(|n| (n, 200 + n)).collect();
        check(50, &of_one, None);
        check(50, &[&of_one[..], &[(30, 1)]].concat(), None);
        check(50, &[&of_one[..], &[(30, 1), (31, 2)]].concat(), Some(1));
    }

    #[test]
    fn probes_are_few_and_fewer() {
        let mut network = OwnNetwork::default();
        for (second, site) in [(0, 1), (0, 2), (2, 3)] {
            network.is_down(
                S(second),
                (SiteKey(site), Place::Name(SiteKey(site))),
                |_| true,
                |failed, _| failed.len() == 3,
            );
        }
        let tried: Vec<u64> = (0..=120).filter(|second| network.may_try(S(*second))).collect();
        assert_eq!(tried, [3, 5, 10, 20, 50, 110]);
        assert_eq!(network.found(), None);
        network.found_name(SiteKey(2));
        assert_eq!((network.found(), network.found()), (Some(SiteKey(2)), Some(SiteKey(2))));
        network.found_had_its_turn();
        assert_eq!(network.found(), None);
    }
}
