//! The bytes of a site, computed in constant time from lengths and running sums.

use super::{RobotsState, SiteState};

/// Bytes of a table: for each slot the entry and a control byte; an eighth of the slots stays free.
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
    /// Its bytes in memory, about. Rules of robots.txt count in full, although sites may share them.
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

    /// Of these, the URLs that wait in memory.
    #[must_use]
    pub fn queue_bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// Sets the state of its robots.txt.
    pub fn set_robots(&mut self, robots: RobotsState) {
        self.robots_bytes = bytes_of(&robots);
        self.robots = robots;
    }

    pub(super) fn take_robots(&mut self) -> RobotsState {
        self.robots_bytes = 0;
        std::mem::replace(&mut self.robots, RobotsState::Unknown)
    }
}
