//! How many bytes the front takes, and how room is made in it.
//!
//! The bytes are a running sum: a site is weighed again whenever something of it may have changed, which is where it is prepared for what
//! comes next. A sixth of the limit is kept free for what comes to sites that cannot leave at once. Where the rest is used up windows
//! shrink, no site comes, and sites that had a turn leave until it is enough.

use frontier::window_urls;
use model::Timestamp;
use weburl::SiteKey;

use super::front::Front;
use super::{Slot, State};

/// What a site in front takes besides [`Front`]: some 170 bytes in the table of sites, 120 among the places and 110 on the workbench. Tables
/// are two thirds full on the average.
const PLACE_BYTES: usize = 400;

/// What a domain or an address takes of which some site has a place: in two tables, and a node of a tree of its own.
const HOLDER_BYTES: usize = 230;

/// What a group takes on the workbench, which is an address or a site: in its table, in the order of those that are due, and a node of a tree
/// of its own.
const GROUP_BYTES: usize = 430;

/// What is kept free for a site besides, while it is being read.
const COMING_BYTES: usize = 4_096;

/// What a site takes that waits outside.
pub(super) const OUTSIDE_BYTES: usize = 32;

/// What a URL in a window takes, about.
const URL_BYTES: usize = 300;

/// The smallest window, where bytes are short: the next is read when the URLs of one are all taken.
const WINDOW_URLS_SHORT: usize = 2;

/// So small a part of the limit is kept free, one in so many.
const FREE_PART: usize = 6;

/// Sites that leave for one event, at most, since the front is too large.
const LEAVE_AT_ONCE_MAX: usize = 64;

/// The bytes of the front.
#[derive(Default)]
pub(super) struct Room {
    /// All that sites in front are counted for.
    sites: usize,
    /// Of these, what their windows take.
    windows: usize,
    /// Of these, what belongs to sites that leave as soon as their records are committed.
    leaving: usize,
    /// Sites that are being read.
    pub(super) coming: usize,
    /// The most bytes that there were after an event.
    pub(super) peak: usize,
}

/// What a site in front is counted for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    bytes: usize,
    window: usize,
    leaves: bool,
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
    /// Counts what a site takes now instead of what it took before.
    pub(super) fn change(&mut self, before: Weight, after: Weight) {
        self.sites = self.sites + after.bytes - before.bytes;
        self.windows = self.windows + after.window - before.window;
        self.leaving = self.leaving + after.leaving() - before.leaving();
    }
}

impl State {
    /// How many bytes the sites in front take, and those that wait for a place, about.
    #[must_use]
    pub fn front_bytes(&self) -> usize {
        self.room.sites + self.room.coming * PLACE_BYTES + self.bytes_of_others()
    }

    /// What is counted for nobody in front.
    fn bytes_of_others(&self) -> usize {
        let outside = self.places.len_outside() * OUTSIDE_BYTES;
        outside + self.places.holders() * HOLDER_BYTES + self.bench.groups() * GROUP_BYTES
    }

    /// The most that it was after an event of this run.
    #[must_use]
    pub fn front_bytes_peak(&self) -> usize {
        self.room.peak
    }

    /// How many bytes they may take.
    #[must_use]
    pub fn front_bytes_max(&self) -> usize {
        self.settings.front_bytes_max
    }

    /// What [`State::front_bytes`] must be, found by looking at every site: for those who doubt the sum.
    #[must_use]
    pub fn front_bytes_anew(&self) -> usize {
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

    /// Weighs a site of which something may have changed.
    pub(super) fn weigh(&mut self, site: SiteKey) {
        if let Some(Slot::Here(front)) = self.sites.get_mut(&site) {
            let after = Weight::of(front);
            self.room.change(std::mem::replace(&mut front.weight, after), after);
        }
    }

    /// What the front takes, and what is kept free for sites that are being read.
    pub(super) fn bytes_spoken_for(&self) -> usize {
        self.front_bytes() + self.room.coming * COMING_BYTES
    }

    fn front_bytes_usable(&self) -> usize {
        self.settings.front_bytes_max - self.settings.front_bytes_max / FREE_PART
    }

    /// True where windows have to shrink and sites have to leave.
    pub(super) fn is_too_large(&self) -> bool {
        self.bytes_spoken_for() - self.room.leaving > self.front_bytes_usable()
    }

    /// True where one more site finds a place, if there are to be `max` at most. One always does.
    pub(super) fn has_place(&self, max: usize) -> bool {
        let fits = self.bytes_spoken_for() + COMING_BYTES <= self.front_bytes_usable();
        self.sites.is_empty() || (self.sites.len() < max && fits)
    }

    /// The window of each site in front now: by the number of sites, and by the bytes that there are for windows.
    pub(super) fn window(&self) -> usize {
        let sites = self.sites.len().max(1);
        let others = self.bytes_spoken_for() - self.room.windows;
        let by_bytes = self.front_bytes_usable().saturating_sub(others) / URL_BYTES / sites;
        window_urls(self.settings.windows_urls_max, sites).min(by_bytes.max(WINDOW_URLS_SHORT))
    }

    /// Lets sites leave while the front is too large: parked ones first, then of who has most places, each after a turn at least.
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
