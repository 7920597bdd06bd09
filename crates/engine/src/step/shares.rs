//! Shares of the fetches at once: however many slow servers a domain or an address has, others go on; and so do sites that answer, however
//! many do not.

use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};
use frontier::Visitor;
use model::{Network, Timestamp};
use weburl::{CanonicalUrl, Site, SiteKey, registrable_domain};

use super::{Slot, State};

/// Look-ups of names of one domain at once. Name servers get few a second for each, and a site with one under way keeps its place in front.
const LOOK_UPS_PER_DOMAIN_MAX: usize = 16;

/// The part of all fetches at once that is kept for sites that answer: one in this many. Sites that have not answered, or fail, hold no
/// more than the rest, however many they are.
const KEPT_PART: usize = 4;

/// Visitors waiting for one share, with those that have gone meanwhile; with more, those that have gone are removed.
const WAITING_SWEPT_MIN: usize = 1_024;

/// What a fetch is counted for, and a place in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Holder {
    /// A registrable domain, by its hash.
    Domain(SiteKey),
    /// An address, or a network of IPv6.
    Address(Network),
    /// The names of a domain: what look-ups are counted for.
    Names(SiteKey),
    /// All sites that have not answered, or fail.
    Unanswered,
}

/// All that a fetch is counted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    of: [Option<Holder>; 2],
    is_unanswered: bool,
}

/// What is under way for each holder, and who waits for its share.
#[derive(Default)]
pub(super) struct Shares {
    holders: HashMap<Holder, Held>,
}

#[derive(Default)]
struct Held {
    in_flight: usize,
    waiting: VecDeque<Visitor>,
    /// How many wait when those that have gone are removed.
    swept_at: usize,
}

/// The domain of a site, as fetches are counted for it.
pub(super) fn domain_of(site: &Site) -> SiteKey {
    let domain = registrable_domain(site.host());
    CanonicalUrl::from_canonical(&format!("http://{domain}/")).map_or(site.key(), |url| url.key().site)
}

impl Share {
    /// Of a site of a domain at an address, that answers or has not so far.
    pub(super) fn of(domain: SiteKey, address: Option<std::net::IpAddr>, answers: bool) -> Self {
        let address = address.map(|address| Holder::Address(Network::of(address)));
        Share { of: [Some(Holder::Domain(domain)), address], is_unanswered: !answers }
    }

    /// What the look-up of a name is counted for.
    pub(super) fn of_names(domain: SiteKey) -> Self {
        Share { of: [Some(Holder::Names(domain)), None], is_unanswered: false }
    }

    fn holders(self) -> impl Iterator<Item = Holder> {
        self.of.into_iter().flatten().chain(self.is_unanswered.then_some(Holder::Unanswered))
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
            self.wait_for(holder, visitor);
        }
        used_up.is_some()
    }

    fn wait_for(&mut self, holder: Holder, visitor: Visitor) {
        let sites = &self.sites;
        let waits = |site: &SiteKey| matches!(sites.get(site), Some(Slot::Here(front)) if front.waits_for_share);
        let held = self.shares.holders.entry(holder).or_default();
        if held.waiting.len() >= held.swept_at.max(WAITING_SWEPT_MIN) {
            let mut seen = HashSet::default();
            held.waiting.retain(|visitor| match visitor {
                Visitor::Site(site) => waits(site) && seen.insert(*site),
                Visitor::Errand(_) => true,
            });
            held.swept_at = 2 * held.waiting.len();
        }
        held.waiting.push_back(visitor);
    }

    fn share_max(&self, holder: Holder) -> usize {
        let max = match holder {
            Holder::Domain(_) => self.settings.fetches_per_domain_max,
            Holder::Address(_) => self.settings.fetches_per_address_max,
            Holder::Names(_) => LOOK_UPS_PER_DOMAIN_MAX.min(self.fair_part()),
            Holder::Unanswered => self.settings.concurrency - self.settings.concurrency / KEPT_PART,
        };
        max.max(1)
    }

    /// Counts a fetch that begins.
    pub(super) fn take_share(&mut self, share: Share) {
        for holder in share.holders() {
            self.shares.holders.entry(holder).or_default().in_flight += 1;
        }
    }

    /// Notes that the look-up of a site's name has ended. False if there was none.
    pub(super) fn end_look_up(&mut self, now: Timestamp, site: SiteKey) -> bool {
        let Some(front) = self.front(site).filter(|front| front.resolving) else { return false };
        front.resolving = false;
        let share = Share::of_names(front.domain);
        self.free_share(now, share);
        true
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
