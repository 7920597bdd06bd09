//! Failures: whether the URL or its site is the cause, which URLs are left behind, and how long a site in trouble waits.

use std::time::Duration;

use foldhash::HashSet;
use model::{Aside, Failure, FailureKind, Purpose, Timestamp};
use robots::RobotsTxt;

use super::chance::Chance;
use super::{RobotsState, SiteState};
use crate::politeness::{ASIDE_WAITS, Trouble};
use crate::span::span;
use crate::{Politeness, Reason};

/// URLs that test a site in trouble each time its wait is over: some of its URLs may be broken for ever.
const URLS_TRIED_AFTER_ASIDE: u32 = 4;

/// If the site has nothing else to answer, and at most this many URLs fail again and again, the failures are their own: two, or one to this
/// many pages fetched. Those count besides that failed at first while the site answered others, if all are fewer than the failures in a row
/// after which a site is put aside. With more, the failures are the site's.
const FAIL_ALWAYS_MIN: u64 = 2;
const PAGES_A_FAILING: u64 = 16;

/// Failed URLs of a site in memory, which come after all others. With more, some come earlier.
const LEFT_BEHIND_REMEMBERED_MAX: usize = 4_096;

/// A site counts as one that answers up to so many failures in a row: a URL of it may be broken.
const FAILURES_OF_ANSWERING_MAX: u32 = 1;

/// A failure that may pass.
#[derive(Clone, Debug)]
pub struct Failed<'a> {
    /// The kind of a failure, from the view of the site.
    pub trouble: Trouble,
    /// The failure, in words.
    pub failure: &'a Failure,
    /// The wait that the server asks for.
    pub retry_after: Option<Duration>,
    /// When it failed.
    pub at: Timestamp,
}

/// Requests to a site that failed, since it answered one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// When the first failed; later by each delay of the site that it waited for since: that was no failure.
    pub since: Timestamp,
    /// Each was a failure of its URL alone.
    pub is_of_urls: bool,
}

/// One pass over a site's queue, from its start to its end. Failed URLs are left behind until the next one.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// Some of the URLs left behind.
    pub(super) remembered: HashSet<u64>,
    /// How many were left behind.
    pub(super) left: u64,
    /// How many were put off without a failure. Their turn comes after all others, and before the retries of failed ones.
    pub(super) put_off: u64,
    /// That turn has come.
    pub(super) takes_put_off: bool,
    /// The largest number of requests of one of them.
    pub(super) attempts: u8,
    /// URLs that failed in an earlier sweep have their turn in this one.
    pub(super) is_repeated: bool,
    /// What the site answered.
    pub(super) answered: Answered,
    /// How many pages failed in a way that counts as the site's, since one was answered.
    pub(super) pages_failed: u32,
    /// The same in the sweeps before, as far as each of them had such failures.
    pub(super) pages_failed_before: u32,
    /// A failure of a page put it aside.
    pub(super) is_aside_for_page: bool,
    /// What it answered in all sweeps.
    pub(super) answered_ever: Answered,
    /// What it answered in the sweep before.
    pub(super) answered_before: Answered,
    /// How many URLs the sweep before left behind.
    pub(super) left_before: u64,
    /// How many pages failed since the site answered one in this sweep.
    pub(super) left_since_page: u64,
    /// How many the last sweep with an answer left behind before that answer: the site worked while they failed.
    pub(super) failed_alone: u64,
    /// How many sweeps in a row before had no success.
    pub(super) fruitless: u32,
    /// How often the site fails by chance, by all sweeps.
    pub(super) chance: Chance,
    /// The last failure that counts as the site's.
    pub(super) failure: Option<Failure>,
    /// It put the site aside: the end of the sweep does not do so again.
    pub(super) is_aside_for_failure: bool,
    /// When a URL failed last.
    pub(super) failed_at: Timestamp,
    /// Pages that were found vanished.
    pub(super) vanished: Option<Vanished>,
}

/// The pages of a site that were found vanished in a sweep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vanished {
    /// When the last one was.
    pub(super) at: Timestamp,
    /// The largest number of requests that found one so.
    pub(super) attempts: u8,
}

/// The kinds of URLs that a site answered. Sitemaps, images and the like may be files of a server whose application for pages is down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answered {
    page: bool,
    other: bool,
}

impl Answered {
    fn add(&mut self, purpose: Purpose) {
        match purpose {
            Purpose::Page => self.page = true,
            Purpose::Sitemap | Purpose::Requisite | Purpose::Robots => self.other = true,
        }
    }

    /// Whether it shows that the site works, as far as URLs for this purpose are concerned.
    fn speaks_for(self, purpose: Purpose) -> bool {
        self.page || self.other && purpose != Purpose::Page
    }
}

impl Sweep {
    /// True if some URL has not had its turn.
    pub(super) fn leaves_something(&self) -> bool {
        self.left > 0 || self.put_off > 0
    }

    /// True if the site answered, and not beside failing pages alone.
    fn succeeded(&self) -> bool {
        self.answered.speaks_for(if self.pages_failing() > 0 { Purpose::Page } else { Purpose::Requisite })
    }

    /// How many pages failed since one was answered.
    fn pages_failing(&self) -> u32 {
        self.pages_failed.saturating_add(self.pages_failed_before)
    }

    /// True if one more URL that is left behind can be remembered.
    pub(super) fn has_room(&self) -> bool {
        self.remembered.len() < LEFT_BEHIND_REMEMBERED_MAX
    }

    /// Leaves a URL behind. False if it cannot be remembered.
    pub(super) fn leave(&mut self, url: u64) -> bool {
        self.left += 1;
        let has_room = self.has_room();
        if has_room {
            self.remembered.insert(url);
        }
        has_room
    }
}

impl RobotsState {
    /// True if there are rules, however old.
    fn has_rules(&self) -> bool {
        match self {
            RobotsState::Known { .. } | RobotsState::Stored { .. } => true,
            RobotsState::InFlight { earlier } => earlier.is_some(),
            RobotsState::Unknown => false,
        }
    }

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
    /// Notes that the site answered a URL for this purpose that had failed this often before, at this time. If a `Retry-After` longer than
    /// its delay is running, the site keeps a failure, so its record shows that it does not wait because of a clock that was set back.
    pub fn reached(
        &mut self,
        (purpose, failures): (Purpose, u8),
        response_time: Duration,
        at: Timestamp,
        politeness: &Politeness,
    ) {
        self.sweep.chance.answered(failures);
        self.record.response_time = response_time;
        self.sweep.answered.add(purpose);
        self.sweep.answered_ever.add(purpose);
        self.failing = None;
        if purpose == Purpose::Page {
            (self.sweep.pages_failed, self.sweep.pages_failed_before, self.sweep.is_aside_for_page) = (0, 0, false);
            self.sweep.left_since_page = 0;
        }
        let is_left_alone = self.record.due_at > at + self.delay(politeness);
        // Files interrupt the failures of files alone.
        let failing = self.record.failures_in_a_row.min(self.sweep.pages_failing());
        self.record.failures_in_a_row = failing.max(is_left_alone.into());
        if !is_left_alone && !self.sweep.is_aside_for_page {
            self.record.aside = None;
        }
    }

    /// The number of requests of a URL before a failure of its own is final; more if the site fails by chance.
    #[must_use]
    pub fn attempts_max(&self, politeness: &Politeness) -> u8 {
        self.sweep.chance.attempts_max(politeness.attempts_max)
    }

    /// Applies the server's `Retry-After`, if there is one.
    fn heed(&mut self, failed: &Failed<'_>, politeness: &Politeness) {
        if let Some(asked) = failed.retry_after {
            self.leave_alone_until(failed.at + asked.min(politeness.retry_after_max));
        }
    }

    /// The site asked to be left alone until then. Its record tells that to the next run.
    pub fn leave_alone_until(&mut self, until: Timestamp) {
        self.record.asked_until = self.record.asked_until.max(until);
        self.wait_until(until, Reason::BackOff);
    }

    /// Notes that a URL for this purpose failed in a way that may pass, after `attempts` earlier requests. Returns the requests that count
    /// for it now.
    ///
    /// The failure is the URL's own if it failed before and others of its site did not; only that counts. All other failures are the site's.
    pub fn url_failed(
        &mut self,
        (purpose, attempts): (Purpose, u8),
        failed: &Failed<'_>,
        politeness: &Politeness,
    ) -> u8 {
        self.sweep.failed_at = failed.at;
        let is_own = match failed.trouble {
            Trouble::Unreached => false,
            // Since it was asked last, others were answered; or there are none but a few that fail always.
            Trouble::TooFast | Trouble::Answer => {
                let Sweep { answered, answered_before, left_before, .. } = &self.sweep;
                let others_succeeded = answered.speaks_for(purpose) || answered_before.speaks_for(purpose);
                let few = FAIL_ALWAYS_MIN.max(self.record.pages_fetched / PAGES_A_FAILING);
                let fail_alone = left_before.saturating_sub(self.sweep.failed_alone) <= FAIL_ALWAYS_MIN
                    && *left_before < u64::from(politeness.failures_in_a_row_max);
                let are_few = self.has_answered(purpose) && (*left_before <= few || fail_alone);
                attempts > 0 && self.record.failures_in_a_row == 0 && (others_succeeded || are_few)
            }
            Trouble::Own => true,
        };
        if !is_own {
            let was_aside = self.is_aside(failed.at);
            self.failed(failed, politeness);
            self.sweep.failure = Some(failed.failure.clone());
            self.sweep.is_aside_for_failure = self.is_aside(failed.at);
            if purpose == Purpose::Page {
                self.sweep.pages_failed = self.sweep.pages_failed.saturating_add(1);
                self.sweep.is_aside_for_page |= !was_aside && self.is_aside(failed.at);
            }
            return attempts.max(1);
        }
        self.note_failing(failed.at, true, politeness);
        self.heed(failed, politeness);
        let first = u32::from(failed.trouble == Trouble::TooFast);
        let wait = politeness.backoff_after(failed.trouble, first, failed.retry_after);
        self.wait_until(failed.at + wait, Reason::BackOff);
        if failed.retry_after.is_some() {
            // The record must tell that it does not wait because of a clock that was set back.
            self.record.failures_in_a_row = 1;
        }
        if wait >= ASIDE_WAITS[0] {
            self.put_aside(failed.failure, failed.at, politeness);
        }
        attempts.saturating_add(1)
    }

    /// True if the site has ever answered what shows that it works, as far as URLs for this purpose are concerned. Of pages that were no
    /// success, as redirects and 404, only this run knows.
    fn has_answered(&self, purpose: Purpose) -> bool {
        let by_record = self.record.pages_fetched > 0 || (purpose != Purpose::Page && self.was_reached());
        by_record || self.sweep.answered_ever.speaks_for(purpose)
    }

    /// Notes a failure of the site that may pass: the site waits, and is put aside or given up at the limit.
    pub fn failed(&mut self, failed: &Failed<'_>, politeness: &Politeness) {
        let Failed { trouble, failure, retry_after, at } = failed;
        self.heed(failed, politeness);
        if self.is_aside(*at) {
            // Of a visit that began before.
            return;
        }
        self.note_failing(*at, false, politeness);
        self.record.failures_in_a_row = self.record.failures_in_a_row.saturating_add(1);
        let failures = self.record.failures_in_a_row;
        let wait = politeness.backoff_after(*trouble, failures, *retry_after);
        self.wait_until(*at + wait, Reason::BackOff);
        let is_asked_to_wait = retry_after.is_some() && wait >= ASIDE_WAITS[0];
        let is_again = self.record.aside.is_some() && *trouble == Trouble::Unreached && failures > 1;
        if is_asked_to_wait || is_again || politeness.is_in_trouble(*trouble, failures) {
            self.put_aside(failure, *at, politeness);
            if *trouble != Trouble::Unreached {
                self.record.failures_in_a_row = failures.saturating_sub(URLS_TRIED_AFTER_ASIDE).max(1);
            }
        }
    }

    fn note_failing(&mut self, at: Timestamp, is_of_urls: bool, politeness: &Politeness) {
        let waited = if self.waits_for == Reason::Delay { self.delay(politeness) } else { Duration::ZERO };
        self.failing = Some(match self.failing {
            None => Failing { since: at, is_of_urls },
            Some(before) => {
                Failing { since: (before.since + waited).min(at), is_of_urls: is_of_urls && before.is_of_urls }
            }
        });
    }

    fn put_aside(&mut self, failure: &Failure, at: Timestamp, politeness: &Politeness) {
        // A new run asks before the wait is over. Its failure neither lengthens the wait nor brings the site nearer to being given up.
        let early =
            self.record.aside.as_ref().filter(|before| at < before.until).map(|before| (before.round, before.until));
        let (round, until) = early.unwrap_or_else(|| {
            let round = self.record.aside.as_ref().map_or(1, |before| before.round.saturating_add(1));
            (round, at + Politeness::aside_wait(round))
        });
        if round > politeness.rounds_before_giving_up() {
            let detail = format!("in trouble for {}: {}", span(politeness.give_up_after), failure.detail);
            return self.give_up(at, Failure { detail, ..failure.clone() });
        }
        self.wait_until(until, Reason::BackOff);
        self.aside_until = self.record.due_at;
        self.record.aside = Some(Aside { until, round, reason: failure.clone() });
    }

    /// True if the site is in trouble and its wait is not over.
    #[must_use]
    pub fn is_aside(&self, now: Timestamp) -> bool {
        self.record.aside.is_some() && self.aside_until > now
    }

    /// The requests to it that failed, as far as they are remembered. `None` if the last one did not.
    #[must_use]
    pub fn failing(&self) -> Option<Failing> {
        self.failing
    }

    /// A request was under way for long when its run ended, and nothing had come of it. The record tells that to the next run.
    pub fn note_unanswered(&mut self) {
        self.record.failures_in_a_row = self.record.failures_in_a_row.max(1);
    }

    /// Ends the wait of a site in trouble before its time, but for what the site itself asked for.
    pub fn end_wait(&mut self, now: Timestamp) {
        self.set_due_at(self.record.due_at.min(self.record.asked_until.max(now)));
    }

    /// True if it has answered, and no more than [`FAILURES_OF_ANSWERING_MAX`] requests in a row have failed since.
    #[must_use]
    pub fn answers(&self) -> bool {
        let has_answered = self.was_reached() || self.robots.has_rules();
        has_answered && self.record.failures_in_a_row <= FAILURES_OF_ANSWERING_MAX
    }

    /// Until when the site itself asked to be left alone.
    #[must_use]
    pub fn asked_until(&self) -> Timestamp {
        self.record.asked_until
    }

    /// Failures in a row, which lengthen the back-off.
    #[must_use]
    pub fn failures_in_a_row(&self) -> u32 {
        self.record.failures_in_a_row
    }

    /// The reason of the site's trouble, if there is one.
    #[must_use]
    pub fn aside(&self) -> Option<&Aside> {
        self.record.aside.as_ref()
    }

    /// Notes that the site's robots.txt is being fetched. Earlier rules stay valid if that fails.
    pub fn robots_asked(&mut self) {
        let earlier = match self.take_robots() {
            known @ (RobotsState::Known { .. } | RobotsState::Stored { .. }) => Some(Box::new(known)),
            RobotsState::InFlight { earlier } => earlier,
            RobotsState::Unknown => None,
        };
        self.set_robots(RobotsState::InFlight { earlier });
    }

    /// Takes the site's robots.txt: the site is reached. The first file ends its trouble, since no page was requested without one. Later ones do
    /// not: a site that answers with nothing else comes nearer to being given up with each wait.
    pub fn robots_had(&mut self, robots: RobotsState) {
        let is_first = !self.robots.has_rules();
        self.set_robots(robots);
        self.stale_tries = 0;
        self.failing = None;
        self.record.failures_in_a_row = 0;
        if is_first {
            self.record.aside = None;
        }
    }

    /// The request for robots.txt failed, but not because of the site: it is repeated as if it had not been sent.
    pub fn robots_unanswered(&mut self) {
        if let RobotsState::InFlight { earlier } = self.take_robots()
            && let Some(earlier) = earlier
        {
            self.set_robots(earlier.expiring_at(Timestamp::default()));
        }
    }

    /// The request for robots.txt failed. An earlier file stays valid, and is requested again later. Without one, the site is in trouble.
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
        if failed.retry_after.is_some() {
            // The record must tell that it does not wait because of a clock that was set back.
            self.record.failures_in_a_row = self.record.failures_in_a_row.max(1);
        }
        if failed.retry_after.is_some_and(|asked| asked.min(politeness.retry_after_max) >= ASIDE_WAITS[0]) {
            // So long no page of it is requested either, which is trouble to a run.
            self.put_aside(failed.failure, failed.at, politeness);
        }
    }

    /// True if there is an earlier robots.txt while one is requested.
    #[must_use]
    pub fn has_earlier_robots(&self) -> bool {
        matches!(self.robots, RobotsState::InFlight { earlier: Some(_) })
    }

    /// True if a failure may pass although the site can do nothing about it: that the name of a site that has answered is unknown by now. Zones are
    /// damaged, and a machine leaves the network that knows a name.
    #[must_use]
    pub fn may_pass(&self, kind: FailureKind) -> bool {
        kind == FailureKind::NameNotFound && self.was_reached()
    }

    /// Takes rules from the store. `None` means that the site's robots.txt must be fetched again.
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

    /// Goes back to the start of the queue if only URLs that were put off or left behind remain. True if it did.
    pub fn begin_sweep(&mut self, now: Timestamp, politeness: &Politeness) -> bool {
        let is_through = self.all_loaded && self.queue.is_empty() && self.taken.is_empty() && !self.is_under_way();
        if !is_through || !self.sweep.leaves_something() || self.passed_over {
            return false;
        }
        (self.loaded_to, self.all_loaded) = (None, false);
        if std::mem::take(&mut self.sweep.put_off) > 0 {
            self.sweep.takes_put_off = true;
            return true;
        }
        let (succeeded, pages_failing) = (self.sweep.succeeded(), self.sweep.pages_failing());
        let Sweep {
            attempts,
            answered,
            answered_ever,
            failure,
            failed_at,
            left,
            left_since_page,
            failed_alone,
            fruitless,
            chance,
            pages_failed,
            is_aside_for_failure,
            vanished,
            mut is_aside_for_page,
            ..
        } = std::mem::take(&mut self.sweep);
        let fruitless = if succeeded { 0 } else { fruitless + 1 };
        let failures = self.record.failures_in_a_row;
        let failed_by_themselves = succeeded && self.record.aside.is_none();
        if failed_by_themselves {
            self.record.failures_in_a_row = 0;
        }
        match failure.filter(|_| !succeeded && failures > 0) {
            // It may have few URLs, none of which it answers.
            Some(failure)
                if politeness.is_in_trouble(Trouble::Unreached, failures)
                    && !is_aside_for_failure
                    && !self.is_aside(now) =>
            {
                self.put_aside(&failure, now, politeness);
                is_aside_for_page |= pages_failed > 0;
            }
            // What the site was left alone for meanwhile counts.
            Some(_) => {
                let wait = politeness.backoff_after(Trouble::Unreached, failures, None);
                self.wait_until(failed_at + wait, Reason::BackOff);
            }
            None if attempts == 0 => {}
            None => self.wait_until(failed_at + politeness.wait_before_sweep(fruitless + 1), Reason::BackOff),
        }
        vanished.into_iter().for_each(|vanished| self.wait_for_vanished(vanished, politeness));
        self.sweep.is_repeated = true;
        (self.sweep.answered_before, self.sweep.answered_ever) = (answered, answered_ever);
        self.sweep.left_before = left;
        self.sweep.failed_alone = if answered.page { left.saturating_sub(left_since_page) } else { failed_alone };
        (self.sweep.fruitless, self.sweep.chance) = (fruitless, chance);
        // Where no page failed in a whole sweep, none is left that does.
        if pages_failed > 0 && !failed_by_themselves {
            (self.sweep.pages_failed_before, self.sweep.is_aside_for_page) = (pages_failing, is_aside_for_page);
        }
        true
    }
}
