//! Which honest sites might be asked: something of them is known and not asked for, nothing is under way, and their delay is over.

use std::collections::BTreeSet;
use std::time::Duration;

use model::Timestamp;

#[derive(Clone, Copy, Default)]
struct Site {
    /// Pages that were found and not answered.
    open: u32,
    due: Timestamp,
    is_asked: bool,
    /// When it was found; `None` before, and once it was asked.
    found_at: Option<Timestamp>,
}

/// The honest sites.
pub struct Waiting {
    delay: Duration,
    sites: Vec<Site>,
    ready: BTreeSet<(Timestamp, u32)>,
    /// The longest time from when a site was found to its first visit.
    pub longest: Duration,
}

impl Waiting {
    pub fn new(sites: u32, delay: Duration) -> Self {
        Waiting { delay, sites: vec![Site::default(); sites as usize], ready: BTreeSet::new(), longest: Duration::ZERO }
    }

    /// Whether any might be asked now.
    pub fn is_anybody(&self, now: Timestamp) -> bool {
        self.ready.first().is_some_and(|(due, _)| *due <= now)
    }

    /// A page was found.
    pub fn found(&mut self, n: u32, now: Timestamp) {
        self.change(n, |site| {
            if site.due == Timestamp::default() {
                (site.due, site.found_at) = (now, Some(now));
            }
            site.open += 1;
        });
    }

    /// It is asked for a page, or for robots.txt.
    pub fn begins(&mut self, n: u32, now: Timestamp) {
        let found_at = self.change(n, |site| {
            site.is_asked = true;
            site.found_at.take()
        });
        self.longest = self.longest.max(found_at.map_or(Duration::ZERO, |found_at| now.since(found_at)));
    }

    /// It has answered.
    pub fn ends(&mut self, n: u32, now: Timestamp, is_robots: bool) {
        let delay = self.delay;
        self.change(n, |site| {
            site.is_asked = false;
            site.due = now + delay;
            site.open -= u32::from(!is_robots);
        });
    }

    fn change<T>(&mut self, n: u32, change: impl FnOnce(&mut Site) -> T) -> T {
        let site = &mut self.sites[n as usize];
        self.ready.remove(&(site.due, n));
        let value = change(site);
        if site.open > 0 && !site.is_asked {
            self.ready.insert((site.due, n));
        }
        value
    }
}
