//! The decisions of a watch: when a round begins, with how many visits, and why one visits nothing.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use engine::End;
use engine::clock::Clock;
use model::Timestamp;
use settings::plan::Plan;
use settings::units::Span;
use store::Store;

use crate::importance::Important;
use crate::watched::in_round;
use crate::{Ended, Notice, Planner, Schedule, Waits};

/// The shortest time between two choices.
pub const EVERY_MIN: Duration = Duration::from_secs(1);
/// Visits of one round, at most: what was chosen long before is not worth most any more.
pub const VISITS_MAX: f64 = 100_000.0;

/// Visits in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    visits: f64,
    time: Duration,
    /// What it allows is spent at this rate or never: nothing is saved up from round to round.
    is_rate: bool,
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no number of visits in a time, such as 5000/day, 200/h or 10/min");
        let (visits, time) = text.split_once('/').ok_or_else(wrong)?;
        let visits: f64 = visits.trim().parse().map_err(|_| wrong())?;
        let time = Some(time.trim()).filter(|time| !time.is_empty()).ok_or_else(wrong)?;
        let time = if time.starts_with(|c: char| c.is_ascii_digit()) { time.to_owned() } else { format!("1{time}") };
        let Span(time) = time.parse().map_err(|error| format!("{}: {error}", wrong()))?;
        let is_budget = visits.is_finite() && visits > 0.0 && !time.is_zero();
        is_budget.then_some(Budget { visits, time, is_rate: false }).ok_or_else(wrong)
    }
}

impl Budget {
    /// The same as a rate, of which nothing is saved up.
    #[must_use]
    pub fn as_rate(self) -> Self {
        Budget { is_rate: true, ..self }
    }

    /// The visits that a watch has that begins now and chooses pages so often. They are for the time since the last round, so that a watch that is
    /// begun often keeps to its budget, and one that never runs for long gets it all the same. A budget saves up what it is given for: of
    /// `100/day` a day. A rate saves up no more than a round has, or one visit.
    #[must_use]
    pub fn first(self, last: &model::Round, every: Duration, now: Timestamp) -> f64 {
        let since = now.apart(last.began_at).min(every.max(if self.is_rate { Duration::ZERO } else { self.time }));
        self.in_time(if last.number > 1 { since } else { since.max(every) }).min(VISITS_MAX)
    }

    /// The visits of the next round, where so many are left of one before.
    #[must_use]
    pub fn next(self, left: f64, every: Duration) -> f64 {
        let of_round = self.in_time(every);
        let max = if self.is_rate { of_round.max(1.0) } else { f64::INFINITY };
        (left + of_round).min(max).min(VISITS_MAX)
    }

    /// The time from one request to the next: that of a rate, and none of a budget.
    #[must_use]
    pub fn pace(self) -> Duration {
        if self.is_rate { self.time_of(1.0) } else { Duration::ZERO }
    }

    /// Visits in another time.
    #[must_use]
    pub fn in_time(self, time: Duration) -> f64 {
        self.visits * time.as_secs_f64() / self.time.as_secs_f64()
    }

    /// The time in which it allows so many visits.
    #[must_use]
    pub fn time_of(self, visits: f64) -> Duration {
        let seconds = self.time.as_secs_f64() * visits / self.visits;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// A watch: pages are visited again, round after round, within a budget.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The budget.
    pub budget: Budget,
    /// The time between two rounds.
    pub every: Duration,
    /// How important each page is.
    pub important: Important,
    /// The directory of the crawl.
    pub root: PathBuf,
}

/// What a round came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Visits that the budget still allows. None while nothing was visited.
    left: Option<f64>,
    /// What is left of it cannot be visited now: its sites are on hold or in trouble, or the budget of the crawl (`--max-pages`) is spent.
    leaves_rest: bool,
    /// Somebody stopped it.
    pub is_stopped: bool,
    /// Why nothing was visited, if nothing was.
    waits: Option<Wait>,
}

/// What a watch does when a round is due.
#[derive(Debug)]
pub enum Due {
    /// The queue has pages: a session visits them. The budget allows so many visits.
    Visits(f64),
    /// Nothing is visited; the reason, where it is a new one.
    Nothing(Round, Option<String>),
}

/// Why a round visits no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// The budget allows less than one visit so far.
    Budget,
    /// No page is due.
    Pages(Waits),
    /// All sites whose URLs wait are on hold or in trouble.
    Sites,
    /// The crawl is paused.
    Paused,
}

impl Wait {
    /// The reason in words, of a crawl in this directory. The budget allows so many `visits` at this time.
    fn told(self, root: &Path, budget: Budget, visits: f64, now: Timestamp) -> String {
        match self {
            Wait::Paused => Notice::Paused(root.to_owned()).to_string(),
            Wait::Pages(waits) => waits.to_string(),
            Wait::Sites => "the URLs left of the last round wait: their sites are on hold or in trouble".to_owned(),
            Wait::Budget => {
                let until = now + budget.time_of((1.0 - visits).max(0.0));
                format!("the budget allows the next visit at {}", until.to_rfc3339())
            }
        }
    }
}

impl Watch {
    /// Chooses the pages of a round, if the one before has left none that can be visited. A round begins when `log_in` has worked.
    ///
    /// # Errors
    /// The state cannot be read, or changed; or a login does not work.
    pub fn choose(
        &self,
        store: &dyn Store,
        plan: &Plan,
        before: Round,
        planner: &mut Planner,
        mut log_in: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<Due> {
        let (now, totals) = (Clock::start().date(), store.totals()?);
        let settings = in_round(&plan.settings, &totals);
        let visits = match before.left {
            Some(left) => left,
            None => self.budget.first(&totals.round, self.every, now),
        };
        // What a watch gives as a reason, it gives once.
        let nothing = |waits: Option<Wait>| {
            let told = waits.filter(|_| waits != before.waits);
            let told = told.map(|wait| wait.told(&self.root, self.budget, visits, now));
            Due::Nothing(Round { left: Some(visits), waits, ..before }, told)
        };
        if settings.paused {
            // A session would wait for its end.
            return Ok(nothing(Some(Wait::Paused)));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most VISITS_MAX, and not less than 0"
        )]
        let schedule = Schedule {
            important: self.important.clone(),
            visits: visits as usize,
            every: self.every,
            delay: settings.site_rules.politeness.delay,
            now,
        };
        if Schedule::goes_on(store)? && !before.leaves_rest && schedule.can_go_on(store, &settings)? {
            return Ok(Due::Visits(visits));
        }
        let picked = planner.pick(&schedule, store, &settings)?;
        if !picked.is_empty() {
            log_in()?;
        }
        let begun = schedule.begin_with(picked, store, &settings)?;
        planner.begun(store.totals()?.round.number);
        let waits = match begun {
            _ if visits < 1.0 => Some(Wait::Budget),
            Notice::NothingDue(waits) => Some(Wait::Pages(waits)),
            _ => None,
        };
        if schedule.can_go_on(store, &settings)? {
            return Ok(Due::Visits(visits));
        }
        // A session would end at once, and say again what the last one said.
        let totals = store.totals()?;
        let left = match settings.site_rules.pages_per_site_max {
            // New URLs may wait for a larger limit.
            Some(_) => totals.again,
            None => totals.pending,
        };
        let waits_for_sites = left > 0 && !Schedule::is_spent(&settings, &totals);
        Ok(nothing(if waits_for_sites { Some(Wait::Sites) } else { waits }))
    }

    /// What a round came to that had so many visits.
    #[must_use]
    pub fn ended(visits: f64, ended: &Ended) -> Round {
        let Ended { before, totals, .. } = ended;
        // It may have gone on with a round whose visits were counted before.
        let counted = if before.round.number == totals.round.number { before.pages_of_round } else { 0 };
        let made = totals.pages_of_round.saturating_sub(counted);
        Round {
            left: Some((visits - made as f64).max(0.0)),
            leaves_rest: matches!(ended.end, End::Held | End::Waiting(_) | End::Limit(..)),
            is_stopped: ended.end == End::Stopped,
            waits: None,
        }
    }

    /// The round with what the budget adds until the next one.
    #[must_use]
    pub fn rested(&self, round: Round) -> Round {
        let left = round.left.map(|left| self.budget.next(left, self.every));
        Round { left, ..round }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_begins_has_the_budget_since_the_last_round() {
        let (minute, day) = (Duration::from_secs(60), Duration::from_secs(86_400));
        // The number of the last round, the time since it began, the budget, `every`, and the visits that are allowed.
        for (number, since, budget, every, visits) in [
            (1, minute, "144/day", 10 * minute, 1.0),
            (1, day, "144/day", 10 * minute, 144.0),
            (2, Duration::ZERO, "144/day", 10 * minute, 0.0),
            (2, 5 * minute, "144/day", 10 * minute, 0.5),
            // Begun each day, for a round: it has the budget of that day.
            (2, day, "40/day", 10 * minute, 40.0),
            (2, 30 * day, "40/day", 10 * minute, 40.0),
            (2, day, "10/min", 10 * minute, 100.0),
            (2, 3 * minute, "60/h", minute, 3.0),
        ] {
            let began_at = Timestamp(1_800_000_000_000_000);
            let last = model::Round { number, began_at, is_choosing: false };
            let budget: Budget = budget.parse().expect("a budget");
            let allowed = budget.first(&last, every, began_at + since);
            assert!((allowed - visits).abs() < 1e-9, "{number} {since:?} {budget:?}: {allowed}");
            // At a rate it has no more than a round.
            let allowed = budget.as_rate().first(&last, every, began_at + since);
            assert!(
                (allowed - visits.min(budget.in_time(every))).abs() < 1e-9,
                "{number} {since:?} {budget:?}: {allowed}"
            );
        }
    }

    #[test]
    fn a_budget_is_saved_up_and_a_rate_is_not() {
        let minute = Duration::from_secs(60);
        for (budget, left, of_budget, of_rate) in [
            ("2/s", 0.0, 120.0, 120.0),
            ("2/s", 100.0, 220.0, 120.0),
            ("2/s", VISITS_MAX, VISITS_MAX, 120.0),
            // Less than one in a round: some rounds have one, and no round two.
            ("1/2min", 0.0, 0.5, 0.5),
            ("1/2min", 0.75, 1.25, 1.0),
        ] {
            let budget: Budget = budget.parse().expect("a budget");
            assert_eq!(
                (budget.next(left, minute), budget.as_rate().next(left, minute)),
                (of_budget, of_rate),
                "{left}"
            );
            assert_eq!((budget.pace(), budget.as_rate().pace()), (Duration::ZERO, budget.time_of(1.0)));
        }
    }

    #[test]
    fn budgets_are_visits_in_a_time() {
        let hour = Duration::from_secs(3_600);
        for (text, in_an_hour) in [
            ("2400/day", 100.0),
            ("10/min", 600.0),
            ("200/h", 200.0),
            ("1/2h", 0.5),
            ("0.5/s", 1_800.0),
            (" 7 / hour ", 7.0),
        ] {
            let budget: Budget = text.parse().expect("a budget");
            assert!((budget.in_time(hour) - in_an_hour).abs() < 1e-9, "{text}: {}", budget.in_time(hour));
            assert!(budget.time_of(in_an_hour).abs_diff(hour) < Duration::from_millis(1), "{text}");
        }
        for text in ["", "5", "5/", "/day", "0/day", "-1/h", "x/day", "5/fortnight", "inf/day", "1/0s"] {
            let error = text.parse::<Budget>().expect_err("no budget");
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
