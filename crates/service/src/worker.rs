//! A worker: one life after the other, from joining to leaving.
//!
//! ```text
//!  server ──▶ Crew ──▶ life: cluster::Life ◀──▶ engine ──▶ recorder ──▶ WorkerStore
//!                                                            │
//!                                      tables::Writer ◀──────┘
//!                                            │ sealed
//!                                            ▼
//!                                      sealing::Sealer ──▶ shared archive, then the database
//! ```
//!
//! A life that was lost leaves nothing behind: what it had not sealed is undone in the database, its directory is emptied, and the next
//! life begins under a new identity.

mod life;
mod scratch;
mod sealing;

use std::net::{IpAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, anyhow};
use cluster::{Placement, Times, lease};
use database::Address;
use fetch::Fetcher;
use model::Timestamp;
use render::Renderer;
use shared_archive::SharedArchive;
use store_postgres::Schema;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::access::Guard;
use crate::joining::{self, Joining, LEASE_MIN};
use crate::metrics::{Tally, Watched};
use crate::queries::{self, Endpoint, fetch_from};
use crate::reach::tell_of_database;
use settings::options::Options;
use settings::plan::Plan;
use settings::secrets_file::Secrets;

pub use scratch::Scratch;

/// How long after the end of its lease a worker is called dead, as a share of the lease.
const GRACE_SHARE: u32 = 3;

/// How long a lost worker waits at least before it joins again, so a database that comes back is not overrun.
const REJOIN_AFTER: Duration = Duration::from_secs(1);

/// How long it waits if it waited so long before: longer after each life that was shorter than a lease, up to a lease.
fn rejoin_after(waited: Duration, lived: Duration, lease: Duration) -> Duration {
    if lived < lease { (waited * 2).min(lease) } else { REJOIN_AFTER }
}

/// The crawl that workers join.
pub struct Crew {
    address: Address,
    schema: Schema,
    crawl_id: String,
    /// The database and the schema in words, for who answers questions.
    state: queries::State,
    /// The settings as the crawl was set up.
    settings: String,
    /// The browser on this machine.
    browser: Option<PathBuf>,
    placement: Placement,
    times: Times,
    archive: Arc<SharedArchive>,
}

impl Crew {
    /// What a server told. The browser is a program of this machine, which is no server's to name.
    ///
    /// # Errors
    /// It cannot be used; the archive cannot be written.
    pub fn new(joining: &Joining, browser: Option<PathBuf>) -> anyhow::Result<Self> {
        let lease = lease_of(joining)?;
        // What cannot be used here is said before this worker joins the others, who would wait for the end of its lease.
        let plan = plan(&joining.settings, browser.as_deref(), &Secrets::default())?;
        Fetcher::new(plan.fetch, Arc::new(|| Timestamp(0)))?;
        if plan.settings.render.is_some() {
            Renderer::with_browser(plan.options.browser.as_deref(), plan.rendering.clone())?;
        }
        let archive = SharedArchive::open(&joining.archive)?;
        archive.check()?;
        Ok(Crew {
            address: Address::parse(&joining.store)?,
            schema: joining.store_schema.parse()?,
            crawl_id: joining.crawl_id.clone(),
            state: queries::State { store: joining.store.clone(), schema: joining.store_schema.clone() },
            settings: joining.settings.clone(),
            browser,
            placement: match joining.placement {
                joining::Placement::Latency => Placement::Latency,
                joining::Placement::Hash => Placement::Hash,
            },
            times: Times { ttl: lease, grace: lease / GRACE_SHARE },
            archive: Arc::new(archive),
        })
    }
}

/// How long a lease is.
fn lease_of(joining: &Joining) -> anyhow::Result<Duration> {
    let lease = Duration::try_from_secs_f64(joining.lease_seconds).ok().filter(|lease| *lease >= LEASE_MIN);
    lease.with_context(|| format!("the server names a lease of {} seconds", joining.lease_seconds))
}

/// The plan of the settings of the crawl, with secrets, and with the browser on this machine.
fn plan(settings: &str, browser: Option<&Path>, secrets: &Secrets) -> anyhow::Result<Plan> {
    let (options, _) = Options::of_others(settings).context("the settings of the crawl cannot be read")?;
    // A crawl that an earlier version set up names files of the workers.
    let options = options.with_files_of_earlier().context("the settings of the crawl")?;
    Plan::new(&secrets.put_into(Options { browser: browser.map(Path::to_owned), ..options }))
}

/// A worker's process.
pub struct Working {
    /// The crawl.
    pub crew: Crew,
    /// The worker's directory.
    pub scratch: Scratch,
    /// Where others reach it, host:port.
    pub name: String,
    /// After what time a segment is sealed that is not full.
    pub seal_after: Duration,
    /// How it is watched.
    pub watched: Watched,
    /// What it counts.
    pub tally: Arc<Tally>,
    /// What those who ask it have to bear.
    pub token: Option<String>,
}

/// The crawl that a worker had joined is not there any more: its server was started with `--reset`.
#[derive(Debug, thiserror::Error)]
#[error("{place} now holds another crawl: restart this worker")]
struct OtherCrawl {
    place: String,
}

/// What is known of the lives before.
#[derive(Default)]
struct Past {
    /// One of them has joined.
    has_joined: bool,
    /// The last one was asked to leave: the worker, not that life alone.
    was_leaving: bool,
}

/// How a life ended.
enum LifeOutcome {
    /// It has handed over everything and is gone.
    Left,
    /// It was lost; the reason.
    Lost(String),
}

impl Working {
    /// Takes part in questions to all workers, until the runtime ends.
    ///
    /// # Errors
    /// It cannot be listened, or the program is not there any more.
    pub fn answer_questions(&self, runtime: &Runtime, listener: TcpListener) -> anyhow::Result<()> {
        let host = self.name.rsplit_once(':').map_or(self.name.as_str(), |(host, _)| host).to_owned();
        let endpoint = Endpoint {
            program: std::env::current_exe().context("the program itself")?,
            root: self.scratch.root().to_owned(),
            listen: listener.local_addr().map_or(IpAddr::from([127, 0, 0, 1]), |address| address.ip()),
            host,
            guard: Guard::by_token(self.token.as_deref()).called(&self.name),
            fetch: fetch_from(self.crew.archive.clone()),
            state: Some(self.crew.state.clone()),
        };
        listener.set_nonblocking(true)?;
        let _guard = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        runtime.spawn(endpoint.serve(listener));
        Ok(())
    }

    /// Crawls until `stop` resolves, or a client asks this worker to leave.
    ///
    /// # Errors
    /// The first life cannot begin; the last one was lost while it left; or the directory or the archive cannot be written to.
    pub fn run(&self, runtime: &Runtime, stop: impl Future<Output = ()> + Send + 'static) -> anyhow::Result<()> {
        tell_of_database();
        let (leave, leaving) = watch::channel(false);
        runtime.spawn(async move {
            stop.await;
            leave.send_replace(true);
            leave.closed().await;
        });
        let (mut past, mut wait) = (Past::default(), REJOIN_AFTER / 2);
        loop {
            let began = lease::now();
            let lost = match self.live(runtime, leaving.clone(), &mut past) {
                Ok(LifeOutcome::Left) => return Ok(()),
                Ok(LifeOutcome::Lost(why)) => anyhow!(why),
                Err(error) if !past.has_joined || error.is::<OtherCrawl>() => return Err(error),
                Err(error) => error,
            };
            self.tally.lives_lost.fetch_add(1, Ordering::Relaxed);
            if past.was_leaving || *leaving.borrow() {
                return Err(lost.context("this worker was lost while it left: its unsealed pages are crawled again"));
            }
            console::say!("{lost:#}: joining again");
            wait = rejoin_after(wait, lease::now().saturating_sub(began), self.crew.times.ttl);
            if runtime.block_on(is_asked_within(wait, leaving.clone())) {
                return Ok(());
            }
        }
    }
}

/// Waits so long, or until this worker is asked to leave: then true. It owns nothing meanwhile.
async fn is_asked_within(wait: Duration, mut leaving: watch::Receiver<bool>) -> bool {
    matches!(tokio::time::timeout(wait, leaving.wait_for(|leaving| *leaving)).await, Ok(Ok(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_makes_no_sense_is_refused() {
        let of = |lease_seconds| {
            lease_of(&Joining {
                store: String::new(),
                store_schema: String::new(),
                crawl_id: String::new(),
                settings: String::new(),
                archive: String::new(),
                lease_seconds,
                placement: joining::Placement::Hash,
            })
        };
        for seconds in [-1.0, 0.0, 0.9, 1e300] {
            let error = of(seconds).expect_err("refused").to_string();
            assert!(error.starts_with("the server names a lease of "), "{error}");
        }
        assert_eq!(of(15.0).ok(), Some(Duration::from_secs(15)));
    }

    #[test]
    fn a_worker_that_waits_to_join_again_leaves_as_soon_as_it_is_asked_to() {
        let runtime = Runtime::new().expect("threads");
        let (leave, leaving) = watch::channel(false);
        let is_asked = |wait| runtime.block_on(is_asked_within(wait, leaving.clone()));
        assert!(!is_asked(Duration::from_millis(1)));
        leave.send_replace(true);
        // Longer than any test may take.
        assert!(is_asked(Duration::from_secs(3_600)));
    }

    #[test]
    fn a_worker_that_fails_again_and_again_waits_longer_each_time_up_to_a_lease() {
        let (mut waited, lease) = (REJOIN_AFTER / 2, Duration::from_secs(15));
        for (lived, expect) in [(0, 1), (2, 2), (14, 4), (0, 8), (0, 15), (0, 15), (15, 1), (1, 2)] {
            waited = rejoin_after(waited, Duration::from_secs(lived), lease);
            assert_eq!(waited, Duration::from_secs(expect), "after a life of {lived} s");
        }
    }
}
