//! How long to wait, after what.

use std::time::Duration;

/// The settings of politeness. Each has a key of the same name in `crawl.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Politeness {
    /// From the end of one visit to a site to the start of the next, at least.
    pub delay: Duration,
    /// The same per IP address, across sites. Zero switches it off.
    pub ip_delay: Duration,
    /// Wait at least this many times the last response time. Zero switches it off.
    pub delay_factor: f64,
    /// Connections to a site at once.
    pub connections_per_site: usize,
    /// The longest Crawl-delay obeyed; a longer one counts as this.
    pub crawl_delay_max: Duration,
    /// The longest Retry-After obeyed; a longer one counts as this.
    pub retry_after_max: Duration,
    /// The wait after the first failure; it doubles with every further one in a row.
    pub backoff: Duration,
    /// The longest wait after failures.
    pub backoff_max: Duration,
    /// How often a URL is asked for before a temporary failure counts as final.
    pub attempts_max: u8,
    /// Failures in a row, of whatever URLs, after which a site is given up.
    pub failures_in_a_row_max: u32,
}

impl Default for Politeness {
    fn default() -> Self {
        Politeness {
            delay: Duration::from_secs(1),
            ip_delay: Duration::from_millis(250),
            delay_factor: 0.0,
            connections_per_site: 1,
            crawl_delay_max: Duration::from_secs(300),
            retry_after_max: Duration::from_secs(24 * 3600),
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_secs(300),
            attempts_max: 4,
            failures_in_a_row_max: 20,
        }
    }
}

impl Politeness {
    /// The wait after a visit to a site: the longest of the configured delay, its Crawl-delay, and `delay_factor` times
    /// its last response time.
    #[must_use]
    pub fn delay_after(&self, crawl_delay: Option<Duration>, response_time: Duration) -> Duration {
        let asked = crawl_delay.unwrap_or_default().min(self.crawl_delay_max);
        let by_speed = Duration::try_from_secs_f64(response_time.as_secs_f64() * self.delay_factor).unwrap_or_default();
        self.delay.max(asked).max(by_speed)
    }

    /// The wait after a failure that is the `failures`-th in a row (from 1): what the server asks for if it does, else
    /// exponential back-off.
    #[must_use]
    pub fn backoff_after(&self, failures: u32, retry_after: Option<Duration>) -> Duration {
        match retry_after {
            Some(asked) => asked.min(self.retry_after_max),
            None => {
                let doublings = failures.saturating_sub(1).min(30);
                self.backoff.saturating_mul(1 << doublings).min(self.backoff_max)
            }
        }
    }

    /// The longest wait that any of these rules can ask for. A due time further ahead than this comes from a clock that
    /// was set back.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        [self.delay, self.crawl_delay_max, self.retry_after_max, self.backoff_max].into_iter().max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn the_longest_of_all_delays_counts() {
        let rules = Politeness { delay_factor: 5.0, ..Politeness::default() };
        for (crawl_delay, response_ms, expect) in [
            (None, 0, S(1)),
            (Some(Duration::from_millis(200)), 0, S(1)),
            (Some(S(7)), 100, S(7)),
            (Some(S(7)), 2_000, S(10)),
            (Some(S(100_000)), 0, S(300)),
        ] {
            assert_eq!(rules.delay_after(crawl_delay, Duration::from_millis(response_ms)), expect);
        }
    }

    #[test]
    fn back_off_doubles_until_its_limit_and_retry_after_is_obeyed() {
        let rules = Politeness::default();
        for (failures, retry_after, expect) in [
            (1, None, S(1)),
            (2, None, S(2)),
            (5, None, S(16)),
            (60, None, S(300)),
            (1, Some(S(3600)), S(3600)),
            (9, Some(S(0)), S(0)),
            (1, Some(S(1_000_000)), S(86_400)),
        ] {
            assert_eq!(rules.backoff_after(failures, retry_after), expect, "{failures} {retry_after:?}");
        }
    }
}
