//! What the URLs wait for that an ended run leaves, and what lets them go on.

use std::collections::{HashSet, VecDeque};

use engine::{End, Waiting};
use model::SiteRecord;
use printable::{Printable, counted};
use serde::Serialize;
use settings::site_name::SiteName;
use store::{Store, StoreError};
use weburl::SiteKey;

use crate::trouble::unreached_in_words;

/// Sites, or URLs of a site, read from the store at once.
const READ_AT_ONCE: usize = 1_000;
/// URLs that are read to be counted, at most.
const READ_MAX: u64 = 200_000;

/// The URLs left, by what they wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Of sites in trouble, or that cannot be reached: the same command goes on with them.
    pub in_trouble: Share,
    /// Of sites that did not fail: the run ended before their turns. The same command goes on with them.
    pub in_order: Share,
    /// Of sites that have all the pages that `--max-pages-per-site` allows.
    pub spent: Share,
    /// Of sites on hold.
    pub on_hold: Share,
}

/// Some of the URLs left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Their sites.
    pub sites: u64,
    /// How many they are; `None` where they are too many to be counted.
    pub urls: Option<u64>,
}

/// The sites of a crawl that may not go on, whatever they answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) hold: Vec<SiteName>,
    pub(crate) pages_per_site_max: Option<u64>,
}

/// What a site waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Trouble,
    Turn,
    Spent,
    Hold,
}

const KINDS: [Waits; 4] = [Waits::Trouble, Waits::Turn, Waits::Spent, Waits::Hold];

impl Left {
    /// What is left in a store of `pending` URLs.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn of(store: &dyn Store, rules: &Rules, pending: u64) -> Result<Self, StoreError> {
        let mut sites = KINDS.map(|_| Vec::new());
        each_site(store, rules, |site, kind| sites[kind as usize].push(site))?;
        // Those of the kind with most sites are the rest.
        let rest = (0..KINDS.len()).max_by_key(|kind| sites[*kind].len()).unwrap_or_default();
        let (mut urls, mut read) = ([0_u64; KINDS.len()], 0);
        for kind in (0..KINDS.len()).filter(|kind| *kind != rest) {
            for site in &sites[kind] {
                let count = queue_of(store, *site, READ_MAX - read)?;
                urls[kind] += count;
                read += count;
                if read >= READ_MAX {
                    break;
                }
            }
        }
        urls[rest] = pending.saturating_sub(read);
        let share = |kind: Waits| {
            let (sites, urls) = (sites[kind as usize].len() as u64, urls[kind as usize]);
            Share { sites, urls: (read < READ_MAX).then_some(urls) }
        };
        Ok(Left {
            in_trouble: share(Waits::Trouble),
            in_order: share(Waits::Turn),
            spent: share(Waits::Spent),
            on_hold: share(Waits::Hold),
        })
    }

    /// What is left of a run that ended so, a sentence for each kind.
    #[must_use]
    pub fn in_words(&self, end: &End, directory: &str) -> Vec<String> {
        let waiting = if let End::Waiting(waiting) = end { self.after_waiting(waiting) } else { Vec::new() };
        waiting.into_iter().chain(self.kept_back(directory)).collect()
    }

    /// What waits for sites in trouble, or that gave no page; and for others.
    fn after_waiting(&self, waiting: &Waiting) -> Vec<String> {
        let all = self.in_trouble.and(self.in_order);
        let (sites, urls) = (all.sites, all.in_words());
        let told = match waiting.due {
            Some(due) => {
                let Share { sites, .. } = self.in_trouble;
                let trouble = (sites > 0).then(|| {
                    let (urls, sites) = (self.in_trouble.in_words(), counted(sites, "site"));
                    format!("{urls} left, of {sites} in trouble: the first is due at {due}; the same command goes on")
                });
                let Share { sites, .. } = self.in_order;
                let others = (sites > 0).then(|| {
                    let (urls, sites) = (self.in_order.in_words(), counted(sites, "site"));
                    format!("{urls} left, of {sites} whose turn did not come; the same command goes on")
                });
                return trouble.into_iter().chain(others).collect();
            }
            None if waiting.has_answers => {
                format!("{urls} left: no page came of {}; the same command goes on", counted(sites, "site"))
            }
            None => {
                let last = waiting.last_failure.as_ref();
                let last = last.map(|failure| format!(" (the last was {})", unreached_in_words(failure)));
                let last = Printable(&last.unwrap_or_default()).to_string();
                format!("{urls} left: no site at all can be reached from this machine{last}; the same command goes on")
            }
        };
        (sites > 0).then_some(told).into_iter().collect()
    }

    /// What waits for a change of the settings, a sentence for each kind.
    fn kept_back(&self, directory: &str) -> impl Iterator<Item = String> {
        let left = |share: &Share| format!("{} left, of {}", share.in_words(), counted(share.sites, "site"));
        let spent = (self.spent.sites > 0).then(|| {
            let left = left(&self.spent);
            format!("{left} whose budget is spent: they wait for a larger --max-pages-per-site")
        });
        let on_hold = (self.on_hold.sites > 0).then(|| {
            let left = left(&self.on_hold);
            format!("{left} on hold: `argiope steer {directory} release SITE` lets one go on")
        });
        spent.into_iter().chain(on_hold)
    }
}

impl Share {
    fn and(self, other: Share) -> Share {
        let urls = self.urls.zip(other.urls).map(|(urls, more)| urls + more);
        Share { sites: self.sites + other.sites, urls }
    }

    fn in_words(&self) -> String {
        self.urls.map_or_else(|| "many URLs".to_owned(), |urls| counted(urls, "URL"))
    }
}

/// Goes through the sites with a queue, in the order of their keys.
fn each_site(store: &dyn Store, rules: &Rules, mut take: impl FnMut(SiteKey, Waits)) -> Result<(), StoreError> {
    let held: HashSet<SiteKey> = rules.hold.iter().flat_map(SiteName::keys).collect();
    let mut records = Records { store, read: VecDeque::new(), are_all_read: false };
    let mut after = None;
    loop {
        let sites = store.sites_with_pending(after, READ_AT_ONCE)?;
        let Some(last) = sites.last() else { return Ok(()) };
        after = Some(*last);
        for site in sites {
            if held.contains(&site) {
                take(site, Waits::Hold);
                continue;
            }
            let Told { pages_fetched, fails } = records.of(site)?;
            let is_spent = rules.pages_per_site_max.is_some_and(|max| pages_fetched >= max);
            take(
                site,
                if is_spent {
                    Waits::Spent
                } else if fails {
                    Waits::Trouble
                } else {
                    Waits::Turn
                },
            );
        }
    }
}

/// What the record of a site tells.
#[derive(Clone, Copy, Default)]
struct Told {
    pages_fetched: u64,
    /// It is in trouble, or its last request failed.
    fails: bool,
}

impl Told {
    fn of(record: &SiteRecord) -> Self {
        let no_robots = record.robots.as_ref().is_some_and(|robots| robots.failed_tries > 0);
        let fails = record.aside.is_some() || record.failures_in_a_row > 0 || no_robots;
        Told { pages_fetched: record.pages_fetched, fails }
    }
}

/// The records of sites that are asked for in the order of their keys.
struct Records<'s> {
    store: &'s dyn Store,
    /// Those that were read, the next first.
    read: VecDeque<(SiteKey, Told)>,
    are_all_read: bool,
}

impl Records<'_> {
    /// A site that was never asked has no record.
    fn of(&mut self, site: SiteKey) -> Result<Told, StoreError> {
        if !self.are_all_read && self.read.back().is_none_or(|(last, _)| *last < site) {
            let before = site.0.checked_sub(1).map(SiteKey);
            let records = self.store.sites(before, READ_AT_ONCE)?;
            self.are_all_read = records.len() < READ_AT_ONCE;
            self.read = records.iter().map(|record| (record.site.key(), Told::of(record))).collect();
        }
        while self.read.front().is_some_and(|(key, _)| *key < site) {
            self.read.pop_front();
        }
        Ok(self.read.front().filter(|(key, _)| *key == site).map_or_else(Told::default, |(_, told)| *told))
    }
}

/// The URLs in the queue of a site, as far as `max`.
fn queue_of(store: &dyn Store, site: SiteKey, max: u64) -> Result<u64, StoreError> {
    let (mut count, mut after) = (0, None);
    while count < max {
        let queue = store.pending(site, after, READ_AT_ONCE)?;
        let Some(last) = queue.last() else { break };
        after = Some(last.candidate.position());
        count += queue.len() as u64;
    }
    Ok(count.min(max))
}

#[cfg(test)]
mod tests {
    use engine::Unreached;
    use model::{Aside, Candidate, ContentDigest, Failure, FailureKind, PayloadDigest, SiteRecord, Timestamp};
    use store::{Batch, Committed, CrawlView, Layer, MemoryStore};
    use weburl::{CanonicalUrl, UrlKey};

    use super::*;

    fn waiting(due: Option<Timestamp>, has_answers: bool) -> End {
        let site = CanonicalUrl::from_canonical("http://a.test/").expect("a URL").site();
        let last_failure = Some(Unreached { site, detail: "name a.test: no answer".to_owned() });
        End::Waiting(Waiting { sites: 1, due, has_answers, last_failure })
    }

    fn aside() -> Aside {
        let reason = Failure { kind: FailureKind::Connect, detail: String::new() };
        Aside { until: Timestamp(1), round: 1, reason }
    }

    /// A store with so many URLs of each of some sites, of which so many pages were fetched. Some are in trouble, by their names.
    fn store(sites: &[(&str, u64, u64)]) -> MemoryStore {
        let store = MemoryStore::new();
        for (site, urls, pages_fetched) in sites {
            let url = |n: u64| CanonicalUrl::from_canonical(&format!("http://{site}/{n}")).expect("a URL");
            let aside = site.contains("bad").then(aside);
            let has_record = *pages_fetched > 0 || aside.is_some();
            let record = SiteRecord { pages_fetched: *pages_fetched, aside, ..SiteRecord::new(url(0).site()) };
            let sites = if has_record { vec![record] } else { Vec::new() };
            let found = (0..*urls).map(|n| Candidate::seed(url(n))).collect();
            store.commit(&Batch { found, sites, ..Batch::default() }).expect("a commit");
        }
        store
    }

    #[test]
    fn urls_are_counted_by_what_they_wait_for() {
        let sites = [
            ("bad.test", 1, 0),
            ("turn.test", 4, 1),
            ("new.test", 2, 0),
            ("spent.test", 46, 5),
            ("spent.b.test", 3, 7),
            ("held.test", 2, 0),
        ];
        let store = store(&sites);
        let hold = vec!["held.test".parse().expect("a site")];
        let left = |rules: &Rules| Left::of(&store, rules, 58).expect("a store");
        let share = |sites, urls| Share { sites, urls: Some(urls) };
        let all = Left { in_trouble: share(1, 1), in_order: share(2, 6), spent: share(2, 49), on_hold: share(1, 2) };
        assert_eq!(left(&Rules { hold, pages_per_site_max: Some(5) }), all);
        let told = all.in_words(&waiting(Some(Timestamp(0)), false), "web");
        assert_eq!(
            told,
            [
                "1 URL left, of 1 site in trouble: the first is due at 1970-01-01T00:00:00.000Z; the same command goes on",
                "6 URLs left, of 2 sites whose turn did not come; the same command goes on",
                "49 URLs left, of 2 sites whose budget is spent: they wait for a larger --max-pages-per-site",
                "2 URLs left, of 1 site on hold: `argiope steer web release SITE` lets one go on",
            ]
        );
        assert_eq!(all.in_words(&End::Held, "web"), told[2..]);
        let unlimited = left(&Rules::default());
        assert_eq!(
            unlimited,
            Left { in_trouble: share(1, 1), in_order: share(5, 57), spent: share(0, 0), on_hold: share(0, 0) }
        );
        assert_eq!(
            unlimited.in_words(&waiting(None, false), "web"),
            [
                "58 URLs left: no site at all can be reached from this machine (the last was http://a.test: no answer); the same \
              command goes on"
            ]
        );
    }

    #[test]
    fn a_site_that_answers_without_a_page_is_not_called_in_trouble() {
        let (in_trouble, in_order) = (Share { sites: 1, urls: Some(1) }, Share { sites: 0, urls: Some(0) });
        let left = Left { in_trouble, in_order, ..Left::default() };
        let told = left.in_words(&waiting(None, true), "web");
        assert_eq!(told, ["1 URL left: no page came of 1 site; the same command goes on"]);
    }

    /// A store that gives out no single record of a site: from a database, each would be a question.
    struct ByMany(MemoryStore);

    impl Layer for ByMany {
        fn below(&self) -> &dyn CrawlView {
            &self.0
        }

        fn shown_site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
            panic!("a question about {key:?} alone")
        }
    }

    impl Store for ByMany {
        fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
            self.0.commit(batch)
        }

        fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
            self.0.sites_with_pending(after, max)
        }

        fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
            self.0.holder(content, label)
        }

        fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
            self.0.view()
        }
    }

    #[test]
    fn records_of_many_sites_are_read_together() {
        let names: Vec<String> = (0..3 * READ_AT_ONCE).map(|n| format!("s{n}.test")).collect();
        // Every third has a record; every sixth has spent its budget.
        let fetched = |n: usize| if n.is_multiple_of(6) { 9 } else { u64::from(n.is_multiple_of(3)) };
        let sites: Vec<_> = names.iter().enumerate().map(|(n, name)| (name.as_str(), 1, fetched(n))).collect();
        let rules = Rules { hold: vec!["s0.test".parse().expect("a site")], pages_per_site_max: Some(5) };
        let left = Left::of(&ByMany(store(&sites)), &rules, 3_000).expect("a store");
        let share = |sites| Share { sites, urls: Some(sites) };
        let (in_trouble, in_order) = (share(0), share(2_500));
        assert_eq!(left, Left { in_trouble, in_order, spent: share(499), on_hold: share(1) });
    }

    #[test]
    fn urls_that_are_too_many_are_not_counted() {
        let in_trouble = Share { sites: 3, urls: None };
        let left = Left { in_trouble, spent: Share { sites: 2, urls: None }, ..Left::default() };
        let told = left.in_words(&waiting(Some(Timestamp(0)), false), "web");
        assert!(told[0].starts_with("many URLs left, of 3 sites in trouble"), "{told:?}");
        assert!(told[1].starts_with("many URLs left, of 2 sites whose budget is spent"), "{told:?}");
        assert_eq!(told.len(), 2);
    }
}
