//! Identities of workers and politeness groups, and the values about them.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use model::{Candidate, Network};
use store::{Segment, StoreError};
use weburl::{Site, SiteKey};

/// A worker's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub i64);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The number of owners that a politeness group has had: its fencing token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub i64);

/// A politeness group: sites that share a delay, and therefore an owner.
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
    /// The epoch that commits to it must carry.
    pub epoch: Epoch,
    /// How long it must get no requests yet.
    pub quiet: Duration,
}

/// The group and owner of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The group it is pinned to.
    pub group: GroupName,
    /// The owner of the group, if there is one.
    pub owner: Option<WorkerId>,
}

/// What others did to a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The site.
    pub site: SiteKey,
    /// The group it is pinned to.
    pub group: GroupName,
    /// They changed its record, not its queue alone: the counts of its visits, or that it was given up.
    pub of_record: bool,
}

/// The distance of a group from a worker: the round-trip time.
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
    /// For how long it has had no owner; zero if it has one.
    pub ownerless: Duration,
    /// The bids of live workers.
    pub bids: Vec<Bid>,
}

/// A worker as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its identity.
    pub id: WorkerId,
    /// Its address, `host:port`.
    pub name: String,
    /// It hands over its groups, and gets no more.
    pub is_leaving: bool,
    /// How many groups it owns.
    pub groups: u64,
}

/// What workers have spent of the budgets of a round, as far as it is committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// The round.
    pub round: u32,
    /// Pages fetched with success.
    pub pages: u64,
    /// Payload bytes of visits.
    pub bytes: u64,
    /// How long the round has lasted.
    pub lasts: Duration,
}

/// The settings of a crawl after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The number of the change, or [`InForce::SET_UP`].
    pub changes: i64,
    /// The settings, a `crawl.toml`.
    pub settings: String,
}

impl InForce {
    /// No change was made since the crawl was set up.
    pub const SET_UP: i64 = 0;
}

/// Additions of servers to a crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The round of the crawl.
    pub round: u32,
    /// The added seeds, each at its depth.
    pub seeds: Vec<Candidate>,
    /// The number of the last seed.
    pub last: i64,
}

/// What a worker learns when it renews its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// A client asked it to leave.
    pub is_leaving: bool,
    /// The lease had ended by the clock of the state. Either nothing could be renewed, or that clock was set forward: so the others may have had no
    /// time to renew theirs.
    pub had_ended: bool,
}

/// Why a worker cannot go on as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// Its lease ran out and others took over: it must drop all its state and join again.
    #[error("the lease of this worker ran out, and others took over")]
    Lost,
    /// One of the groups has another owner. Nothing was written; [`crate::Worker::owned`] returns the remaining groups.
    #[error("a politeness group now has another owner; nothing was written")]
    Fenced,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A segment as the workers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSegment {
    /// The segment with its committed length.
    pub segment: Segment,
    /// The worker that wrote it; none for a crawl by one process.
    pub worker: Option<WorkerId>,
    /// It is final, and on shared storage.
    pub is_sealed: bool,
}

/// A site that a seed names.
#[derive(Clone, PartialEq, Eq)]
pub struct SeedSite {
    /// The site, `scheme://host[:port]`.
    pub site: String,
    /// User and password in the form of a URL, if its seed has them: a secret.
    pub user: Option<String>,
}
