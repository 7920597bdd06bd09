//! The sites of a crawl by name, by pages, or with a part of their names. The state has them in the order of their keys alone, so all are
//! looked at.

use std::collections::BTreeSet;

use ask::order::{First, Foremost};
use ask::urls::LOOKED_AT_MAX;
use model::SiteRecord;
use service::sortings::{Looking, SORTED_MAX, SoFar};
use store::{CrawlView, StoreError};
use weburl::{Site, SiteKey};

/// Records of sites read at once.
const SITES_AT_ONCE: usize = 1_000;

/// An order of sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Of their keys, in which the state has them.
    Key,
    /// On hold, in trouble, given up, all others.
    State,
    Name,
    /// The one with the most pages first.
    Pages,
}

impl By {
    /// All orders, each with the word of a request and that of a form.
    pub(crate) const ALL: [(By, &'static str, &'static str); 4] = [
        (By::Key, "", "by key"),
        (By::State, "state", "by state: in trouble first"),
        (By::Name, "name", "by name"),
        (By::Pages, "pages", "by pages: most first"),
    ];

    /// As a field of a request has it.
    pub(crate) fn word(self) -> &'static str {
        By::ALL.iter().find(|(by, ..)| *by == self).map_or("", |(_, word, _)| word)
    }
}

/// The sites that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) by: By,
    /// A part of their names, in lower case; of all if it is empty.
    pub(crate) name: String,
    /// The sites on hold.
    pub(crate) held: BTreeSet<SiteKey>,
}

impl Asked {
    fn has(&self, site: &Site) -> bool {
        site.as_str().contains(&self.name)
    }

    /// What a site is compared by.
    fn value(&self, record: &SiteRecord) -> (u64, String) {
        let first = match self.by {
            // The names of two sites are not compared then: no two have the same key.
            By::Key => record.site.key().0,
            By::State if self.held.contains(&record.site.key()) => 0,
            By::State => match (&record.given_up, &record.aside) {
                (None, Some(_)) => 1,
                (Some(_), _) => 2,
                (None, None) => 3,
            },
            By::Pages => u64::MAX - record.pages_fetched,
            By::Name => 0,
        };
        // The host before the scheme, as people look for it.
        let text = record.site.as_str();
        let (scheme, host) = text.split_once("://").unwrap_or(("", text));
        (first, format!("{host} {scheme}"))
    }
}

/// Looks for the first of the sites that are asked for.
pub(crate) struct Sites {
    asked: Asked,
    first: Foremost<(u64, String), SiteRecord>,
    after: Option<SiteKey>,
    looked_at: u64,
    is_complete: bool,
}

impl Sites {
    /// Nothing was looked at yet.
    pub(crate) fn new(asked: Asked) -> Self {
        Sites { asked, first: Foremost::new(SORTED_MAX), after: None, looked_at: 0, is_complete: false }
    }
}

impl Looking for Sites {
    type Row = SiteRecord;

    fn look_on(&mut self, view: &dyn CrawlView) -> Result<(), StoreError> {
        let mut looked_at = 0;
        while looked_at < LOOKED_AT_MAX {
            let records = view.sites(self.after, SITES_AT_ONCE)?;
            let Some(last) = records.last() else {
                self.is_complete = true;
                break;
            };
            self.after = Some(last.site.key());
            looked_at += records.len();
            for record in records.into_iter().filter(|record| self.asked.has(&record.site)) {
                self.first.take(self.asked.value(&record), record, Ord::cmp);
            }
        }
        self.looked_at += looked_at as u64;
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn so_far(&self) -> SoFar {
        SoFar { looked_at: self.looked_at, found: self.first.found() }
    }

    fn into_first(self) -> First<SiteRecord> {
        self.first.into_first(Ord::cmp)
    }
}

#[cfg(test)]
mod tests {
    use model::{Aside, Failure, FailureKind, Timestamp};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn sites_come_by_name_pages_and_state_and_by_a_part_of_their_names() {
        let store = MemoryStore::new();
        let record = |url: &str, pages_fetched, state: &str| {
            let url = CanonicalUrl::from_canonical(url).expect("a URL");
            let failure = Failure { kind: FailureKind::NameServer, detail: "too slow".to_owned() };
            let aside = Aside { until: Timestamp(9), round: 1, reason: failure.clone() };
            SiteRecord {
                pages_fetched,
                aside: (state == "aside").then_some(aside),
                given_up: (state == "given up").then_some(failure),
                ..SiteRecord::new(url.site())
            }
        };
        let sites = vec![
            record("https://b.test/", 5, "aside"),
            record("http://a.test/", 7, ""),
            record("http://c.test/", 9, "given up"),
            record("http://b.test/", 7, ""),
        ];
        let held = BTreeSet::from([sites[1].site.key()]);
        let mut by_key: Vec<&Site> = sites.iter().map(|record| &record.site).collect();
        by_key.sort_by_key(|site| site.key());
        let by_key = by_key.into_iter().map(Site::as_str).collect::<Vec<_>>().join(" ");
        store.commit(&Batch { sites, ..Batch::default() }).expect("a commit");
        for (by, name, expect) in [
            (By::Name, "", "http://a.test http://b.test https://b.test http://c.test"),
            (By::Pages, "", "http://c.test http://a.test http://b.test https://b.test"),
            (By::State, "", "http://a.test https://b.test http://c.test http://b.test"),
            (By::Name, "b.te", "http://b.test https://b.test"),
            (By::Pages, "https", "https://b.test"),
            (By::Key, "test", &by_key[..]),
            (By::Key, "none", ""),
        ] {
            let mut looking = Sites::new(Asked { by, name: name.to_owned(), held: held.clone() });
            while !looking.is_complete() {
                looking.look_on(&store).expect("read");
            }
            assert_eq!(looking.so_far().looked_at, 4);
            let first = looking.into_first();
            let names: Vec<String> = first.rows.iter().map(|record| record.site.to_string()).collect();
            assert_eq!(names.join(" "), expect, "{by:?} {name}");
            assert_eq!(first.of, first.rows.len() as u64);
        }
    }
}
