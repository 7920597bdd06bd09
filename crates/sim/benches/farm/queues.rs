//! The store: which URLs are known, and which wait. Of a host it keeps a few bytes, and the record of those that have one.

use std::collections::HashMap;

use model::{Candidate, Position, Purpose, Queued, SiteRecord, Via};
use weburl::{CanonicalUrl, SiteKey};

use crate::web::{Host, PAGES, Web};

/// The crawl knows the pages of a farm's host up to a number, and at most one of them waits.
#[derive(Clone, Copy, Default)]
struct OfFarm {
    known: u16,
    done: u16,
    /// Links from a seed to its first page, by the way on which it was found; to each further page it is one more.
    depth: u16,
}

/// A bit for each page.
#[derive(Clone, Copy, Default)]
struct OfHonest {
    known: u32,
    done: u32,
}

/// The known pages.
pub struct Queues {
    web: Web,
    /// In the order of the keys.
    hosts: Vec<(SiteKey, Host)>,
    farm: Vec<OfFarm>,
    honest: Vec<OfHonest>,
    records: HashMap<SiteKey, SiteRecord>,
    /// Hosts of the farm that are known.
    pub farm_known: u32,
    /// Honest sites all of whose pages are done.
    pub honest_done: u32,
}

impl Queues {
    pub fn new(web: Web) -> Self {
        let mut hosts: Vec<(SiteKey, Host)> = web.hosts().map(|host| (web.key(host), host)).collect();
        hosts.sort_unstable();
        Queues {
            web,
            hosts,
            farm: vec![OfFarm::default(); web.farm as usize],
            honest: vec![OfHonest::default(); web.honest as usize],
            records: HashMap::new(),
            farm_known: 0,
            honest_done: 0,
        }
    }

    pub fn host(&self, site: SiteKey) -> Host {
        let at = self.hosts.binary_search_by_key(&site, |(key, _)| *key).expect("a site of the web");
        self.hosts[at].1
    }

    /// Puts a page into the queue. False where it is known.
    pub fn find(&mut self, host: Host, page: u32, depth: u32) -> bool {
        match host {
            Host::Honest(n) => {
                let pages = &mut self.honest[n as usize];
                let is_new = pages.known & (1 << page) == 0;
                pages.known |= 1 << page;
                is_new
            }
            Host::Farm(n) => {
                let pages = &mut self.farm[n as usize];
                let is_new = u32::from(pages.known) == page;
                if is_new && page == 0 {
                    pages.depth = u16::try_from(depth).expect("few links");
                }
                self.farm_known += u32::from(is_new && page == 0);
                pages.known += u16::from(is_new);
                is_new
            }
        }
    }

    /// Takes a page from the queue for good.
    pub fn end(&mut self, host: Host, page: u32) {
        match host {
            Host::Honest(n) => {
                let pages = &mut self.honest[n as usize];
                pages.done |= 1 << page;
                self.honest_done += u32::from(pages.done == (1 << PAGES) - 1);
            }
            Host::Farm(n) => self.farm[n as usize].done += 1,
        }
    }

    /// Keeps the record of a site.
    pub fn write(&mut self, new: SiteRecord) {
        let site = new.site.key();
        let old = self.records.remove(&site).and_then(|old| old.robots);
        let robots = new.robots.clone().or(old);
        self.records.insert(site, SiteRecord { robots, ..new });
    }

    pub fn record(&self, site: SiteKey) -> Option<SiteRecord> {
        self.records.get(&site).cloned()
    }

    /// What waits of a site, and how many pages that are.
    pub fn waiting(&self, host: Host) -> impl Iterator<Item = u32> {
        let (first, bits) = match host {
            Host::Honest(n) => (0, self.honest[n as usize].known & !self.honest[n as usize].done),
            Host::Farm(n) => {
                let OfFarm { known, done, .. } = self.farm[n as usize];
                (u32::from(done), u32::from(known > done))
            }
        };
        (0..PAGES).filter(move |page| bits >> page & 1 == 1).map(move |page| first + page)
    }

    /// The head of a site's queue from behind a position.
    pub fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Vec<Queued> {
        let host = self.host(site);
        let depth = |page| match host {
            Host::Honest(n) => Web::depth(n, page),
            Host::Farm(n) => u32::from(self.farm[n as usize].depth) + page,
        };
        let candidate = |page| candidate(self.web.url(host, page), depth(page));
        let all = self
            .waiting(host)
            .map(candidate)
            .filter(|candidate| after.is_none_or(|after| candidate.position() > after));
        let mut all: Vec<Candidate> = all.collect();
        all.sort_unstable_by_key(Candidate::position);
        all.into_iter().take(max).map(Queued::first).collect()
    }

    /// Sites with something in their queues.
    pub fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Vec<SiteKey> {
        let first = self.hosts.partition_point(|(key, _)| after.is_some_and(|after| *key <= after));
        let waits = |(_, host): &&(SiteKey, Host)| self.waiting(*host).next().is_some();
        self.hosts[first..].iter().filter(waits).map(|(key, _)| *key).take(max).collect()
    }
}

/// The number of a page.
pub fn page_of(url: &CanonicalUrl) -> u32 {
    url.path_and_query().trim_start_matches("/p").parse().unwrap_or_default()
}

fn candidate(url: CanonicalUrl, depth: u32) -> Candidate {
    Candidate { url, depth, redirects: 0, via: Via::Link, purpose: Purpose::Page, found_on: None }
}
