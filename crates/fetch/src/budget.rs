//! The memory that bodies, and what is read from them, may take at once, over all fetches: `in_flight_bytes_max`. [`Division`] says which part
//! is for what.
//!
//! Each fetch holds a [`Share`] which grows with its body and lives as long as the body's bytes do, in whatever stage
//! they are. When nothing is left, one fetch may go on without (the overdraft), so fetches that grow never all wait for
//! each other. It keeps the overdraft as long as its bytes live: the memory is bounded by the budget plus one body. What a
//! page in a browser asks for has a budget of its own, since the page keeps what has come until the rest has come: there
//! the overdraft ends with the fetch, and what pages keep has limits of its own. robots.txt files have a budget too. A
//! redirect among their answers is kept while the next answer comes, so its overdraft ends with the answer.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The unit in which memory is given out.
const UNIT_BYTES: usize = 1024;

/// A share grows by at least this much, so that small frames do not mean many requests.
const GROWTH_UNITS: usize = 64;

/// `in_flight_bytes_max` is divided into so many parts.
const PARTS: u64 = 16;

/// A page that is being read takes so many times its bytes: its tree four times, and what is found as much again.
const READ_TIMES: u64 = 5;

/// How [`model::Limits::in_flight_bytes_max`] is divided. One body, one page and what is found in it may be larger than their part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Bytes of bodies, from the first that comes until they are recorded.
    pub bodies: u64,
    /// Bytes of large pages that are read at once. Reading takes several times as much, which is not for bodies.
    pub pages_read: u64,
    /// Bytes of the texts and links of pages until they are recorded. With as many, no further large page is read.
    pub contents: u64,
}

impl Division {
    /// How so many bytes are divided.
    #[must_use]
    pub fn of(in_flight_bytes_max: u64) -> Self {
        let part = in_flight_bytes_max / PARTS;
        Division { bodies: in_flight_bytes_max - part * (READ_TIMES + 1), pages_read: part, contents: part }
    }
}

/// What all fetches share.
#[derive(Debug)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    overdraft: Arc<Semaphore>,
    /// The overdraft is in use as long as the bytes live for which it was given.
    is_strict: bool,
}

/// What the bytes of a body hold as long as they live.
#[derive(Debug)]
pub(crate) struct Kept {
    _held: Option<OwnedSemaphorePermit>,
    _overdraft: Option<OwnedSemaphorePermit>,
}

/// What one fetch holds.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    used_bytes: usize,
    held: Option<OwnedSemaphorePermit>,
    overdraft: Option<OwnedSemaphorePermit>,
}

impl Budget {
    pub(crate) fn new(bytes_max: u64) -> Arc<Self> {
        let units = usize::try_from(bytes_max).unwrap_or(usize::MAX) / UNIT_BYTES;
        let units = Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS)));
        Arc::new(Budget { units, overdraft: Arc::new(Semaphore::new(1)), is_strict: true })
    }

    /// The same memory, for bytes that wait for others of it.
    pub(crate) fn lenient(&self) -> Arc<Self> {
        Arc::new(Budget { units: self.units.clone(), overdraft: self.overdraft.clone(), is_strict: false })
    }

    pub(crate) fn share(self: &Arc<Self>) -> Share {
        Share { budget: Arc::clone(self), used_bytes: 0, held: None, overdraft: None }
    }

    #[cfg(test)]
    pub(crate) fn available_bytes(&self) -> usize {
        self.units.available_permits() * UNIT_BYTES
    }
}

impl Share {
    /// Takes room for `bytes` more; returns how long it had to wait.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Duration {
        self.used_bytes = self.used_bytes.saturating_add(bytes);
        let missing = self.used_bytes.div_ceil(UNIT_BYTES).saturating_sub(self.held_units());
        if missing == 0 || self.overdraft.is_some() {
            return Duration::ZERO;
        }
        let wanted = u32::try_from(missing.max(GROWTH_UNITS)).unwrap_or(u32::MAX);
        if let Ok(permit) = Arc::clone(&self.budget.units).try_acquire_many_owned(wanted) {
            self.hold(permit);
            return Duration::ZERO;
        }
        let begun = Instant::now();
        // Neither semaphore is ever closed, so an error cannot come; it would let the fetch go on.
        tokio::select! {
            biased;
            permit = Arc::clone(&self.budget.units).acquire_many_owned(wanted) => permit.into_iter().for_each(|it| self.hold(it)),
            permit = Arc::clone(&self.budget.overdraft).acquire_owned() => self.overdraft = permit.ok(),
        }
        begun.elapsed()
    }

    /// Ends the growing: gives back what is not used, and returns what to keep as long as the bytes live.
    pub(crate) fn finish(mut self, used_bytes: usize) -> Arc<Kept> {
        let used = used_bytes.div_ceil(UNIT_BYTES);
        let surplus = self.held_units().saturating_sub(used);
        drop(self.held.as_mut().and_then(|held| held.split(surplus)));
        let is_kept = self.budget.is_strict && used > self.held_units();
        let overdraft = self.overdraft.take().filter(|_| is_kept);
        Arc::new(Kept { _held: self.held.take(), _overdraft: overdraft })
    }

    fn held_units(&self) -> usize {
        self.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    fn hold(&mut self, permit: OwnedSemaphorePermit) {
        match &mut self.held {
            Some(held) => held.merge(permit),
            None => self.held = Some(permit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_and_what_is_read_from_them_take_no_more_than_there_is() {
        for (bytes, bodies, part) in [(256_000_000, 160_000_000, 16_000_000), (100, 64, 6), (15, 15, 0), (0, 0, 0)] {
            let division = Division::of(bytes);
            assert_eq!(division, Division { bodies, pages_read: part, contents: part }, "{bytes}");
            assert_eq!(division.bodies + division.pages_read * READ_TIMES + division.contents, bytes);
        }
    }

    #[tokio::test]
    async fn a_finished_share_keeps_what_its_bytes_take_until_they_are_dropped() {
        let budget = Budget::new(1 << 20);
        let mut share = budget.share();
        share.grow(1).await;
        assert_eq!(budget.available_bytes(), (1 << 20) - (64 << 10));
        share.grow(99_999).await;
        let kept = share.finish(100_000);
        assert_eq!(budget.available_bytes(), (1 << 20) - 98 * 1024);
        drop(kept);
        assert_eq!(budget.available_bytes(), 1 << 20);
    }

    #[tokio::test]
    async fn when_nothing_is_left_one_goes_on_and_the_next_waits_for_it() {
        let budget = Budget::new(128 << 10);
        let (mut first, mut second, mut third) = (budget.share(), budget.share(), budget.share());
        first.grow(100 << 10).await;
        second.grow(100 << 10).await;
        assert!(second.overdraft.is_some());
        assert!(tokio::time::timeout(Duration::from_millis(1), third.grow(100 << 10)).await.is_err());
        drop(second);
        third.grow(0).await;
        assert!(third.overdraft.is_some());
    }

    #[tokio::test]
    async fn the_overdraft_is_kept_as_long_as_its_bytes() {
        let budget = Budget::new(128 << 10);
        let mut shares = [budget.share(), budget.share(), budget.share()];
        shares[0].grow(100 << 10).await;
        shares[1].grow(100 << 10).await;
        let [first, second, mut third] = shares;
        let (first, second) = (first.finish(100 << 10), second.finish(100 << 10));
        // 28 KiB are left, and the overdraft is in use by bytes that nobody has recorded yet.
        assert!(tokio::time::timeout(Duration::from_millis(1), third.grow(100 << 10)).await.is_err());
        drop(second);
        third.grow(0).await;
        assert!(third.overdraft.is_some());
        drop((first, third));
        assert_eq!(budget.available_bytes(), 128 << 10);
    }

    #[tokio::test]
    async fn what_waits_for_others_of_its_budget_does_not_keep_them_waiting() {
        let budget = Budget::new(128 << 10).lenient();
        let mut kept = Vec::new();
        for _ in 0..10 {
            let mut share = budget.share();
            share.grow(100 << 10).await;
            kept.push(share.finish(100 << 10));
        }
        drop(kept);
        assert_eq!(budget.available_bytes(), 128 << 10);
    }

    #[tokio::test]
    async fn many_growing_at_once_all_end() {
        let budget = Budget::new(64 << 10);
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let mut share = budget.share();
                tokio::spawn(async move {
                    for _ in 0..20 {
                        share.grow(7_000).await;
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a share that grows to its end");
        }
        assert_eq!(budget.available_bytes(), 64 << 10);
    }
}
