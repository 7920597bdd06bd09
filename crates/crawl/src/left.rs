//! What the URLs wait for that an ended run leaves, and what lets them go on.

use engine::Waiting;
use model::SiteRecord;
use printable::{Printable, counted};
use serde::Serialize;
use settings::site_name::SiteName;
use store::{Store, StoreError};
use weburl::SiteKey;

/// Sites, or URLs of a site, read from the store at once.
const READ_AT_ONCE: usize = 1_000;
/// URLs that are read to be counted, at most.
const READ_MAX: u64 = 200_000;

/// The URLs left, by what they wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Of sites in trouble, or that cannot be reached: the same command goes on with them.
    pub in_trouble: Share,
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
    Spent,
    Hold,
}

const KINDS: [Waits; 3] = [Waits::Trouble, Waits::Spent, Waits::Hold];

impl Left {
    /// What is left in a store of `pending` URLs.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn of(store: &dyn Store, rules: &Rules, pending: u64) -> Result<Self, StoreError> {
        let mut sites = [0_u64; KINDS.len()];
        each_site(store, rules, &mut |_, kind| {
            sites[kind as usize] += 1;
            Ok(true)
        })?;
        // Those of the kind with most sites are the rest.
        let rest = (0..KINDS.len()).max_by_key(|kind| sites[*kind]).unwrap_or_default();
        let (mut urls, mut read) = ([0_u64; KINDS.len()], 0);
        if sites.iter().filter(|sites| **sites > 0).count() > 1 {
            each_site(store, rules, &mut |site, kind| {
                if kind as usize != rest {
                    let count = queue_of(store, site, READ_MAX - read)?;
                    urls[kind as usize] += count;
                    read += count;
                }
                Ok(read < READ_MAX)
            })?;
        }
        urls[rest] = pending.saturating_sub(read);
        let share = |kind: Waits| {
            let (sites, urls) = (sites[kind as usize], urls[kind as usize]);
            Share { sites, urls: (read < READ_MAX).then_some(urls) }
        };
        Ok(Left { in_trouble: share(Waits::Trouble), spent: share(Waits::Spent), on_hold: share(Waits::Hold) })
    }

    /// What is left of a run that ended since sites are in trouble, a sentence for each kind.
    #[must_use]
    pub fn after_waiting(&self, waiting: &Waiting, directory: &str) -> Vec<String> {
        let Share { sites, .. } = self.in_trouble;
        let urls = self.in_trouble.in_words();
        let trouble = match waiting.due {
            Some(due) => format!(
                "{urls} left, of {} in trouble: the first is due at {due}; the same command goes on",
                counted(sites, "site")
            ),
            None => {
                let last = waiting.last_failure.as_deref().map(|failure| format!(" (the last was {failure})"));
                let last = Printable(&last.unwrap_or_default()).to_string();
                format!("{urls} left: no site at all can be reached from this machine{last}; the same command goes on")
            }
        };
        (sites > 0).then_some(trouble).into_iter().chain(self.kept_back(directory)).collect()
    }

    /// What waits for a change of the settings, a sentence for each kind.
    pub fn kept_back(&self, directory: &str) -> impl Iterator<Item = String> {
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
    fn in_words(&self) -> String {
        self.urls.map_or_else(|| "many URLs".to_owned(), |urls| counted(urls, "URL"))
    }
}

impl Rules {
    /// A site that was never asked has no record.
    fn of(&self, site: SiteKey, record: Option<&SiteRecord>) -> Waits {
        let fetched = record.map_or(0, |record| record.pages_fetched);
        match self.pages_per_site_max {
            _ if self.hold.iter().flat_map(SiteName::keys).any(|key| key == site) => Waits::Hold,
            Some(max) if fetched >= max => Waits::Spent,
            _ => Waits::Trouble,
        }
    }
}

/// Goes through the sites with a queue, as long as `take` wants more.
fn each_site(
    store: &dyn Store,
    rules: &Rules,
    take: &mut dyn FnMut(SiteKey, Waits) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let sites = store.sites_with_pending(after, READ_AT_ONCE)?;
        let Some(last) = sites.last() else { return Ok(()) };
        after = Some(*last);
        for site in sites {
            if !take(site, rules.of(site, store.site(site)?.as_ref()))? {
                return Ok(());
            }
        }
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
    use model::{Candidate, Timestamp};
    use store::{Batch, MemoryStore};
    use weburl::CanonicalUrl;

    use super::*;

    fn waiting(due: Option<Timestamp>) -> Waiting {
        Waiting { sites: 1, due, last_failure: Some("http://a.test: connection refused".to_owned()) }
    }

    /// A store with so many URLs of each of some sites, of which so many pages were fetched.
    fn store(sites: &[(&str, u64, u64)]) -> MemoryStore {
        let store = MemoryStore::new();
        for (site, urls, pages_fetched) in sites {
            let url = |n: u64| CanonicalUrl::from_canonical(&format!("http://{site}/{n}")).expect("a URL");
            let record = SiteRecord { pages_fetched: *pages_fetched, ..SiteRecord::new(url(0).site()) };
            let sites = if *pages_fetched > 0 { vec![record] } else { Vec::new() };
            let found = (0..*urls).map(|n| Candidate::seed(url(n))).collect();
            store.commit(&Batch { found, sites, ..Batch::default() }).expect("a commit");
        }
        store
    }

    #[test]
    fn urls_are_counted_by_what_they_wait_for() {
        let sites = [("a.test", 1, 0), ("spent.test", 46, 5), ("spent.b.test", 3, 7), ("held.test", 2, 0)];
        let store = store(&sites);
        let hold = vec!["held.test".parse().expect("a site")];
        let left = |rules: &Rules| Left::of(&store, rules, 52).expect("a store");
        let share = |sites, urls| Share { sites, urls: Some(urls) };
        let all = Left { in_trouble: share(1, 1), spent: share(2, 49), on_hold: share(1, 2) };
        assert_eq!(left(&Rules { hold, pages_per_site_max: Some(5) }), all);
        let told = all.after_waiting(&waiting(Some(Timestamp(0))), "web");
        assert_eq!(
            told,
            [
                "1 URL left, of 1 site in trouble: the first is due at 1970-01-01T00:00:00.000Z; the same command goes on",
                "49 URLs left, of 2 sites whose budget is spent: they wait for a larger --max-pages-per-site",
                "2 URLs left, of 1 site on hold: `argiope steer web release SITE` lets one go on",
            ]
        );
        let unlimited = left(&Rules::default());
        assert_eq!(unlimited, Left { in_trouble: share(4, 52), spent: share(0, 0), on_hold: share(0, 0) });
        assert_eq!(
            unlimited.after_waiting(&waiting(None), "web"),
            [
                "52 URLs left: no site at all can be reached from this machine (the last was http://a.test: connection refused); the same \
              command goes on"
            ]
        );
    }

    #[test]
    fn urls_that_are_too_many_are_not_counted() {
        let in_trouble = Share { sites: 3, urls: None };
        let left = Left { in_trouble, spent: Share { sites: 2, urls: None }, on_hold: Share::default() };
        let told = left.after_waiting(&waiting(Some(Timestamp(0))), "web");
        assert!(told[0].starts_with("many URLs left, of 3 sites in trouble"), "{told:?}");
        assert!(told[1].starts_with("many URLs left, of 2 sites whose budget is spent"), "{told:?}");
        assert_eq!(told.len(), 2);
    }
}
