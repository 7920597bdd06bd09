//! How a crawl begins.

use model::Timestamp;
use weburl::CanonicalUrl;

use super::{Counts, SiteSearch, State};

impl State {
    /// Puts the seeds into the frontier, and looks for what an earlier run left there.
    pub(super) fn begin(
        &mut self,
        now: Timestamp,
        seeds: Vec<CanonicalUrl>,
        known_seeds: Vec<CanonicalUrl>,
        (round, pages, bytes): (u32, u64, u64),
    ) {
        self.round = round;
        self.counts = Counts::of_round(pages, bytes);
        for seed in &known_seeds {
            self.add_seed(seed);
            self.sitemap_sites.add_seed(seed);
        }
        self.begin_with_patterns(now);
        self.new_seeds(now, seeds);
        self.search = SiteSearch::Wanted(None);
    }
}
