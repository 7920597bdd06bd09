//! The sites of a crawl in the order of their states: on hold, in trouble, given up, and all others.

use std::collections::{BTreeSet, HashSet};

use ask::urls::LOOKED_AT_MAX;
use model::SiteRecord;
use store::{CrawlView, StoreError};
use weburl::SiteKey;

/// Records of sites read at once.
const SITES_AT_ONCE: usize = 1_000;

/// The sites in trouble and those that are given up, each in the order of their keys. All records of sites are read for it.
#[derive(Debug, Default)]
pub(crate) struct Troubled {
    aside: Vec<SiteKey>,
    given_up: Vec<SiteKey>,
}

/// A page of sites.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) sites: Vec<SiteRecord>,
    /// The site after which the next page begins; `None` after the last page.
    pub(crate) next: Option<SiteKey>,
}

impl Troubled {
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn of(view: &dyn CrawlView) -> Result<Self, StoreError> {
        let mut troubled = Troubled::default();
        let mut after = None;
        loop {
            let records = view.sites(after, SITES_AT_ONCE)?;
            let Some(last) = records.last() else { return Ok(troubled) };
            after = Some(last.site.key());
            for record in &records {
                match (&record.given_up, &record.aside) {
                    (Some(_), _) => troubled.given_up.push(record.site.key()),
                    (None, Some(_)) => troubled.aside.push(record.site.key()),
                    (None, None) => {}
                }
            }
        }
    }

    /// The first `max` sites behind one of them, the first of all being those on hold. A page has fewer, or none, if it had to pass by too many
    /// sites that come before: an answer looks at [`LOOKED_AT_MAX`] records.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn page(
        &self,
        view: &dyn CrawlView,
        held: &BTreeSet<SiteKey>,
        after: Option<SiteKey>,
        max: usize,
    ) -> Result<Page, StoreError> {
        let troubled = self.aside.iter().chain(&self.given_up).filter(|site| !held.contains(site));
        let first: Vec<SiteKey> = held.iter().chain(troubled).copied().collect();
        let place = after.map(|after| first.iter().position(|site| *site == after));
        let mut page = Page::default();
        let rest = match place {
            None => &first[..],
            Some(Some(place)) => first.get(place + 1..).unwrap_or_default(),
            Some(None) => &[],
        };
        for site in rest {
            // A site on hold may be one that the crawl does not know.
            page.sites.extend(record(view, *site)?);
            if page.sites.len() >= max {
                page.next = Some(*site);
                return Ok(page);
            }
        }
        let first: HashSet<SiteKey> = first.into_iter().collect();
        let mut last = after.filter(|_| place == Some(None));
        let mut looked_at = 0;
        while looked_at < LOOKED_AT_MAX {
            let records = view.sites(last, max)?;
            if records.is_empty() {
                return Ok(page);
            }
            for record in records {
                let site = record.site.key();
                (last, looked_at) = (Some(site), looked_at + 1);
                if !first.contains(&site) {
                    page.sites.push(record);
                }
                if page.sites.len() >= max {
                    page.next = last;
                    return Ok(page);
                }
            }
        }
        page.next = last;
        Ok(page)
    }
}

/// The record of a site, without its shapes.
fn record(view: &dyn CrawlView, site: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
    let found = view.sites(site.0.checked_sub(1).map(SiteKey), 1)?;
    Ok(found.into_iter().next().filter(|record| record.site.key() == site))
}

#[cfg(test)]
mod tests {
    use model::{Aside, Failure, FailureKind, Timestamp};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn all_sites_come_once_those_in_trouble_before_the_others() {
        const SITES: u64 = 40;
        let store = MemoryStore::new();
        let record = |n: u64| {
            let url = CanonicalUrl::from_canonical(&format!("http://{n}.test/")).expect("a URL");
            let failure = Failure { kind: FailureKind::NameServer, detail: "too slow".to_owned() };
            let aside = Aside { until: Timestamp(9), round: 1, reason: failure.clone() };
            SiteRecord {
                aside: (n % 4 == 1).then_some(aside),
                given_up: (n % 5 == 2).then_some(failure),
                ..SiteRecord::new(url.site())
            }
        };
        let sites: Vec<SiteRecord> = (0..SITES).map(record).collect();
        // One in trouble, one that is active, and one that the crawl does not know.
        let held: BTreeSet<SiteKey> = [1, 3, SITES].map(|n| record(n).site.key()).into();
        store.commit(&Batch { sites: sites.clone(), ..Batch::default() }).expect("a commit");
        let troubled = Troubled::of(&store).expect("read");
        let state = |record: &SiteRecord| match (&record.given_up, &record.aside) {
            _ if held.contains(&record.site.key()) => 0,
            (None, Some(_)) => 1,
            (Some(_), _) => 2,
            (None, None) => 3,
        };
        let mut expect: Vec<_> = sites.iter().map(|site| (state(site), site.site.key())).collect();
        expect.sort_unstable();
        for max in [1, 3, 7, 100] {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = troubled.page(&store, &held, after, max).expect("read");
                assert!(page.sites.len() <= max);
                found.extend(page.sites.iter().map(|site| (state(site), site.site.key())));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, expect, "{max}");
        }
    }
}
