//! How a crawl begins.

use model::{Candidate, Outcome, Timestamp, Visit};
use weburl::CanonicalUrl;

use super::{SiteSearch, State};
use crate::Record;

impl State {
    /// Puts the seeds into the frontier, and looks for what an earlier run left there.
    pub(super) fn begin(
        &mut self,
        now: Timestamp,
        seeds: Vec<CanonicalUrl>,
        known_seeds: Vec<CanonicalUrl>,
        pages: u64,
        bytes: u64,
    ) {
        self.pages = pages;
        self.bytes = bytes;
        for seed in seeds.iter().chain(&known_seeds) {
            self.add_seed(seed);
            self.sitemap_sites.add_seed(seed);
        }
        if let Some(first) = seeds.first() {
            let mut record = Record::of(first.key().site);
            for seed in &seeds {
                match self.settings.filter.judge_seed(seed) {
                    Ok(()) => record.found.push(Candidate::seed(seed.clone())),
                    Err(rule) => {
                        let visit =
                            Visit::without_fetch(seed.key(), Outcome::Excluded, rule.to_string(), self.dates.of(now));
                        record.settled.push((Candidate::seed(seed.clone()), visit));
                    }
                }
            }
            record.seeds = seeds;
            self.record(record);
        }
        self.search = SiteSearch::Wanted(None);
    }
}
