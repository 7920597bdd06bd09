//! A number twice: for the sites of the seeds, and for all sites.

use serde::{Deserialize, Serialize};

/// A value for the seed sites (those that a seed lies on) beside the one for all sites, these among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Both<T> {
    /// For the sites of the seeds.
    pub seed_sites: T,
    /// For all sites.
    pub all_sites: T,
}

impl<T: Copy> Both<T> {
    /// Changes what a URL counts for.
    pub(crate) fn update(&mut self, is_seed_site: bool, change: impl Fn(T) -> T) {
        self.all_sites = change(self.all_sites);
        if is_seed_site {
            self.seed_sites = change(self.seed_sites);
        }
    }

    /// Makes one value of two.
    pub(crate) fn with(self, other: Both<T>, join: impl Fn(T, T) -> T) -> Both<T> {
        Both { seed_sites: join(self.seed_sites, other.seed_sites), all_sites: join(self.all_sites, other.all_sites) }
    }

    /// Makes one value of each.
    pub(crate) fn map<U>(self, make: impl Fn(T) -> U) -> Both<U> {
        Both { seed_sites: make(self.seed_sites), all_sites: make(self.all_sites) }
    }
}

impl Both<u64> {
    /// Counts.
    pub(crate) fn add(&mut self, is_seed_site: bool, count: u64) {
        self.update(is_seed_site, |sum| sum.saturating_add(count));
    }

    /// How many there are of these for each of `pages`; `None` without pages.
    pub(crate) fn per(self, pages: Both<u64>) -> Both<Option<f64>> {
        #[expect(clippy::cast_precision_loss, reason = "a mean is shown")]
        let mean = |sum: u64, of: u64| (of > 0).then(|| sum as f64 / of as f64);
        Both { seed_sites: mean(self.seed_sites, pages.seed_sites), all_sites: mean(self.all_sites, pages.all_sites) }
    }
}
