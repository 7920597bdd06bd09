//! What a site's turn brings: its robots.txt, a URL to fetch, or an end without a fetch.

use model::{Limit, Outcome, Position, Purpose, Queued, Timestamp};
use robots::Reason as Decided;

use super::low_yield::Counts;
use super::{Next, RobotsState, Settled, SiteRules, SiteState};
use crate::{Reason, TrapRules, verdict};

impl SiteState {
    /// What is to be done next. A URL given out counts as taken until its end is committed or it is put back.
    pub fn next(&mut self, rules: &SiteRules, now: Timestamp) -> Next {
        if let Some(first) = self.before_any_url(rules, now) {
            return first;
        }
        let Some((position, waiting)) = self.pop_first(&rules.traps) else { return Next::Held(Reason::Nothing) };
        self.taken.insert(position.url);
        if waiting.visited.is_some() {
            return Next::JudgeAgain(waiting);
        }
        match self.judge(&waiting, rules) {
            Err(settled) => Next::Settle(waiting, settled),
            Ok(counts) => {
                if let Some((group, share)) = counts.group {
                    self.count_yield(group, share, &rules.traps);
                }
                Next::Fetch(waiting)
            }
        }
    }

    /// What [`SiteState::next`] would return. Nothing is taken or counted.
    #[must_use]
    pub fn peek(&self, rules: &SiteRules, now: Timestamp) -> Next {
        if let Some(first) = self.before_any_url(rules, now) {
            return first;
        }
        let first = self.queue.iter().find(|waiting| !self.is_put_off(waiting, &rules.traps)).cloned();
        match first {
            None => Next::Held(Reason::Nothing),
            Some(waiting) if waiting.visited.is_some() => Next::JudgeAgain(waiting),
            Some(waiting) => match self.judge(&waiting, rules) {
                Err(settled) => Next::Settle(waiting, settled),
                Ok(_) => Next::Fetch(waiting),
            },
        }
    }

    /// What comes before any URL of the site.
    fn before_any_url(&self, rules: &SiteRules, now: Timestamp) -> Option<Next> {
        let Some(head) = self.queue.first() else { return Some(Next::Held(Reason::Nothing)) };
        if head.visited.is_some() || self.is_given_up() {
            return None;
        }
        match &self.robots {
            RobotsState::InFlight { .. } => return Some(Next::Held(Reason::Robots)),
            RobotsState::Unknown if rules.matching.is_some() => return Some(Next::Robots),
            RobotsState::Known { expires_at, .. } | RobotsState::Stored { expires_at, .. } if *expires_at <= now => {
                return Some(Next::Robots);
            }
            RobotsState::Stored { .. } if rules.matching.is_some() => return Some(Next::ReadRules),
            RobotsState::Unknown | RobotsState::Stored { .. } | RobotsState::Known { .. } => {}
        }
        let is_held = head.again.is_none() && self.is_budget_spent(rules) && !self.has_requisite_waiting();
        is_held.then_some(Next::Held(Reason::SiteBudget))
    }

    /// Takes the first URL in memory of which `end` says that it ends without a request, where the site's budget is spent. Those before it
    /// are passed over. `None` where no more are in memory, or where one comes that the budget does not hold up.
    pub fn take_ending(&mut self, end: impl Fn(&Queued) -> Option<Settled>) -> Option<(Queued, Settled)> {
        loop {
            let first = self.queue.first()?;
            if !waits_for_budget(first) {
                return None;
            }
            let ended = end(first);
            let (position, waiting) = self.queue.pop_first()?;
            match ended {
                Some(settled) => {
                    self.taken.insert(position.url);
                    return Some((waiting, settled));
                }
                None => self.passed_over = true,
            }
        }
    }

    /// What [`SiteState::take_ending`] would return. Nothing is taken or passed over.
    pub fn peek_ending(&self, end: impl Fn(&Queued) -> Option<Settled>) -> Option<(&Queued, Settled)> {
        let held = self.queue.iter().take_while(|waiting| waits_for_budget(waiting));
        held.into_iter().find_map(|waiting| Some((waiting, end(waiting)?)))
    }

    /// Takes the first URL of the queue that is not put off.
    fn pop_first(&mut self, traps: &TrapRules) -> Option<(Position, Queued)> {
        loop {
            let (position, waiting) = self.queue.pop_first()?;
            if !self.is_put_off(&waiting, traps) {
                return Some((position, waiting));
            }
            self.sweep.put_off += 1;
        }
    }

    fn is_budget_spent(&self, rules: &SiteRules) -> bool {
        rules.pages_per_site_max.is_some_and(|max| self.record.pages_fetched + self.in_flight as u64 >= max)
    }

    /// The end of a URL that is not to be fetched; or what a fetch of it counts for.
    fn judge(&self, waiting: &Queued, rules: &SiteRules) -> Result<Counts, Settled> {
        if let Some(failure) = &self.record.given_up {
            return Err(Settled::new(verdict::given_up(failure.kind), failure.detail.clone()));
        }
        if waiting.candidate.purpose == Purpose::Robots {
            // It is in the queue so that the site's robots.txt is asked for, which has been done.
            let reason = "the robots.txt of its site, asked for before anything else".to_owned();
            return Err(Settled::new(Outcome::Excluded, reason));
        }
        if let (Some(matching), RobotsState::Known { rules: robots, .. }) = (rules.matching, &self.robots) {
            let decision = robots.decide(waiting.candidate.url.path_and_query(), matching);
            if !decision.allowed {
                let line = decision.rule.map(|rule| format!("robots.txt {rule}"));
                let reason = line.unwrap_or_else(|| decision.reason.to_string());
                return Err(match decision.reason {
                    Decided::TooManySteps => Settled::by(Limit::RobotsSteps, Outcome::Disallowed, reason),
                    _ => Settled::new(Outcome::Disallowed, reason),
                });
            }
        }
        if waiting.again.is_some() {
            // The rules about too many and traps have let it in before.
            return Ok(Counts::default());
        }
        if waiting.candidate.purpose == Purpose::Requisite {
            return Ok(Counts::default());
        }
        if waiting.candidate.purpose == Purpose::Sitemap {
            let max = rules.sitemaps_per_site_max;
            return match self.record.sitemaps_read >= max {
                true => Err(Settled::by(Limit::Sitemaps, Outcome::GivenUp, format!("more than {max} sitemaps"))),
                false => Ok(Counts::default()),
            };
        }
        self.judge_traps(waiting, &rules.traps)
    }

    /// What the trap rules say of a page: its end, or what a fetch of it counts for.
    ///
    /// # Errors
    /// The end of the URL: it is in a trap.
    pub fn judge_traps(&self, waiting: &Queued, traps: &TrapRules) -> Result<Counts, Settled> {
        let group = self.judge_yield(waiting, traps)?;
        let shape = self.judge_shape(waiting, traps)?;
        Ok(Counts { group, shape })
    }
}

/// Whether a spent budget of pages holds up a URL.
fn waits_for_budget(waiting: &Queued) -> bool {
    waiting.visited.is_none() && waiting.again.is_none() && waiting.candidate.purpose != Purpose::Requisite
}
