//! How many bytes a site takes. Worked out from lengths and sums that are kept, so it takes no time.

use super::{RobotsState, SiteState};

/// What a table takes for each entry it has room for besides the entry: a byte for it, and the eighth that stays free.
fn table_bytes(capacity: usize, entry: usize) -> usize {
    capacity * (entry + 1) * 8 / 7
}

fn bytes_of(robots: &RobotsState) -> usize {
    match robots {
        RobotsState::Unknown | RobotsState::Stored { .. } => 0,
        RobotsState::InFlight { earlier } => {
            earlier.as_ref().map_or(0, |earlier| size_of::<RobotsState>() + bytes_of(earlier))
        }
        RobotsState::Known { rules, .. } => rules.heap_bytes(),
    }
}

impl SiteState {
    /// How many bytes it takes, itself included, about. Rules of robots.txt are counted in full, although sites to which the same file
    /// applies may share them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let record = &self.record;
        let failures =
            [record.given_up.as_ref(), record.aside.as_ref().map(|aside| &aside.reason), self.sweep.failure.as_ref()];
        let texts: usize = failures.into_iter().flatten().map(|failure| failure.detail.capacity()).sum();
        let tables = table_bytes(self.taken.capacity() + self.sweep.remembered.capacity(), size_of::<u64>())
            + table_bytes(self.shapes.capacity(), size_of::<(u64, super::Counted)>());
        let lists = (self.shapes_due.capacity() + self.shapes_changed.capacity()) * size_of::<u64>();
        let addresses = self.addresses.as_ref().map_or(0, |addresses| size_of_val(&addresses[..]));
        size_of::<SiteState>()
            + record.site.as_str().len()
            + texts
            + tables
            + lists
            + addresses
            + self.robots_bytes
            + self.low_groups.bytes()
            + self.queue.bytes()
    }

    /// How many of these are of the URLs that wait in memory.
    #[must_use]
    pub fn queue_bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// Takes in what is known of its robots.txt.
    pub fn set_robots(&mut self, robots: RobotsState) {
        self.robots_bytes = bytes_of(&robots);
        self.robots = robots;
    }

    pub(super) fn take_robots(&mut self) -> RobotsState {
        self.robots_bytes = 0;
        std::mem::replace(&mut self.robots, RobotsState::Unknown)
    }
}
