//! How often the pages of a crawl may ask one address for things, all of them together.
//!
//! What a page asks for is not in the queue of any site, so its scripts could have the crawler send thousands of requests to a
//! server that is none of theirs. A rate bounds that, whatever the number of pages. A page of a hundred things is not delayed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use model::{Network, Timestamp};
use tokio::sync::Semaphore;

/// Requests that may come at once to an address that was not asked lately.
const BURST: u32 = 100;
/// A request that would have to wait longer than this is refused: the page is to come to its end.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(5);
/// Fetches for pages at once, from one address.
const AT_ONCE: usize = 6;
/// Addresses remembered. Those that were not asked lately are forgotten; where there are more, requests to others are refused.
const TARGETS_MAX: usize = 10_000;

/// What has a rate of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// An address, or a network of IPv6.
    Address(Network),
    /// A registrable domain, where the address is not known: behind a proxy.
    Domain(String),
}

impl Target {
    pub(super) fn of(address: Option<IpAddr>, domain: &str) -> Self {
        match address {
            Some(address) => Target::Address(Network::of(address)),
            None => Target::Domain(domain.to_owned()),
        }
    }
}

/// The turns of all targets.
pub(super) struct Pace {
    interval: Duration,
    targets: HashMap<Target, Turns>,
}

/// The turns of one target.
struct Turns {
    /// The time up to which requests use up the rate: it is in the past by one interval for each unused request of a burst.
    full_at: Timestamp,
    at_once: Arc<Semaphore>,
}

/// A request's turn.
pub(super) struct Turn {
    /// How long it is to wait.
    pub(super) wait: Duration,
    /// A permit of this is to be held meanwhile.
    pub(super) at_once: Arc<Semaphore>,
}

impl Pace {
    /// So many requests a second to one target, after a burst of [`BURST`].
    pub(super) fn new(per_second: u32) -> Self {
        Pace { interval: Duration::from_secs(1) / per_second.max(1), targets: HashMap::new() }
    }

    /// A turn for a request of a page; `None` where it is refused.
    pub(super) fn turn(&mut self, target: Target, now: Timestamp) -> Option<Turn> {
        let (interval, burst) = (self.interval, self.interval * BURST);
        let turns = self.turns(target, now)?;
        let full_at = turns.full_at.max(now) + interval;
        let wait = full_at.since(now).saturating_sub(burst);
        if wait > WAIT_MAX {
            return None;
        }
        turns.full_at = full_at;
        Some(Turn { wait, at_once: turns.at_once.clone() })
    }

    /// Counts a request of the crawl itself, which has waited for its own turn: pages get what it leaves.
    pub(super) fn count(&mut self, target: Target, now: Timestamp) {
        let (interval, latest) = (self.interval, now + self.interval * BURST + WAIT_MAX);
        if let Some(turns) = self.turns(target, now) {
            turns.full_at = (turns.full_at.max(now) + interval).min(latest);
        }
    }

    /// `None` without room.
    fn turns(&mut self, target: Target, now: Timestamp) -> Option<&mut Turns> {
        if self.targets.len() >= TARGETS_MAX && !self.targets.contains_key(&target) {
            self.targets.retain(|_, turns| turns.full_at > now || Arc::strong_count(&turns.at_once) > 1);
            if self.targets.len() >= TARGETS_MAX {
                return None;
            }
        }
        let new = || Turns { full_at: now, at_once: Arc::new(Semaphore::new(AT_ONCE)) };
        Some(self.targets.entry(target).or_insert_with(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn at(text: &str) -> Target {
        Target::of(Some(text.parse().expect(text)), "a.test")
    }

    fn waits(pace: &mut Pace, target: &str, now: Timestamp, requests: usize) -> Vec<Option<Duration>> {
        (0..requests).map(|_| pace.turn(at(target), now).map(|turn| turn.wait)).collect()
    }

    #[test]
    fn a_burst_is_not_delayed_and_what_follows_keeps_the_rate() {
        let mut pace = Pace::new(10);
        let burst = waits(&mut pace, "10.0.0.1", NOW, BURST as usize);
        assert!(burst.iter().all(|wait| *wait == Some(Duration::ZERO)), "{burst:?}");
        let more = waits(&mut pace, "10.0.0.1", NOW, 5_000);
        let expect = (1..=50).map(|tenth| Some(Duration::from_millis(100 * tenth)));
        assert!(more.iter().copied().take(50).eq(expect), "{more:?}");
        assert!(more.iter().skip(50).all(Option::is_none), "what waits longer is refused");
        assert!(waits(&mut pace, "10.0.0.2", NOW, 1)[0] == Some(Duration::ZERO), "another address");
        // In a minute there are no more than the burst and the rate, however often it is tried.
        let mut pace = Pace::new(10);
        let taken = (0..6_000).filter(|n| pace.turn(at("10.0.0.1"), NOW + Duration::from_millis(10 * n)).is_some());
        assert!((700..=750).contains(&taken.count()));
    }

    #[test]
    fn the_requests_of_the_crawl_count_and_never_wait() {
        let mut pace = Pace::new(10);
        for _ in 0..90 {
            pace.count(at("10.0.0.1"), NOW);
        }
        assert_eq!(
            waits(&mut pace, "10.0.0.1", NOW, 11)[9..],
            [Some(Duration::ZERO), Some(Duration::from_millis(100))]
        );
        for _ in 0..1_000_000 {
            pace.count(at("10.0.0.1"), NOW);
        }
        assert_eq!(waits(&mut pace, "10.0.0.1", NOW, 1), [None]);
        assert_eq!(waits(&mut pace, "10.0.0.1", NOW + Duration::from_secs(16), 1), [Some(Duration::ZERO)]);
    }

    #[test]
    fn an_ipv6_network_is_one_target_and_a_domain_where_there_is_no_address() {
        assert_eq!(at("2001:db8::1"), at("2001:db8:0:0:ffff::2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(Target::of(None, "a.test"), Target::Domain("a.test".to_owned()));
    }

    #[test]
    fn targets_are_bounded() {
        let mut pace = Pace::new(10);
        let other = |n: usize| Target::Domain(n.to_string());
        for n in 0..TARGETS_MAX {
            assert!(pace.turn(other(n), NOW).is_some());
        }
        assert!(pace.turn(other(TARGETS_MAX), NOW).is_none());
        assert!(pace.turn(other(0), NOW).is_some());
        assert!(pace.turn(other(TARGETS_MAX), NOW + Duration::from_secs(1)).is_some());
        assert_eq!(pace.targets.len(), 1);
    }
}
