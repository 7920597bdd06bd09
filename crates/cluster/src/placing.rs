//! Where new sites are, and how far away groups are.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fetch::Fetcher;
use model::FailureKind;
use store_postgres::cluster::{GroupName, Worker, WorkerError};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use weburl::{Site, SiteKey};

use crate::lease::now;
use crate::placement::{BIDDERS_MAX, Placement};

/// Sites whose names are resolved at once, and groups measured at once.
const AT_ONCE_MAX: usize = 256;

/// Connections by which a distance is measured: the least of their times counts.
const SAMPLES: u32 = 5;

/// Groups of others that are measured at a look: it costs their servers something.
const SURVEYED_MAX: usize = 4;

/// How long what cannot be reached is not measured again.
const UNREACHABLE_FOR: Duration = Duration::from_secs(60);

/// How often a name is asked for before its site is placed without an address, since no name server answers.
const RESOLVED_TRIES_MAX: u32 = 5;

/// Groups remembered as not to be reached, and names as not to be resolved.
const UNREACHABLE_MAX: usize = 10_000;

/// Finds sites their groups, and measures distances.
pub(crate) struct Surveyor {
    worker: Arc<Worker>,
    fetcher: Arc<Fetcher>,
    by_address: bool,
    placement: Placement,
    runtime: Handle,
    /// Up to where the groups of others have been measured.
    surveyed: Option<GroupName>,
    /// Groups that could not be reached, and when.
    unreachable: HashMap<GroupName, Duration>,
    /// Sites for whose names no name server answered, and how often.
    unresolved: HashMap<SiteKey, u32>,
}

impl Surveyor {
    pub(crate) fn new(
        worker: Arc<Worker>,
        fetcher: Arc<Fetcher>,
        by_address: bool,
        placement: Placement,
        runtime: Handle,
    ) -> Self {
        Surveyor {
            worker,
            fetcher,
            by_address,
            placement,
            runtime,
            surveyed: None,
            unreachable: HashMap::new(),
            unresolved: HashMap::new(),
        }
    }

    /// Does what there is to do. Says whether there was anything.
    pub(crate) fn look(&mut self) -> Result<bool, WorkerError> {
        let placed = self.place()?;
        let measured = self.placement == Placement::Latency && self.bid()?;
        Ok(placed || measured)
    }

    /// Places sites that are in no group yet: those that are this worker's share of all.
    fn place(&mut self) -> Result<bool, WorkerError> {
        let members = self.worker.members()?;
        let share = members.iter().position(|member| member.id == self.worker.id()).unwrap_or_default();
        let sites = self.worker.unplaced((share, members.len()), AT_ONCE_MAX)?;
        let fetcher = self.fetcher.clone();
        let by_address = self.by_address;
        let resolved = self.at_once(sites, move |site| {
            let fetcher = fetcher.clone();
            async move {
                let addresses = if by_address { fetcher.resolve(&site).await } else { Ok(Vec::new()) };
                (site, addresses)
            }
        });
        let mut placed = Vec::new();
        for (site, addresses) in resolved {
            // One that is placed without an address, and has one later, may share it with sites of another worker.
            if matches!(&addresses, Err(failure) if failure.kind == FailureKind::NameServer && self.may_try_again(&site))
            {
                continue;
            }
            self.unresolved.remove(&site.key());
            // A site that has no address is a group by itself: its owner finds out why.
            let address = addresses.ok().and_then(|addresses| addresses.first().copied());
            let group = address.map_or_else(|| GroupName::of_site(&site), GroupName::of_address);
            placed.push((site, group));
        }
        if !placed.is_empty() {
            self.worker.place(&placed)?;
        }
        Ok(!placed.is_empty())
    }

    /// Whether the name of a site is worth another try. It counts the tries.
    fn may_try_again(&mut self, site: &Site) -> bool {
        let is_full = self.unresolved.len() >= UNREACHABLE_MAX && !self.unresolved.contains_key(&site.key());
        if is_full {
            return false;
        }
        let tries = self.unresolved.entry(site.key()).or_default();
        *tries += 1;
        *tries < RESOLVED_TRIES_MAX
    }

    /// Measures how far groups are that have too few bids, and a few of those that others own.
    fn bid(&mut self) -> Result<bool, WorkerError> {
        let mut groups = self.worker.open_for_bids(BIDDERS_MAX, AT_ONCE_MAX)?;
        let others = self.worker.not_bid_for(self.surveyed.as_ref(), SURVEYED_MAX)?;
        self.surveyed = others.last().map(|(group, _)| group.clone());
        groups.extend(others);
        let before = now().saturating_sub(UNREACHABLE_FOR);
        self.unreachable.retain(|_, at| *at > before);
        groups.retain(|(group, _)| !self.unreachable.contains_key(group));
        let fetcher = self.fetcher.clone();
        let measured = self.at_once(groups, move |(group, site)| {
            let fetcher = fetcher.clone();
            async move { (round_trip(&fetcher, &group, &site).await, group) }
        });
        let found = !measured.is_empty();
        // One group may be named twice: as open for bids, and as one that was not measured yet.
        let mut bids = HashMap::new();
        for (round_trip, group) in measured {
            match round_trip {
                Some(round_trip) => drop(bids.insert(group, round_trip)),
                None if self.unreachable.len() < UNREACHABLE_MAX => drop(self.unreachable.insert(group, now())),
                None => {}
            }
        }
        if !bids.is_empty() {
            self.worker.bid(&bids.into_iter().collect::<Vec<_>>())?;
        }
        Ok(found)
    }

    /// Does the same with all, and waits for the end of all.
    fn at_once<A: Send + 'static, B: Send + 'static, F: Future<Output = B> + Send + 'static>(
        &self,
        all: Vec<A>,
        act: impl Fn(A) -> F,
    ) -> Vec<B> {
        let _guard = self.runtime.enter();
        let tasks: JoinSet<B> = all.into_iter().map(act).collect();
        self.runtime.block_on(tasks.join_all())
    }
}

/// The least time of some connections; `None` where one cannot be made.
async fn round_trip(fetcher: &Fetcher, group: &GroupName, site: &Site) -> Option<Duration> {
    let mut least = Duration::MAX;
    for _ in 0..SAMPLES {
        least = least.min(fetcher.round_trip(site, group.address()).await.ok()?);
    }
    Some(least)
}
