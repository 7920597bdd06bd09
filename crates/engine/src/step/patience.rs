//! Patience: how long a run goes on while all that is left fails.

use std::time::Duration;

use foldhash::HashMap;
use frontier::Reason;
use model::{Network, Timestamp};
use weburl::SiteKey;

use super::shares::Holder;
use super::{Front, Slot, Start, State};

/// How long a run that has fetched nothing goes on while all sites fail, so that it reports a wrong port or a missing network soon.
const PATIENCE_BEFORE_FIRST_PAGE: Duration = Duration::from_secs(60);

/// How long any other run goes on at least while some site is not aside yet: longer than a URL needs for its attempts (1 + 8 + 64 s).
const PATIENCE_MIN: Duration = Duration::from_secs(120);

/// So long before patience ends, the sites aside are asked once more.
const LAST_PROBE_BEFORE: Duration = Duration::from_secs(30);

/// Addresses and domains that fail and are remembered, some 70 bytes each. The sites of others must fail one by one.
const FAILING_REMEMBERED_MAX: usize = 100_000;

/// What a run waits for that has nothing but failures.
#[derive(Default)]
pub(super) struct Patience {
    /// When waiting began: with the run, the last answer of a site, or the end of a pause, or of a time in which the process stood still.
    since: Timestamp,
    /// The addresses, and the look-ups of the names of domains, that have failed without a success.
    failing: HashMap<Holder, FailingPlace>,
}

/// Where sites fail.
#[derive(Clone, Copy)]
struct FailingPlace {
    /// When the first failed.
    since: Timestamp,
    /// The site that failed; `None` if there were several.
    only: Option<SiteKey>,
    /// Some site failed that had answered before.
    fails_those_that_answered: bool,
}

impl Patience {
    pub(super) fn new(now: Timestamp) -> Self {
        Patience { since: now, ..Patience::default() }
    }

    /// Waiting begins again.
    pub(super) fn begins(&mut self, now: Timestamp) {
        self.since = self.since.max(now);
    }

    /// Since when a site fails that waits for its turn: since its place does. One that answered when it was asked last fails only with
    /// another such site.
    fn failing_with_place(&self, front: &Front) -> Option<Timestamp> {
        let place = self.failing.get(&place_of(front))?;
        (place.fails_those_that_answered || !front.state.was_reached()).then_some(place.since)
    }

    /// Since when a site fails that has failed since then: since its place does, where others fail too and nobody is answered.
    pub(super) fn with_place(&self, front: &Front, since: Timestamp) -> Timestamp {
        let place = self.failing.get(&place_of(front)).filter(|place| place.only != Some(front.state.key));
        place.map_or(since, |place| place.since.min(since))
    }

    fn failed(&mut self, at: Holder, now: Timestamp, site: SiteKey, has_answered: bool) {
        let (is_known, has_room) = (self.failing.contains_key(&at), self.failing.len() < FAILING_REMEMBERED_MAX);
        if is_known || has_room {
            let first = FailingPlace { since: now, only: Some(site), fails_those_that_answered: false };
            let place = self.failing.entry(at).or_insert(first);
            place.only.take_if(|only| *only != site);
            place.fails_those_that_answered |= has_answered;
        }
    }
}

/// Where a site fails or answers with what is asked of it next: at its address, or at the look-ups for its domain.
fn place_of(front: &Front) -> Holder {
    front.state.address().map_or(Holder::Names(front.domain), |address| Holder::Address(Network::of(address)))
}

impl State {
    /// Notes that a site has answered.
    pub(super) fn site_answered(&mut self, now: Timestamp, site: SiteKey) {
        self.patience.begins(now);
        if let Some(place) = self.front(site).map(|front| place_of(front)) {
            self.patience.failing.remove(&place);
        }
    }

    /// Notes that the name of a site was found.
    pub(super) fn name_found(&mut self, site: SiteKey) {
        if let Some(domain) = self.front(site).map(|front| front.domain) {
            self.patience.failing.remove(&Holder::Names(domain));
        }
    }

    /// Notes that a site has failed.
    pub(super) fn site_failed(&mut self, now: Timestamp, site: SiteKey) {
        if let Some((place, has_answered)) = self.front(site).map(|front| (place_of(front), front.state.was_reached()))
        {
            self.patience.failed(place, now, site, has_answered);
        }
    }

    /// Notes that this process stood still until now, as while its machine sleeps: that was nobody's time to answer in.
    pub fn stood_still(&mut self, now: Timestamp) {
        self.patience.begins(now);
        for flight in self.in_flight.values_mut() {
            flight.begun = now;
        }
    }

    /// Whether the crawl has ever fetched a page. Only a crawl that has may begin a later round.
    fn has_had_pages(&self) -> bool {
        self.counts.pages() > 0 || self.round > 1
    }

    /// True if the run has had no answer at all, and none before had a page.
    fn is_unreached(&self) -> bool {
        !self.has_had_pages() && !self.network.was_reached()
    }

    /// How long the run waits while all sites that are left are aside.
    pub(super) fn patience(&self) -> Duration {
        match self.has_had_pages() {
            true => self.settings.patience,
            false => self.settings.patience.min(PATIENCE_BEFORE_FIRST_PAGE),
        }
    }

    /// How long it goes on while all sites that are left fail, aside or not.
    fn patience_with_failing(&self) -> Duration {
        match self.has_had_pages() {
            true => self.settings.patience.max(PATIENCE_MIN),
            false => PATIENCE_BEFORE_FIRST_PAGE,
        }
    }

    /// When to continue if only sites aside are left; `None` if patience ends before that.
    pub(super) fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        let due = self.asides.next_due()?;
        let since = match self.is_unreached() {
            true => self.patience.since,
            false => self.patience.since.max(self.asides.failing_since()),
        };
        let is_soon = due <= since + self.patience();
        if is_soon { Some(due) } else { self.last_probe(now).filter(|probe| *probe > now) }
    }

    /// Since when a run without a network waits, of which it is known since then.
    pub(super) fn waits_since(&self, down_since: Timestamp) -> Timestamp {
        self.patience.since.max(down_since)
    }

    /// When the sites aside are asked once more, if all that is left fails until patience ends, and some of them may be asked then.
    pub(super) fn last_probe(&self, now: Timestamp) -> Option<Timestamp> {
        if !self.may_have_last_probe() {
            return None;
        }
        let probe = self.patience_ends(now)?.before(LAST_PROBE_BEFORE);
        self.asides.may_probe_some(probe).then_some(probe)
    }

    /// The same, as a time at which to look again. Sites are looked at only where it may be now.
    pub(super) fn last_probe_or_earlier(&self, now: Timestamp) -> Option<Timestamp> {
        let earliest = (self.patience.since + self.patience_with_failing()).before(LAST_PROBE_BEFORE);
        match earliest > now {
            true => self.may_have_last_probe().then_some(earliest),
            false => self.last_probe(now),
        }
    }

    /// Those who want no patience get none.
    fn may_have_last_probe(&self) -> bool {
        self.asides.len() > 0 && self.settings.patience >= PATIENCE_MIN && self.may_lose_patience()
    }

    /// Without a network nothing counts as a failure, and its probes decide.
    fn may_lose_patience(&self) -> bool {
        self.start != Start::Shared && !self.settings.paused && self.network.down_since().is_none()
    }

    /// True if the run is over as soon as nothing is under way, since all that is left has failed for long enough.
    pub(super) fn is_out_of_patience(&self, now: Timestamp) -> bool {
        self.gives_up_at(now).is_some_and(|at| at <= now)
    }

    /// True if that was so before now: nothing begins any more. What is due as patience ends is tried.
    pub(super) fn was_out_of_patience(&self, now: Timestamp) -> bool {
        self.gives_up_at(now).is_some_and(|at| at < now)
    }

    fn gives_up_at(&self, now: Timestamp) -> Option<Timestamp> {
        // Sites are looked at only where it may be so.
        let is_long_enough = self.patience.since + self.patience_with_failing() <= now;
        if is_long_enough && self.may_lose_patience() { self.patience_ends(now) } else { None }
    }

    /// When the first site in front is due, of a crawl with pages. A run without one tells why there is none.
    pub(super) fn first_due(&self) -> Option<Timestamp> {
        let due = self.sites.values().filter_map(|slot| match slot {
            Slot::Here(front) if front.parked.is_none() => Some(front.state.due_at()),
            Slot::Here(_) | Slot::Loading(_) => None,
        });
        due.min().filter(|_| self.has_had_pages())
    }

    /// When patience ends if nothing happens until then. `None` if some site that is left does not fail, or if that is not known.
    pub(super) fn patience_ends(&self, now: Timestamp) -> Option<Timestamp> {
        let patience = self.patience_with_failing();
        let earliest = self.patience.since + patience;
        // Where one site answered, others may that were not tried yet.
        let others_wait = !(self.places.nobody_waits() && self.has_found_all_sites());
        let nothing_is_left = self.sites.len() + self.asides.len() <= self.parked.len();
        if nothing_is_left || others_wait && !self.is_unreached() {
            return None;
        }
        let mut since = self.asides.failing_since();
        for slot in self.sites.values() {
            let Slot::Here(front) = slot else { return None };
            if front.parked.is_none() {
                since = since.max(self.failing_since(now, front)?);
            }
        }
        Some(if self.is_unreached() { earliest } else { earliest.max(since + patience) })
    }

    /// Since when a site with something to do fails, or its address, or the look-ups for its domain. One that waits for its turn fails with these.
    fn failing_since(&self, now: Timestamp, front: &Front) -> Option<Timestamp> {
        if front.state.needs_no_network() {
            return None;
        }
        let Some(failing) = front.state.failing() else {
            let due_at = front.state.due_at();
            let since = self.patience.failing_with_place(front).filter(|_| due_at <= now)?;
            return Some(due_at.max(since));
        };
        // A minute is too short for the attempts of a URL.
        if failing.is_of_urls && !self.has_had_pages() {
            return None;
        }
        // What it waits for its delay is no failure.
        let waits = match front.state.waits_for() {
            Reason::Delay => front.state.delay(&self.settings.site_rules.politeness),
            _ => Duration::ZERO,
        };
        Some(self.patience.with_place(front, failing.since + waits))
    }
}
