//! Sites in trouble, and those that were given up: which they are, what for, and when they may be asked again.

use std::cmp::Reverse;
use std::fmt;

use engine::Unreached;
use frontier::verdict;
use model::{Outcome, SiteRecord};
use printable::Printable;
use serde::{Deserialize, Serialize};
use store::{CrawlView, StoreError, Totals, aside_with_queue};
use weburl::Site;

/// Sites of a kind that are named.
const NAMED_MAX: usize = 5;

/// Sites read from the store at once.
const READ_AT_ONCE: usize = 1_000;

/// The sites of a crawl that do not answer as they should.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Troubled {
    /// Those in trouble that have a queue.
    pub in_trouble: Option<InTrouble>,
    /// Those that were given up, with their URLs.
    pub given_up: Option<GivenUp>,
    /// How many others have all the pages that they may have.
    #[serde(default)]
    pub spent: u64,
}

/// The sites of a crawl that are in trouble.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InTrouble {
    /// How many there are.
    pub sites: u64,
    /// When the first may be asked again.
    pub due: Option<String>,
    /// Some of them, those that may be asked first.
    pub named: Vec<Named>,
}

/// A site in trouble.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    /// The site.
    pub site: String,
    /// When it may be asked again.
    pub due: String,
    /// What it is in trouble for.
    pub reason: String,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = beside_name(&self.site, &self.reason);
        write!(f, "in trouble {}: {}; asked again from {} on", self.site, Printable(&reason), self.due)
    }
}

impl fmt::Display for NamedGivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "given up {}: {}", self.site, Printable(&beside_name(&self.site, &self.reason)))
    }
}

/// The sites of a crawl that were given up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GivenUp {
    /// How many there are.
    pub sites: u64,
    /// Some of them, those that were given up last.
    pub named: Vec<NamedGivenUp>,
}

/// A site that was given up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NamedGivenUp {
    /// The site.
    pub site: String,
    /// Why.
    pub reason: String,
}

impl Troubled {
    /// Those that the store knows, of a crawl in which a site may have so many pages. All records of sites are read for it, where there may be
    /// any.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(store: &dyn CrawlView, totals: &Totals, pages_per_site_max: Option<u64>) -> Result<Self, StoreError> {
        if totals.pending == 0 && totals.count(Outcome::GivenUp) == 0 && pages_per_site_max.is_none() {
            return Ok(Troubled::default());
        }
        let (mut in_trouble, mut given_up, mut spent) = (Found::default(), Found::default(), 0);
        let mut after = None;
        loop {
            let records = store.sites(after, READ_AT_ONCE)?;
            let Some(last) = records.last() else { break };
            after = Some(last.site.key());
            let waiting = aside_with_queue(store, &records)?;
            let (aside, others): (Vec<_>, Vec<_>) =
                records.into_iter().partition(|record| waiting.contains(&record.site.key()));
            in_trouble.add(aside, |record| record.due_at);
            spent += others.iter().filter(|record| is_spent(record, pages_per_site_max)).count() as u64;
            given_up.add(others.into_iter().filter(is_given_up).collect(), |record| Reverse(record.due_at));
        }
        Ok(Troubled { in_trouble: in_trouble.in_trouble(), given_up: given_up.given_up(), spent })
    }
}

/// Whether a site has all the pages that it may have, and is not given up.
#[must_use]
pub fn is_spent(record: &SiteRecord, pages_per_site_max: Option<u64>) -> bool {
    record.given_up.is_none() && pages_per_site_max.is_some_and(|max| record.pages_fetched >= max)
}

/// Whether the URLs of a site end as `given_up`. Where its name is not known, for one, they are a `domain_error`.
fn is_given_up(record: &SiteRecord) -> bool {
    record.given_up.as_ref().is_some_and(|failure| verdict::given_up(failure.kind) == Outcome::GivenUp)
}

/// Sites of a kind: how many were found, and those that are named.
#[derive(Default)]
struct Found {
    sites: u64,
    first: Vec<SiteRecord>,
}

impl Found {
    fn add<K: Ord>(&mut self, records: Vec<SiteRecord>, order: impl FnMut(&SiteRecord) -> K) {
        self.sites += records.len() as u64;
        self.first.extend(records);
        self.first.sort_by_key(order);
        self.first.truncate(NAMED_MAX);
    }

    fn in_trouble(self) -> Option<InTrouble> {
        let due = self.first.first().map(|record| record.due_at.to_rfc3339());
        let named = self.first.iter().map(|record| Named {
            site: record.site.to_string(),
            due: record.due_at.to_rfc3339(),
            reason: trouble_of(record).unwrap_or_default(),
        });
        (self.sites > 0).then(|| InTrouble { sites: self.sites, due, named: named.collect() })
    }

    fn given_up(self) -> Option<GivenUp> {
        let named = self.first.iter().map(|record| NamedGivenUp {
            site: record.site.to_string(),
            reason: record.given_up.as_ref().map(|failure| failure.detail.clone()).unwrap_or_default(),
        });
        (self.sites > 0).then(|| GivenUp { sites: self.sites, named: named.collect() })
    }
}

/// What keeps a site from being asked now; `None` where no trouble is known.
#[must_use]
pub fn trouble_of(record: &SiteRecord) -> Option<String> {
    let robots = record.robots.as_ref().filter(|robots| robots.failed_tries > 0);
    let aside = record.aside.as_ref().map(|aside| aside.reason.detail.clone());
    aside.or_else(|| robots.map(|robots| format!("robots.txt: {}", robots.answer)))
}

/// A reason as it stands beside the name of its site, which it does not repeat.
pub(crate) fn beside_name(site: &str, reason: &str) -> String {
    let Some(site) = Site::from_text(site) else { return reason.to_owned() };
    let name = format!("name {}", site.host());
    let reason = reason.replacen(&format!("{name}: "), "", 1);
    let reason = reason.replacen(&format!("connect to {}: ", site.authority_with_port()), "", 1);
    match reason.strip_suffix(&name) {
        Some(before) => format!("{before}its name"),
        None => reason,
    }
}

/// A site that could not be reached, with the reason.
pub(crate) fn unreached_in_words(Unreached { site, detail }: &Unreached) -> String {
    let site = site.to_string();
    format!("{site}: {}", beside_name(&site, detail))
}

#[cfg(test)]
mod tests {
    use model::{Aside, Candidate, Failure, FailureKind, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn a_reason_beside_the_name_of_its_site_does_not_repeat_it() {
        for (reason, expect) in [
            ("name a.test: no answer from the name servers", "no answer from the name servers"),
            ("in trouble for 7 days: name a.test: no answer", "in trouble for 7 days: no answer"),
            ("no address for name a.test", "no address for its name"),
            ("no address for name other.test", "no address for name other.test"),
            ("name a.test.org: no answer", "name a.test.org: no answer"),
            ("status 503", "status 503"),
        ] {
            assert_eq!(beside_name("http://a.test:81", reason), expect, "{reason}");
        }
        let refused = "robots.txt: connect to 127.0.0.1:80: connection refused";
        assert_eq!(beside_name("http://127.0.0.1", refused), "robots.txt: connection refused");
        assert_eq!(beside_name("http://a.test", refused), refused, "its address is another thing");
    }

    #[test]
    fn sites_in_trouble_have_a_queue_and_those_given_up_have_urls_that_ended_so() {
        let url = |host: &str| CanonicalUrl::from_canonical(&format!("http://{host}/")).expect("a URL");
        let failure = |kind| Failure { kind, detail: format!("{kind:?}") };
        let aside = |host: &str, due: u64| {
            let (until, reason) = (Timestamp(due), failure(FailureKind::Connect));
            SiteRecord {
                due_at: until,
                aside: Some(Aside { until, round: 1, reason }),
                ..SiteRecord::new(url(host).site())
            }
        };
        let given_up = |host: &str, at: u64, kind| {
            let given_up = Some(failure(kind));
            SiteRecord { due_at: Timestamp(at), given_up, ..SiteRecord::new(url(host).site()) }
        };
        let store = MemoryStore::new();
        let waits = ["late.test", "soon.test", "well.test"];
        let left = (0..7).map(|n| format!("left{n}.test"));
        let mut sites = vec![aside("late.test", 9), aside("soon.test", 8), aside("removed.test", 7)];
        sites.extend(left.clone().zip(1..).map(|(host, at)| given_up(&host, at, FailureKind::Timeout)));
        sites.push(SiteRecord { pages_fetched: 3, ..SiteRecord::new(url("spent.test").site()) });
        sites.push(SiteRecord { pages_fetched: 2, ..SiteRecord::new(url("active.test").site()) });
        sites.push(given_up("unknown.test", 99, FailureKind::NameNotFound));
        let found = waits.map(|host| Candidate::seed(url(host))).to_vec();
        let settled = left.map(|host| {
            let url = url(&host);
            let visit = Visit::without_fetch(url.key(), Outcome::GivenUp, "why".to_owned(), Timestamp(0));
            (Candidate::seed(url), visit)
        });
        store.commit(&Batch { found, sites, settled: settled.collect(), ..Batch::default() }).expect("a commit");
        let totals = store.totals().expect("totals");
        let Troubled { in_trouble, given_up, spent } = Troubled::of(&store, &totals, Some(3)).expect("a store");
        assert_eq!(spent, 1, "the site with three pages");
        let (in_trouble, given_up) = (in_trouble.expect("some"), given_up.expect("some"));
        let named: Vec<&str> = in_trouble.named.iter().map(|named| &named.site[..]).collect();
        assert_eq!((in_trouble.sites, named), (2, vec!["http://soon.test", "http://late.test"]));
        let named: Vec<&str> = given_up.named.iter().map(|named| &named.site[..]).collect();
        let last = [6, 5, 4, 3, 2].map(|n| format!("http://left{n}.test"));
        assert_eq!((given_up.sites, named), (7, last.iter().map(String::as_str).collect()));
        assert_eq!(given_up.named[0].reason, "Timeout");
        let none = Troubled::of(&store, &Totals::default(), None).expect("a store");
        assert!(none.in_trouble.is_none() && none.given_up.is_none(), "nothing waits, and nothing was given up");
    }
}
