//! What a site says of changes: dates in its sitemaps and feeds.
//!
//! A signal is evidence, and it weighs as much as signals of the site were right so far ([`Signals::learn`]). Until they have proved that they
//! tell changes, they are ignored. A signal never forces a visit: a page that changes too fast to be worth visits is not worth one because it is
//! said to have changed.
//!
//! The rule is that of optimal stopping. A page is worth a visit as soon as its copy is less likely to be right than copies of the page are on
//! average, under the best rule for it, after the cost of visits ([`crate::revisit::Plan::gain`]). Without signals this is the rule of [`crate::revisit`].

use std::collections::BTreeMap;

use crate::revisit::{Belief, Plan, Prior, RATES, Seen, TIMES_COUNT, rates, time_at, time_place};

/// Changes are counted in so many groups, by how many were expected since the visit before: the more are expected, the more likely is a wrong
/// signal by then.
const GROUPS: usize = 20;
/// The logarithm of the range of expected changes.
const EXPECTED_RANGE: (f64, f64) = (-4.0, 2.0);
/// How many standard deviations more signals must come with changes than chance explains. So at least 16 pages must have signals and changes.
const PROOF_DEVIATIONS: f64 = 4.0;
/// The least correlation of signals and changes. What else makes both more likely explains less, however many pages there are.
const CORRELATION_MIN: f64 = 0.2;
/// Visits are compared that come after times within this ratio.
const LENGTH_STEP: f64 = 1.5;
/// Signals that come with fewer of the changes than this are ignored.
const RECALL_MIN: f64 = 0.1;
/// So many changes without a signal are assumed beside those that were seen: few visits prove nothing.
const CAUTION: f64 = 4.0;
/// Steps in which the part of changes with a signal is tried.
const RECALL_STEPS: u32 = 40;
/// Wrong signals that are assumed for one change, beside those that were seen.
const WRONG_FIRST: f64 = 0.1;
/// How often signals and change rates are fitted to each other.
const FITTINGS: usize = 2;
/// How often the range is halved in which the odds of a page lie.
const HALVINGS: usize = 40;
/// The logarithm of that range.
const ODDS_RANGE: (f64, f64) = (-30.0, 30.0);

/// A date later than this part of the time since the visit before says only that there was a change: it may be that of the request.
const RECENT_PART: f64 = 1.0 / 64.0;

/// What the date of a page says at a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dating {
    /// How many seconds before the visit the page changed last.
    pub ago: f64,
    /// The date is another one than at the visit before.
    pub is_new: bool,
}

/// The time from one visit of a page to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// How long it was.
    pub seconds: f64,
    /// How old the page was when it was said to have changed, if it was.
    pub said_after: Option<f64>,
    /// Whether the visit found a change.
    pub has_changed: bool,
    /// What the date of the content says, if it counts.
    pub dating: Option<Dating>,
}

impl Interval {
    /// Nothing was said.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.said_after.is_none()
    }

    /// How many seconds before the visit a change happened that it found. `None` where its date does not say.
    fn changed_ago(&self) -> Option<f64> {
        let dating = self.dating.filter(|dating| self.has_changed && dating.is_new)?;
        (RECENT_PART * self.seconds..=self.seconds).contains(&dating.ago).then_some(dating.ago)
    }
}

/// How right a site's signals are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// The part of the changes that come with a signal.
    pub recall: f64,
    /// Signals without a change, for each change that is expected.
    pub wrong: f64,
}

/// What visits found, with and without signals.
#[derive(Clone, Debug, Default)]
struct Heard {
    /// Signals of pages that had not changed.
    wrong: f64,
    /// The changes expected of pages while they were unchanged and nothing was said.
    expected: f64,
    /// Visits that found a change, with and without a signal before.
    changed: [(f64, f64); GROUPS],
}

/// The changes that are expected after so many seconds.
fn expected(belief: &Belief, seconds: f64) -> f64 {
    -belief.freshness(seconds).max(f64::MIN_POSITIVE).ln()
}

fn group(expected: f64) -> usize {
    let (from, to) = EXPECTED_RANGE;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped to the groups")]
    let group = ((expected.ln() - from) / (to - from) * GROUPS as f64).clamp(0.0, (GROUPS - 1) as f64) as usize;
    group
}

/// The changes expected in the middle of a group.
fn expected_of(group: usize) -> f64 {
    let (from, to) = EXPECTED_RANGE;
    (from + (to - from) * (group as f64 + 0.5) / GROUPS as f64).exp()
}

/// The logarithm of a likelihood: `said` visits of probability `p`, and `silent` ones of the rest.
fn likelihood(p: f64, said: f64, silent: f64) -> f64 {
    said * p.max(1e-9).ln() + silent * (1.0 - p).max(1e-9).ln()
}

fn best(candidates: impl Iterator<Item = f64>, of: impl Fn(f64) -> f64) -> f64 {
    let best = candidates.map(|candidate| (candidate, of(candidate))).max_by(|one, other| one.1.total_cmp(&other.1));
    best.map_or(0.0, |(candidate, _)| candidate)
}

/// How likely each of these is, where so many of them happened: by the odds of each, times one number for all.
fn share(odds: &[f64], happened: f64) -> Vec<f64> {
    let by = |factor: f64| odds.iter().map(move |odds| factor * odds / (1.0 + factor * odds));
    let (mut low, mut high) = ODDS_RANGE;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if by(middle.exp()).sum::<f64>() < happened { low = middle } else { high = middle }
    }
    by(high.exp()).collect()
}

/// How signals and changes vary together.
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    /// The products of what both are beyond what is expected.
    both: f64,
    /// The squares for each.
    changes: f64,
    signals: f64,
}

/// How much more often signals and changes of a page came together than chance explains. Only visits of the same page are compared that came
/// after about as much time: sites may say more of pages that change more, right or wrong, and more time brings more of both.
fn together(belief: &Belief, page: &[Interval]) -> Together {
    let mut of_length: BTreeMap<i64, Vec<&Interval>> = BTreeMap::new();
    for interval in page {
        #[expect(clippy::cast_possible_truncation, reason = "a small number")]
        let length = (interval.seconds.max(1.0).ln() / LENGTH_STEP.ln()).floor() as i64;
        of_length.entry(length).or_default().push(interval);
    }
    let mut together = Together::default();
    for alike in of_length.values() {
        let [changed, said] = [|of: &Interval| of.has_changed, |of: &Interval| !of.is_silent()]
            .map(|is| alike.iter().filter(|interval| is(interval)).count());
        if [changed, said].iter().any(|count| *count == 0 || *count == alike.len()) {
            continue;
        }
        let odds = |interval: &&Interval| {
            let same = belief.freshness(interval.seconds).clamp(1e-9, 1.0 - 1e-9);
            (1.0 - same) / same
        };
        let odds: Vec<f64> = alike.iter().map(odds).collect();
        let [changes, signals] = [changed, said].map(|count| share(&odds, count as f64));
        let beyond = |is: bool, likely: f64| f64::from(u8::from(is)) - likely;
        for (interval, (change, signal)) in alike.iter().zip(changes.iter().zip(&signals)) {
            let (change, signal) = (beyond(interval.has_changed, *change), beyond(!interval.is_silent(), *signal));
            together.both += change * signal;
            together.changes += change * change;
            together.signals += signal * signal;
        }
    }
    together
}

/// Whether signals come with changes: beyond doubt, and so closely that they are worth it.
fn is_proved(pages: impl Iterator<Item = Together>) -> bool {
    let (mut sum, mut squares) = (Together::default(), 0.0);
    for page in pages {
        sum.both += page.both;
        sum.changes += page.changes;
        sum.signals += page.signals;
        squares += page.both * page.both;
    }
    sum.both > PROOF_DEVIATIONS * f64::sqrt(squares)
        && sum.both > CORRELATION_MIN * f64::sqrt(sum.changes * sum.signals)
}

impl Heard {
    /// Takes in the visits of a page. Each counts only if another one of the page was signalled: a site does not speak of all its pages.
    fn page(&mut self, belief: &Belief, page: &[Interval]) {
        let said = page.iter().filter(|interval| interval.said_after.is_some()).count();
        for Interval { seconds, said_after, has_changed, .. } in page {
            let is_said = said_after.is_some();
            if said == usize::from(is_said) {
                continue;
            }
            let expected_until = |seconds: f64| expected(belief, seconds);
            if *has_changed {
                let (said, silent) = &mut self.changed[group(expected_until(*seconds))];
                *(if is_said { said } else { silent }) += 1.0;
                // Until the change, of which the signal tells; without one, about half of the time.
                self.expected += expected_until(said_after.unwrap_or(seconds / 2.0)).min(1.0);
            } else {
                self.wrong += f64::from(u8::from(is_said));
                self.expected += expected_until(said_after.unwrap_or(*seconds));
            }
        }
    }

    /// How right the signals are: the number of wrong ones by visits that found no change, and the part of changes that were said by those
    /// that did.
    fn signals(&self) -> Signals {
        let wrong = (self.wrong + WRONG_FIRST) / (self.expected + 1.0);
        let parts = (0..=RECALL_STEPS).map(|step| f64::from(step) / f64::from(RECALL_STEPS));
        let recall = best(parts, |recall| {
            let of_group = |(group, (said, silent)): (usize, &(f64, f64))| {
                likelihood(1.0 - (1.0 - recall) * (-wrong * expected_of(group)).exp(), *said, *silent)
            };
            self.changed.iter().enumerate().map(of_group).sum::<f64>() + CAUTION * (1.0 - recall).max(1e-9).ln()
        });
        Signals { recall, wrong }
    }
}

impl Signals {
    /// How right the signals of a site are, by visits of its pages. Nothing is believed of them until it is proved.
    #[must_use]
    pub fn learn(prior: &Prior, pages: &[Vec<Interval>]) -> Signals {
        let mut signals = Signals::default();
        let belief = |signals: &Signals, page: &[Interval]| Belief::new(prior, &signals.seen(page));
        if !is_proved(pages.iter().map(|page| together(&belief(&signals, page), page))) {
            return signals;
        }
        for _ in 0..FITTINGS {
            let mut heard = Heard::default();
            pages.iter().for_each(|page| heard.page(&belief(&signals, page), page));
            signals = heard.signals();
        }
        if signals.tell() { signals } else { Signals::default() }
    }

    /// The evidence of the visits of a page.
    #[must_use]
    pub fn seen(&self, page: &[Interval]) -> Seen {
        let mut seen = Seen::default();
        page.iter().for_each(|interval| self.see(&mut seen, *interval));
        seen
    }

    /// Whether they tell anything.
    #[must_use]
    pub fn tell(&self) -> bool {
        self.recall >= RECALL_MIN
    }

    /// How likely it is that a page is as it was so many seconds ago, now that it was said to have changed, or was not.
    #[must_use]
    pub fn freshness(&self, belief: &Belief, seconds: f64, is_said: bool) -> f64 {
        let silent_if_same = (-self.wrong * expected(belief, seconds)).exp();
        let silent_if_changed = (1.0 - self.recall) * silent_if_same;
        let (if_same, if_changed) = match is_said {
            true => (1.0 - silent_if_same, 1.0 - silent_if_changed),
            false => (silent_if_same, silent_if_changed),
        };
        let same = belief.freshness(seconds);
        same * if_same / (same * if_same + (1.0 - same) * if_changed).max(f64::MIN_POSITIVE)
    }

    /// Seconds from the last visit to the next one of a page of which a change was said when it was so many seconds `old`.
    fn wait(&self, belief: &Belief, plan: Plan, old: f64) -> f64 {
        if plan.gain <= 0.0 {
            return plan.wait;
        }
        let is_due = |seconds: f64| self.freshness(belief, seconds, true) <= plan.gain;
        if is_due(old) {
            return old;
        }
        let later = (time_place(old)..TIMES_COUNT).map(|place| time_at(place).seconds);
        later.filter(|seconds| *seconds > old).find(|seconds| is_due(*seconds)).unwrap_or(f64::INFINITY).min(plan.wait)
    }

    /// Takes in a visit. Where visits follow signals, a visit comes just after a change. Taken for one at any time, it would say that the page
    /// changes all the time.
    pub fn see(&self, seen: &mut Seen, interval: Interval) {
        let Interval { seconds, said_after, has_changed, .. } = interval;
        if let Some(ago) = interval.changed_ago() {
            seen.last_change(ago);
            if self.tell() {
                // No visit followed a signal before that change.
                let before = time_at(time_place(said_after.unwrap_or(seconds).min(seconds - ago)));
                seen.weigh(|rate| before.same[rate].powf(self.recall));
            }
            return;
        }
        if !has_changed || !self.tell() {
            return seen.visit(seconds, has_changed);
        }
        let time = time_at(time_place(seconds));
        let silent_until = time_at(time_place(said_after.unwrap_or(seconds)));
        seen.weigh(|rate| {
            let silent = silent_until.same[rate].powf(self.recall);
            match said_after {
                Some(_) => silent * rates()[rate] * (self.recall + self.wrong * (1.0 - time.same[rate])),
                None => silent - time.same[rate],
            }
        });
    }
}

/// How pages are visited whose site tells when they change: by their signals, and after some time without one.
#[derive(Clone, Debug)]
pub struct Outlook {
    signals: Signals,
    /// Times that a page may wait without an announcement, and what comes of them by each rate: one in four of those of [`crate::revisit`].
    waits: Vec<After>,
}

/// What comes of visits at each signal, and after this time.
#[derive(Clone, Debug)]
struct After {
    seconds: f64,
    /// For how many seconds the copy is right between two visits.
    right: [f64; RATES],
    /// The seconds between two visits.
    length: [f64; RATES],
}

/// The step from one time of an [`Outlook`] to the next.
const OUTLOOK_STEP: usize = 4;

impl Outlook {
    /// The outlook on pages of a site with these signals; `None` where they tell nothing.
    #[must_use]
    pub fn new(signals: &Signals) -> Option<Self> {
        signals.tell().then(|| Self::of(signals))
    }

    fn of(signals: &Signals) -> Self {
        let after = |place: usize| {
            let time = time_at(place);
            // Visits at signals and at the end of the time, whichever comes first; each rate has its own number of both.
            let (ends, said) = (1.0 + signals.wrong, signals.recall + signals.wrong);
            let right = |rate: usize| (1.0 - time.same[rate].powf(ends)) / (ends * rates()[rate]);
            let length = |rate: usize| (1.0 - time.same[rate].powf(said)) / (said * rates()[rate]);
            After { seconds: time.seconds, right: std::array::from_fn(right), length: std::array::from_fn(length) }
        };
        Outlook { signals: *signals, waits: (0..TIMES_COUNT).step_by(OUTLOOK_STEP).map(after).collect() }
    }

    /// Seconds from the last visit of a page to its next one, where a visit costs so many seconds. A change was said when the page was so old,
    /// or not.
    #[must_use]
    pub fn wait(&self, belief: &Belief, cost: f64, said_after: Option<f64>) -> f64 {
        let (plan, _) = self.plan(belief, cost, belief.plan(cost));
        said_after.map_or(plan.wait, |old| self.signals.wait(belief, plan, old))
    }

    /// How a page is visited where a visit costs so many seconds, and the seconds between two visits then. `blind` is the plan without
    /// signals.
    pub(crate) fn plan(&self, belief: &Belief, cost: f64, blind: Plan) -> (Plan, f64) {
        let plan = |after: &After| {
            let length = belief.mean(&after.length);
            let gain = (belief.mean(&after.right) - cost) / length.max(f64::MIN_POSITIVE);
            (Plan { wait: after.seconds, gain }, length)
        };
        let best = self.waits.iter().map(plan).max_by(|(one, _), (other, _)| one.gain.total_cmp(&other.gain));
        best.filter(|(best, _)| best.gain > blind.gain).unwrap_or((blind, blind.wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::Prior;

    const DAY: f64 = 86_400.0;

    /// Numbers from 0 to 1.
    fn random() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        }
    }

    /// Forty pages that change about every twenty days, visited every ten, with signals of this kind.
    fn site(recall: f64, wrong_part: f64, visits: u32) -> Vec<Vec<Interval>> {
        let mut part = random();
        let mut visit = |_| {
            let has_changed = part() < 0.4;
            let is_said = part() < if has_changed { recall + (1.0 - recall) * wrong_part } else { wrong_part };
            Interval { seconds: 10.0 * DAY, said_after: is_said.then_some(5.0 * DAY), has_changed, dating: None }
        };
        (0..40).map(|_| (0..visits).map(&mut visit).collect()).collect()
    }

    #[test]
    fn signals_weigh_as_much_as_they_were_right() {
        for (recall, wrong, expect) in
            [(0.9, 0.0, 0.9), (0.5, 0.2, 0.5), (1.0, 0.5, 1.0), (0.0, 0.5, 0.0), (0.0, 0.9, 0.0), (0.0, 0.0, 0.0)]
        {
            let signals = Signals::learn(&Prior::default(), &site(recall, wrong, 30));
            assert!((signals.recall - expect).abs() < 0.1, "{recall} {wrong}: {signals:?}");
            assert_eq!(signals.tell(), expect > 0.0);
        }
        // A few visits prove nothing, and neither do a few pages.
        assert_eq!(Signals::learn(&Prior::default(), &site(1.0, 0.0, 1)), Signals::default());
        assert_eq!(Signals::learn(&Prior::default(), &site(1.0, 0.0, 30)[..10]), Signals::default());
        assert_eq!(Signals::learn(&Prior::default(), &[]), Signals::default());
    }

    #[test]
    fn a_site_that_says_more_of_pages_that_change_more_proves_nothing() {
        let mut part = random();
        // Fast pages change and are signalled at most visits, slow ones at few, and neither because of the other.
        let page = |n: usize| {
            let often = if n.is_multiple_of(2) { 0.8 } else { 0.1 };
            let mut visit = |_| {
                let (is_said, has_changed) = (part() < often, part() < often);
                Interval { seconds: 10.0 * DAY, said_after: is_said.then_some(DAY), has_changed, dating: None }
            };
            (0..36).map(&mut visit).collect::<Vec<_>>()
        };
        let pages: Vec<_> = (0..200).map(page).collect();
        assert_eq!(Signals::learn(&Prior::default(), &pages), Signals::default());
    }

    #[test]
    fn what_is_said_changes_what_is_believed() {
        let belief = Belief::of_rate(1.0 / (20.0 * DAY));
        let honest = Signals { recall: 0.9, wrong: 1e-3 };
        let lying = Signals { recall: 0.0, wrong: 20.0 };
        for (signals, said, silent) in [(honest, 0.0..0.01, 0.9..1.0), (lying, 0.6..0.61, 0.6..0.61)] {
            assert!(said.contains(&signals.freshness(&belief, 10.0 * DAY, true)), "{signals:?}");
            assert!(silent.contains(&signals.freshness(&belief, 10.0 * DAY, false)), "{signals:?}");
        }
    }

    #[test]
    fn no_signal_forces_a_visit() {
        let cost = 5.0 * DAY;
        let blind = |belief: &Belief| belief.plan(cost);
        let honest = Signals { recall: 0.9, wrong: 1e-3 };
        // A page that changes every month is visited when a change is announced, and more rarely without.
        let slow = Belief::of_rate(1.0 / (30.0 * DAY));
        let plan_of = |signals: &Signals, belief: &Belief| Outlook::of(signals).plan(belief, cost, blind(belief)).0;
        let plan = plan_of(&honest, &slow);
        assert!(plan.gain > blind(&slow).gain && plan.wait > 1.5 * blind(&slow).wait, "{plan:?} {:?}", blind(&slow));
        assert_eq!(honest.wait(&slow, plan, 3.0 * DAY), 3.0 * DAY);
        // One that changes every hour is worth no visit, whatever is announced.
        let fast = Belief::of_rate(24.0 / DAY);
        let plan = plan_of(&honest, &fast);
        assert_eq!((plan.gain, plan.wait), (0.0, f64::INFINITY));
        assert_eq!(honest.wait(&fast, plan, 3.0 * DAY), f64::INFINITY);
        // Signals that say nothing change nothing.
        let lying = Signals { recall: 0.0, wrong: 20.0 };
        assert_eq!(plan_of(&lying, &slow), blind(&slow));
        assert!(lying.wait(&slow, blind(&slow), 3.0 * DAY) > 0.8 * blind(&slow).wait);
    }

    #[test]
    fn visits_that_follow_signals_do_not_make_a_page_look_fast() {
        // It changes every ten days, and each change is announced: each visit finds one, ten days after the one before.
        let signals = Signals { recall: 0.9, wrong: 1e-3 };
        let (mut by_signals, mut blind) = (Seen::default(), Seen::default());
        for _ in 0..20 {
            let visit = Interval { seconds: 10.0 * DAY, said_after: Some(9.9 * DAY), has_changed: true, dating: None };
            signals.see(&mut by_signals, visit);
            Signals::default().see(&mut blind, visit);
        }
        let [days, days_blind] = [by_signals, blind].map(|seen| Belief::new(&Prior::default(), &seen).interval() / DAY);
        assert!((8.0..14.0).contains(&days) && days_blind < 1.0, "{days} {days_blind}");
    }
}
