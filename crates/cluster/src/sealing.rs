//! Sites wait with going to another worker until their robots.txt files are sealed: the next owner would request the others again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use weburl::SiteKey;

/// How long sites wait for a segment. Shared storage may be out of reach for longer; then the next owner requests the files again.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// The segments that sites wait for.
#[derive(Default)]
pub(crate) struct Sealing {
    /// Since when, by serial numbers.
    since: BTreeMap<u32, Duration>,
}

/// What a worker must wait for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// Sites that must not go yet.
    pub(crate) sites: BTreeSet<SiteKey>,
    /// The last segment to be sealed for them.
    pub(crate) up_to: Option<u32>,
}

impl Sealing {
    /// Which of the sites that are to go must wait at this time. `unsealed` are all sites of this worker with an unsealed robots.txt, and
    /// the segments.
    pub(crate) fn awaited(
        &mut self,
        now: Duration,
        unsealed: &[(SiteKey, u32)],
        goes: impl Fn(SiteKey) -> bool,
    ) -> Awaited {
        let open: BTreeSet<u32> = unsealed.iter().map(|(_, serial)| *serial).collect();
        self.since.retain(|serial, _| open.contains(serial));
        let mut awaited = Awaited::default();
        for (site, serial) in unsealed.iter().filter(|(site, _)| goes(*site)) {
            let since = *self.since.entry(*serial).or_insert(now);
            if now < since + WAIT_MAX {
                awaited.sites.insert(*site);
                awaited.up_to = awaited.up_to.max(Some(*serial));
            }
        }
        awaited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: Duration = Duration::from_secs(100);

    fn check(
        sealing: &mut Sealing,
        after: Duration,
        unsealed: &[(u64, u32)],
        going: &[u64],
        expect: (&[u64], Option<u32>),
    ) {
        let unsealed: Vec<(SiteKey, u32)> = unsealed.iter().map(|(site, serial)| (SiteKey(*site), *serial)).collect();
        let awaited = sealing.awaited(BEGUN + after, &unsealed, |site| going.contains(&site.0));
        let sites = expect.0.iter().copied().map(SiteKey).collect();
        assert_eq!(awaited, Awaited { sites, up_to: expect.1 }, "{after:?}: {going:?} of {unsealed:?}");
    }

    #[test]
    fn a_site_waits_until_its_robots_txt_is_sealed() {
        let mut sealing = Sealing::default();
        for (unsealed, going, expect) in [
            (&[][..], &[1][..], (&[][..], None)),
            (&[(2, 7)], &[1], (&[], None)),
            (&[(1, 5), (2, 7)], &[1], (&[1], Some(5))),
            (&[(1, 5), (2, 7), (3, 7)], &[1, 2], (&[1, 2], Some(7))),
            (&[(2, 7), (3, 7)], &[1, 2], (&[2], Some(7))),
            (&[], &[1, 2], (&[], None)),
        ] {
            check(&mut sealing, Duration::ZERO, unsealed, going, expect);
        }
    }

    #[test]
    fn a_site_waits_no_longer_than_it_may() {
        let mut sealing = Sealing::default();
        let almost = WAIT_MAX - Duration::from_micros(1);
        check(&mut sealing, Duration::ZERO, &[(1, 5)], &[1], (&[1], Some(5)));
        check(&mut sealing, almost, &[(1, 5), (2, 6)], &[1, 2], (&[1, 2], Some(6)));
        // Another one that goes later does not wait again for a segment that cannot be sealed.
        check(&mut sealing, WAIT_MAX, &[(1, 5), (2, 6), (3, 5)], &[1, 2, 3], (&[2], Some(6)));
        check(&mut sealing, almost + WAIT_MAX, &[(1, 5), (2, 6)], &[1, 2], (&[], None));
        // It could be after all, and what is in others is waited for as before.
        check(&mut sealing, almost + WAIT_MAX, &[], &[], (&[], None));
        check(&mut sealing, almost + WAIT_MAX, &[(1, 8)], &[1], (&[1], Some(8)));
    }
}
