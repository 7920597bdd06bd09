//! Is the crawler polite? Measured in true time at the servers, across all runs of the crawler.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use frontier::Politeness;
use model::{Purpose, Timestamp};
use weburl::UrlKey;

use super::{Check, Findings, Request, RequestEnd};
use crate::Served;
use crate::scenario::Wishes;
use crate::time::TrueTime;

/// Watches all sites and addresses.
pub(super) struct Judge {
    wishes: Politeness,
    sites: BTreeMap<String, SiteWatch>,
    /// By the network, where they are of IPv6.
    addresses: BTreeMap<Vec<u8>, AddressWatch>,
    /// Fetches under way, by domain and by network.
    under_way: BTreeMap<Vec<u8>, usize>,
    share: usize,
    /// The clock was set forward since the run began.
    is_ahead: bool,
}

#[derive(Default)]
struct SiteWatch {
    in_flight: usize,
    /// Some visit is or was under way; its Crawl-delay.
    crawl_delay: Duration,
    last_start: Option<TrueTime>,
    waits: Vec<Wait>,
}

/// A time before which nothing may be asked.
struct Wait {
    until: TrueTime,
    check: Check,
    /// robots.txt may be asked for all the same.
    but_robots: bool,
    /// Only this URL may not be asked.
    only: Option<UrlKey>,
    /// It holds for another run of the crawler only if this exchange is recorded: nobody else knows of it.
    known_by: KnownBy,
}

#[derive(PartialEq)]
enum KnownBy {
    Everyone,
    Recorded,
    ThisExchange(UrlKey, Timestamp),
    Nobody,
}

#[derive(Default)]
struct AddressWatch {
    in_flight: usize,
    quiet_until: TrueTime,
}

impl Judge {
    pub(super) fn new(wishes: &Wishes) -> Self {
        Judge {
            wishes: wishes.politeness.clone(),
            sites: BTreeMap::new(),
            addresses: BTreeMap::new(),
            under_way: BTreeMap::new(),
            share: wishes.share,
            is_ahead: false,
        }
    }

    pub(super) fn begins(&mut self, request: &Request, findings: &mut Findings) {
        for holder in holders(request) {
            let under_way = self.under_way.entry(holder).or_default();
            *under_way += 1;
            if *under_way > self.share {
                let detail = format!("{} is one of {under_way} fetches from its host or address", request.url);
                findings.add(Check::Share, request.start, detail);
            }
        }
        self.address_begins(request, findings);
        let is_robots = request.purpose == Purpose::Robots;
        let site = self.sites.entry(request.site.clone()).or_default();
        let concerns = |wait: &&Wait| {
            wait.until > request.start
                && !(is_robots && wait.but_robots)
                && wait.only.is_none_or(|only| only == request.key)
        };
        for wait in site.waits.iter().filter(concerns) {
            let detail = format!("{} asked for {:?} too early", request.url, wait.until.since(request.start));
            findings.add(wait.check, request.start, detail);
        }
        site.waits.retain(|wait| wait.until > request.start);
        if is_robots {
            return;
        }
        let delay = self.wishes.delay.max(site.crawl_delay);
        if let Some(last) = site.last_start
            && request.start < last + delay
        {
            findings.add(Check::Delay, request.start, format!("{} begun too soon after another", request.url));
        }
        site.last_start = Some(request.start);
        site.in_flight += 1;
        if site.in_flight > self.wishes.connections_per_site {
            let detail = format!("{} is visited {} times at once", request.site, site.in_flight);
            findings.add(Check::Connections, request.start, detail);
        }
    }

    fn address_begins(&mut self, request: &Request, findings: &mut Findings) {
        let Some(address) = request.address.filter(|_| !self.wishes.ip_delay.is_zero()) else { return };
        let watch = self.addresses.entry(network(address)).or_default();
        if watch.quiet_until > request.start || watch.in_flight > 0 {
            let early = watch.quiet_until.since(request.start);
            findings.add(
                Check::AddressDelay,
                request.start,
                format!("{} asked of {address} {early:?} early", request.url),
            );
        }
        watch.in_flight += 1;
    }

    pub(super) fn ends(&mut self, request: &Request, ended: RequestEnd, crawl_delay: Option<Duration>) {
        for holder in holders(request) {
            self.under_way.entry(holder).and_modify(|under_way| *under_way = under_way.saturating_sub(1));
        }
        if let Some(watch) = request.address.and_then(|address| self.addresses.get_mut(&network(address))) {
            watch.in_flight = watch.in_flight.saturating_sub(1);
            watch.quiet_until = watch.quiet_until.max(ended.end + self.wishes.ip_delay);
        }
        let wishes = &self.wishes;
        let site = self.sites.entry(request.site.clone()).or_default();
        let mut wait = |after: Duration, check, but_robots, known_by| {
            site.waits.push(Wait { until: ended.end + after, check, but_robots, only: None, known_by });
        };
        let is_robots = request.purpose == Purpose::Robots;
        if let Served::Busy { retry_after: Some(asked) } = ended.served {
            let known_by = KnownBy::ThisExchange(request.key, request.shown);
            wait(asked.min(wishes.retry_after_max), Check::ComeLater, false, known_by);
        }
        if is_robots {
            if ended.served == Served::Final {
                site.crawl_delay = crawl_delay.unwrap_or_default().min(wishes.crawl_delay_max);
            }
            return;
        }
        match ended.served {
            Served::Final => {
                wait(ended.took.mul_f64(wishes.delay_factor), Check::Delay, true, KnownBy::Nobody);
            }
            // Nobody is there: no other URL will do better.
            Served::Refused => wait(wishes.backoff, Check::ComeLater, false, KnownBy::Nobody),
            Served::Busy { retry_after: None } | Served::Failed => site.waits.push(Wait {
                until: ended.end + wishes.backoff,
                check: Check::ComeLater,
                but_robots: true,
                only: Some(request.key),
                known_by: KnownBy::Nobody,
            }),
            Served::Busy { .. } => {}
        }
        site.in_flight = site.in_flight.saturating_sub(1);
        let delay = wishes.delay.max(site.crawl_delay);
        site.waits.push(Wait {
            until: ended.end + delay,
            check: Check::Delay,
            but_robots: true,
            only: None,
            known_by: KnownBy::Everyone,
        });
    }

    /// These exchanges are recorded: what they asked for must be known from now on.
    pub(super) fn acknowledged(&mut self, exchanges: &[(UrlKey, Timestamp)]) {
        for wait in self.sites.values_mut().flat_map(|site| &mut site.waits) {
            if matches!(&wait.known_by, KnownBy::ThisExchange(key, start) if exchanges.contains(&(*key, *start))) {
                wait.known_by = KnownBy::Recorded;
            }
        }
    }

    /// What was written down before will seem long past to the next run.
    pub(super) fn clock_set_forward_in_run(&mut self) {
        self.is_ahead = true;
    }

    pub(super) fn crawler_gone(&mut self, now: TrueTime) {
        self.under_way.clear();
        if std::mem::take(&mut self.is_ahead) {
            self.clock_set_forward();
        }
        for site in self.sites.values_mut() {
            site.waits.retain(|wait| matches!(wait.known_by, KnownBy::Everyone | KnownBy::Recorded));
            if std::mem::take(&mut site.in_flight) > 0 {
                let until = now + self.wishes.delay.max(site.crawl_delay);
                site.waits.push(Wait {
                    until,
                    check: Check::Delay,
                    but_robots: true,
                    only: None,
                    known_by: KnownBy::Everyone,
                });
            }
        }
        for address in self.addresses.values_mut() {
            if std::mem::take(&mut address.in_flight) > 0 {
                address.quiet_until = now + self.wishes.ip_delay;
            }
        }
    }

    /// To the crawler it seems that a long time has passed.
    pub(super) fn clock_set_forward(&mut self) {
        for site in self.sites.values_mut() {
            site.waits.retain(|wait| wait.known_by == KnownBy::Everyone);
        }
    }
}

/// What counts as one address: the first half of one of IPv6.
pub(super) fn network(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets()[..8].to_vec(),
    }
}

/// The domain of a site, which has two labels here.
pub(super) fn domain_of(site: &str) -> Vec<u8> {
    let host = site.split("://").nth(1).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let start = host.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
    host.as_bytes()[start..].to_vec()
}

/// What a request is counted for.
pub(super) fn holders(request: &Request) -> impl Iterator<Item = Vec<u8>> {
    std::iter::once(domain_of(&request.site)).chain(request.address.map(network))
}
