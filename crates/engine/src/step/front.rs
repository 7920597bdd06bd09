//! The sites in front: how they come there, who makes room for them, and how they leave.

use std::time::Duration;

use frontier::{Politeness, Reason, SiteState};
use model::{FailureKind, Purpose, Queued, SiteRecord, Timestamp};
use weburl::{CanonicalUrl, Site, SiteKey};

use super::robots_txt::stored_robots;
use super::shares::domain_of;
use super::slot::{Earlier, Front, Leaving, Loading, Reading, Slot, Truth, Weight};
use super::{Start, State};
use crate::Command;

/// Sites remembered whose budget is spent, some 16 bytes each.
const SPENT_REMEMBERED_MAX: usize = 1_000_000;

/// How long a request is taken to last to a site whose last one failed in an earlier run: until one sees that no answer begins.
const FAILED_VISIT_TOOK: Duration = Duration::from_secs(30);

/// So long such a site waits for others whose addresses are not known yet: they may have the same. It looks again after each step of it.
const OTHERS_COME_WITHIN: Duration = Duration::from_secs(5);
const LOOKS_FOR_OTHERS_AFTER: Duration = Duration::from_millis(500);

/// A wait that is cut by so much is reported: its delay was lowered, or the system's clock was set back. Workers' clocks differ a little.
const WAIT_CUT_MIN: Duration = Duration::from_secs(60);

impl State {
    pub(super) fn front(&mut self, site: SiteKey) -> Option<&mut Front> {
        match self.sites.get_mut(&site) {
            Some(Slot::Here(front)) => Some(front),
            Some(Slot::Loading(_)) | None => None,
        }
    }

    /// Starts reading a site that is not in front. If there is no room it waits.
    pub(super) fn bring_to_front(&mut self, site: SiteKey) {
        self.bring(site, None);
    }

    pub(super) fn bring(&mut self, site: SiteKey, its: Option<&Site>) {
        self.note_held_up(site);
        let is_left_alone = self.released.contains(&site)
            || self.spent.contains(&site)
            || self.asides.contains(site)
            || self.places.is_waiting(site);
        if is_left_alone || self.sites.contains_key(&site) {
            return;
        }
        if !self.make_room(self.settings.sites_in_front_max) {
            return self.wait_outside(site, its);
        }
        self.first_sites.remove(&site);
        let left_behind = self.gone.take(site).map(Box::new);
        self.sites.insert(site, Slot::Loading(Loading { left_behind, ..Loading::default() }));
        self.room.coming += 1;
        self.asked += 1;
        self.commands.push(Command::Load { site, with_record: true, after: None, max: self.window() });
    }

    /// Removes parked sites from memory until one more site has room, with fewer than `max` sites. False if that is impossible.
    pub(super) fn make_room(&mut self, max: usize) -> bool {
        while !self.has_place(max) {
            let Some(parked) = self.first_parked() else { return false };
            self.unpark(parked);
        }
        true
    }

    /// The site parked longest ago.
    pub(super) fn first_parked(&self) -> Option<SiteKey> {
        self.parked.first_key_value().map(|(_, site)| *site)
    }

    /// Removes a parked site from memory. False if the site is not parked.
    pub(super) fn unpark(&mut self, site: SiteKey) -> bool {
        let is_parked = self.front(site).is_some_and(|front| front.parked.is_some());
        if is_parked
            && let Some(front) = self.leave_front(site)
            && front.held
            && self.spent.len() < SPENT_REMEMBERED_MAX
        {
            self.spent.insert(site);
        }
        is_parked
    }

    /// Takes a site out of front.
    pub(super) fn leave_front(&mut self, site: SiteKey) -> Option<Box<Front>> {
        self.bench.withdraw(site);
        self.park(site, false);
        self.places.leave(site);
        self.rulebook.drop(site);
        self.line.leave(site);
        self.novelty.end(site);
        let front = match self.sites.remove(&site)? {
            Slot::Here(front) => front,
            Slot::Loading(_) => {
                self.room.coming -= 1;
                return None;
            }
        };
        self.room.change(front.weight, Weight::default());
        if front.is_finished() || front.leaving != Leaving::No {
            self.watch.end(site);
        }
        if let Some(before) =
            front.visited_before.filter(|_| self.start == Start::Shared && front.leaving == Leaving::No)
        {
            self.taken_over.insert(site, before);
        }
        Some(front)
    }

    /// Notes whether a site has nothing left to do.
    pub(super) fn park(&mut self, site: SiteKey, is_finished: bool) {
        let Some(Slot::Here(front)) = self.sites.get_mut(&site) else { return };
        match front.parked {
            None if is_finished => {
                front.parked = Some(self.next_parked);
                self.parked.insert(self.next_parked, site);
                self.next_parked += 1;
            }
            Some(place) if !is_finished => {
                front.parked = None;
                self.parked.remove(&place);
            }
            Some(_) | None => {}
        }
    }

    pub(super) fn loaded(
        &mut self,
        now: Timestamp,
        site: SiteKey,
        record: Option<Box<SiteRecord>>,
        queue: Vec<Queued>,
        all: bool,
    ) {
        self.asked -= 1;
        if matches!(self.sites.get(&site), Some(Slot::Loading(_)))
            && let Some(Slot::Loading(Loading { changed, leaving, left_behind, is_last_probe })) =
                self.sites.remove(&site)
        {
            self.room.coming -= 1;
            let left_behind = match left_behind {
                Some(left_behind) if leaving || changed => {
                    self.gone.insert(site, *left_behind);
                    None
                }
                left_behind => left_behind,
            };
            if leaving {
                // It was to be read since it has something to do.
                self.note_held_up(site);
                return self.let_go(site);
            }
            if changed {
                return self.bring_to_front(site);
            }
            let url = queue.first().map(|queued| &queued.candidate.url);
            if let Some(record) = record.as_ref().filter(|_| self.settings.requisites) {
                self.requisites.know_of(&record.site);
            }
            let Some(mut front) = self.new_front(now, site, record, url) else { return };
            if let Some(left_behind) = left_behind {
                front.state.go_on_behind(*left_behind);
            }
            if is_last_probe {
                front.state.end_wait(now);
            }
            self.places.enter(site, front.domain);
            self.sites.insert(site, Slot::Here(Box::new(front)));
            self.weigh(site);
            let has_urls = !queue.is_empty() || !all;
            if has_urls && self.front(site).is_some_and(|front| front.state.is_aside(now)) {
                return self.put_aside(now, site);
            }
        }
        if let Some(front) = self.front(site) {
            front.loading = false;
            front.state.loaded(queue, all);
        }
        self.take_up_late_sitemaps(site);
        self.prepare(now, site);
    }

    /// A site as its record has it, or new. `None` where there is neither a record nor a URL to tell what site it is.
    pub(super) fn new_front(
        &mut self,
        now: Timestamp,
        site: SiteKey,
        record: Option<Box<SiteRecord>>,
        url: Option<&CanonicalUrl>,
    ) -> Option<Front> {
        self.errands.comes_to_front(site);
        let taken_over = self.taken_over.remove(&site);
        let mut record = match record {
            Some(record) => self.read_record(now, *record),
            // Those that came first have their turns first.
            None => SiteRecord { due_at: now, ..SiteRecord::new(url?.site()) },
        };
        let politeness = &self.settings.site_rules.politeness;
        // Whether its address is refused is up to the settings and the seeds of this run.
        record.given_up.take_if(|failure| failure.kind == FailureKind::AddressDenied);
        let robots = stored_robots(record.robots.as_ref(), &self.settings);
        let has_failed =
            record.failures_in_a_row > 0 || record.robots.as_ref().is_some_and(|robots| robots.failed_tries > 0);
        if let Some(aside) = &record.aside
            && self.start == Start::Resumed
            && record.due_at == aside.until.max(record.asked_until)
            && aside.until < self.started_at + Politeness::aside_wait(aside.round)
        {
            // The user who begins a new run wants to try again. Only the wait that the site itself asked for is kept.
            record.due_at = record.due_at.min(record.asked_until.max(now));
        }
        let mut state = SiteState::new(record);
        state.set_robots(robots);
        let longest = if has_failed { politeness.longest_wait() } else { Duration::ZERO };
        let latest = now + longest.max(state.delay_max(politeness));
        let too_late = state.due_at().since(latest);
        state.set_due_at(state.due_at().min(latest));
        let visited_before = match self.start {
            Start::New => None,
            Start::Resumed => Some(self.started_at),
            Start::Shared => taken_over,
        };
        if let Some(before) = visited_before {
            // Such a visit may have ended unrecorded.
            state.wait_until(before + state.delay(politeness), Reason::Delay);
        }
        // What failed in an earlier run may hang: the other sites of its address come first.
        let of_earlier_run = state.due_at() <= self.started_at + state.delay(politeness);
        let is_to_wait_behind = self.start == Start::Resumed && of_earlier_run && state.failures_in_a_row() > 0;
        if too_late >= WAIT_CUT_MIN {
            self.waits_cut = self.waits_cut.max(Some(too_late));
        }
        Some(Front {
            domain: domain_of(state.site()),
            waits_for_share: false,
            weight: Weight::default(),
            state,
            visited_before,
            leaving: Leaving::No,
            loading: false,
            resolving: false,
            visit_took: if is_to_wait_behind { FAILED_VISIT_TOOK } else { Duration::ZERO },
            reading: Reading::Nothing,
            names_sitemaps: false,
            resolved_at: now,
            resolve_at: now,
            earlier_robots: Earlier::default(),
            unreachable: None,
            held: false,
            turns: 0,
            is_probed: false,
            truth: Truth::Unknown,
            yields: false,
            parked: None,
            sitemaps_named: false,
        })
    }

    /// Has a site that failed in an earlier run wait for its first turn while sites are read and names looked up. False if there is nothing
    /// to wait for.
    pub(super) fn waits_for_others(&mut self, now: Timestamp, site: SiteKey) -> bool {
        let politeness = &self.settings.site_rules.politeness;
        let (others_come, started_at) = (self.asked > 0, self.started_at);
        let Some(Slot::Here(front)) = self.sites.get_mut(&site) else { return false };
        let is_behind = front.turns == 0 && !front.visit_took.is_zero();
        let until = started_at + front.state.delay(politeness) + OTHERS_COME_WITHIN;
        let waits = is_behind && others_come && now < until;
        if waits {
            front.state.wait_until(until.min(now + LOOKS_FOR_OTHERS_AFTER), Reason::BackOff);
        }
        waits
    }

    /// Takes in a URL that is in the store's queue now.
    pub(super) fn queue(&mut self, queued: Queued) -> SiteKey {
        let (site, window) = (queued.candidate.url.key().site, self.window());
        let is_full = !self.has_place(self.settings.sites_in_front_max);
        let is_requisite = queued.candidate.purpose == Purpose::Requisite;
        if is_requisite {
            // A budget of pages does not hold it.
            self.spent.remove(&site);
        }
        match self.sites.get_mut(&site) {
            Some(Slot::Here(front)) => {
                front.held &= !is_requisite;
                front.state.insert(queued, window);
                // It must not leave memory before it is prepared.
                self.park(site, false);
            }
            // What is being read now will be seen by that read, or come after it.
            Some(Slot::Loading(_)) => {}
            None => {
                let its = is_full.then(|| queued.candidate.url.site());
                self.bring(site, its.as_ref());
            }
        }
        site
    }
}
