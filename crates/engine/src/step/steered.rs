//! What is changed from outside while the run goes on: its settings, and its seeds.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{Candidate, Outcome, Timestamp, Visit};
use weburl::{CanonicalUrl, SiteKey};

use super::{Slot, State};
use crate::{Record, Settings, Spent};

impl State {
    /// Whether nothing new is fetched, as it was wanted.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.settings.paused
    }

    /// How long the run was paused in all.
    #[must_use]
    pub fn paused_for(&self, now: Timestamp) -> Duration {
        self.paused_before + self.paused_since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Goes on by other settings. The scope stays: seeds have extended it.
    pub(super) fn settings_changed(&mut self, now: Timestamp, settings: Settings) {
        let scope = self.settings.filter.scope.clone();
        let before = std::mem::replace(&mut self.settings, settings);
        self.settings.filter.scope = scope;
        // Sinks and hooks may want them where the dataset does not.
        self.settings.details = before.details;
        // Other patterns judge what was found otherwise.
        self.remembered.forget_settled();
        self.compare_patterns(now, &before.filter);
        self.change_delays(now, &before);
        self.open_budgets();
        self.hold_others(now, &before.held_sites);
        match (before.paused, self.settings.paused) {
            (false, true) => self.paused_since = Some(now),
            (true, false) => {
                (self.paused_before, self.paused_since) = (self.paused_for(now), None);
                self.goes_on_at(now);
            }
            _ => {}
        }
        self.prepare_all(now);
    }

    /// Looks at each site in memory again: what held it may hold it no more.
    pub(super) fn prepare_all(&mut self, now: Timestamp) {
        for site in self.sites.keys().copied().collect::<Vec<_>>() {
            self.prepare(now, site);
        }
    }

    /// Moves the next visits of sites that wait for nothing else than their delay.
    fn change_delays(&mut self, now: Timestamp, before: &Settings) {
        let (before, after) = (&before.site_rules.politeness, &self.settings.site_rules.politeness);
        for slot in self.sites.values_mut() {
            if let Slot::Here(front) = slot {
                let (was, is) = (front.state.delay(before), front.state.delay(after));
                front.state.change_delay(was, is, now);
            }
        }
    }

    /// Sites whose budget was spent are looked at again: it may have grown.
    pub(super) fn open_budgets(&mut self) {
        for slot in self.sites.values_mut() {
            if let Slot::Here(front) = slot {
                front.held = false;
                if front.state.has_passed_over() {
                    front.state.reload(front.loading);
                }
            }
        }
        self.sites_missed |= !self.spent.is_empty();
        self.spent.clear();
    }

    /// Other workers have spent as much of the budgets of a round.
    pub(super) fn spent_elsewhere(&mut self, now: Timestamp, spent: Spent) {
        if spent.round != self.round {
            return;
        }
        let were_over = self.pages_are_over();
        self.counts.spent_elsewhere(spent);
        // Visits of a worker that was lost are undone.
        if were_over && !self.pages_are_over() {
            self.open_budgets();
            self.prepare_all(now);
        }
    }

    /// Lets go of sites that are on hold from now on, and brings back those that are not any more.
    fn hold_others(&mut self, now: Timestamp, before: &BTreeSet<SiteKey>) {
        let held = &self.settings.held_sites;
        let (more, no_more): (Vec<SiteKey>, Vec<SiteKey>) =
            (held.difference(before).copied().collect(), before.difference(held).copied().collect());
        self.held_up.retain(|site| !no_more.contains(site));
        self.release(now, &more);
        self.sites_changed(now, &no_more, false);
    }

    /// After a pause, time in which nothing was to be done is no sign that nothing can be.
    fn goes_on_at(&mut self, now: Timestamp) {
        self.patience.begins(now);
    }

    /// Puts seeds into the frontier.
    pub(super) fn new_seeds(&mut self, now: Timestamp, seeds: Vec<CanonicalUrl>) {
        for seed in &seeds {
            self.add_seed(seed);
            self.sitemap_sites.add_seed(seed);
        }
        let Some(first) = seeds.first() else { return };
        let mut record = Record::of(first.key().site);
        for seed in &seeds {
            match self.settings.filter.judge_seed(seed) {
                Ok(()) => record.found.push(Candidate::seed(seed.clone())),
                Err(rule) => {
                    let visit =
                        Visit::without_fetch(seed.key(), Outcome::Excluded, rule.to_string(), self.dates.of(now));
                    record.settled.push((Candidate::seed(seed.clone()), visit));
                }
            }
        }
        record.seeds = seeds;
        self.record(record);
    }
}
