//! Until when a worker may send requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::clock::since_boot;
use fetch::Gate;
use tokio::sync::watch;

/// A lease. It is valid until a time of a clock that advances while the machine sleeps.
#[derive(Clone)]
pub struct Lease {
    terms: Arc<Mutex<Terms>>,
    /// Says that the terms changed.
    changed: watch::Sender<()>,
}

#[derive(Clone, Copy)]
struct Terms {
    /// Since when it has lasted without a gap.
    since: Duration,
    until: Duration,
    has_ended: bool,
}

/// A time of the clock of leases, which advances while the machine sleeps.
#[must_use]
pub fn now() -> Duration {
    since_boot()
}

impl Lease {
    /// A lease that is valid until `until`, a time of [`now`].
    #[must_use]
    pub fn until(until: Duration) -> Self {
        Lease {
            terms: Arc::new(Mutex::new(Terms { since: now(), until, has_ended: false })),
            changed: watch::channel(()).0,
        }
    }

    /// Extends it to `until`, unless it lasts longer already.
    pub fn extend(&self, until: Duration) {
        self.change(|terms| {
            let now = now();
            if now >= terms.until {
                terms.since = now;
            }
            terms.until = terms.until.max(until);
        });
    }

    /// Has it count as one that begins now, whatever this clock says: what the others have was over.
    pub fn begin_again(&self) {
        self.change(|terms| terms.since = now());
    }

    /// Ends it for good: tasks that wait for it wait until they are dropped.
    pub fn end(&self) {
        self.change(|terms| *terms = Terms { has_ended: true, ..*terms });
    }

    /// Whether requests may be sent now.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.has_held_for(Duration::ZERO)
    }

    /// Whether requests may be sent now, and could be all the time for so long.
    #[must_use]
    pub fn has_held_for(&self, time: Duration) -> bool {
        let (terms, now) = (*self.terms.lock().unwrap_or_else(PoisonError::into_inner), now());
        !terms.has_ended && now < terms.until && now >= terms.since + time
    }

    /// Waits until requests may be sent.
    pub async fn held(&self) {
        let mut changed = self.changed.subscribe();
        while !self.holds() {
            // The sender lives as long as this lease.
            let _ = changed.changed().await;
        }
    }

    /// The gate for requests.
    #[must_use]
    pub fn gate(&self) -> Gate {
        let lease = self.clone();
        Gate::new(move || {
            let lease = lease.clone();
            async move { lease.held().await }
        })
    }

    fn change(&self, change: impl FnOnce(&mut Terms)) {
        change(&mut self.terms.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn a_lease_holds_until_its_time() {
        let lease = Lease::until(now());
        assert!(!lease.holds(), "its time has come");
        let waiting = tokio::spawn({
            let lease = lease.clone();
            async move { lease.held().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        lease.extend(now() + LONG);
        waiting.await.expect("it goes on");
        assert!(lease.holds());
        lease.extend(now());
        assert!(lease.holds(), "it gets no shorter");
    }

    #[test]
    fn a_gap_begins_a_lease_again() {
        const SHORT: Duration = Duration::from_millis(20);
        let sleep_short = || std::thread::sleep(SHORT);
        let lease = Lease::until(now() + LONG);
        assert!(!lease.has_held_for(LONG), "it has only begun");
        sleep_short();
        lease.extend(now() + LONG * 2);
        assert!(lease.has_held_for(SHORT), "there is no gap");
        let lapsed = Lease::until(now());
        sleep_short();
        lapsed.extend(now() + LONG);
        assert!(lapsed.holds() && !lapsed.has_held_for(LONG));
        let began = |lease: &Lease| lease.terms.lock().expect("nobody panicked").since;
        assert!(began(&lapsed) >= began(&lease) + SHORT * 2, "it began behind the gap");
        lease.begin_again();
        assert!(lease.holds() && began(&lease) >= began(&lapsed));
    }

    #[test]
    fn what_has_ended_stays_so() {
        let lease = Lease::until(now() + LONG);
        lease.end();
        assert!(!lease.holds());
        lease.extend(now() + LONG);
        assert!(!lease.holds());
    }
}
