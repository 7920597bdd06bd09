//! URLs that patterns keep out by now, of sites whose budget is spent. Other sites come to such URLs in their turn. Such a site has no more
//! turns, so its queue is looked through once for them. In a round it is looked through, too: known pages may stand behind new ones.

use std::time::Duration;

use foldhash::{HashSet, HashSetExt};
use frontier::{Filter, Settled};
use model::{Queued, Timestamp};
use weburl::SiteKey;

use super::{Front, Slot, Start, State};

/// Sites remembered that were looked through, some 16 bytes each.
const LOOKED_THROUGH_MAX: usize = 1_000_000;

/// So long after a change other workers may still add URLs that they had judged by earlier patterns.
const LATE_LINKS_MAX: Duration = Duration::from_secs(10);

/// What was looked through.
#[derive(Default)]
pub(super) struct KeptOut {
    /// When the patterns came into force, if URLs may be in a queue that they keep out.
    since: Option<Timestamp>,
    looked_through: HashSet<SiteKey>,
}

impl State {
    /// A run goes on: the one before may have had other patterns.
    pub(super) fn begin_with_patterns(&mut self, now: Timestamp) {
        if self.start != Start::New {
            self.patterns_changed(now);
        }
    }

    /// Notes that other patterns are in force, if they are.
    pub(super) fn compare_patterns(&mut self, now: Timestamp, before: &Filter) {
        let after = &self.settings.filter;
        if (&before.exclude, &before.include) != (&after.exclude, &after.include) {
            self.patterns_changed(now);
        }
    }

    fn patterns_changed(&mut self, now: Timestamp) {
        let Filter { exclude, include, .. } = &self.settings.filter;
        let has_patterns = !exclude.is_empty() || !include.is_empty();
        self.kept_out = KeptOut { since: has_patterns.then_some(now), looked_through: HashSet::new() };
    }

    /// True if the queue of a site is to be looked through once its budget is spent.
    pub(super) fn looks_through(&self, site: SiteKey) -> bool {
        (self.kept_out.since.is_some() || self.round > 1) && !self.kept_out.looked_through.contains(&site)
    }

    /// A round begins: known pages come into the queues of sites that were looked through.
    pub(super) fn look_through_again(&mut self) {
        self.kept_out.looked_through.clear();
    }

    /// The next URL that patterns keep out, of a site whose budget is spent. Where there is none, and no more of the queue is to be read, nothing
    /// more is asked of the site.
    pub(super) fn next_kept_out(&mut self, site: SiteKey) -> Option<(Queued, Settled)> {
        let Some(Slot::Here(mut front)) = self.sites.remove(&site) else { return None };
        let looks_through = self.looks_on(&front);
        let next = match looks_through {
            true => front.state.take_ending(|queued| self.kept_out(&queued.candidate)),
            false => None,
        };
        front.held |= !looks_through;
        self.sites.insert(site, Slot::Here(front));
        next
    }

    /// The URL that [`State::next_kept_out`] would return.
    pub(super) fn peek_kept_out<'a>(&self, front: &'a Front) -> Option<(&'a Queued, Settled)> {
        let end = |queued: &Queued| self.kept_out(&queued.candidate);
        self.looks_on(front).then(|| front.state.peek_ending(end))?
    }

    fn looks_on(&self, front: &Front) -> bool {
        // While visits are under way, the budget only seems to be spent.
        self.looks_through(front.state.key) && front.state.in_flight == 0
    }

    /// Notes that the queue of a site was looked through to its end.
    pub(super) fn looked_through(&mut self, now: Timestamp, site: SiteKey) {
        let others_are_late = self.start == Start::Shared;
        let is_final = self.kept_out.since.is_none_or(|since| !others_are_late || now >= since + LATE_LINKS_MAX);
        if is_final && self.kept_out.looked_through.len() < LOOKED_THROUGH_MAX {
            self.kept_out.looked_through.insert(site);
        }
    }
}
