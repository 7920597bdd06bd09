//! The machine's own network: if no site at all can be reached, the network is down, and no failure counts.

use std::time::Duration;

use foldhash::HashSet;
use model::{Failure, FailureKind, Timestamp};
use weburl::SiteKey;

use super::State;

/// So many sites must fail that were reached before, one after the other and none answering, or all there are if they are fewer: but not
/// less than [`SITES_MIN`], since of one or two sites nobody can tell.
const SITES_ENOUGH: usize = 8;
const SITES_MIN: usize = 3;

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
    failed_since: Option<Timestamp>,
    down: Option<Down>,
    /// Something was reached in this run.
    was_reached: bool,
    /// How a site failed last that could not be reached.
    last_failure: Option<String>,
}

/// The network is down.
#[derive(Clone, Copy)]
struct Down {
    since: Timestamp,
    /// When something is tried again.
    probe_at: Timestamp,
    probes: usize,
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

    /// The last failure of an unreachable site, in words.
    pub(super) fn last_failure(&self) -> Option<String> {
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

    /// Some site has answered.
    pub(super) fn reached(&mut self) {
        self.was_reached = true;
        self.failed.clear();
        self.failed_since = None;
        self.down = None;
    }

    /// A site could not be reached, of this many in all. True if the network is the cause, not the site.
    fn is_down(&mut self, now: Timestamp, site: SiteKey, was_reached: bool, sites: usize) -> bool {
        if self.down.is_some() {
            return true;
        }
        let enough = sites.clamp(SITES_MIN, SITES_ENOUGH);
        let since = *self.failed_since.get_or_insert(now);
        if was_reached && self.failed.len() < enough {
            self.failed.insert(site);
        }
        if self.failed.len() < enough || now.since(since) < SILENT_FOR_MIN {
            return false;
        }
        self.down = Some(Down { since, probe_at: now + PROBE_WAITS[0], probes: 1 });
        true
    }
}

impl State {
    /// Notes the failure of a site. True if the machine's own network is the cause: then it does not count.
    pub(super) fn is_fault_of_network(&mut self, now: Timestamp, site: SiteKey, failure: &Failure) -> bool {
        match failure.kind {
            kind if kind.is_silence() => {}
            // Neither says anything of the network.
            FailureKind::Internal | FailureKind::NameNotFound | FailureKind::AddressDenied => return false,
            _ => {
                self.network.reached();
                return false;
            }
        }
        let named = self.front(site).map(|front| front.state.site().to_string()).unwrap_or_default();
        self.network.last_failure = Some(format!("{named}: {}", failure.detail));
        let sites = self.sites.len() + self.asides.len();
        let was_reached = self.front(site).is_some_and(|front| front.state.was_reached());
        self.network.is_down(now, site, was_reached, sites)
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
        // Sites there are; failures as (second, site), where site 0 stands for an answer; since when the network is down.
        let check = |sites: usize, events: &[(u64, u64)], expect: Option<u64>| {
            let mut network = OwnNetwork::default();
            for (second, site) in events {
                match site {
                    0 => network.reached(),
                    _ => _ = network.is_down(S(*second), SiteKey(*site), *site < 100, sites),
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
    }

    #[test]
    fn probes_are_few_and_fewer() {
        let mut network = OwnNetwork::default();
        for (second, site) in [(0, 1), (0, 2), (2, 3)] {
            network.is_down(S(second), SiteKey(site), true, 3);
        }
        let tried: Vec<u64> = (0..=120).filter(|second| network.may_try(S(*second))).collect();
        assert_eq!(tried, [3, 5, 10, 20, 50, 110]);
    }
}
