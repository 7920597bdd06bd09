//! Sites that come and go while the run goes on, since other workers crawl with it.

use std::net::IpAddr;

use model::Timestamp;
use weburl::SiteKey;

use super::{Leaving, Slot, State};
use crate::Command;

impl State {
    /// Takes notice of sites whose queues in the store have changed.
    pub(super) fn sites_changed(&mut self, now: Timestamp, sites: &[SiteKey], taken_over: bool) {
        for site in sites {
            if taken_over {
                if let Some(left_behind) = self.asides.remove(*site) {
                    self.gone.insert(*site, left_behind);
                }
                self.places.forget(*site);
                self.taken_over.insert(*site, now);
            }
            // It stays released until it is on hold no more.
            if self.settings.held_sites.contains(site) {
                self.note_held_up(*site);
                continue;
            }
            self.released.remove(site);
            self.errands.keep(*site);
            self.spent.remove(site);
            let looks_through = self.looks_through(*site);
            match self.sites.get_mut(site) {
                Some(Slot::Loading(loading)) => (loading.changed, loading.leaving) = (true, false),
                // Its record in the store may say by now that it is to be tried again: a round chooses its URLs.
                Some(Slot::Here(front)) if front.state.is_given_up() && !front.is_busy() => {
                    self.leave_front(*site);
                    self.bring_to_front(*site);
                }
                Some(Slot::Here(front)) => {
                    // What is under way is known to the state of the site: it is not read twice.
                    if front.leaving == Leaving::Ordered {
                        front.leaving = Leaving::No;
                    }
                    front.state.reload(front.loading);
                    front.held &= !looks_through;
                    self.park(*site, false);
                    self.prepare(now, *site);
                }
                None => self.bring_to_front(*site),
            }
        }
    }

    /// Reads the queues of sites that counted as done: URLs were added there without a hint.
    pub(super) fn sites_waiting_in_store(&mut self, now: Timestamp, sites: &[SiteKey]) {
        let is_missed = |site: &&SiteKey| match self.sites.get(site) {
            Some(Slot::Here(front)) => front.state.is_finished() && !front.loading && front.leaving == Leaving::No,
            Some(Slot::Loading(_)) => false,
            None => {
                let is_known =
                    self.asides.contains(**site) || self.places.is_waiting(**site) || self.spent.contains(*site);
                !is_known
            }
        };
        let missed: Vec<SiteKey> = sites.iter().filter(is_missed).copied().collect();
        self.sites_changed(now, &missed, false);
    }

    /// Lets go of sites, of each as soon as nothing of it is under way.
    pub(super) fn release(&mut self, now: Timestamp, sites: &[SiteKey]) {
        for site in sites {
            match self.sites.get_mut(site) {
                Some(Slot::Loading(loading)) => loading.leaving = true,
                Some(Slot::Here(front)) => {
                    if front.leaving == Leaving::No {
                        front.leaving = Leaving::Ordered;
                    }
                    self.prepare(now, *site);
                }
                // Where it is is not known.
                None if self.errands.is_under_way_at(None) => self.errands.release_later(*site),
                None => self.let_go(*site),
            }
        }
    }

    /// Releases a site whose address another worker owns. Its turn has come, and a site on a shared address has one request at a
    /// time. So its next owner may send requests at once.
    pub(super) fn elsewhere(&mut self, now: Timestamp, site: SiteKey, address: Option<IpAddr>) {
        if !self.end_look_up(now, site) {
            return;
        }
        if let Some(front) = self.front(site) {
            front.leaving = Leaving::Elsewhere(address);
        }
        self.asked -= 1;
        self.prepare(now, site);
    }

    /// Notes that a site has something to do, if it is on hold.
    pub(super) fn note_held_up(&mut self, site: SiteKey) {
        if self.settings.held_sites.contains(&site) {
            self.held_up.insert(site);
        }
    }

    /// Whether a site has something to do, as far as it is known without a look into the store.
    fn has_work(&self, site: SiteKey) -> bool {
        match self.sites.get(&site) {
            Some(Slot::Here(front)) => !front.is_finished(),
            Some(Slot::Loading(_)) => true,
            None => self.asides.contains(site) || self.places.is_waiting(site),
        }
    }

    /// The number of sites on hold that have something to do.
    pub(super) fn held_up(&self) -> usize {
        let held = self.settings.held_sites.iter();
        held.filter(|site| self.held_up.contains(site) || self.has_work(**site)).count()
    }

    /// Forgets a site of which nothing is under way.
    pub(super) fn let_go(&mut self, site: SiteKey) {
        if self.has_work(site) || self.spent.contains(&site) {
            self.note_held_up(site);
        }
        let left_behind = self.asides.remove(site);
        let front = self.leave_front(site);
        let address = front.as_ref().and_then(|front| front.leaving.for_address());
        let of_front = front.filter(|front| !front.is_finished()).map(|mut front| front.state.take_left_behind());
        if let Some(left_behind) = of_front.or(left_behind) {
            self.gone.insert(site, left_behind);
        }
        self.taken_over.remove(&site);
        self.places.forget(site);
        self.released.insert(site);
        self.commands.push(Command::Released { site, address });
    }
}
