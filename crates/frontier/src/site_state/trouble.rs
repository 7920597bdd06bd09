//! What fails: whose fault it is, what comes behind the others, and until when a site in trouble is left alone.

use std::time::Duration;

use foldhash::HashSet;
use model::{Aside, Failure, Timestamp};
use robots::RobotsTxt;

use super::{RobotsState, SiteState};
use crate::Politeness;
use crate::politeness::{ASIDE_WAITS, Trouble};

/// Seconds a day has.
const SECONDS_A_DAY: u64 = 24 * 3600;

/// URLs that a site in trouble may fail to answer, each time its wait is over: some of its URLs may be broken for ever.
const URLS_TRIED_AFTER_ASIDE: u32 = 4;

/// So few URLs that fail again and again, while the site has nothing else to answer, fail by their own fault: two, or one to so many pages
/// fetched. Of more it is the site's.
const FAIL_ALWAYS_MIN: u64 = 2;
const PAGES_A_FAILING: u64 = 16;

/// A good URL of a site that fails at random is lost with this chance, at most.
const LOST_CHANCE: f64 = 1e-7;
/// Answers that a site is taken to have given before: a few failures of few URLs are no rule.
const ANSWERS_BEFORE: f64 = 128.0;
/// Factor for the attempts that a URL of such a site may have, at most.
const ATTEMPTS_TIMES_MAX: u8 = 6;

/// URLs of a site that failed and are remembered, so that they come behind all others. Of more than these some come earlier.
const LEFT_BEHIND_REMEMBERED_MAX: usize = 4_096;

/// A failure that may pass.
#[derive(Clone, Debug)]
pub struct Failed<'a> {
    /// The kind of a failure, from the view of the site.
    pub trouble: Trouble,
    /// What failed, in words.
    pub failure: &'a Failure,
    /// After what time the server wants to be asked again.
    pub retry_after: Option<Duration>,
    /// When.
    pub at: Timestamp,
}

/// One reading of a site's queue, from its start to its end. What fails is left behind until the next one.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// Some of the URLs left behind.
    pub(super) remembered: HashSet<u64>,
    /// How many were left behind.
    pub(super) left: u64,
    /// How many were put off without a fault. Their turn comes after all others, and before the retries of failed ones.
    pub(super) put_off: u64,
    /// That turn has come.
    pub(super) takes_put_off: bool,
    /// How often one of them was asked for, at most.
    pub(super) attempts: u8,
    /// What failed in an earlier sweep has its turn in this one.
    pub(super) is_repeated: bool,
    /// The site answered some URL as it should.
    pub(super) succeeded: bool,
    /// It did in the sweep before.
    pub(super) succeeded_before: bool,
    /// How many URLs the sweep before left behind.
    pub(super) left_before: u64,
    /// How many sweeps in a row before had no success.
    pub(super) fruitless: u32,
    /// How often the site fails by chance, by all sweeps.
    pub(super) chance: Chance,
    /// The last failure that counts as the site's.
    pub(super) failure: Option<Failure>,
}

/// How often a site fails by chance: failures of URLs that it answered later, which so were not theirs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chance {
    failures: u32,
    answers: u32,
}

impl Chance {
    /// Notes the answer to a URL that failed so often before.
    fn answered(&mut self, failures: u8) {
        self.failures = self.failures.saturating_add(failures.into());
        self.answers = self.answers.saturating_add(1);
    }

    /// How often a URL is to be asked for before a failure counts as its own, by the setting for a site that does not fail by chance.
    fn attempts_max(self, setting: u8) -> u8 {
        let failures = f64::from(self.failures);
        let share = failures / (failures + f64::from(self.answers) + ANSWERS_BEFORE);
        let wanted = (LOST_CHANCE.ln() / share.ln()).ceil();
        let max = setting.saturating_mul(ATTEMPTS_TIMES_MAX);
        (setting..max).find(|attempts| f64::from(*attempts) >= wanted).unwrap_or(max)
    }
}

/// The URLs of a site that failed when their turn came.
#[derive(Debug)]
pub struct LeftBehind(Sweep);

impl Sweep {
    /// True if some URL has not had its turn.
    pub(super) fn leaves_something(&self) -> bool {
        self.left > 0 || self.put_off > 0
    }

    /// Leaves a URL behind. False where it cannot be remembered.
    pub(super) fn leave(&mut self, url: u64) -> bool {
        self.left += 1;
        let has_room = self.remembered.len() < LEFT_BEHIND_REMEMBERED_MAX;
        if has_room {
            self.remembered.insert(url);
        }
        has_room
    }
}

impl RobotsState {
    /// The same rules with another expiry.
    fn expiring_at(self, expires_at: Timestamp) -> Self {
        match self {
            RobotsState::Known { rules, .. } => RobotsState::Known { rules, expires_at },
            RobotsState::Stored { crawl_delay, .. } => RobotsState::Stored { crawl_delay, expires_at },
            RobotsState::Unknown | RobotsState::InFlight { .. } => self,
        }
    }
}

impl SiteState {
    /// Notes that the site answered a URL that had failed so often before, at this time. One that has asked meanwhile to be left alone for longer than its delay keeps a failure,
    /// so that its record tells that it does not wait because of a clock that was set back.
    pub fn reached(&mut self, failures: u8, response_time: Duration, at: Timestamp, politeness: &Politeness) {
        self.sweep.chance.answered(failures);
        self.record.response_time = response_time;
        self.sweep.succeeded = true;
        let is_left_alone = self.record.due_at > at + self.delay(politeness);
        self.record.failures_in_a_row = u32::from(is_left_alone);
        if !is_left_alone {
            self.record.aside = None;
        }
    }

    /// How often a URL of the site is asked for before a failure of its own is final. Where the site fails by chance these are more.
    #[must_use]
    pub fn attempts_max(&self, politeness: &Politeness) -> u8 {
        self.sweep.chance.attempts_max(politeness.attempts_max)
    }

    /// Heeds how long the server asks to be left alone, if it does.
    fn heed(&mut self, failed: &Failed<'_>, politeness: &Politeness) {
        if let Some(asked) = failed.retry_after {
            self.asked_until = failed.at + asked.min(politeness.retry_after_max);
            self.wait_until(self.asked_until);
        }
    }

    /// Notes that a URL failed in a way that may pass, which was asked for `attempts` times before. Gives how often it counts as asked for now.
    ///
    /// A URL that failed before fails by its own fault where others of its site do not, and only that counts. All else is the site's.
    pub fn url_failed(&mut self, attempts: u8, failed: &Failed<'_>, politeness: &Politeness) -> u8 {
        let is_own = match failed.trouble {
            Trouble::Unreached => false,
            // Since it was asked last, others were answered; or there are none but a few that fail always.
            Trouble::TooFast | Trouble::Answer => {
                let others_succeeded = self.sweep.succeeded || self.sweep.succeeded_before;
                let few = FAIL_ALWAYS_MIN.max(self.record.pages_fetched / PAGES_A_FAILING);
                let are_few = self.sweep.left_before <= few;
                attempts > 0 && self.record.failures_in_a_row == 0 && (others_succeeded || are_few)
            }
            Trouble::Own => true,
        };
        if !is_own {
            self.failed(failed, politeness);
            self.sweep.failure = Some(failed.failure.clone());
            return attempts.max(1);
        }
        self.heed(failed, politeness);
        let first = u32::from(failed.trouble == Trouble::TooFast);
        let wait = politeness.backoff_after(failed.trouble, first, failed.retry_after);
        self.wait_until(failed.at + wait);
        if failed.retry_after.is_some() {
            // The record must tell that it does not wait because of a clock that was set back.
            self.record.failures_in_a_row = 1;
        }
        if wait >= ASIDE_WAITS[0] {
            self.put_aside(failed.failure, failed.at, politeness);
        }
        attempts.saturating_add(1)
    }

    /// Notes a failure of the site that may pass: it waits, and is put aside or given up if it is one too many.
    pub fn failed(&mut self, failed: &Failed<'_>, politeness: &Politeness) {
        let Failed { trouble, failure, retry_after, at } = failed;
        self.heed(failed, politeness);
        if self.is_aside(*at) {
            // Of a visit that began before.
            return;
        }
        self.record.failures_in_a_row = self.record.failures_in_a_row.saturating_add(1);
        let failures = self.record.failures_in_a_row;
        let wait = politeness.backoff_after(*trouble, failures, *retry_after);
        self.wait_until(*at + wait);
        let is_asked_to_wait = retry_after.is_some() && wait >= ASIDE_WAITS[0];
        let is_again = self.record.aside.is_some() && *trouble == Trouble::Unreached;
        if is_asked_to_wait || is_again || politeness.is_in_trouble(*trouble, failures) {
            self.put_aside(failure, *at, politeness);
            if *trouble != Trouble::Unreached {
                self.record.failures_in_a_row = failures.saturating_sub(URLS_TRIED_AFTER_ASIDE).max(1);
            }
        }
    }

    fn put_aside(&mut self, failure: &Failure, at: Timestamp, politeness: &Politeness) {
        let round = self.record.aside.as_ref().map_or(1, |before| before.round.saturating_add(1));
        if round > politeness.rounds_before_giving_up() {
            let days = politeness.give_up_after.as_secs() / SECONDS_A_DAY;
            let detail = format!("in trouble for {days} days: {}", failure.detail);
            return self.give_up(Failure { detail, ..failure.clone() });
        }
        let until = at + Politeness::aside_wait(round);
        self.wait_until(until);
        self.aside_until = self.record.due_at;
        // The next run does not know how long the site asked to be left alone.
        let until = if self.asked_until > at { Timestamp::default() } else { until };
        self.record.aside = Some(Aside { until, round, reason: failure.clone() });
    }

    /// True where the site is in trouble and its time to be asked again has not come.
    #[must_use]
    pub fn is_aside(&self, now: Timestamp) -> bool {
        self.record.aside.is_some() && self.aside_until > now
    }

    /// What the site is in trouble for, if it is.
    #[must_use]
    pub fn aside(&self) -> Option<&Aside> {
        self.record.aside.as_ref()
    }

    /// The site's robots.txt is being asked for. Rules that were known go on to count if that fails.
    pub fn robots_asked(&mut self) {
        let earlier = match self.take_robots() {
            known @ (RobotsState::Known { .. } | RobotsState::Stored { .. }) => Some(Box::new(known)),
            RobotsState::InFlight { earlier } => earlier,
            RobotsState::Unknown => None,
        };
        self.set_robots(RobotsState::InFlight { earlier });
    }

    /// Takes in the site's robots.txt. That ends the site's trouble, since no page is asked for without it.
    pub fn robots_had(&mut self, robots: RobotsState) {
        self.set_robots(robots);
        self.stale_tries = 0;
        self.record.failures_in_a_row = 0;
        self.record.aside = None;
    }

    /// The request for robots.txt failed through no fault of the site: it is repeated as if it had not been sent.
    pub fn robots_unanswered(&mut self) {
        if let RobotsState::InFlight { earlier } = self.take_robots()
            && let Some(earlier) = earlier
        {
            self.set_robots(earlier.expiring_at(Timestamp::default()));
        }
    }

    /// The request for robots.txt failed. An earlier file goes on to count, and is asked for again later. Without one the site is in trouble.
    pub fn robots_failed(&mut self, failed: &Failed<'_>, politeness: &Politeness) {
        let earlier = match self.take_robots() {
            RobotsState::InFlight { earlier } => earlier,
            known @ (RobotsState::Known { .. } | RobotsState::Stored { .. }) => Some(Box::new(known)),
            RobotsState::Unknown => None,
        };
        let Some(earlier) = earlier else { return self.failed(failed, politeness) };
        self.stale_tries = self.stale_tries.saturating_add(1);
        self.set_robots(earlier.expiring_at(failed.at + Politeness::aside_wait(self.stale_tries)));
        self.heed(failed, politeness);
    }

    /// Takes in rules from the store. `None` means that the site's robots.txt must be fetched again.
    pub fn rules_read(&mut self, rules: Option<RobotsTxt>) {
        if let RobotsState::Stored { expires_at, .. } = self.robots {
            self.set_robots(rules.map_or(RobotsState::Unknown, |rules| RobotsState::Known { rules, expires_at }));
        }
    }

    /// Drops the rules from memory; the store has the file.
    pub fn store_rules(&mut self) {
        if let RobotsState::Known { rules, expires_at } = &self.robots {
            let (crawl_delay, expires_at) = (rules.crawl_delay(), *expires_at);
            self.set_robots(RobotsState::Stored { crawl_delay, expires_at });
        }
    }

    /// Leaves a URL behind that was taken by [`SiteState::next`] and failed: it is in the store's queue, and has its turn again when all
    /// others have had theirs.
    pub fn leave_behind(&mut self, url: u64, attempts: u8) {
        self.taken.remove(&url);
        self.sweep.attempts = self.sweep.attempts.max(attempts);
        self.sweep.leave(url);
    }

    /// What is known of the URLs that failed, for when the site comes back to front.
    #[must_use]
    pub fn take_left_behind(&mut self) -> LeftBehind {
        LeftBehind(std::mem::take(&mut self.sweep))
    }

    /// Goes on where the site was when it left the front.
    pub fn go_on_behind(&mut self, LeftBehind(sweep): LeftBehind) {
        self.sweep = sweep;
    }

    /// Goes back to the start of the queue, where all is done but what was put off or left behind. True where that is so.
    pub fn begin_sweep(&mut self, now: Timestamp, politeness: &Politeness) -> bool {
        let is_through = self.all_loaded && self.queue.is_empty() && self.taken.is_empty() && !self.is_under_way();
        if !is_through || !self.sweep.leaves_something() {
            return false;
        }
        (self.loaded_to, self.all_loaded) = (None, false);
        if std::mem::take(&mut self.sweep.put_off) > 0 {
            self.sweep.takes_put_off = true;
            return true;
        }
        let Sweep { attempts, succeeded, failure, left, fruitless, chance, .. } = std::mem::take(&mut self.sweep);
        let fruitless = if succeeded { 0 } else { fruitless + 1 };
        let failures = self.record.failures_in_a_row;
        if succeeded && self.record.aside.is_none() {
            // What failed did so by itself.
            self.record.failures_in_a_row = 0;
        }
        match failure.filter(|_| !succeeded && failures > 0) {
            // It may have few URLs, none of which it answers.
            Some(failure) if politeness.is_in_trouble(Trouble::Unreached, failures) && !self.is_aside(now) => {
                self.put_aside(&failure, now, politeness);
            }
            Some(_) => self.wait_until(now + politeness.backoff_after(Trouble::Unreached, failures, None)),
            None if attempts == 0 => {}
            None => self.wait_until(now + politeness.wait_before_sweep(fruitless + 1)),
        }
        self.sweep.is_repeated = true;
        self.sweep.succeeded_before = succeeded;
        self.sweep.left_before = left;
        (self.sweep.fruitless, self.sweep.chance) = (fruitless, chance);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_url_of_a_site_that_fails_by_chance_has_more_attempts() {
        for (failures, answers, setting, expect) in [
            (0, 0, 4, 4),
            (0, 1_000, 4, 4),
            (10, 1_000, 4, 4),
            (2, 3, 4, 4),
            (11, 49, 4, 6),
            (220, 1_000, 4, 9),
            (2_200, 10_000, 4, 10),
            (1_000, 1_000, 4, 22),
            (5_000, 1_000, 4, 24),
            (220, 1_000, 1, 6),
            (220, 1_000, 12, 12),
            (220, 1_000, 255, 255),
        ] {
            assert_eq!(Chance { failures, answers }.attempts_max(setting), expect, "{failures} {answers} {setting}");
        }
    }
}
