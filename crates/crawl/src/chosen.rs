//! The URLs that a round would visit, counted by site.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use store::{CrawlView, StoreError};
use weburl::{SiteKey, UrlKey};

/// Sites that are named, those with the most URLs.
const SITES_MAX: usize = 20;

/// What is chosen for a round.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The number of the round.
    pub round: u32,
    /// All URLs.
    pub urls: u64,
    /// Those of them that wait until their sites are released.
    pub on_hold: u64,
    /// The sites with the most URLs so far.
    greatest: BTreeSet<(u64, Reverse<SiteKey>)>,
    /// The site whose URLs came last, and how many they are so far.
    last: (u64, Reverse<SiteKey>),
}

impl Chosen {
    pub(crate) fn of_round(round: u32) -> Self {
        let (greatest, last) = (BTreeSet::new(), (0, Reverse(SiteKey(0))));
        Chosen { round, urls: 0, on_hold: 0, greatest, last }
    }

    /// Counts URLs, which come in the order of their keys: those of a site follow each other.
    pub(crate) fn count(&mut self, urls: &[UrlKey]) {
        self.urls += urls.len() as u64;
        for urls in urls.chunk_by(|one, next| one.site == next.site) {
            let Some(site) = urls.first().map(|key| Reverse(key.site)) else { continue };
            let so_far = if self.last.1 == site { self.last.0 } else { 0 };
            self.greatest.remove(&(so_far, site));
            self.last = (so_far + urls.len() as u64, site);
            self.greatest.insert(self.last);
            if self.greatest.len() > SITES_MAX {
                self.greatest.pop_first();
            }
        }
    }

    /// The 20 sites with the most of these URLs, the most first.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn by_site(&self, view: &dyn CrawlView) -> Result<Vec<(String, u64)>, StoreError> {
        let named = self.greatest.iter().rev().map(|(urls, Reverse(site))| {
            let record = view.site(*site)?;
            Ok(record.map(|record| (record.site.to_string(), *urls)))
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
    use crate::{Again, Notice, Options, Schedule};

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
        options: &Options,
        foreseen: impl FnOnce(&MemoryStore, &Settings) -> Chosen,
        begin: impl FnOnce(&MemoryStore, &Settings) -> Notice,
        expect: &[(&str, u64)],
    ) -> Chosen {
        let (store, plan) = (visited(), Plan::new(options).expect("a plan"));
        let before = store.totals().expect("totals");
        let chosen = foreseen(&store, &plan.settings);
        assert_eq!(store.totals().expect("totals"), before, "nothing changes");
        let by_site = chosen.by_site(&store).expect("sites");
        let expect: Vec<(String, u64)> = expect.iter().map(|(site, urls)| ((*site).to_owned(), *urls)).collect();
        assert_eq!(by_site, expect);
        assert_eq!(begin(&store, &plan.settings), Notice::RoundBegun { round: chosen.round, urls: chosen.urls });
        chosen
    }

    fn check_all(options: &Options, expect: &[(&str, u64)]) -> Chosen {
        let older_than = Some(Duration::from_secs(86_400));
        let again = Again { older_than, only: Vec::new(), now: Timestamp(5 * DAY) };
        check(
            options,
            |store, settings| again.foreseen(store, settings).expect("a state"),
            |store, settings| again.begin(store, settings).expect("a state"),
            expect,
        )
    }

    #[test]
    fn a_round_visits_what_was_foreseen() {
        check_all(&Options::default(), &[("http://b.test", 3), ("http://a.test", 2)]);
    }

    #[test]
    fn what_patterns_have_come_to_keep_out_is_not_foreseen_and_not_visited() {
        let exclude = vec!["http://b.test/1".to_owned(), "*/0".to_owned()];
        check_all(&Options { exclude, ..Options::default() }, &[("http://b.test", 2), ("http://a.test", 1)]);
        // Seeds need no include pattern.
        let include = vec!["http://b.test/*".to_owned()];
        check_all(&Options { include, ..Options::default() }, &[("http://b.test", 3), ("http://a.test", 2)]);
    }

    #[test]
    fn urls_of_sites_on_hold_are_foreseen_apart() {
        let hold = vec!["a.test".parse().expect("a site")];
        let of_all = [("http://b.test", 3), ("http://a.test", 2)];
        assert_eq!(check_all(&Options { hold, ..Options::default() }, &of_all).on_hold, 2);
    }

    #[test]
    fn a_round_of_a_schedule_visits_what_was_foreseen() {
        let (every, delay) = (Duration::ZERO, Duration::ZERO);
        let schedule = Schedule { important: Important::Equal, visits: 100, every, delay, now: Timestamp(6 * DAY) };
        check(
            &Options::default(),
            |store, settings| schedule.foreseen(store, settings).expect("a state"),
            |store, settings| schedule.begin(store, settings).expect("a state"),
            &[("http://b.test", 4), ("http://a.test", 2)],
        );
    }

    #[test]
    fn the_sites_with_the_most_urls_are_found_wherever_they_come() {
        let mut chosen = Chosen::of_round(2);
        // Each site has as many URLs as its number says; they come in two parts.
        let urls = |site: u64| vec![UrlKey { site: SiteKey(site), url: 0 }; usize::try_from(site % 100).expect("few")];
        (0..60_000).for_each(|site| {
            chosen.count(&urls(site));
            chosen.count(&urls(site));
        });
        (0..3).for_each(|_| chosen.count(&urls(60_099)));
        let greatest: Vec<u64> = chosen.greatest.iter().rev().map(|(urls, _)| *urls).collect();
        assert_eq!(greatest, [vec![3 * 99], vec![2 * 99; 19]].concat());
    }
}
