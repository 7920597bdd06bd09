//! How long to wait, after what.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use weburl::SiteKey;

/// The waits of a site in trouble, one after the other; the last one repeats.
pub const ASIDE_WAITS: [Duration; 6] = [
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 3600),
    Duration::from_secs(6 * 3600),
    Duration::from_secs(24 * 3600),
];

/// Failures in a row to connect or resolve after which a site is in trouble. They affect all URLs alike, so one URL is enough. With the
/// usual back-off this takes half a minute.
pub const UNREACHED_IN_A_ROW_MAX: u32 = 6;

/// Failing answers of different URLs in a row that need no back-off yet: some URLs of a site may be broken.
const ANSWERS_WITHOUT_BACKOFF: u32 = 4;

/// Halvings of the interval in which a wait is looked for: it is known to a millionth then.
const WAIT_HALVINGS: u32 = 20;

/// Requests that must find a page vanished before it counts as gone or moved, if `--max-attempts` allows so many.
const VANISHED_ATTEMPTS: u8 = 3;

/// The factor between the waits before sweeps over failed URLs.
const SWEEP_FACTOR: u32 = 8;

/// The kind of a failure, from the view of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The site could not be reached: its name, or the connection.
    Unreached,
    /// It asks for fewer requests (429).
    TooFast,
    /// A failing answer that may pass, or none in time. The failure may be the URL's alone.
    Answer,
    /// The failure is the URL's alone: its body broke off, or this program failed.
    Own,
}

/// The rule that decides how long a site waits after a visit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum DelayRule {
    /// `--delay`.
    Delay,
    /// `--delay-for`.
    DelayFor,
    /// Crawl-delay in robots.txt.
    CrawlDelay,
    /// The same, cut to `--max-crawl-delay`.
    CrawlDelayMax {
        /// What robots.txt asks for, in seconds.
        asked_s: f64,
    },
    /// `--ip-delay`: the sites on an address take turns.
    IpDelay {
        /// Sites on the address that want visits, with this one.
        sites: usize,
    },
    /// `--delay-factor` times the last response time.
    DelayFactor {
        /// The factor.
        factor: f64,
        /// The last response time, in seconds.
        response_s: f64,
    },
}

impl DelayRule {
    /// Its name in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DelayRule::Delay => "delay",
            DelayRule::DelayFor => "delay_for",
            DelayRule::CrawlDelay => "crawl_delay",
            DelayRule::CrawlDelayMax { .. } => "crawl_delay_max",
            DelayRule::IpDelay { .. } => "ip_delay",
            DelayRule::DelayFactor { .. } => "delay_factor",
        }
    }
}

/// The settings of politeness. Each has a key of the same name in `crawl.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Politeness {
    /// The shortest time from the end of one visit to a site to the start of the next.
    pub delay: Duration,
    /// The delays of some sites in place of `delay`.
    pub delay_for: BTreeMap<SiteKey, Duration>,
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
    /// The longest wait after failures, while the site is not put aside.
    pub backoff_max: Duration,
    /// The number of requests of a URL before a failure of its own counts as final.
    pub attempts_max: u8,
    /// Failures in a row, of different URLs, after which a site is put aside.
    pub failures_in_a_row_max: u32,
    /// How long a site may be in trouble before it is given up.
    pub give_up_after: Duration,
}

impl Default for Politeness {
    fn default() -> Self {
        Politeness {
            delay: Duration::from_secs(1),
            delay_for: BTreeMap::new(),
            ip_delay: Duration::from_millis(250),
            delay_factor: 0.0,
            connections_per_site: 1,
            crawl_delay_max: Duration::from_secs(300),
            retry_after_max: Duration::from_secs(24 * 3600),
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_secs(300),
            attempts_max: 4,
            failures_in_a_row_max: 8,
            give_up_after: Duration::from_secs(7 * 24 * 3600),
        }
    }
}

impl Politeness {
    /// The wait after a visit to a site, and the rule that decides it: the longest of the configured delay, its Crawl-delay, and
    /// `delay_factor` times its last response time.
    #[must_use]
    pub fn delay_after(
        &self,
        site: SiteKey,
        crawl_delay: Option<Duration>,
        response_time: Duration,
    ) -> (Duration, DelayRule) {
        let (asked, response_s) = (crawl_delay.unwrap_or_default(), response_time.as_secs_f64());
        let own = if self.delay_for.contains_key(&site) { DelayRule::DelayFor } else { DelayRule::Delay };
        let by_robots = match asked > self.crawl_delay_max {
            true => DelayRule::CrawlDelayMax { asked_s: asked.as_secs_f64() },
            false => DelayRule::CrawlDelay,
        };
        let by_speed = Duration::try_from_secs_f64(response_s * self.delay_factor).unwrap_or_default();
        // The last of the longest ones counts.
        let waits = [
            (by_speed, DelayRule::DelayFactor { factor: self.delay_factor, response_s }),
            (asked.min(self.crawl_delay_max), by_robots),
            (self.delay_of(site), own),
        ];
        waits.into_iter().max_by_key(|(wait, _)| *wait).unwrap_or((Duration::ZERO, own))
    }

    /// The time from one visit of a site with the delay `own` to the next, while `others` on its address have URLs, too: their delays.
    ///
    /// The address takes the site that is due first. So all wait equally long after they are due; and no longer than makes room for all, with
    /// `ip_delay` between two visits.
    #[must_use]
    pub fn interval_on_address(&self, own: Duration, others: &[Duration]) -> Duration {
        let between = self.ip_delay.as_secs_f64();
        // The part of the time that visits take up if each site waits so long.
        let load = |wait: f64| {
            let delays = others.iter().chain([&own]);
            delays.map(|delay| between / (delay.as_secs_f64() + wait)).sum::<f64>()
        };
        let (mut low, mut high) = (0.0, between * (others.len() + 1) as f64);
        if load(low) > 1.0 {
            for _ in 0..WAIT_HALVINGS {
                let middle = f64::midpoint(low, high);
                if load(middle) > 1.0 { low = middle } else { high = middle }
            }
        } else {
            high = 0.0;
        }
        own.saturating_add(Duration::try_from_secs_f64(high).unwrap_or_default())
    }

    /// The delay that is configured for a site.
    #[must_use]
    pub fn delay_of(&self, site: SiteKey) -> Duration {
        self.delay_for.get(&site).copied().unwrap_or(self.delay)
    }

    /// The wait after the `failures`-th failure in a row (from 1): the server's `Retry-After` if there is one, else
    /// exponential back-off. If only answers failed, it begins with the fifth: some URLs of a site may be broken.
    #[must_use]
    pub fn backoff_after(&self, trouble: Trouble, failures: u32, retry_after: Option<Duration>) -> Duration {
        if let Some(asked) = retry_after {
            return asked.min(self.retry_after_max);
        }
        let free = if trouble == Trouble::Answer { ANSWERS_WITHOUT_BACKOFF } else { 0 };
        match failures.saturating_sub(free) {
            0 => Duration::ZERO,
            n => self.backoff.saturating_mul(1 << (n - 1).min(30)).min(self.backoff_max),
        }
    }

    /// The wait before the `sweep`-th retry (from 1) of failed URLs, after all others of their site have had their turn.
    #[must_use]
    pub fn wait_before_sweep(&self, sweep: u32) -> Duration {
        self.backoff.saturating_mul(SWEEP_FACTOR.saturating_pow(sweep.saturating_sub(1))).min(self.backoff_max)
    }

    /// The wait before a page is requested again that so many requests have found vanished, after all other URLs of its site have had their turn.
    /// It is longer than that of a failed URL: a site that is being replaced says 404 meanwhile.
    #[must_use]
    pub fn wait_for_vanished(&self, attempts: u8) -> Duration {
        self.wait_before_sweep(u32::from(attempts).saturating_add(1))
    }

    /// Requests that must find a page vanished before it counts as gone or moved.
    #[must_use]
    pub fn vanished_attempts(&self) -> u8 {
        VANISHED_ATTEMPTS.min(self.attempts_max)
    }

    /// True if this many failures in a row mean that the site is in trouble.
    #[must_use]
    pub fn is_in_trouble(&self, trouble: Trouble, failures: u32) -> bool {
        let max = match trouble {
            Trouble::Unreached => UNREACHED_IN_A_ROW_MAX.min(self.failures_in_a_row_max),
            Trouble::TooFast | Trouble::Answer | Trouble::Own => self.failures_in_a_row_max,
        };
        failures >= max
    }

    /// How long a site in trouble is left alone, for the `round`-th time (from 1).
    #[must_use]
    pub fn aside_wait(round: u32) -> Duration {
        let index = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
        ASIDE_WAITS[index.min(ASIDE_WAITS.len() - 1)]
    }

    /// The number of waits before a site is given up: together they are as long as it may be in trouble.
    #[must_use]
    pub fn rounds_before_giving_up(&self) -> u32 {
        let mut waited = Duration::ZERO;
        let mut rounds = 0;
        while waited < self.give_up_after {
            rounds += 1;
            waited = waited.saturating_add(Politeness::aside_wait(rounds));
        }
        rounds
    }

    /// The longest wait of all these rules. A due time further ahead comes from a clock that
    /// was set back.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        let aside = ASIDE_WAITS[ASIDE_WAITS.len() - 1];
        [self.delay, self.crawl_delay_max, self.retry_after_max, self.backoff_max, aside]
            .into_iter()
            .chain(self.delay_for.values().copied())
            .max()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn the_longest_of_all_delays_counts() {
        let delay_for = BTreeMap::from([(SiteKey(1), S(3))]);
        let rules = Politeness { delay_factor: 5.0, delay_for, ..Politeness::default() };
        let by_speed = DelayRule::DelayFactor { factor: 5.0, response_s: 2.0 };
        for (site, crawl_delay, response_ms, wait, rule) in [
            (0, None, 0, S(1), DelayRule::Delay),
            (0, Some(Duration::from_millis(200)), 0, S(1), DelayRule::Delay),
            (0, Some(S(1)), 200, S(1), DelayRule::Delay),
            (1, Some(S(2)), 0, S(3), DelayRule::DelayFor),
            (0, Some(S(7)), 100, S(7), DelayRule::CrawlDelay),
            (0, Some(S(7)), 2_000, S(10), by_speed),
            (0, Some(S(100_000)), 0, S(300), DelayRule::CrawlDelayMax { asked_s: 100_000.0 }),
        ] {
            let decided = rules.delay_after(SiteKey(site), crawl_delay, Duration::from_millis(response_ms));
            assert_eq!(decided, (wait, rule), "{site} {crawl_delay:?} {response_ms}");
        }
    }

    #[test]
    fn back_off_doubles_until_its_limit_and_retry_after_is_obeyed() {
        let rules = Politeness::default();
        for (trouble, failures, retry_after, expect) in [
            (Trouble::Unreached, 1, None, S(1)),
            (Trouble::Unreached, 2, None, S(2)),
            (Trouble::TooFast, 5, None, S(16)),
            (Trouble::TooFast, 60, None, S(300)),
            (Trouble::Answer, 1, None, S(0)),
            (Trouble::Answer, 4, None, S(0)),
            (Trouble::Answer, 5, None, S(1)),
            (Trouble::Answer, 8, None, S(8)),
            (Trouble::Answer, 1, Some(S(3600)), S(3600)),
            (Trouble::Answer, 9, Some(S(0)), S(0)),
            (Trouble::TooFast, 1, Some(S(1_000_000)), S(86_400)),
        ] {
            assert_eq!(rules.backoff_after(trouble, failures, retry_after), expect, "{failures} {retry_after:?}");
        }
    }

    #[test]
    fn sites_on_an_address_share_its_visits() {
        let rules = Politeness { ip_delay: Duration::from_millis(700), ..Politeness::default() };
        for (own, others, expect_ms) in [
            (S(1), &[][..], 1_000),
            (S(0), &[], 700),
            (S(1), &[S(10)], 1_000),
            (S(1), &[S(1)], 1_400),
            (S(1), &[S(1), S(1)], 2_100),
            (S(0), &[S(0), S(0)], 2_100),
            // 2 * 700 / 1_500 + 700 / 10_500 is one.
            (S(1), &[S(1), S(10)], 1_500),
        ] {
            let took = rules.interval_on_address(own, others);
            let is_near = took.abs_diff(Duration::from_millis(expect_ms)) < Duration::from_millis(2);
            assert!(is_near, "{own:?} {others:?}: {took:?}");
            // As many visits as there is time for.
            let all = |own: Duration, wait: Duration| 0.7 / (own + wait).as_secs_f64();
            let load: f64 = others.iter().chain([&own]).map(|delay| all(*delay, took - own)).sum();
            assert!(load < 1.001 && (took == own || load > 0.999), "{own:?} {others:?}: {load}");
        }
        let none = Politeness { ip_delay: S(0), ..rules };
        assert_eq!(none.interval_on_address(S(0), &[S(0)]), S(0));
    }

    #[test]
    fn waits_grow_from_round_to_round() {
        let rules = Politeness::default();
        assert_eq!([1, 2, 3, 9].map(|sweep| rules.wait_before_sweep(sweep)), [S(1), S(8), S(64), S(300)]);
        assert_eq!([1, 2, 3, u8::MAX].map(|attempts| rules.wait_for_vanished(attempts)), [S(8), S(64), S(300), S(300)]);
        let minutes = [1, 2, 3, 4, 5, 6, 7, u32::MAX].map(|round| Politeness::aside_wait(round).as_secs() / 60);
        assert_eq!(minutes, [1, 5, 30, 120, 360, 1440, 1440, 1440]);
    }

    #[test]
    fn a_site_is_left_alone_until_the_waits_are_as_long_as_its_trouble_may_be() {
        for (give_up_after, expect) in [(S(0), 0), (S(1), 1), (S(361), 3), (S(7 * 86_400), 12)] {
            let rules = Politeness { give_up_after, ..Politeness::default() };
            assert_eq!(rules.rounds_before_giving_up(), expect, "{give_up_after:?}");
        }
    }

    #[test]
    fn trouble_is_noticed_sooner_where_nothing_is_reached() {
        let rules = Politeness::default();
        for (trouble, first) in [(Trouble::Unreached, 6), (Trouble::TooFast, 8), (Trouble::Answer, 8)] {
            let is = (1..20).find(|failures| rules.is_in_trouble(trouble, *failures));
            assert_eq!(is, Some(first), "{trouble:?}");
        }
    }
}
