//! Sites that come and go while the run goes on, since other workers crawl with it.

use model::Timestamp;
use weburl::SiteKey;

use super::{Slot, State};
use crate::Command;

impl State {
    /// Takes notice of sites whose queues in the store are others than what is known of them here.
    pub(super) fn sites_changed(&mut self, now: Timestamp, sites: &[SiteKey], taken_over: bool) {
        for site in sites {
            self.released.remove(site);
            if taken_over {
                self.taken_over.insert(*site);
            }
            match self.sites.get_mut(site) {
                Some(Slot::Loading(loading)) => (loading.changed, loading.leaving) = (true, false),
                Some(Slot::Here(front)) => {
                    // What is under way is known to the state of the site: it is not read twice.
                    front.leaving = false;
                    front.parked = false;
                    front.state.reload(front.loading);
                    self.prepare(now, *site);
                }
                None => self.bring_to_front(*site),
            }
        }
    }

    /// Reads the queues of sites that were taken for done, since nobody told of what was put there.
    pub(super) fn sites_waiting_in_store(&mut self, now: Timestamp, sites: &[SiteKey]) {
        let is_missed = |site: &&SiteKey| match self.sites.get(site) {
            Some(Slot::Here(front)) => front.state.is_finished() && !front.loading && !front.leaving,
            Some(Slot::Loading(_)) => false,
            None => true,
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
                    front.leaving = true;
                    self.prepare(now, *site);
                }
                None => self.let_go(*site),
            }
        }
    }

    /// Forgets a site of which nothing is under way.
    pub(super) fn let_go(&mut self, site: SiteKey) {
        self.sites.remove(&site);
        self.taken_over.remove(&site);
        self.released.insert(site);
        self.commands.push(Command::Released(site));
    }
}
