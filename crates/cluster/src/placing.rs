//! Finds the addresses of new sites, and measures the distances of groups.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use coordination::{GroupName, Worker, WorkerError};
use fetch::Fetcher;
use model::FailureKind;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use weburl::{Site, SiteKey};

use crate::lease::now;
use crate::placement::{BIDDERS_MAX, Placement};

/// Sites whose names are resolved at once, and groups measured at once.
const AT_ONCE_MAX: usize = 256;

/// Connections by which a distance is measured: the least of their times counts.
const SAMPLES: u32 = 5;

/// Groups of others that are measured per poll: each measurement is a cost for their servers.
const SURVEYED_MAX: usize = 4;

/// How long an unreachable group is not measured again.
const UNREACHABLE_FOR: Duration = Duration::from_secs(60);

/// How many lookups without an answer a name gets before its site is placed without an address.
const RESOLVED_TRIES_MAX: u32 = 5;

/// The largest number of remembered unreachable groups, and of names that cannot be resolved.
const UNREACHABLE_MAX: usize = 10_000;

/// Finds the groups of sites, and measures distances.
pub(crate) struct Surveyor {
    worker: Arc<dyn Worker>,
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
        worker: Arc<dyn Worker>,
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

    /// Does the pending work. Returns whether there was any.
    pub(crate) fn look(&mut self) -> Result<bool, WorkerError> {
        let placed = self.place()?;
        let measured = self.placement == Placement::Latency && self.bid()?;
        Ok(placed || measured)
    }

    /// Places this worker's share of the sites without a group.
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

    /// Measures the distances of groups with too few bids, and of a few groups of others.
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

/// The least time of some connections; `None` if one cannot be made.
async fn round_trip(fetcher: &Fetcher, group: &GroupName, site: &Site) -> Option<Duration> {
    let mut least = Duration::MAX;
    for _ in 0..SAMPLES {
        least = least.min(fetcher.round_trip(site, group.address()).await.ok()?);
    }
    Some(least)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    use fetch::FetchConfig;
    use model::{Candidate, Timestamp};
    use store::Batch;
    use testdb::Postgres;
    use testweb::{NameServer, Named};
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);

    /// A worker that places sites, one of which has been found.
    struct Placing {
        surveyor: Surveyor,
        site: Site,
        /// The name servers answer.
        answers: Arc<AtomicBool>,
        _names: NameServer,
        _runtime: tokio::runtime::Runtime,
        _database: Postgres,
    }

    impl Placing {
        fn of(host: &str) -> Self {
            let database = Postgres::start();
            let address = database::Address::parse(&database.url()).expect("an address");
            let schema = "placing".parse().expect("a schema");
            let lease = Duration::from_secs(600);
            let worker =
                store_postgres::cluster::PostgresWorker::join(&address, &schema, "w:1", lease).expect("joined");
            let url = CanonicalUrl::parse(&format!("http://{host}/"), &CanonicalRules::default()).expect("a URL");
            let site = url.site();
            let found = vec![Candidate::seed(url)];
            worker.commit(&[], 0, &Batch { found, ..Batch::default() }).expect("committed");

            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            let runtime = runtime.expect("a runtime");
            let answers = Arc::new(AtomicBool::new(false));
            let answering = answers.clone();
            let named = move |_: &str| if answering.load(SeqCst) { Named::At(ADDRESS) } else { Named::Fails };
            let names = runtime.block_on(NameServer::start(named)).expect("a free port");
            let config = FetchConfig { name_servers: vec![names.address()], ..FetchConfig::default() };
            let fetcher = Arc::new(Fetcher::new(config, Arc::new(|| Timestamp(0))).expect("a fetcher"));
            let surveyor = Surveyor::new(Arc::new(worker), fetcher, true, Placement::Hash, runtime.handle().clone());
            Placing { surveyor, site, answers, _names: names, _runtime: runtime, _database: database }
        }

        /// Looks so often, and each time finds nothing to place.
        fn look_in_vain(&mut self, times: u32) {
            for time in 1..=times {
                assert!(!self.surveyor.look().expect("looked"), "placed at look {time}");
            }
        }

        fn is_placed_in(&mut self, group: &GroupName) {
            assert!(self.surveyor.look().expect("looked"), "it is placed");
            let sites = self.surveyor.worker.sites(std::slice::from_ref(group)).expect("sites");
            assert_eq!(sites, [(self.site.key(), group.clone())]);
            assert!(self.surveyor.unresolved.is_empty(), "nothing is remembered of it");
            self.look_in_vain(1);
        }
    }

    #[test]
    fn a_site_is_placed_without_an_address_only_after_several_looks_at_its_name() {
        let mut placing = Placing::of("one.test");
        placing.look_in_vain(RESOLVED_TRIES_MAX - 1);
        let alone = GroupName::of_site(&placing.site);
        placing.is_placed_in(&alone);
    }

    #[test]
    fn a_name_that_is_answered_for_in_time_leads_to_its_address() {
        let mut placing = Placing::of("one.test");
        placing.look_in_vain(RESOLVED_TRIES_MAX - 1);
        placing.answers.store(true, SeqCst);
        placing.is_placed_in(&GroupName::of_address(IpAddr::V4(ADDRESS)));
    }

    #[test]
    fn a_name_that_does_not_exist_is_not_looked_at_again() {
        // RFC 6761 §6.4: nobody is asked.
        let mut placing = Placing::of("one.invalid");
        let alone = GroupName::of_site(&placing.site);
        placing.is_placed_in(&alone);
    }
}
