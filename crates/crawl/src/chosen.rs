//! The URLs that a round would visit, counted by site.

use std::cmp::Reverse;
use std::collections::HashMap;

use store::{CrawlView, StoreError};
use weburl::{SiteKey, UrlKey};

/// Sites whose URLs are counted. URLs of others count for all only.
const SITES_MAX: usize = 50_000;

/// What is chosen for a round.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The number of the round.
    pub round: u32,
    /// All URLs.
    pub urls: u64,
    by_site: HashMap<SiteKey, u64>,
}

impl Chosen {
    pub(crate) fn of_round(round: u32) -> Self {
        Chosen { round, urls: 0, by_site: HashMap::new() }
    }

    pub(crate) fn count(&mut self, urls: &[UrlKey]) {
        self.urls += urls.len() as u64;
        for key in urls {
            if self.by_site.len() < SITES_MAX || self.by_site.contains_key(&key.site) {
                *self.by_site.entry(key.site).or_default() += 1;
            }
        }
    }

    /// The `max` sites with the most of these URLs, the most first.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn by_site(&self, view: &dyn CrawlView, max: usize) -> Result<Vec<(String, u64)>, StoreError> {
        let mut sites: Vec<(SiteKey, u64)> = self.by_site.iter().map(|(site, urls)| (*site, *urls)).collect();
        sites.sort_unstable_by_key(|(site, urls)| (Reverse(*urls), *site));
        let named = sites.into_iter().take(max).map(|(site, urls)| {
            let record = view.site(site)?;
            Ok(record.map(|record| (record.site.to_string(), urls)))
        });
        named.filter_map(Result::transpose).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::Settings;
    use model::{Candidate, Outcome, SiteRecord, Timestamp, Visit};
    use settings::plan::Plan;
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;
    use crate::importance::Important;
    use crate::{Again, Notice, Schedule};

    const DAY: u64 = 86_400_000_000;

    /// Two sites whose pages were visited, one of them on each day, and a page that waits for its first visit.
    fn visited() -> MemoryStore {
        let store = MemoryStore::new();
        let url = |text: String| CanonicalUrl::from_canonical(&text).expect("a URL");
        let urls: Vec<CanonicalUrl> = ["a", "b", "b", "b", "a", "b"]
            .iter()
            .enumerate()
            .map(|(day, site)| url(format!("http://{site}.test/{day}")))
            .collect();
        let found = urls.iter().cloned().chain([url("http://b.test/waits".to_owned())]).map(Candidate::seed).collect();
        let sites = [&urls[0], &urls[1]].map(|url| SiteRecord::new(url.site())).into();
        store.commit(&Batch { found, sites, seeds: urls.clone(), ..Batch::default() }).expect("a commit");
        let visit = |(day, url): (u64, &CanonicalUrl)| Visit {
            attempts: 1,
            round: 1,
            ..Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(day * DAY))
        };
        let visits = (0..).zip(&urls).map(visit).collect();
        store.commit(&Batch { visits, ..Batch::default() }).expect("a commit");
        store
    }

    /// What was foreseen is chosen then, and nothing was before.
    fn check(
        foreseen: impl FnOnce(&MemoryStore, &Settings) -> Chosen,
        begin: impl FnOnce(&MemoryStore, &Settings) -> Notice,
        expect: &[(&str, u64)],
    ) {
        let (store, plan) = (visited(), Plan::new(&crate::Options::default()).expect("a plan"));
        let before = store.totals().expect("totals");
        let chosen = foreseen(&store, &plan.settings);
        assert_eq!(store.totals().expect("totals"), before, "nothing changes");
        let by_site = chosen.by_site(&store, 9).expect("sites");
        let expect: Vec<(String, u64)> = expect.iter().map(|(site, urls)| ((*site).to_owned(), *urls)).collect();
        assert_eq!(by_site, expect);
        assert_eq!(chosen.by_site(&store, 1).expect("sites"), expect[..1]);
        assert_eq!(begin(&store, &plan.settings), Notice::RoundBegun { round: chosen.round, urls: chosen.urls });
    }

    #[test]
    fn a_round_visits_what_was_foreseen() {
        let older_than = Some(Duration::from_secs(86_400));
        let again = Again { older_than, only: Vec::new(), now: Timestamp(5 * DAY) };
        let of_all = [("http://b.test", 3), ("http://a.test", 2)];
        check(
            |store, _| again.foreseen(store).expect("a state"),
            |store, settings| again.begin(store, settings).expect("a state"),
            &of_all,
        );
    }

    #[test]
    fn a_round_of_a_schedule_visits_what_was_foreseen() {
        let (every, delay) = (Duration::ZERO, Duration::ZERO);
        let schedule = Schedule { important: Important::Equal, visits: 100, every, delay, now: Timestamp(6 * DAY) };
        check(
            |store, settings| schedule.foreseen(store, settings).expect("a state"),
            |store, settings| schedule.begin(store, settings).expect("a state"),
            &[("http://b.test", 4), ("http://a.test", 2)],
        );
    }
}
