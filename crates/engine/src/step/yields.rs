//! What pages bring, for the trap rules: does a page show something new, and where do the pages of large sites lead?

use foldhash::HashMap;
use frontier::yields::sample_mask;
use frontier::{Brought, Features, TrapRules, Yields};
use model::{Candidate, Purpose};
use weburl::{CanonicalUrl, SiteKey};

use super::{Slot, State};

/// Sites watched at once, at most; some 20 kB each. Others follow when these end.
const WATCHED_MAX: usize = 8_192;

/// The sites that are watched.
#[derive(Default)]
pub(super) struct Watch {
    sites: HashMap<SiteKey, Yields>,
    /// Sampled URLs have none of these bits in their keys.
    mask: u64,
}

impl Watch {
    /// Notes a link to a URL.
    pub(super) fn link(&mut self, by: &Candidate, to: &CanonicalUrl, is_fresh: bool) {
        let key = to.key();
        if self.sites.is_empty() || key.url & self.mask != 0 {
            return;
        }
        if let Some(yields) = self.sites.get_mut(&key.site) {
            yields.link(by, to, is_fresh);
        }
    }

    /// True if a site is watched. It is from this many fetched pages on.
    fn watches(&mut self, site: SiteKey, pages_fetched: u64, rules: &TrapRules) -> bool {
        if self.sites.contains_key(&site) {
            return true;
        }
        let begins = watched_from(rules).is_some_and(|from| pages_fetched >= from) && self.sites.len() < WATCHED_MAX;
        if begins {
            self.mask = sample_mask(rules);
            self.sites.insert(site, Yields::new(rules));
        }
        begins
    }

    /// Stops watching a site.
    pub(super) fn end(&mut self, site: SiteKey) {
        self.sites.remove(&site);
    }
}

/// From how many pages fetched on a site is watched; `None` where the rule is switched off.
fn watched_from(rules: &TrapRules) -> Option<u64> {
    (rules.low_yield_pages_max > 0).then_some(u64::from(rules.low_yield_window / 2))
}

impl State {
    /// Takes in what a page shows, where a trap rule needs that, and begins to count what it brings, if its site is watched.
    pub(super) fn brings_no_url_yet(&mut self, page: &Candidate, features: Option<Box<Features>>) -> Option<Brought> {
        let site = page.url.key().site;
        let rules = &self.settings.site_rules.traps;
        let Some(Slot::Here(front)) = self.sites.get_mut(&site).filter(|_| page.purpose == Purpose::Page) else {
            return None;
        };
        let is_watched = self.watch.watches(site, front.state.pages_fetched(), rules);
        let shape = rules.shape(&page.url).filter(|(_, rule)| rules.fetched_max(*rule).is_some());
        if !is_watched && shape.is_none() {
            return None;
        }
        let features = features.map(|features| *features);
        let shows = front.state.judge_novelty(page, shape, features, &mut self.novelty, rules);
        is_watched.then(|| Brought::nothing(&page.url, shows))
    }

    /// Notes what a page brought, and applies the verdicts on its groups to its site.
    pub(super) fn brought(&mut self, page: &Candidate, brought: Option<&Brought>) {
        let site = page.url.key().site;
        let Some((brought, yields)) = brought.zip(self.watch.sites.get_mut(&site)) else { return };
        let follows = yields.ended(page, brought, &self.settings.site_rules.traps);
        if let Some(front) = self.front(site) {
            follows.into_iter().for_each(|(group, turns_out)| front.state.heed_yield(group, turns_out));
        }
    }
}
