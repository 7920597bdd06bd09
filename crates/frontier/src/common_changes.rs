//! Changes of all pages of a site at once, as visits find them: a new design, a new menu, a new date in each footer.
//!
//! Visits of one page are evidence about the others. While visits find pages unchanged, there was no common change. Where one visit after
//! the other finds a change, also of pages that change rarely by themselves, there was one: and so all pages are different that were last
//! visited before it. A common change counts once it is likelier by far than changes of the pages by themselves (a cumulative sum of
//! likelihood ratios; Page, *Continuous inspection schemes*, Biometrika 1954). It is evidence and forces no visit: it is weighed by how often
//! pages had changed indeed that were visited after one.

use std::collections::VecDeque;

use crate::revisit::{Belief, Prior, RATES, Seen, TIMES_COUNT, rates, time_at, time_place};

/// A common change must be so many times as likely as changes of the pages by themselves.
const ODDS_MIN: f64 = 1e4;
/// By how much the logarithm of the odds falls with each visit that tells nothing of it.
const LEAK: f64 = 0.1;
/// The part of the pages that a common change is assumed to change.
const PART: f64 = 0.9;
/// Common changes that are remembered, the last ones.
const EVENTS_MAX: usize = 64;
/// So many pages, at least, a site must have. Of those visited after common changes, so many must have been expected to be unchanged.
const PROOF_PAGES: usize = 8;
/// So many common changes prove that there are such.
const PROOF_EVENTS: u32 = 2;
/// The least part of these pages that had changed.
const PROOF_PART: f64 = 0.6;
/// The step from one time of an [`Outlook`] to the next, in those of [`crate::revisit`].
const OUTLOOK_STEP: usize = 2;
/// The fewest common changes a second that are reckoned with, so that none is divided by.
const RATE_MIN: f64 = 1e-12;
/// How often common changes and the rates of pages are fitted to each other.
const FITTINGS: usize = 2;

/// A visit of a page of the site. Times are seconds on any clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visited {
    /// When the visit before was.
    pub before: f64,
    /// When it was.
    pub at: f64,
    /// Whether it found a change.
    pub has_changed: bool,
}

/// The common changes of a site. The last [`EVENTS_MAX`] of them are remembered: it takes less than a kilobyte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Common {
    /// When they were, in their order.
    events: VecDeque<f64>,
    /// How many there were.
    count: u32,
    /// Since the last one there was none until then.
    quiet_until: f64,
    run: Run,
    checks: Checks,
    /// The last visit.
    seen_at: Option<f64>,
    /// How long visits were watched, in seconds, and the part of that in which they told whether there was a common change. While the pages
    /// that were visited before the last one have their turn, they do not.
    watched: f64,
    told: f64,
}

/// Visits that speak for a common change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Run {
    /// The logarithm of the odds. Nothing speaks for one where it is not positive.
    odds: f64,
    /// When the first of them was.
    first_at: f64,
    /// How many there were.
    visits: f64,
}

/// What came of common changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Checks {
    /// First visits after a common change that was known.
    known: f64,
    /// How many of them would have found no change without it, and how many found none.
    same_expected: f64,
    same: f64,
    /// Visits after one that was not known yet.
    unknown: f64,
    /// Of the other visits, how many were expected to find no change, and how many found none: whether expectations are right.
    calm_expected: f64,
    calm: f64,
}

impl Checks {
    /// Visits that would have found no change, by what the other visits found.
    fn expected(&self) -> f64 {
        self.same_expected * ((self.calm + 1.0) / (self.calm_expected + 1.0)).min(1.0)
    }
}

impl Common {
    /// Learns the common changes of a site from visits of its pages.
    #[must_use]
    pub fn learn(prior: &Prior, pages: &[Vec<Visited>]) -> Common {
        if pages.len() < PROOF_PAGES {
            return Common::default();
        }
        let mut visits: Vec<(f64, usize, Visited)> = pages
            .iter()
            .enumerate()
            .flat_map(|(page, of)| of.iter().map(move |visit| (visit.at, page, *visit)))
            .collect();
        visits.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let mut common = Common::default();
        for _ in 0..FITTINGS {
            let beliefs: Vec<Belief> = pages.iter().map(|page| Belief::new(prior, &common.seen(page))).collect();
            let mut next = Common::default();
            for (_, page, visit) in &visits {
                next.visit(*visit, beliefs[*page].likely_same(visit.at - visit.before));
            }
            common = next;
            if !common.is_proved() {
                break;
            }
        }
        common
    }

    /// Takes in a visit, in the order of time: how likely it is that the page did not change by itself since the visit before. Gives when a
    /// common change was, where this visit makes it known: pages last visited before are different now.
    pub fn visit(&mut self, visit: Visited, same: f64) -> Option<f64> {
        let Visited { before, at, has_changed } = visit;
        let passed = at - self.seen_at.replace(at).unwrap_or(at);
        self.watched += passed;
        if self.events.back().is_some_and(|last| before <= *last) {
            self.checks.known += 1.0;
            self.checks.same_expected += same;
            self.checks.same += f64::from(u8::from(!has_changed));
            return None;
        }
        self.told += passed;
        self.checks.calm_expected += same;
        self.checks.calm += f64::from(u8::from(!has_changed));
        if self.run.odds <= 0.0 {
            if !has_changed {
                self.quiet_until = self.quiet_until.max(at);
                return None;
            }
            self.run = Run { first_at: at, ..Run::default() };
            self.quiet_until = self.quiet_until.max(before);
        }
        if before > self.quiet_until {
            // The page was visited since: it does not tell. Where no other is visited, the question is dropped.
            self.run.odds -= LEAK;
            if self.run.odds <= 0.0 && !has_changed {
                self.quiet_until = at;
            }
            return None;
        }
        let changed = 1.0 - same.clamp(1e-6, 1.0 - 1e-6);
        self.run.odds += if has_changed { ((PART + (1.0 - PART) * changed) / changed).ln() } else { (1.0 - PART).ln() };
        if self.run.odds <= 0.0 {
            self.quiet_until = at;
            return None;
        }
        self.run.visits += 1.0;
        (self.run.odds >= ODDS_MIN.ln()).then(|| self.event(at))
    }

    fn event(&mut self, now: f64) -> f64 {
        let at = f64::midpoint(self.quiet_until, self.run.first_at);
        self.count += 1;
        self.checks.unknown += self.run.visits;
        self.events.push_back(at);
        self.events.drain(..self.events.len().saturating_sub(EVENTS_MAX));
        (self.run, self.quiet_until) = (Run::default(), now);
        at
    }

    /// Whether a common change is known between these times.
    #[must_use]
    pub fn is_between(&self, from: f64, to: f64) -> bool {
        self.events.get(self.events.partition_point(|at| *at < from)).is_some_and(|at| *at < to)
    }

    /// How likely it is that no common change has hit a page between these times. Those that no visit has found yet count by their rate.
    #[must_use]
    pub fn spares(&self, from: f64, to: f64) -> f64 {
        let until = |time: f64| self.events.partition_point(|at| *at < time);
        let known = until(to).saturating_sub(until(from));
        let unseen = (to - from.max(self.quiet_until)).max(0.0);
        (1.0 - self.part()).powi(i32::try_from(known).unwrap_or(i32::MAX)) * (-self.hit_rate() * unseen).exp()
    }

    /// How many common changes a second hit a page.
    #[must_use]
    pub fn hit_rate(&self) -> f64 {
        let (known, unknown) = self.rates();
        self.part() * (known + unknown)
    }

    /// Whether there are common changes, beyond doubt.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.count >= PROOF_EVENTS && self.checks.expected() >= PROOF_PAGES as f64 && self.part() >= PROOF_PART
    }

    /// The part of pages that one changes.
    fn part(&self) -> f64 {
        (1.0 - (self.checks.same + 1.0) / (self.checks.expected() + 2.0)).max(0.0)
    }

    /// Common changes a second: those that are known before a page is visited, and the others.
    fn rates(&self) -> (f64, f64) {
        let rate = (f64::from(self.count) / self.told.max(1.0)).max(RATE_MIN);
        let Checks { known, unknown, .. } = self.checks;
        let part = known / (known + unknown).max(1.0) * self.told / self.watched.max(1.0);
        ((part * rate).max(RATE_MIN), (1.0 - part) * rate)
    }

    /// The evidence of the visits of a page about its changes by itself.
    #[must_use]
    pub fn seen(&self, page: &[Visited]) -> Seen {
        let mut seen = Seen::default();
        page.iter().for_each(|visit| self.see(&mut seen, *visit));
        seen
    }

    /// Takes in a visit. A change after a common one says little of the page.
    pub fn see(&self, seen: &mut Seen, Visited { before, at, has_changed }: Visited) {
        if !has_changed || !self.is_proved() || !self.is_between(before, at) {
            return seen.visit(at - before, has_changed);
        }
        let (time, kept) = (time_at(time_place(at - before)), 1.0 - self.part());
        seen.weigh(|rate| 1.0 - kept * time.same[rate]);
    }
}

/// How pages of a site with common changes are visited: after one, and after some time without one.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// The part of pages that one changes.
    part: f64,
    /// Times that a page may wait without one, and what comes of them by each rate.
    waits: Vec<After>,
}

/// What comes of visits after each common change that is known, and after this time.
#[derive(Clone, Debug)]
struct After {
    seconds: f64,
    /// The seconds between two visits.
    length: f64,
    /// What the next visit is worth then: as in [`crate::revisit`], with these times between two visits.
    values: [f64; RATES],
}

/// When a page is visited again where no common change becomes known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Seconds after the last visit.
    pub wait: f64,
    /// The seconds between two visits on average: common changes make them fewer.
    pub length: f64,
}

impl Outlook {
    /// The outlook on pages of such a site; `None` where common changes are not proved.
    #[must_use]
    pub fn new(common: &Common) -> Option<Self> {
        if !common.is_proved() {
            return None;
        }
        let (part, (known, unknown)) = (common.part(), common.rates());
        // A visit for nothing ends the time in which a copy is right, too.
        let ends = part * (known + unknown) + (1.0 - part) * known;
        let until = |rate: f64, seconds: f64| -(-rate * seconds).exp_m1() / rate;
        let after = |place: usize| {
            let seconds = time_at(place).seconds;
            let length = until(known, seconds);
            // The time for which the copy is right between two visits, less what it were if all of it were as likely right as its end.
            let value = |n: usize| {
                until(rates()[n] + ends, seconds) - length * (-(rates()[n] + part * unknown) * seconds).exp()
            };
            After { seconds, length, values: std::array::from_fn(value) }
        };
        Some(Outlook { part, waits: (0..TIMES_COUNT).step_by(OUTLOOK_STEP).map(after).collect() })
    }

    /// When a visit is worth so much; `None` where it never is.
    #[must_use]
    pub fn turn(&self, belief: &Belief, worth: f64) -> Option<Turn> {
        let value = |after: &After| belief.mean(&after.values);
        let high = self.waits.partition_point(|after| value(after) < worth);
        let (below, above) = (&self.waits[high.saturating_sub(1)], self.waits.get(high)?);
        let (from, to) = (value(below), value(above));
        let share = ((worth - from) / (to - from).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let between = |low: f64, high: f64| low + share * (high - low);
        Some(Turn { wait: between(below.seconds, above.seconds), length: between(below.length, above.length) })
    }

    /// What a visit is worth where a common change is known since the last one, so many seconds ago: as much as after a time without one
    /// in which the copy comes to be as unlikely to be right.
    #[must_use]
    pub fn worth_after(&self, belief: &Belief, seconds: f64) -> f64 {
        let right = (1.0 - self.part) * belief.likely_same(seconds);
        let is_likelier = |after: &After| belief.likely_same(after.seconds) > right;
        let place = self.waits.partition_point(is_likelier).min(self.waits.len() - 1);
        belief.mean(&self.waits[place].values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;
    const PAGES: usize = 60;
    /// Each page is visited once in so many days.
    const EVERY: f64 = 10.0;

    /// Numbers from 0 to 1.
    fn random() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        }
    }

    /// Pages that change by themselves once in so many days on average, and of which each of these events changes this part. The n-th
    /// changes faster the greater n is, where `spread` is more than 1.
    struct Site {
        own_days: f64,
        spread: f64,
        events: &'static [f64],
        part: f64,
    }

    impl Site {
        fn visits(&self, days: f64) -> Vec<Vec<Visited>> {
            let mut part = random();
            let mut page = |page: usize| {
                let own_days = self.own_days / self.spread.powf(page as f64 / PAGES as f64);
                let first = EVERY * page as f64 / PAGES as f64;
                let mut visit = |n: u32| {
                    let before = first + EVERY * f64::from(n);
                    let at = before + EVERY;
                    let changes = part() > (-EVERY / own_days).exp();
                    let hits = self.events.iter().filter(|event| (before..at).contains(*event));
                    let has_changed = hits.fold(changes, |has_changed, _| part() < self.part || has_changed);
                    Visited { before: DAY * before, at: DAY * at, has_changed }
                };
                (0..((days - first) / EVERY) as u32).map(&mut visit).collect()
            };
            (0..PAGES).map(&mut page).collect()
        }

        fn learn(&self) -> Common {
            Common::learn(&Prior::default(), &self.visits(300.0))
        }
    }

    const EVENTS: &[f64] = &[33.0, 71.3, 90.2, 140.0, 215.5, 270.9];

    #[test]
    fn common_changes_are_found_where_there_are_such() {
        let site = |own_days, spread, events, part| Site { own_days, spread, events, part };
        for (name, site, is_proved) in [
            ("slow pages", site(200.0, 1.0, EVENTS, 1.0), true),
            ("fast and slow pages", site(400.0, 100.0, EVENTS, 1.0), true),
            ("one page in twenty stays", site(200.0, 1.0, EVENTS, 0.95), true),
            ("one only", site(200.0, 1.0, &[100.0], 1.0), false),
            ("a third of the pages each time", site(200.0, 1.0, EVENTS, 0.33), false),
            ("none", site(200.0, 1.0, &[], 1.0), false),
            ("none, of fast pages", site(5.0, 1.0, &[], 1.0), false),
            ("none, of fast and slow pages", site(400.0, 100.0, &[], 1.0), false),
        ] {
            let common = site.learn();
            assert_eq!(common.is_proved(), is_proved, "{name}: {common:?}");
            if is_proved {
                assert_eq!(common.events.len(), site.events.len(), "{name}: {common:?}");
                // A visit comes every four hours.
                let is_near = |(found, event): (&f64, &f64)| (found / DAY - event).abs() < 2.0;
                assert!(common.events.iter().zip(site.events).all(is_near), "{name}: {common:?}");
                assert!(common.part() > 0.85, "{name}: {common:?}");
            }
        }
        assert_eq!(Common::learn(&Prior::default(), &[]), Common::default());
    }

    #[test]
    fn few_visits_make_a_common_change_known() {
        let mut common = Common::default();
        let visit = |before: f64, at: f64, has_changed| Visited { before: DAY * before, at: DAY * at, has_changed };
        // Nothing changes, visit by visit; then all does, but for one page.
        (0..20).for_each(|n| assert_eq!(common.visit(visit(f64::from(n), 20.0 + f64::from(n), false), 0.8), None));
        let after = |n: u32| visit(20.0 + f64::from(n), 40.0 + f64::from(n), n != 3);
        let found: Vec<(u32, f64)> = (0..20).filter_map(|n| Some((n, common.visit(after(n), 0.8)? / DAY))).collect();
        let [(visits, at)] = found[..] else { panic!("{found:?}") };
        assert!((6..10).contains(&visits) && (39.0..40.0).contains(&at), "{found:?}");
        // What was visited before it is different, and nothing else.
        assert!(common.is_between(DAY * 39.0, DAY * 60.0) && !common.is_between(DAY * 40.0, DAY * 60.0));
        assert!(!common.is_between(DAY * 20.0, DAY * 39.0));
    }

    #[test]
    fn changes_of_fast_pages_say_little() {
        // Pages that change between any two visits.
        let mut common = Common::default();
        for n in 0..2_000 {
            let at = 20.0 + 0.01 * f64::from(n);
            let visit = Visited { before: DAY * (at - 20.0), at: DAY * at, has_changed: n % 40 != 0 };
            assert_eq!(common.visit(visit, 0.03), None, "{n}: {common:?}");
        }
    }

    #[test]
    fn pages_that_are_faster_than_believed_prove_nothing() {
        // One visit in ten should find no change, and one in three hundred does.
        let mut common = Common::default();
        for n in 0..5_000 {
            let at = 20.0 + 0.1 * f64::from(n);
            let has_changed = n % 300 != 0;
            common.visit(Visited { before: DAY * (at - 20.0), at: DAY * at, has_changed }, 0.1);
            assert!(!common.is_proved(), "{n}: {common:?}");
        }
        assert!(common.count > 2, "{common:?}");
    }

    #[test]
    fn a_question_that_no_visit_answers_is_dropped() {
        let mut common = Common::default();
        let mut found = |before: f64, at: f64, has_changed| {
            common.visit(Visited { before: DAY * before, at: DAY * at, has_changed }, 0.8).is_some()
        };
        assert!(!found(0.0, 10.0, true));
        // Only pages have their turn that were visited since; later all of them change.
        assert!((0..50).all(|n| !found(10.0 + f64::from(n), 20.0 + f64::from(n), false)));
        assert!((0..20).any(|n| found(50.0 + f64::from(n), 70.0 + f64::from(n), true)));
    }

    #[test]
    fn a_site_that_stops_is_no_longer_believed() {
        let site = Site { own_days: 200.0, spread: 1.0, events: EVENTS, part: 1.0 };
        let mut common = site.learn();
        assert!(common.is_proved());
        // All but the first visits after common changes find that there was none.
        let last = common.events.back().copied().expect("one");
        let visits = (common.checks.same_expected * 2.0) as u32;
        for n in 0..visits {
            let at = last + DAY * (20.0 + f64::from(n));
            common.visit(Visited { before: last - DAY, at, has_changed: false }, 0.9);
        }
        assert!(!common.is_proved() && Outlook::new(&common).is_none(), "{common:?}");
    }

    #[test]
    fn a_page_is_known_by_what_it_does_itself() {
        let site = Site { own_days: 2_000.0, spread: 1.0, events: EVENTS, part: 1.0 };
        let common = site.learn();
        let days = |common: &Common| {
            let pages = site.visits(300.0);
            Belief::new(&Prior::default(), &common.seen(&pages[7])).interval() / DAY
        };
        let (own, all) = (days(&common), days(&Common::default()));
        assert!(own > 300.0 && (30.0..100.0).contains(&all), "{own} {all}");
    }

    #[test]
    fn no_common_change_forces_a_visit() {
        let common = Site { own_days: 200.0, spread: 1.0, events: EVENTS, part: 1.0 }.learn();
        let outlook = Outlook::new(&common).expect("proved");
        let cost = 10.0 * DAY;
        // A page that never changes by itself is visited when all change, and hardly without.
        let slow = Belief::of_rate(1.0 / (2_000.0 * DAY));
        let blind = Belief::of_rate(1.0 / (2_000.0 * DAY) + EVENTS.len() as f64 / (300.0 * DAY)).plan(cost);
        let turn = outlook.turn(&slow, cost).expect("it is worth visits");
        assert!(turn.wait > 1.5 * blind.wait && turn.length < turn.wait, "{turn:?} {blind:?}");
        assert!(outlook.worth_after(&slow, 20.0 * DAY) > 2.0 * cost);
        // One that changes every hour is worth no visit, whatever all do.
        let fast = Belief::of_rate(24.0 / DAY);
        assert_eq!(outlook.turn(&fast, cost), None);
        assert!(outlook.worth_after(&fast, 20.0 * DAY) < 0.1 * cost);
        // The slower a page, the more a visit is worth.
        let worths = [1.0, 5.0, 25.0, 125.0].map(|days| outlook.worth_after(&Belief::of_rate(1.0 / (days * DAY)), DAY));
        assert!(worths.is_sorted(), "{worths:?}");
        assert!(Outlook::new(&Common::default()).is_none());
    }
}
