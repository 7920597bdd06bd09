//! Outages in virtual time: what does not answer for a while, though it does before and after.
//!
//! All of them end long before patience does: a crawl must come to what it would have come to without them.

use std::time::Duration;

use crate::rng::Rng;
use crate::time::TrueTime;
use crate::web::Web;

/// Outages of one simulation, at most. Those of sites last from a second to twenty minutes, those of the crawler's own network from five
/// seconds to half an hour.
const OUTAGES_MAX: u64 = 6;

/// When most of them begin, in seconds: crawls are busiest then.
const SOON_S: u64 = 300;

/// When robots.txt is asked for again (RFC 9309 §2.4), in seconds.
const REFRESH_S: u64 = 24 * 3_600;

/// What is out of order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The site refuses all connections.
    Refuses(String),
    /// It never says anything.
    Silent(String),
    /// It answers 503 to everything.
    Busy(String),
    /// Its name server does not answer.
    NameServer(String),
    /// It answers 503 where it is asked for robots.txt.
    Robots(String),
    /// The crawler's own network: neither names nor connections.
    OwnNetwork {
        /// Connections are not refused: nothing ever comes back.
        is_silent: bool,
    },
}

/// An outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// What is out of order.
    pub kind: Kind,
    /// From when on.
    pub from: TrueTime,
    /// Until when.
    pub until: TrueTime,
}

impl Outage {
    /// Whether it lasts at this time.
    #[must_use]
    pub fn lasts(&self, now: TrueTime) -> bool {
        self.from <= now && now < self.until
    }
}

/// Draws what is out of order, and when.
#[must_use]
pub fn outages(rng: &mut Rng, web: &Web) -> Vec<Outage> {
    let sites: Vec<&String> = web.sites.keys().collect();
    let count = if rng.chance(500) { rng.between(1, OUTAGES_MAX) } else { 0 };
    (0..count).map(|_| outage(rng, &sites)).collect()
}

fn outage(rng: &mut Rng, sites: &[&String]) -> Outage {
    let site = sites[rng.index(sites.len())].clone();
    let kind = match rng.below(7) {
        0 => Kind::Refuses(site),
        1 => Kind::Silent(site),
        2 => Kind::Busy(site),
        3 => Kind::NameServer(site),
        4 => Kind::Robots(site),
        other => Kind::OwnNetwork { is_silent: other == 5 },
    };
    let longest_s = rng.pick(&[10, 60, 300, 1_200]);
    let lasts_s = match kind {
        Kind::OwnNetwork { .. } => rng.between(5, longest_s * 3 / 2),
        _ => rng.between(1, longest_s),
    };
    // Some at the refresh of what was had soon after the start.
    let from_ms = match rng.below(6) {
        0 => REFRESH_S * 1_000 + rng.below(SOON_S * 1_000),
        1 => rng.below(SOON_S * 12_000),
        2 | 3 => rng.below(SOON_S * 100),
        _ => rng.below(SOON_S * 1_000),
    };
    let from = TrueTime::default() + Duration::from_millis(from_ms);
    Outage { kind, from, until: from + Duration::from_secs(lasts_s) }
}
