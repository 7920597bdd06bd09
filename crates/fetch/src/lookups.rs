//! How often names of one domain are looked up.
//!
//! A page may link to any number of names, of a domain that is not its own, which need not exist. Each name costs a query to the name
//! servers of that domain, however politely its site would be visited.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use weburl::registrable_domain;

/// Names of a registrable domain that may be looked up at once, if it was not asked lately.
const BURST: u32 = 100;
/// Names of a registrable domain that are looked up in a second after that.
const PER_SECOND: u32 = 50;
const INTERVAL: Duration = Duration::from_millis(1_000 / PER_SECOND as u64);
/// A name that was looked up so lately needs no turn: the resolver keeps its answer, the negative ones at least as long.
const KEPT: Duration = crate::dns::NEGATIVE_TTL_MIN;
/// Names and domains that are remembered, at most. Where there are more, all are forgotten.
const REMEMBERED_MAX: usize = 65_536;

/// The turns of all domains.
#[derive(Default)]
pub(crate) struct Lookups {
    /// The time up to which the lookups of a domain use up its rate: in the past by one interval for each lookup of an unused burst.
    domains: HashMap<Box<str>, Instant>,
    /// Until when a name needs no turn.
    names: HashMap<Box<str>, Instant>,
}

impl Lookups {
    /// How long to wait before `name` is looked up; `None`, and no turn, if that were longer than `wait_max`.
    pub(crate) fn turn(&mut self, name: &str, now: Instant, wait_max: Option<Duration>) -> Option<Duration> {
        if self.names.get(name).is_some_and(|until| *until > now) {
            return Some(Duration::ZERO);
        }
        let domain = registrable_domain(name);
        let full_at = self.domains.get(domain).map_or(now, |full_at| (*full_at).max(now)) + INTERVAL;
        let wait = full_at.saturating_duration_since(now).saturating_sub(INTERVAL * BURST);
        if wait_max.is_some_and(|max| wait > max) {
            return None;
        }
        remember(&mut self.domains, domain, full_at, now);
        remember(&mut self.names, name, now + wait + KEPT, now);
        Some(wait)
    }
}

/// Keeps that something holds until `until`.
fn remember(all: &mut HashMap<Box<str>, Instant>, key: &str, until: Instant, now: Instant) {
    if let Some(known) = all.get_mut(key) {
        *known = until;
        return;
    }
    if all.len() >= REMEMBERED_MAX {
        all.retain(|_, until| *until > now);
    }
    // A domain that is forgotten has a burst again: it takes as many other domains to have one forgotten.
    if all.len() >= REMEMBERED_MAX {
        all.clear();
    }
    all.insert(key.into(), until);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(
        lookups: &mut Lookups,
        names: std::ops::Range<u32>,
        now: Instant,
        max: Option<Duration>,
    ) -> Vec<Option<Duration>> {
        names.map(|n| lookups.turn(&format!("h{n}.victim.test"), now, max)).collect()
    }

    #[test]
    fn names_of_one_domain_have_a_rate_after_a_burst() {
        let (mut lookups, now) = (Lookups::default(), Instant::now());
        let all = turns(&mut lookups, 0..3_000, now, None);
        assert!(all[..100].iter().all(|wait| *wait == Some(Duration::ZERO)), "{all:?}");
        let expect = (1..=2_900).map(|turn| Some(INTERVAL * turn));
        assert!(all[100..].iter().copied().eq(expect), "each has a turn, and nobody is turned away");
        assert_eq!(lookups.turn("h1.other.test", now, None), Some(Duration::ZERO), "another domain");
        assert_eq!(lookups.turn("h2999.victim.test", now, None), Some(Duration::ZERO), "its answer is on the way");
        let later = now + INTERVAL * 3_000 + KEPT;
        assert_eq!(lookups.turn("h1.victim.test", later, None), Some(Duration::ZERO), "everything is over");
        assert_eq!(lookups.domains[registrable_domain("h1.victim.test")], later + INTERVAL);
    }

    #[test]
    fn who_does_not_wait_takes_no_turn() {
        let (mut lookups, now) = (Lookups::default(), Instant::now());
        let max = Some(INTERVAL * 10);
        let had = turns(&mut lookups, 0..100_000, now, max).into_iter().flatten().count();
        assert_eq!(had, 110);
        assert_eq!(turns(&mut lookups, 0..100_000, now + INTERVAL, max).into_iter().flatten().count(), 110 + 1);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut lookups, now) = (Lookups::default(), Instant::now());
        for n in 0..REMEMBERED_MAX + 10 {
            assert_eq!(lookups.turn(&format!("site{n}.test"), now, None), Some(Duration::ZERO));
        }
        assert!(lookups.names.len() <= REMEMBERED_MAX && lookups.domains.len() <= REMEMBERED_MAX);
    }
}
