//! Watches what the pages of large sites bring, for the trap rule without patterns.

use foldhash::HashMap;
use frontier::yields::sample_mask;
use frontier::{Brought, TrapRules, Yields};
use model::{Candidate, Purpose};
use weburl::{CanonicalUrl, SiteKey};

use super::State;
use crate::Details;

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
    /// Begins to count what a page brings, if its site is watched.
    pub(super) fn brings_nothing_yet(&mut self, page: &Candidate) -> Option<Brought> {
        let rules = &self.settings.site_rules.traps;
        let watched_from = watched_from(rules).filter(|_| page.purpose == Purpose::Page)?;
        let site = page.url.key().site;
        if !self.watch.sites.contains_key(&site) {
            let (yields, mask) = (Yields::new(rules), sample_mask(rules));
            let pages = self.front(site)?.state.pages_fetched();
            if pages < watched_from || self.watch.sites.len() >= WATCHED_MAX {
                return None;
            }
            self.watch.mask = mask;
            self.watch.sites.insert(site, yields);
        }
        Some(Brought::nothing(&page.url))
    }

    /// Notes what a page brought, and applies the verdicts on its groups to its site.
    pub(super) fn brought(&mut self, page: &Candidate, brought: Option<&Brought>, details: Option<&Details>) {
        let site = page.url.key().site;
        let Some((brought, yields)) = brought.zip(self.watch.sites.get_mut(&site)) else { return };
        let text = details.and_then(|details| details.html.as_ref()).map(|html| html.simhash);
        let follows = yields.ended(page, brought, text, &self.settings.site_rules.traps);
        if let Some(front) = self.front(site) {
            follows.into_iter().for_each(|(group, turns_out)| front.state.heed_yield(group, turns_out));
        }
    }
}
