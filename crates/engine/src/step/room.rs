//! The bytes of the front, and how the step makes room in it.
//!
//! The step keeps a running sum and weighs a site again whenever it prepares it. A sixth of the limit stays free for the growth of sites
//! that cannot leave at once. Beyond the rest windows shrink, no site comes, and sites that had a turn leave.

use frontier::window_urls;
use model::Timestamp;
use weburl::SiteKey;

use super::State;
use super::slot::{Front, Slot, Weight};

/// Bytes of a site in front besides [`Front`]: some 170 in the table of sites, 120 among the places, 110 on the workbench. Tables are two
/// thirds full on average.
const PLACE_BYTES: usize = 400;

/// Bytes of a domain or address with a place: entries in two tables, and a tree node.
const HOLDER_BYTES: usize = 230;

/// Bytes of a group (an address or a site) on the workbench: an entry in its table, one in the order of due groups, and a tree node.
const GROUP_BYTES: usize = 430;

/// Further bytes reserved for a site while it is being read, its URLs not requested before.
const COMING_BYTES: usize = 4_096;

/// Bytes of a site outside.
pub(super) const OUTSIDE_BYTES: usize = 32;

/// Bytes of a URL in a window, about.
const URL_BYTES: usize = 300;

/// Bytes of a URL that is visited again, about: it has its last visit with it.
const URL_BYTES_AGAIN: usize = 1_500;

/// The smallest window, when bytes are short. The step reads the next one when all of its URLs are taken.
const WINDOW_URLS_SHORT: usize = 2;

/// The part of the limit that stays free: one in this many.
const FREE_PART: usize = 6;

/// Sites that leave a front that is too large, at most, for one event.
const LEAVE_AT_ONCE_MAX: usize = 64;

/// The bytes of the front.
#[derive(Default)]
pub(super) struct Room {
    /// The weight of all sites in front.
    sites: usize,
    /// Of this, the windows.
    windows: usize,
    /// Of this, the sites that leave after the commit of their records.
    leaving: usize,
    /// Sites that are being read.
    pub(super) coming: usize,
    /// The largest value after any event.
    pub(super) peak: usize,
}

impl Weight {
    fn of(front: &Front) -> Self {
        let bytes = front.state.bytes() + size_of::<Front>() - size_of_val(&front.state) + PLACE_BYTES;
        Weight { bytes, window: front.state.queue_bytes(), leaves: front.yields }
    }

    fn leaving(self) -> usize {
        if self.leaves { self.bytes } else { 0 }
    }
}

impl Room {
    /// Replaces the former weight of a site by the present one.
    pub(super) fn change(&mut self, before: Weight, after: Weight) {
        self.sites = self.sites + after.bytes - before.bytes;
        self.windows = self.windows + after.window - before.window;
        self.leaving = self.leaving + after.leaving() - before.leaving();
    }
}

impl State {
    /// Bytes of the sites in front and of those outside, about.
    #[must_use]
    pub fn front_bytes(&self) -> usize {
        self.room.sites + self.room.coming * PLACE_BYTES + self.bytes_of_others()
    }

    /// Bytes that belong to no single site in front.
    fn bytes_of_others(&self) -> usize {
        let outside = self.places.len_outside() * OUTSIDE_BYTES;
        outside + self.places.holders() * HOLDER_BYTES + self.bench.groups() * GROUP_BYTES
    }

    /// The largest value of [`State::front_bytes`] in this run.
    #[must_use]
    pub fn front_bytes_peak(&self) -> usize {
        self.room.peak
    }

    /// The limit of [`State::front_bytes`].
    #[must_use]
    pub fn front_bytes_max(&self) -> usize {
        self.settings.front_bytes_max
    }

    /// [`State::front_bytes`] computed from every site, to check the running sum.
    #[must_use]
    pub fn front_bytes_summed(&self) -> usize {
        let bytes = |slot: &Slot| match slot {
            Slot::Here(front) => Weight::of(front).bytes,
            Slot::Loading(_) => PLACE_BYTES,
        };
        self.sites.values().map(bytes).sum::<usize>() + self.bytes_of_others()
    }

    /// Sites in front, those that are being read included.
    #[must_use]
    pub fn sites_in_front(&self) -> usize {
        self.sites.len()
    }

    /// Weighs a site again.
    pub(super) fn weigh(&mut self, site: SiteKey) {
        if let Some(Slot::Here(front)) = self.sites.get_mut(&site) {
            let after = Weight::of(front);
            self.room.change(std::mem::replace(&mut front.weight, after), after);
        }
    }

    /// The bytes of the front, and those reserved for sites that are being read.
    pub(super) fn bytes_spoken_for(&self) -> usize {
        self.front_bytes() + self.room.coming * self.coming_bytes()
    }

    /// Further bytes reserved for a site while it is being read.
    fn coming_bytes(&self) -> usize {
        COMING_BYTES + WINDOW_URLS_SHORT * (self.url_bytes() - URL_BYTES)
    }

    fn url_bytes(&self) -> usize {
        if self.round > 1 { URL_BYTES_AGAIN } else { URL_BYTES }
    }

    fn front_bytes_usable(&self) -> usize {
        self.settings.front_bytes_max - self.settings.front_bytes_max / FREE_PART
    }

    /// True if windows must shrink and sites must leave.
    pub(super) fn is_too_large(&self) -> bool {
        self.bytes_spoken_for() - self.room.leaving > self.front_bytes_usable()
    }

    /// True if one more site fits, with at most `max` sites. A single site always fits.
    pub(super) fn has_place(&self, max: usize) -> bool {
        let fits = self.bytes_spoken_for() + self.coming_bytes() <= self.front_bytes_usable();
        self.sites.is_empty() || (self.sites.len() < max && fits)
    }

    /// The window of each site in front: by the number of sites, and by the bytes left for windows.
    pub(super) fn window(&self) -> usize {
        let sites = self.sites.len().max(1);
        let others = self.bytes_spoken_for() - self.room.windows;
        let by_bytes = self.front_bytes_usable().saturating_sub(others) / self.url_bytes() / sites;
        window_urls(self.settings.windows_urls_max, sites).min(by_bytes.max(WINDOW_URLS_SHORT))
    }

    /// Removes sites while the front is too large: parked ones first, then sites of the largest holder that had a turn.
    pub(super) fn shed(&mut self, now: Timestamp) {
        for _ in 0..LEAVE_AT_ONCE_MAX {
            if !self.is_too_large() || self.sites.len() <= 1 {
                break;
            }
            let Some(site) = self.first_parked().or_else(|| self.who_leaves(now)) else { break };
            if !self.unpark(site) {
                self.leave_to_others(now, site);
            }
        }
    }
}
