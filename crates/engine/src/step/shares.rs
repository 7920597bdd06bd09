//! Shares of the fetches at once: however many slow servers a domain or an address has, others go on.

use std::collections::VecDeque;

use foldhash::HashMap;
use frontier::Visitor;
use model::{Network, Timestamp};
use weburl::{CanonicalUrl, Site, SiteKey, registrable_domain};

use super::State;

/// What a fetch is counted for, and a place in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Holder {
    /// A registrable domain, by its hash.
    Domain(SiteKey),
    /// An address, or a network of IPv6.
    Address(Network),
}

/// All that a fetch is counted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share([Option<Holder>; 2]);

/// What is under way for each holder, and who waits for its share.
#[derive(Default)]
pub(super) struct Shares {
    holders: HashMap<Holder, Held>,
}

#[derive(Default)]
struct Held {
    in_flight: usize,
    waiting: VecDeque<Visitor>,
}

/// The domain of a site, as fetches are counted for it.
pub(super) fn domain_of(site: &Site) -> SiteKey {
    let domain = registrable_domain(site.host());
    CanonicalUrl::from_canonical(&format!("http://{domain}/")).map_or(site.key(), |url| url.key().site)
}

impl Share {
    pub(super) fn of(domain: SiteKey, address: Option<std::net::IpAddr>) -> Self {
        Share([Some(Holder::Domain(domain)), address.map(|address| Holder::Address(Network::of(address)))])
    }

    fn holders(self) -> impl Iterator<Item = Holder> {
        self.0.into_iter().flatten()
    }
}

impl State {
    /// True if a share is used up: the visitor waits until some of it is free.
    pub(super) fn must_wait_for_share(&mut self, visitor: Visitor, share: Share) -> bool {
        let used_up = share.holders().find(|holder| {
            let in_flight = self.shares.holders.get(holder).map_or(0, |held| held.in_flight);
            in_flight >= self.share_max(*holder)
        });
        if let Some(holder) = used_up {
            self.shares.holders.entry(holder).or_default().waiting.push_back(visitor);
        }
        used_up.is_some()
    }

    fn share_max(&self, holder: Holder) -> usize {
        let max = match holder {
            Holder::Domain(_) => self.settings.fetches_per_domain_max,
            Holder::Address(_) => self.settings.fetches_per_address_max,
        };
        max.max(1)
    }

    /// Counts a fetch that begins.
    pub(super) fn take_share(&mut self, share: Share) {
        for holder in share.holders() {
            self.shares.holders.entry(holder).or_default().in_flight += 1;
        }
    }

    /// Counts a fetch that has ended, and lets one that waited go on for each share that it held.
    pub(super) fn free_share(&mut self, now: Timestamp, share: Share) {
        for holder in share.holders() {
            let Some(held) = self.shares.holders.get_mut(&holder) else { continue };
            held.in_flight = held.in_flight.saturating_sub(1);
            if held.in_flight == 0 {
                // Nobody else would wake them.
                let waiting = self.shares.holders.remove(&holder).map(|held| held.waiting).unwrap_or_default();
                for visitor in waiting {
                    self.go_on_after_share(now, visitor);
                }
                continue;
            }
            while let Some(visitor) = self.shares.holders.get_mut(&holder).and_then(|held| held.waiting.pop_front()) {
                if self.go_on_after_share(now, visitor) {
                    break;
                }
            }
        }
    }

    /// Puts who waited back on the workbench. False where it wants nothing any more.
    fn go_on_after_share(&mut self, now: Timestamp, visitor: Visitor) -> bool {
        match visitor {
            Visitor::Site(site) => {
                let Some(front) = self.front(site).filter(|front| front.waits_for_share) else { return false };
                front.waits_for_share = false;
                self.prepare(now, site);
                self.bench.is_waiting(site)
            }
            Visitor::Errand(number) => self.errand_goes_on(now, number),
        }
    }
}
