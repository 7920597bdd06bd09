//! The clockwork of a body: how long it may take, and how slow it may be.

use std::time::Duration;

use model::Limits;
use tokio::time::Instant;

/// The time limits of one body. Time spent waiting for memory of our own does not count against the server.
#[derive(Debug)]
pub(crate) struct Pace {
    deadline: Instant,
    total_timeout: Duration,
    window_end: Instant,
    window_bytes: u64,
    rate_min: u64,
}

impl Pace {
    /// The limits of a body whose request was sent at `sent` and whose head is there `now`. The whole answer has `total_timeout`.
    pub(crate) fn new(limits: &Limits, total_timeout: Duration, sent: Instant, now: Instant) -> Self {
        Pace {
            deadline: sent + total_timeout,
            total_timeout,
            window_end: now + Limits::RATE_WINDOW,
            window_bytes: 0,
            rate_min: limits.transfer_rate_min,
        }
    }

    /// When to look again even if nothing comes.
    pub(crate) fn next_check(&self) -> Instant {
        self.deadline.min(self.window_end)
    }

    pub(crate) fn received(&mut self, bytes: usize) {
        self.window_bytes += bytes as u64;
    }

    /// We made the server wait.
    pub(crate) fn waited(&mut self, duration: Duration) {
        self.deadline += duration;
        self.window_end += duration;
    }

    /// Why the body ends `now`, if it does.
    pub(crate) fn verdict(&mut self, now: Instant) -> Option<String> {
        if now >= self.deadline {
            return Some(format!("not at its end after {:?} (total_timeout)", self.total_timeout));
        }
        if now < self.window_end {
            return None;
        }
        if self.window_bytes < self.rate_min.saturating_mul(Limits::RATE_WINDOW.as_secs()) {
            return Some(format!("slower than {} bytes/s (transfer_rate_min)", self.rate_min));
        }
        self.window_bytes = 0;
        self.window_end = now + Limits::RATE_WINDOW;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(now: Instant) -> Pace {
        let limits = Limits { transfer_rate_min: 100, total_timeout: Duration::from_secs(60), ..Limits::default() };
        Pace::new(&limits, limits.total_timeout, now, now)
    }

    #[test]
    fn a_window_with_too_few_bytes_ends_the_body() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut pace = pace(start);
        pace.received(1_000);
        assert_eq!(pace.verdict(at(9)), None);
        assert_eq!(pace.verdict(at(10)), None);
        pace.received(999);
        assert_eq!(pace.verdict(at(19)), None);
        assert_eq!(pace.verdict(at(20)).as_deref(), Some("slower than 100 bytes/s (transfer_rate_min)"));
    }

    #[test]
    fn the_total_time_ends_the_body_however_fast_it_is() {
        let start = Instant::now();
        let mut pace = pace(start);
        pace.received(usize::MAX / 2);
        assert_eq!(
            pace.verdict(start + Duration::from_secs(60)).as_deref(),
            Some("not at its end after 60s (total_timeout)")
        );
    }

    #[test]
    fn waiting_for_memory_does_not_count() {
        let start = Instant::now();
        let mut pace = pace(start);
        pace.waited(Duration::from_secs(100));
        assert_eq!(pace.verdict(start + Duration::from_secs(109)), None);
        assert_eq!(pace.next_check(), start + Duration::from_secs(110));
    }
}
