//! At which address this run may request from a site, if other workers crawl too: only at an address that it owns.

use std::net::IpAddr;

use model::{Failure, Network, Resolved};
use weburl::SiteKey;

use crate::Event;

/// The addresses at which a site may be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Any address of its name: there is no delay per address, or no other worker.
    Anywhere,
    /// Only this address.
    At(IpAddr),
    /// The addresses of its name in this network.
    Within(Network),
    /// None until its address is known: it had none when it was given to a worker.
    Nowhere,
    /// None for this run: another worker owns it.
    Gone,
}

impl Pin {
    /// The decision for a site without looking its name up: `None` if a lookup is needed. `unreachable` is the address that could
    /// not be reached the last time.
    #[must_use]
    pub fn judge(self, site: SiteKey, unreachable: Option<IpAddr>) -> Option<Event> {
        match self {
            Pin::At(address) if unreachable != Some(address) => {
                Some(Event::Resolved { site, found: Ok(Resolved::by_hand(vec![address])) })
            }
            Pin::Gone => Some(Event::Elsewhere { site, address: None }),
            Pin::Anywhere | Pin::At(_) | Pin::Within(_) | Pin::Nowhere => None,
        }
    }

    /// Whether the site may be requested at this address, as far as that is known before a lookup.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Pin::Anywhere => true,
            Pin::At(pinned) => pinned == address,
            Pin::Within(network) => network.contains(address),
            Pin::Nowhere | Pin::Gone => false,
        }
    }

    /// The decision for a site after a lookup of its name. An unreachable site keeps its address unless its name leads
    /// elsewhere.
    #[must_use]
    pub fn judge_found(self, site: SiteKey, found: Result<Resolved, Failure>) -> Event {
        let all = found.as_ref().map_or(&[][..], |found| &found.addresses);
        let other = |not: Option<IpAddr>| all.iter().copied().find(|address| Some(*address) != not);
        let (elsewhere, found) = match self {
            Pin::Anywhere => (None, found),
            Pin::At(pinned) => {
                let holds = found.as_ref().map_or(Resolved::BY_HAND_HOLDS, |found| found.holds);
                (other(Some(pinned)), Ok(Resolved { addresses: vec![pinned], holds }))
            }
            Pin::Within(network) => {
                let first = other(None);
                let within: Vec<IpAddr> = all.iter().copied().filter(|address| network.contains(*address)).collect();
                match found {
                    Ok(found) if !within.is_empty() => (None, Ok(Resolved { addresses: within, ..found })),
                    found => (first, found),
                }
            }
            Pin::Nowhere => (other(None), found),
            Pin::Gone => return Event::Elsewhere { site, address: None },
        };
        match elsewhere {
            Some(_) => Event::Elsewhere { site, address: elsewhere },
            None => Event::Resolved { site, found },
        }
    }
}

#[cfg(test)]
mod tests {
    use model::FailureKind;

    use super::*;

    const SITE: SiteKey = SiteKey(7);

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn found(last: &[u8]) -> Result<Vec<IpAddr>, Failure> {
        Ok(last.iter().copied().map(address).collect())
    }

    /// The address to request from, or the address for which the site is released.
    fn brief(event: Event) -> Result<Result<Vec<IpAddr>, Failure>, Option<IpAddr>> {
        match event {
            Event::Resolved { site: SITE, found } => Ok(found.map(|found| found.addresses)),
            Event::Elsewhere { site: SITE, address } => Err(address),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_site_is_tried_only_where_it_may_be_requested() {
        let (one, two): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        for (pin, expect) in [
            (Pin::Anywhere, [true, true]),
            (Pin::At(two), [false, true]),
            (Pin::Within(Network::of(one)), [true, false]),
            (Pin::Nowhere, [false, false]),
            (Pin::Gone, [false, false]),
        ] {
            assert_eq!([one, two].map(|address| pin.allows(address)), expect, "{pin:?}");
        }
    }

    #[test]
    fn a_name_is_looked_up_only_where_it_matters() {
        let judged = |pin: Pin, unreachable| pin.judge(SITE, unreachable).map(brief);
        assert_eq!(judged(Pin::At(address(1)), None), Some(Ok(found(&[1]))));
        assert_eq!(
            judged(Pin::At(address(1)), Some(address(2))),
            Some(Ok(found(&[1]))),
            "it was pinned again meanwhile"
        );
        assert_eq!(judged(Pin::At(address(1)), Some(address(1))), None);
        assert_eq!(judged(Pin::Gone, None), Some(Err(None)));
        assert_eq!((judged(Pin::Anywhere, None), judged(Pin::Nowhere, None)), (None, None));
    }

    #[test]
    fn a_site_is_asked_at_its_own_address_or_let_go_of_for_another() {
        let judged = |pin: Pin, addresses: Result<Vec<IpAddr>, Failure>| {
            brief(pin.judge_found(SITE, addresses.map(Resolved::by_hand)))
        };
        let failure = Failure { kind: FailureKind::NameServer, detail: String::new() };
        let (at, failed) = (Pin::At(address(1)), Err(failure));
        let address_v6 = |last: &u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, *last]);
        let found_v6 = |last: &[u16]| Ok(last.iter().map(address_v6).collect());
        let within = Pin::Within(Network::of(address_v6(&7)));
        assert_eq!(judged(Pin::Anywhere, found(&[1, 2])), Ok(found(&[1, 2])));
        for (pin, addresses, expect) in [
            (at, found(&[1]), Ok(found(&[1]))),
            (at, failed.clone(), Ok(found(&[1]))),
            (at, found(&[]), Ok(found(&[1]))),
            (at, found(&[2, 3]), Err(Some(address(2)))),
            (at, found(&[1, 3]), Err(Some(address(3)))),
            (Pin::Nowhere, found(&[2, 3]), Err(Some(address(2)))),
            (within, found_v6(&[1, 2]), Ok(found_v6(&[1, 2]))),
            (within, failed.clone(), Ok(failed.clone())),
            (within, found(&[3]), Err(Some(address(3)))),
            (Pin::Nowhere, failed.clone(), Ok(failed)),
            (Pin::Nowhere, found(&[]), Ok(found(&[]))),
            (Pin::Gone, found(&[1]), Err(None)),
        ] {
            assert_eq!(judged(pin, addresses.clone()), expect, "{pin:?} {addresses:?}");
        }
    }
}
