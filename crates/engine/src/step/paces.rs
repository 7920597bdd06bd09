//! How fast sites can be visited: what politeness allows, and what budgets leave.

use std::time::Duration;

use frontier::{Held, Reason};
use model::Timestamp;
use weburl::SiteKey;

use super::{Slot, State};

/// How fast a site can be visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time from one visit to the next, at least.
    pub interval: Duration,
    /// Visits that budgets leave.
    pub visits_max: Option<u64>,
}

impl State {
    /// How fast sites can be visited; `None` of one that is not visited until somebody changes it. Of sites that are not in memory the
    /// robots.txt and the time to answer are not known.
    #[must_use]
    pub fn paces(&self, now: Timestamp, sites: &[SiteKey]) -> Vec<Option<Pace>> {
        sites.iter().map(|site| self.pace(now, *site)).collect()
    }

    fn pace(&self, now: Timestamp, site: SiteKey) -> Option<Pace> {
        let lasts = |held: &Held| matches!(held.reason, Reason::Hold | Reason::Elsewhere | Reason::SiteBudget);
        if self.held(now, site).as_ref().is_some_and(lasts) {
            return None;
        }
        let rules = &self.settings.site_rules;
        let (delay, fetched) = match self.sites.get(&site) {
            Some(Slot::Here(front)) => (front.state.delay(&rules.politeness), front.state.pages_fetched()),
            Some(Slot::Loading(_)) | None => (rules.politeness.delay_of(site), 0),
        };
        let connections = u32::try_from(rules.politeness.connections_per_site.max(1)).unwrap_or(u32::MAX);
        let of_site = rules.pages_per_site_max.map(|max| max.saturating_sub(fetched));
        let of_all = self.settings.pages_max.map(|max| max.saturating_sub(self.counts.pages_in_round()));
        Some(Pace { interval: delay / connections, visits_max: [of_site, of_all].into_iter().flatten().min() })
    }
}
