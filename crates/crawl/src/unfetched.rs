//! Why not a page was fetched, seed by seed.

use engine::Waiting;
use printable::Printable;
use store::{CrawlView, StoreError};
use weburl::CanonicalUrl;

use crate::trouble::trouble_of;

/// Seeds named with their reason.
const SEEDS_TOLD_MAX: usize = 20;

/// A line for each seed, the first ones; `directory` names the crawl in advice.
///
/// # Errors
/// The store cannot be read.
pub fn in_words(store: &dyn CrawlView, waiting: Option<&Waiting>, directory: &str) -> Result<Vec<String>, StoreError> {
    let seeds = store.seeds()?;
    let last_failure = waiting.and_then(|waiting| waiting.last_failure.as_deref());
    let mut lines = Vec::new();
    for seed in seeds.iter().take(SEEDS_TOLD_MAX) {
        lines.push(match store.get(seed.key())?.and_then(|entry| entry.visit) {
            Some(visit) => {
                let status = if visit.status > 0 { format!(" {}", visit.status) } else { String::new() };
                let reason = if visit.reason.is_empty() { String::new() } else { format!(": {}", visit.reason) };
                format!("{seed}: {}{status}{}", visit.outcome, Printable(&reason))
            }
            None => {
                let record = store.site(seed.key().site)?;
                let of_site = record.and_then(|record| trouble_of(&record));
                // While the network seems to be down, no failure is held against a site.
                let of_network = last_failure.filter(|failure| is_about(failure, seed)).map(str::to_owned);
                let reason = of_site.or(of_network).unwrap_or_else(|| "it was not reached in this run".to_owned());
                format!("{seed}: {}; it stays open", Printable(&reason))
            }
        });
    }
    if let Some(more @ 1..) = seeds.len().checked_sub(SEEDS_TOLD_MAX) {
        lines.push(format!("no page was fetched of {more} more seeds either: see `argiope explain {directory} URL`"));
    }
    Ok(lines)
}

/// Whether the words of a failure name the host of a URL.
fn is_about(failure: &str, url: &CanonicalUrl) -> bool {
    let site = url.site().to_string();
    let host = site.split_once("://").map_or(&*site, |(_, host)| host);
    let host = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(host, _)| host);
    failure.split([' ', '/', ',', ':']).any(|word| word == host)
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, SiteRecord, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};

    use super::*;

    #[test]
    fn each_seed_has_a_line() {
        let store = MemoryStore::new();
        let url = |text: &str| CanonicalUrl::from_canonical(text).expect("a URL");
        let seeds = ["http://silent.test/", "http://gone.test/", "http://late.silent.test:81/"].map(url);
        let visit = Visit::without_fetch(seeds[1].key(), Outcome::DomainError, "no address".to_owned(), Timestamp(0));
        let found = seeds.iter().cloned().map(Candidate::seed).collect();
        let sites = seeds.iter().map(|seed| SiteRecord::new(seed.site())).collect();
        store.commit(&Batch { seeds: seeds.to_vec(), found, sites, ..Batch::default() }).expect("a commit");
        store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
        let last_failure = Some("name silent.test: no answer from the name servers within 5s".to_owned());
        let waiting = Waiting { sites: 2, due: None, last_failure };
        let mut told = in_words(&store, Some(&waiting), "web").expect("a store");
        told.sort();
        assert_eq!(
            told,
            [
                "http://gone.test/: domain_error: no address",
                "http://late.silent.test:81/: it was not reached in this run; it stays open",
                "http://silent.test/: name silent.test: no answer from the name servers within 5s; it stays open",
            ]
        );
    }
}
