//! Sites in trouble: they leave the front until their wait is over, and the run waits for them as long as its patience lasts.

use std::collections::BTreeSet;
use std::time::Duration;

use foldhash::HashMap;
use frontier::LeftBehind;
use model::{SiteRecord, Timestamp};
use weburl::SiteKey;

use super::{Slot, State};

/// How long a run waits that has fetched nothing yet, so that it reports a wrong port or a missing network soon. As long, a site fails before
/// such a run ends, if any site has answered.
const PATIENCE_BEFORE_FIRST_PAGE: Duration = Duration::from_secs(60);

/// Sites in trouble that are remembered, some 150 bytes each. Those of more that wait longest are left to the store, and looked for there.
const ASIDE_REMEMBERED_MAX: usize = 300_000;

/// Sites in trouble, by the time when they may be asked again.
#[derive(Default)]
pub(super) struct Asides {
    sites: HashMap<SiteKey, InTrouble>,
    due: BTreeSet<(Timestamp, SiteKey)>,
    /// When the first is due of those that are not remembered.
    forgotten: Option<Timestamp>,
    /// From when on there was nothing else to do than to wait for them.
    waiting_since: Option<Timestamp>,
    /// Since when the one fails that began to fail last, and was put aside.
    failing_since: Timestamp,
}

struct InTrouble {
    due: Timestamp,
    /// Others come before these.
    left_behind: LeftBehind,
}

impl Asides {
    fn insert(&mut self, site: SiteKey, due: Timestamp, left_behind: LeftBehind) {
        self.remove(site);
        self.sites.insert(site, InTrouble { due, left_behind });
        self.due.insert((due, site));
        if self.sites.len() > ASIDE_REMEMBERED_MAX
            && let Some((due, last)) = self.due.pop_last()
        {
            self.sites.remove(&last);
            self.forgotten = Some(self.forgotten.map_or(due, |first| first.min(due)));
        }
    }

    pub(super) fn remove(&mut self, site: SiteKey) -> Option<LeftBehind> {
        let InTrouble { due, left_behind } = self.sites.remove(&site)?;
        self.due.remove(&(due, site));
        Some(left_behind)
    }

    /// When a site is due, if it is remembered.
    pub(super) fn due_of(&self, site: SiteKey) -> Option<Timestamp> {
        self.sites.get(&site).map(|site| site.due)
    }

    pub(super) fn contains(&self, site: SiteKey) -> bool {
        self.sites.contains_key(&site)
    }

    /// From now on is waited for them, not since before.
    pub(super) fn be_patient_again(&mut self) {
        self.waiting_since = None;
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
    pub(super) fn put_aside(&mut self, site: SiteKey) {
        if let Some(mut front) = self.leave_front(site) {
            let left_behind = front.state.take_left_behind();
            self.asides.insert(site, front.state.due_at(), left_behind);
            // From the end of its visit: one that asked to be left alone for a minute is asked again.
            let since = front.state.failing_since().map(|since| since + front.visit_took);
            self.asides.failing_since = self.asides.failing_since.max(since.unwrap_or_default());
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
            let left_behind = self.asides.remove(site);
            self.asides.waiting_since = None;
            self.bring_to_front(site);
            if let Some(Slot::Loading(loading)) = self.sites.get_mut(&site) {
                loading.left_behind = left_behind.or(loading.left_behind.take());
            }
        }
    }

    /// When to continue if only sites in trouble are left; `None` if patience ends before that.
    pub(super) fn waits_until(&mut self, now: Timestamp) -> Option<Timestamp> {
        let due = self.asides.next_due()?;
        let since = *self.asides.waiting_since.get_or_insert(now);
        (due <= self.patience_ends(since)).then_some(due)
    }

    /// When the run has waited long enough that has had nothing to do since then.
    pub(super) fn patience_ends(&self, since: Timestamp) -> Timestamp {
        let patience = self.settings.patience;
        if self.has_had_pages() {
            return since + patience;
        }
        self.failing_since() + PATIENCE_BEFORE_FIRST_PAGE.min(patience)
    }

    /// Since when all sites fail that are out of front, in a run that has fetched nothing. Where one has answered, each may have for a while.
    fn failing_since(&self) -> Timestamp {
        match self.network.was_reached() {
            true => self.tried_since.max(self.asides.failing_since),
            false => self.tried_since,
        }
    }

    /// When a run that has fetched nothing ends, if nothing happens until then. `None` if that is not known, or if some site with something to
    /// do does not fail.
    pub(super) fn ends_without_page_at(&self, now: Timestamp) -> Option<Timestamp> {
        let was_reached = self.network.was_reached();
        // Where one site answered, others may that were not asked yet.
        let may_come = was_reached && !(self.places.nobody_waits() && self.has_found_all_sites());
        if self.has_had_pages() || may_come || self.sites.len() + self.asides.len() <= self.parked.len() {
            return None;
        }
        let mut ends_at = self.failing_since() + PATIENCE_BEFORE_FIRST_PAGE;
        for slot in self.sites.values() {
            let Slot::Here(front) = slot else { return None };
            if front.parked.is_some() || front.state.is_aside(now) {
                continue;
            }
            let since = front.state.failing_since()?;
            if !was_reached {
                continue;
            }
            // A site with a long delay has one request in that time. It may be a URL that is broken.
            let delay = front.state.delay(&self.settings.site_rules.politeness);
            if front.state.failures_in_a_row() < 2 && delay > PATIENCE_BEFORE_FIRST_PAGE / 2 {
                return None;
            }
            ends_at = ends_at.max(since + PATIENCE_BEFORE_FIRST_PAGE);
        }
        Some(ends_at)
    }

    /// Whether the crawl has ever fetched a page. Only a crawl that has may begin a later round.
    pub(super) fn has_had_pages(&self) -> bool {
        self.counts.pages() > 0 || self.round > 1
    }
}
