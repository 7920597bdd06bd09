//! What workers and politeness groups are called, and what is told of them.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use model::{Candidate, Network};
use store::{Segment, StoreError};
use weburl::Site;

/// A worker's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub i64);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// How often a politeness group has changed hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub i64);

/// A politeness group: what shares a delay, and therefore an owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(pub String);

impl GroupName {
    /// All sites on an address, or in the same network of IPv6.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Self {
        GroupName(Network::of(address).to_string())
    }

    /// A site by itself: there is no delay per address, or no address is known (behind a proxy).
    #[must_use]
    pub fn of_site(site: &Site) -> Self {
        GroupName(site.as_str().to_owned())
    }

    /// The address, if it is a single one. Crawls begun before IPv6 addresses were taken together have IPv6 addresses here, too.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.0.parse().ok()
    }

    /// The network, if its addresses are many.
    #[must_use]
    pub fn network(&self) -> Option<Network> {
        self.0.parse().ok().filter(|network: &Network| network.only_address().is_none())
    }

    /// The name as it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A group that a worker owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    /// The group.
    pub group: GroupName,
    /// What its commits must bear.
    pub epoch: Epoch,
    /// How long it must not be asked yet.
    pub quiet: Duration,
}

/// Where a site is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The group it is pinned to.
    pub group: GroupName,
    /// Who owns that, if anybody.
    pub owner: Option<WorkerId>,
}

/// How far a group is from a worker: the time to reach it and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
    /// The worker, which is alive.
    pub worker: WorkerId,
    /// The time.
    pub round_trip: Duration,
}

/// A group and the bids for it, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bids {
    /// The group.
    pub group: GroupName,
    /// For how long it has had no owner; zero where it has one.
    pub ownerless: Duration,
    /// What workers that are alive have bid.
    pub bids: Vec<Bid>,
}

/// A worker as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its identity.
    pub id: WorkerId,
    /// Where it is reached, `host:port`.
    pub name: String,
    /// It hands over what it owns, and is given nothing more.
    pub is_leaving: bool,
    /// How many groups it owns.
    pub groups: u64,
}

/// What servers have added to a crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The round of the crawl.
    pub round: u32,
    /// The seeds that were asked for, each at its depth.
    pub seeds: Vec<Candidate>,
    /// The number of the last seed.
    pub last: i64,
}

/// What a worker learns when it renews its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseStatus {
    /// It goes on.
    Alive,
    /// Somebody wants it to leave.
    Leaving,
}

/// Why a worker cannot go on as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// Its lease ran out and others were told: it must forget everything and join anew.
    #[error("the lease of this worker ran out, and others took over")]
    Lost,
    /// One of the groups has another owner. Nothing was written; [`crate::Worker::owned`] says what is still there.
    #[error("a politeness group now has another owner; nothing was written")]
    Fenced,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A segment as the workers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSegment {
    /// The segment, as far as it is committed.
    pub segment: Segment,
    /// Who wrote it; none, where it was a process that had the store to itself.
    pub worker: Option<WorkerId>,
    /// It is final, and lies on shared storage.
    pub is_sealed: bool,
}

/// A site that a seed names.
#[derive(Clone, PartialEq, Eq)]
pub struct SeedSite {
    /// The site, `scheme://host[:port]`.
    pub site: String,
    /// User and password as they stand in a URL, if its seed has them: a secret.
    pub user: Option<String>,
}
