//! What is believed of the pages of a site: how fast they change, who says when, and when all of them changed at once.

use crate::announced::{History, Trust};
use crate::common_changes::Common;
use crate::revisit::{Belief, Prior, Seen};

/// What the visits of some pages of a site tell of all its pages.
#[derive(Clone, Debug, Default)]
pub struct SiteBeliefs {
    /// How fast its pages change.
    pub prior: Prior,
    /// Who is believed that says when its pages change.
    pub trust: Trust,
    /// When all its pages changed at once, if they do that and nobody says it. How fast pages change is without these changes then.
    pub common: Option<Common>,
}

/// When a copy of a page was made, and the time for which it is judged, in seconds on any clock.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    /// The last visit that told what was there.
    pub at: f64,
    /// Now.
    pub now: f64,
}

impl SiteBeliefs {
    /// Learns from pages of a site. `of_others` is what is known of pages of any site.
    #[must_use]
    pub fn learn(of_others: &Prior, pages: &[&History]) -> Self {
        let trust = Trust::learn(of_others, pages);
        let mut beliefs = SiteBeliefs { prior: Prior::default(), trust, common: None };
        beliefs.prior = beliefs.prior_of(of_others, pages);
        if beliefs.trust.signals.tell() || beliefs.trust.dates {
            return beliefs;
        }
        let visited: Vec<_> = pages.iter().map(|page| page.visited()).collect();
        beliefs.common = Some(Common::learn(&beliefs.prior, &visited)).filter(Common::is_proved);
        if beliefs.common.is_some() {
            beliefs.prior = beliefs.prior_of(of_others, pages);
        }
        beliefs
    }

    /// How fast some of its pages change, beyond what was believed `before`.
    #[must_use]
    pub fn prior_of(&self, before: &Prior, pages: &[&History]) -> Prior {
        Prior::learn(before, &pages.iter().map(|page| self.seen(page)).collect::<Vec<_>>())
    }

    /// The evidence of the visits of a page. A change of all pages says nothing of one.
    #[must_use]
    pub fn seen(&self, history: &History) -> Seen {
        match &self.common {
            Some(common) => common.seen(&history.visited()),
            None => self.trust.seen(history),
        }
    }

    /// Whether anything tells that a page changes.
    #[must_use]
    pub fn is_told(&self, history: &History) -> bool {
        self.common.is_some() || self.trust.is_told(history)
    }

    /// How likely it is that a page is as it was when it was copied.
    #[must_use]
    pub fn freshness(&self, belief: &Belief, history: &History, copied: Copied) -> f64 {
        let seconds = copied.now - copied.at;
        match &self.common {
            Some(common) => belief.freshness(seconds) * common.spares(copied.at, copied.now),
            None if history.said_by(&self.trust.believed).is_some() => {
                self.trust.signals.freshness(belief, seconds, true)
            }
            None => belief.freshness(seconds),
        }
    }

    /// For how many seconds the page is expected to have been different from its copy.
    #[must_use]
    pub fn age(&self, belief: &Belief, copied: Copied) -> f64 {
        /// Moments between the copy and now that are looked at.
        const MOMENTS: u32 = 32;
        let Some(common) = &self.common else { return belief.age(copied.now - copied.at) };
        let step = (copied.now - copied.at) / f64::from(MOMENTS);
        let is_different = |moment: u32| {
            let seconds = step * (f64::from(moment) + 0.5);
            1.0 - belief.likely_same(seconds) * common.spares(copied.at, copied.at + seconds)
        };
        (0..MOMENTS).map(is_different).sum::<f64>() * step
    }

    /// The typical time between two changes of a page, in seconds.
    #[must_use]
    pub fn interval(&self, belief: &Belief) -> f64 {
        let own = belief.interval();
        self.common.as_ref().map_or(own, |common| 1.0 / (1.0 / own + common.hit_rate()))
    }
}

#[cfg(test)]
mod tests {
    use model::{Outcome, PayloadDigest, Timestamp, Visit};
    use weburl::CanonicalUrl;

    use super::*;
    use crate::announced::seconds_of;

    const HOUR: u64 = 3_600_000_000;
    const PAGES: u64 = 48;
    /// Each page is visited again after so many hours: one page an hour.
    const EVERY: u64 = PAGES;

    /// The visits of a page until then; all pages changed at these hours.
    fn visits(page: u64, changes: &[u64], until: u64) -> Vec<Visit> {
        let key = CanonicalUrl::from_canonical(&format!("http://a.test/{page}")).expect("a URL").key();
        let visit = |hour: u64| {
            let content = changes.iter().filter(|change| **change < hour).count() as u8;
            let at = Timestamp(hour * HOUR);
            let visit = Visit::without_fetch(key, Outcome::Html, String::new(), at);
            Visit { status: 200, attempts: 1, digest: Some(PayloadDigest([content; 20])), ..visit }
        };
        (0..).map(|n| page + n * EVERY).take_while(|hour| *hour < until).map(visit).collect()
    }

    #[test]
    fn a_change_of_all_pages_makes_every_copy_before_it_old() {
        // The last one is found after some visits; half of the pages were visited since.
        let (changes, now) = ([100, 300, 500, 700, 900], 924);
        let pages: Vec<Vec<Visit>> = (0..PAGES).map(|page| visits(page, &changes, now)).collect();
        let histories: Vec<History> = pages.iter().map(|page| History::of(page)).collect();
        let all: Vec<&History> = histories.iter().collect();
        let beliefs = SiteBeliefs::learn(&Prior::default(), &all);
        assert!(beliefs.common.is_some());
        let now = seconds_of(Timestamp(now * HOUR));
        let mut fresh = 0.0;
        for (visits, history) in pages.iter().zip(&histories) {
            let copied = Copied { at: seconds_of(visits.last().expect("one").at), now };
            let belief = Belief::new(&beliefs.prior, &beliefs.seen(history));
            let (hours, freshness) = ((copied.now - copied.at) / 3_600.0, beliefs.freshness(&belief, history, copied));
            let age = beliefs.age(&belief, copied) / 3_600.0;
            fresh += freshness;
            if hours > 23.5 {
                assert!(freshness < 0.15, "{hours} hours: {freshness}");
                assert!((15.0..30.0).contains(&age), "{hours} hours: different for {age}");
            } else {
                assert!(freshness > 0.8 && age < 3.0, "{hours} hours: {freshness}, different for {age}");
            }
            let interval = beliefs.interval(&belief) / 3_600.0;
            assert!((100.0..300.0).contains(&interval), "a change in {interval} hours");
        }
        assert!((0.4..0.6).contains(&(fresh / PAGES as f64)), "{fresh}");
    }

    #[test]
    fn without_such_changes_pages_are_judged_by_themselves() {
        let pages: Vec<History> = (0..PAGES).map(|page| History::of(&visits(page, &[], 924))).collect();
        let beliefs = SiteBeliefs::learn(&Prior::default(), &pages.iter().collect::<Vec<_>>());
        assert!(beliefs.common.is_none());
        let belief = Belief::new(&beliefs.prior, &beliefs.seen(&pages[0]));
        let copied = Copied { at: 50.0, now: 250.0 };
        assert_eq!(beliefs.freshness(&belief, &pages[0], copied), belief.freshness(200.0));
        assert_eq!(beliefs.age(&belief, copied), belief.age(200.0));
        assert_eq!(beliefs.interval(&belief), belief.interval());
    }
}
