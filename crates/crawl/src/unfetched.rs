//! Why not a page was fetched, seed by seed.

use engine::Waiting;
use model::{RobotsAnswer, SiteRecord};
use printable::{Printable, counted};
use settings::site_name::SiteName;
use store::{CrawlView, StoreError};
use weburl::CanonicalUrl;

use crate::trouble::{beside_name, trouble_of, unreached_in_words};

/// Seeds named with their reason.
const SEEDS_TOLD_MAX: usize = 20;

/// What a run leaves that has fetched nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unfetched<'a> {
    /// The sites on hold.
    pub hold: &'a [SiteName],
    /// What is left of it where sites in trouble or a limit ended it.
    pub waiting: Option<&'a Waiting>,
}

impl Unfetched<'_> {
    /// A line for each seed, the first ones; `directory` names the crawl in advice.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn in_words(&self, store: &dyn CrawlView, directory: &str) -> Result<Vec<String>, StoreError> {
        let seeds = store.seeds()?;
        let mut lines = Vec::new();
        for seed in seeds.iter().take(SEEDS_TOLD_MAX) {
            let site = seed.site().to_string();
            let entry = store.get(seed.key())?;
            let attempts = entry.as_ref().map_or(0, |entry| entry.attempts);
            lines.push(match entry.and_then(|entry| entry.visit) {
                Some(visit) => {
                    let status = if visit.status > 0 { format!(" {}", visit.status) } else { String::new() };
                    let reason = Some(beside_name(&site, &visit.reason)).filter(|reason| !reason.is_empty());
                    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                    // The same command opens only those again that were not reached.
                    let is_over = visit.outcome.is_failure() && !visit.outcome.is_unreached();
                    let retry = format!("; `argiope crawl -o {directory} --retry {}` visits it again", visit.outcome);
                    let retry = if is_over { &retry } else { "" };
                    format!("{seed}: {}{status}{}{retry}", visit.outcome, Printable(&reason))
                }
                None => {
                    let why = beside_name(&site, &self.why_open(store, seed, attempts)?);
                    format!("{seed}: {}; it stays open", Printable(&why))
                }
            });
        }
        if let Some(more @ 1..) = seeds.len().checked_sub(SEEDS_TOLD_MAX) {
            lines.push(format!(
                "no page was fetched of {more} more seeds either: see `argiope explain {directory} URL`"
            ));
        }
        Ok(lines)
    }

    /// Why a seed has no outcome of which this many requests have failed.
    fn why_open(&self, store: &dyn CrawlView, seed: &CanonicalUrl, attempts: u8) -> Result<String, StoreError> {
        let site = seed.key().site;
        if self.hold.iter().flat_map(SiteName::keys).any(|held| held == site) {
            return Ok("its site is on hold".to_owned());
        }
        let record = store.site(site)?;
        let has_answered = record.as_ref().is_some_and(has_answered);
        let of_site = record.and_then(|record| trouble_of(&record));
        // While the network seems to be down, no failure is held against a site.
        let is_down = self.waiting.is_some_and(|waiting| waiting.due.is_none() && !waiting.has_answers);
        let last = self.waiting.and_then(|waiting| waiting.last_failure.as_ref());
        Ok(match (of_site, last) {
            (Some(trouble), _) => trouble,
            (None, Some(last)) if last.site.key() == site => last.detail.clone(),
            _ if attempts > 0 => format!("{} failed", counted(attempts.into(), "request")),
            (None, Some(last)) if is_down => {
                format!("no site can be reached (the last was {})", unreached_in_words(last))
            }
            (None, _) if has_answered => "its site was reached, but its turn did not come in this run".to_owned(),
            (None, _) => "it was not reached in this run".to_owned(),
        })
    }
}

/// True if the site has answered a request for robots.txt or another one.
fn has_answered(record: &SiteRecord) -> bool {
    let robots = record.robots.as_ref().map(|robots| &robots.answer);
    matches!(robots, Some(RobotsAnswer::Status { .. })) || !record.response_time.is_zero()
}

#[cfg(test)]
mod tests {
    use engine::Unreached;
    use model::{Candidate, Outcome, Purpose, RobotsRecord, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};

    use super::*;

    const SEEDS: [&str; 6] = [
        "http://gone.test/",
        "http://held.test/",
        "http://late.silent.test:81/",
        "http://silent.test/",
        "http://tried.test/",
        "http://[::1]/",
    ];

    /// The lines about the seeds. One of them has a visit, another one failed requests.
    fn told(hold: &[&str], waiting: Option<(Option<Timestamp>, &str)>) -> Vec<String> {
        let url = |text: &str| CanonicalUrl::from_canonical(text).expect("a URL");
        let seeds = SEEDS.map(url);
        let visit = Visit::without_fetch(
            seeds[0].key(),
            Outcome::DomainError,
            "no address for name gone.test".to_owned(),
            Timestamp(0),
        );
        let found = seeds.iter().cloned().map(Candidate::seed).collect();
        let sites = seeds.iter().map(|seed| SiteRecord::new(seed.site())).collect();
        let store = MemoryStore::new();
        store.commit(&Batch { seeds: seeds.to_vec(), found, sites, ..Batch::default() }).expect("a commit");
        let attempts = vec![(seeds[4].key(), Purpose::Page, 2)];
        store.commit(&Batch { visits: vec![visit], attempts, ..Batch::default() }).expect("a commit");
        let hold: Vec<SiteName> = hold.iter().map(|site| site.parse().expect("a site")).collect();
        let waiting = waiting.map(|(due, site)| {
            let site = url(site).site();
            let detail = format!("name {}: no answer from the name servers within 5s", site.host());
            Waiting { sites: 5, due, has_answers: false, last_failure: Some(Unreached { site, detail }) }
        });
        Unfetched { hold: &hold, waiting: waiting.as_ref() }.in_words(&store, "web").expect("a store")
    }

    #[test]
    fn each_seed_has_its_reason_where_no_site_can_be_reached() {
        let last = "no answer from the name servers within 5s";
        let none = format!("no site can be reached (the last was http://silent.test: {last})");
        assert_eq!(
            told(&["held.test"], Some((None, "http://silent.test/"))),
            [
                "http://gone.test/: domain_error: no address for its name".to_owned(),
                "http://held.test/: its site is on hold; it stays open".to_owned(),
                format!("http://late.silent.test:81/: {none}; it stays open"),
                format!("http://silent.test/: {last}; it stays open"),
                "http://tried.test/: 2 requests failed; it stays open".to_owned(),
                format!("http://[::1]/: {none}; it stays open"),
            ]
        );
        assert_eq!(told(&[], Some((None, "http://[::1]/")))[5], format!("http://[::1]/: {last}; it stays open"));
    }

    #[test]
    fn a_site_that_answered_was_reached() {
        let url = CanonicalUrl::from_canonical("http://a.test/").expect("a URL");
        let answer = RobotsAnswer::Status { code: 404, body: Default::default() };
        let robots = RobotsRecord { fetched_at: Timestamp(1), failed_tries: 0, answer, is_cut: false, renewal: None };
        let sites = vec![SiteRecord { robots: Some(robots), ..SiteRecord::new(url.site()) }];
        let store = MemoryStore::new();
        let found = vec![Candidate::seed(url.clone())];
        store.commit(&Batch { seeds: vec![url], found, sites, ..Batch::default() }).expect("a commit");
        let told = Unfetched { hold: &[], waiting: None }.in_words(&store, "web").expect("a store");
        let expect = "http://a.test/: its site was reached, but its turn did not come in this run; it stays open";
        assert_eq!(told, [expect]);
    }

    #[test]
    fn a_seed_of_a_run_that_ended_before_its_turn_was_not_reached() {
        let told = told(&[], Some((Some(Timestamp(0)), "http://silent.test/")));
        assert_eq!(told[2], "http://late.silent.test:81/: it was not reached in this run; it stays open");
        assert_eq!(told[4], "http://tried.test/: 2 requests failed; it stays open");
    }
}
