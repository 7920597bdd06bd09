//! The sites that the user's seeds name: the only ones that may have private addresses if `--deny-private` is `auto`.
//!
//! The store counts the redirect target of a seed as a seed, since the crawl begins there. The user did not name it, so it does
//! not count here.

use std::collections::{BTreeSet, HashSet};
use std::ops::Bound::Included;
use std::sync::{Arc, Mutex, PoisonError};

use fetch::{Fetcher, SeedStatus, is_globally_routable};
use model::Via;
use store::{Store, StoreError};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

/// The seeds of a crawl, for the fetcher.
pub(crate) struct NamedSites {
    fetcher: Arc<Fetcher>,
    /// Those of the store, with the redirect targets of seeds.
    stored: Arc<Mutex<BTreeSet<UrlKey>>>,
}

/// Lets a fetcher look up seeds, as a crawl does: `given` are seeds that the store does not know, and logins; `stored` are the seeds it has.
pub fn name_sites<'a>(
    fetcher: &Arc<Fetcher>,
    store: &Arc<dyn Store>,
    given: impl Iterator<Item = &'a CanonicalUrl>,
    stored: &[CanonicalUrl],
) {
    NamedSites::of(fetcher.clone(), store.clone(), given, stored);
}

impl NamedSites {
    /// Lets the fetcher look up seeds here. `given` are seeds that the store does not know, and logins; `stored` are the seeds it has.
    pub(crate) fn of<'a>(
        fetcher: Arc<Fetcher>,
        store: Arc<dyn Store>,
        given: impl Iterator<Item = &'a CanonicalUrl>,
        stored: &[CanonicalUrl],
    ) -> Self {
        let given: HashSet<SiteKey> = given.map(|url| url.key().site).collect();
        fetcher.grants().add(given.iter().copied());
        let named = NamedSites { fetcher, stored: Arc::default() };
        named.add(stored);
        let stored = named.stored.clone();
        named.fetcher.grants().ask(Box::new(move |site| {
            let of_site = of_site(&stored, site.key());
            // What cannot be read grants nothing.
            standing(site, given.contains(&site.key()), &of_site, store.as_ref()).unwrap_or(SeedStatus::NotNamed)
        }));
        named
    }

    /// Adds seeds that are in the store now.
    pub(crate) fn add<'a>(&self, seeds: impl IntoIterator<Item = &'a CanonicalUrl>) {
        let keys: Vec<UrlKey> = seeds.into_iter().map(CanonicalUrl::key).collect();
        self.fetcher.grants().add(keys.iter().map(|key| key.site));
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).extend(keys);
    }
}

fn of_site(seeds: &Mutex<BTreeSet<UrlKey>>, site: SiteKey) -> Vec<UrlKey> {
    let all = Included(UrlKey { site, url: 0 });
    let seeds = seeds.lock().unwrap_or_else(PoisonError::into_inner);
    seeds.range((all, Included(UrlKey { site, url: u64::MAX }))).copied().collect()
}

fn standing(site: &Site, is_given: bool, stored: &[UrlKey], store: &dyn Store) -> Result<SeedStatus, StoreError> {
    let mut is_named = is_given;
    for key in stored {
        is_named = is_named || store.get(*key)?.is_some_and(|entry| entry.candidate.via == Via::Seed);
    }
    if !is_named {
        return Ok(SeedStatus::NotNamed);
    }
    let found_at = store.site(site.key())?.and_then(|record| record.address);
    Ok(match found_at {
        None => SeedStatus::New,
        Some(address) if is_globally_routable(address) => SeedStatus::FoundPublic,
        Some(_) => SeedStatus::FoundPrivate,
    })
}

#[cfg(test)]
mod tests {
    use model::{Candidate, SiteRecord};
    use store::{Batch, CrawlView, MemoryStore};
    use weburl::CanonicalRules;

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    #[test]
    fn a_site_stands_as_its_seeds_and_its_earlier_address_say() {
        let store = MemoryStore::new();
        let found = |text: &str, via: Via| Candidate { via, ..Candidate::seed(url(text)) };
        let at = |text: &str, address: &str| SiteRecord {
            address: Some(address.parse().expect(address)),
            ..SiteRecord::new(url(text).site())
        };
        let texts = ["http://new.test/", "http://private.test/a", "http://public.test/", "http://target.test/"];
        let batch = Batch {
            found: vec![
                found(texts[0], Via::Seed),
                found(texts[1], Via::Seed),
                found(texts[2], Via::Seed),
                found(texts[3], Via::Redirect),
            ],
            seeds: texts.iter().map(|text| url(text)).collect(),
            sites: vec![at(texts[1], "10.0.0.1"), at(texts[2], "1.1.1.1"), at(texts[3], "10.0.0.1")],
            ..Batch::default()
        };
        store.commit(&batch).expect("committed");
        let seeds = Mutex::new(store.seeds().expect("seeds").iter().map(CanonicalUrl::key).collect());
        let stands = |text: &str, is_given: bool| {
            let site = url(text).site();
            standing(&site, is_given, &of_site(&seeds, site.key()), &store).expect("read")
        };
        assert_eq!(stands(texts[0], false), SeedStatus::New);
        assert_eq!(stands(texts[1], false), SeedStatus::FoundPrivate);
        assert_eq!(stands(texts[2], false), SeedStatus::FoundPublic);
        assert_eq!(stands(texts[2], true), SeedStatus::FoundPublic, "given again");
        assert_eq!(stands(texts[3], false), SeedStatus::NotNamed);
        assert_eq!(stands("http://other.test/", false), SeedStatus::NotNamed);
        assert_eq!(stands("http://other.test/", true), SeedStatus::New);
    }
}
