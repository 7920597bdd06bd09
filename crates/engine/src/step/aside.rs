//! Sites in trouble: they leave the front until their wait is over.

use std::collections::BTreeSet;

use foldhash::HashMap;
use frontier::{ASIDE_WAITS, LeftBehind};
use model::{SiteRecord, Timestamp};
use weburl::SiteKey;

use super::{Slot, State};

/// Sites in trouble that are remembered, some 180 bytes each. Those of more that wait longest are left to the store, and looked for there.
const ASIDE_REMEMBERED_MAX: usize = 300_000;

/// Sites in trouble, by the time when they may be asked again.
#[derive(Default)]
pub(super) struct Asides {
    sites: HashMap<SiteKey, InTrouble>,
    due: BTreeSet<(Timestamp, SiteKey)>,
    /// The same sites by the time since when they fail; zero if no request of this run did.
    failing: BTreeSet<(Timestamp, SiteKey)>,
    /// When the first is due of those that are not remembered.
    forgotten: Option<Timestamp>,
}

struct InTrouble {
    due: Timestamp,
    failing_since: Timestamp,
    /// Before this it is not asked, even if patience ends.
    probe_from: Timestamp,
    /// Others come before these.
    left_behind: LeftBehind,
}

impl InTrouble {
    /// Only what failed in this run is asked once more: others would begin to fail as patience ends.
    fn may_be_probed(&self, at: Timestamp) -> bool {
        self.failing_since > Timestamp::default() && self.probe_from <= at && at < self.due
    }
}

impl Asides {
    fn insert(&mut self, site: SiteKey, in_trouble: InTrouble) {
        self.remove(site);
        self.due.insert((in_trouble.due, site));
        self.failing.insert((in_trouble.failing_since, site));
        self.sites.insert(site, in_trouble);
        if self.sites.len() > ASIDE_REMEMBERED_MAX
            && let Some((due, last)) = self.due.last().copied()
        {
            self.remove(last);
            self.forgotten = Some(self.forgotten.map_or(due, |first| first.min(due)));
        }
    }

    pub(super) fn remove(&mut self, site: SiteKey) -> Option<LeftBehind> {
        let InTrouble { due, failing_since, left_behind, .. } = self.sites.remove(&site)?;
        self.due.remove(&(due, site));
        self.failing.remove(&(failing_since, site));
        Some(left_behind)
    }

    /// What is known of a site's URLs that failed.
    pub(super) fn left_behind_of(&self, site: SiteKey) -> Option<&LeftBehind> {
        self.sites.get(&site).map(|site| &site.left_behind)
    }

    /// When a site is due, if it is remembered.
    pub(super) fn due_of(&self, site: SiteKey) -> Option<Timestamp> {
        self.sites.get(&site).map(|site| site.due)
    }

    /// True if some site may be asked at this time though it is not due.
    pub(super) fn may_probe_some(&self, at: Timestamp) -> bool {
        self.sites.values().any(|site| site.may_be_probed(at))
    }

    /// True if this site may.
    pub(super) fn may_probe(&self, site: SiteKey, at: Timestamp) -> bool {
        self.sites.get(&site).is_some_and(|site| site.may_be_probed(at))
    }

    pub(super) fn contains(&self, site: SiteKey) -> bool {
        self.sites.contains_key(&site)
    }

    /// Since when the one fails that began to fail last, as far as they are remembered.
    pub(super) fn failing_since(&self) -> Timestamp {
        self.failing.last().map_or_else(Timestamp::default, |(since, _)| *since)
    }

    /// How many there are, as far as they are remembered.
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }

    /// When the next is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let first = self.due.first().map(|(due, _)| *due);
        [first, self.forgotten].into_iter().flatten().min()
    }
}

impl State {
    /// Sites in trouble that are out of front, as far as they are remembered.
    #[must_use]
    pub fn sites_aside(&self) -> usize {
        self.asides.len()
    }

    /// Lets a site in trouble leave the front. Nothing of it may be under way.
    pub(super) fn put_aside(&mut self, now: Timestamp, site: SiteKey) {
        if let Some(mut front) = self.leave_front(site) {
            let left_behind = front.state.take_left_behind();
            let since = front.state.failing().map(|failing| failing.since);
            let failing_since = since.map_or_else(Timestamp::default, |since| self.patience.with_place(&front, since));
            let wait = front.state.delay_max(&self.settings.site_rules.politeness).max(ASIDE_WAITS[0]);
            let probe_from = front.state.asked_until().max(now + wait);
            self.asides.insert(site, InTrouble { due: front.state.due_at(), failing_since, probe_from, left_behind });
        }
    }

    /// Until when a site is in trouble that may not be in front, as far as it is known here or by its record.
    pub(super) fn aside_until(&self, now: Timestamp, site: SiteKey, record: &SiteRecord) -> Option<Timestamp> {
        let until = match self.sites.get(&site) {
            Some(Slot::Here(front)) => front.state.is_aside(now).then(|| front.state.due_at()),
            Some(Slot::Loading(_)) | None => {
                let in_store = record.aside.as_ref().map(|_| record.due_at);
                self.asides.due_of(site).or(in_store)
            }
        };
        until.filter(|until| *until > now)
    }

    /// Brings back the sites whose wait is over, as far as there is room.
    pub(super) fn return_from_aside(&mut self, now: Timestamp) {
        if self.asides.forgotten.is_some_and(|due| due <= now) {
            self.asides.forgotten = None;
            self.sites_missed = true;
        }
        while let Some((due, site)) = self.asides.due.first().copied()
            && due <= now
            && self.make_room(self.settings.sites_in_front_max)
        {
            self.return_to_front(site, false);
        }
        if self.last_probe_or_earlier(now).is_some_and(|probe| probe <= now) {
            let aside = self.asides.due.iter().map(|(_, site)| *site);
            for site in aside.filter(|site| self.asides.may_probe(*site, now)).collect::<Vec<_>>() {
                if !self.make_room(self.settings.sites_in_front_max) {
                    break;
                }
                self.return_to_front(site, true);
            }
        }
    }

    fn return_to_front(&mut self, site: SiteKey, is_last_probe: bool) {
        let left_behind = self.asides.remove(site).map(Box::new);
        self.bring_to_front(site);
        if let Some(Slot::Loading(loading)) = self.sites.get_mut(&site) {
            loading.left_behind = left_behind.or(loading.left_behind.take());
            loading.is_last_probe = is_last_probe;
        }
    }
}
