//! What the answers have in common: the database, the plan in force, the workers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::UrlsRequest;
use ask::order::Sorting;
use ask::sites;
use ask::urls::Listed;
use coordination::{InForce, Member, WorkerId};
use shared_archive::SharedArchive;
use store::{CrawlView, StoreError};
use store_postgres::cluster::Control;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::{Response, Status};
use weburl::{CanonicalRules, CanonicalUrl, SiteKey, UserInfo};

use super::pulse::{Pulse, SILENCE_MAX};
use super::recorded::Recorded;
use crate::changes::Changes;
use crate::queries::{self, Coordinator, Members, QueryError};
use crate::reach::tell_of_database;
use crate::sortings::{Sortings, Source, Stage};
use console::message::message;
use console::message::one_line;
use settings::options::Options;
use settings::plan::Plan;
use settings::site_name::SiteName;

/// Calls of `Crawl` that wait for their end, at most.
const CRAWLS_MAX: usize = 1_000;
/// Reports that are counted at a time: each reads all URLs.
const REPORTS_MAX: usize = 1;
/// Records that are read at a time: each, and its original, is in memory.
const RECORDS_MAX: usize = 4;
/// Dry runs that are counted at a time: most read all URLs.
const DRY_RUNS_MAX: usize = 2;
/// Changes of the queue at a time: two would choose URLs into one round.
const QUEUE_CHANGES_MAX: usize = 1;

/// Parts of sorted tables that are read at a time: each has as many URLs as an answer looks at.
const SORTED_PARTS_MAX: usize = 1;

/// The number of a change, and the plan after it.
pub(super) type NumberedPlan = (i64, Arc<Plan>);

/// What answers.
#[derive(Clone)]
pub struct Service {
    control: Arc<Control>,
    pulse: Arc<Pulse>,
    /// The plan last read; none before the first question.
    in_force: Arc<Mutex<Option<NumberedPlan>>>,
    coordinator: Coordinator,
    crawls: Arc<Semaphore>,
    /// Held while a report is counted.
    reports: Arc<Semaphore>,
    /// Held while a record is read.
    records: Arc<Semaphore>,
    /// Held while a dry run is counted.
    dry_runs: Arc<Semaphore>,
    /// Held while URLs are put into the queue again, or are taken out.
    queue_changes: Arc<Semaphore>,
    /// The tables of URLs in an order.
    sorted: Arc<Sortings<UrlsRequest, Listed, AtThisMoment>>,
    changes: Changes,
    archive: Arc<SharedArchive>,
    recorded: Arc<Mutex<Recorded>>,
}

/// The state as a request finds it. Each has its own: nothing tells whether the state is another by now.
struct AtThisMoment(Arc<Control>);

impl Source for AtThisMoment {
    fn view(&self) -> &dyn CrawlView {
        &*self.0
    }
}

impl Service {
    /// Answers from the state, and from the archive at a URL, for a crawl whose URLs have these rules; what is asked of pages the workers
    /// answer, who know the token.
    ///
    /// # Errors
    /// The address of the archive cannot be used.
    pub fn new(
        control: Control,
        canonical: CanonicalRules,
        token: Option<String>,
        archive: &str,
    ) -> anyhow::Result<Self> {
        let coordinator = Coordinator::new(canonical, token);
        let crawls = Arc::new(Semaphore::new(CRAWLS_MAX));
        let turns = [REPORTS_MAX, RECORDS_MAX, DRY_RUNS_MAX, QUEUE_CHANGES_MAX];
        let [reports, records, dry_runs, queue_changes] = turns.map(|max| Arc::new(Semaphore::new(max)));
        let sorted = Arc::new(Sortings::new(Arc::new(Semaphore::new(SORTED_PARTS_MAX))));
        let changes = Changes::default();
        let archive = Arc::new(SharedArchive::open(archive)?);
        let control = Arc::new(control);
        let pulse = Arc::new(Pulse::of(control.clone()));
        let in_force = Arc::default();
        Ok(Service {
            control,
            pulse,
            in_force,
            coordinator,
            crawls,
            reports,
            records,
            dry_runs,
            queue_changes,
            sorted,
            changes,
            archive,
            recorded: Arc::default(),
        })
    }

    /// The changes that clients make: its process ends after them.
    #[must_use]
    pub fn changes_under_way(&self) -> &Changes {
        &self.changes
    }

    /// Says from now on when the database is away, and when it is back, also while nobody asks; to be called within the runtime.
    pub fn watch_database(&self) {
        tell_of_database();
        self.pulse.feel();
    }

    /// How the crawl went so far. It is held while storage takes it: wait for it on a thread on which one may wait.
    pub(super) fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the database, on a thread on which one may wait. Where it does not answer, the question is given up.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Control) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Status> {
        if self.pulse.is_lost() {
            return Err(lost());
        }
        let control = self.control.clone();
        let answered = tokio::select! {
            answered = tokio::task::spawn_blocking(move || question(&control)) => answered,
            () = self.pulse.lost() => return Err(lost()),
        };
        let answered = answered.map_err(|_| Status::internal("the server failed; its log says how"))?;
        answered.map_err(|error| Status::unavailable(message(one_line(&error.into()))))
    }

    /// The same for a dry run, when it has its turn. It keeps its turn until it is counted, though nobody waits for it any more.
    pub(super) async fn count<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Control) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Status> {
        self.ask_in_turn(&self.dry_runs, question).await
    }

    /// The same for a change of the queue.
    pub(super) async fn change_queue<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Control) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Status> {
        self.ask_in_turn(&self.queue_changes, change).await
    }

    async fn ask_in_turn<T: Send + 'static>(
        &self,
        turns: &Arc<Semaphore>,
        question: impl FnOnce(&Control) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Status> {
        let turn = self.turn(turns).await?;
        self.ask(move |control| {
            let _turn = turn;
            question(control)
        })
        .await
    }

    /// The first URLs that a request chooses in an order, as far as they are found; `begin` begins to look for them. A page behind the first,
    /// `goes_on`, is of the table that the first was of.
    pub(super) async fn sorted(
        &self,
        question: UrlsRequest,
        goes_on: bool,
        begin: impl FnOnce() -> Sorting + Send + 'static,
    ) -> Result<Stage<Listed>, Status> {
        let (tables, state) = (self.sorted.clone(), Arc::new(AtThisMoment(self.control.clone())));
        let stage = self.ask(move |_| Ok(tables.of(&state, &question, goes_on, begin))).await?;
        stage.map_err(|error| Status::unavailable(message(one_line(&error))))
    }

    /// The plan in force.
    pub(super) async fn plan(&self) -> Result<Arc<Plan>, Status> {
        Ok(self.in_force().await?.1)
    }

    /// The plan in force, and the number of the last change.
    pub(super) async fn in_force(&self) -> Result<NumberedPlan, Status> {
        let last = || self.in_force.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last().as_ref().map(|(changes, _)| *changes);
        if let Some(InForce { changes, settings }) = self.ask(move |control| control.in_force(known)).await? {
            let plan = Options::parse(&settings).and_then(|options| Plan::new(&options));
            let plan =
                plan.map_err(|error| Status::internal(message(format_args!("the settings in force: {error}"))))?;
            *last() = Some((changes, Arc::new(plan)));
        }
        last().clone().ok_or_else(|| Status::failed_precondition("the crawl is not set up"))
    }

    /// Reads a URL.
    pub(super) fn url(plan: &Plan, text: &str) -> Result<CanonicalUrl, Status> {
        let urls = plan.seeds(&[text.to_owned()]);
        let url = urls.map_err(|error| Status::invalid_argument(message(error)))?.pop();
        url.ok_or_else(|| Status::invalid_argument("no URL"))
    }

    /// Reads a URL from which the crawl may begin, and the user and password in it.
    pub(super) fn seed(plan: &Plan, text: &str) -> Result<(CanonicalUrl, Option<UserInfo>), Status> {
        let (url, user) = plan.seed(text).map_err(|error| Status::invalid_argument(message(error)))?;
        let judged = plan.settings.filter.judge_seed(&url);
        judged.map_err(|rule| {
            Status::failed_precondition(message(format_args!("{url} does not belong to this crawl: {rule}")))
        })?;
        Ok((url, user))
    }

    /// The keys of a site that a request names; none if it names none.
    ///
    /// # Errors
    /// It is no site, or the crawl does not know it.
    pub(super) async fn sites(&self, name: &str) -> Result<Vec<SiteKey>, Status> {
        if name.is_empty() {
            return Ok(Vec::new());
        }
        let site: SiteName = name.parse().map_err(|error| Status::invalid_argument(message(error)))?;
        let keys: Vec<SiteKey> = site.keys().collect();
        let asked = keys.clone();
        match self.ask(move |control| sites::unknown(control, &site.to_string(), asked.into_iter())).await? {
            None => Ok(keys),
            Some(unknown) => Err(Status::not_found(message(unknown))),
        }
    }

    /// The worker of an id or a name.
    pub(super) async fn worker(&self, given: String) -> Result<Member, Status> {
        let members = self.ask(Control::members).await?;
        let mut found: Vec<Member> =
            members.into_iter().filter(|member| id(member.id) == given || member.name == given).collect();
        match (found.pop(), found.is_empty()) {
            (Some(member), true) => Ok(member),
            (Some(_), false) => {
                let several = format_args!("several workers are at {given}: name one by its id");
                Err(Status::failed_precondition(message(several)))
            }
            (None, _) => {
                let none = format_args!("there is no worker `{given}` alive: GetWorkers names those there are");
                Err(Status::not_found(message(none)))
            }
        }
    }

    /// The politeness group that a site is in, and the worker that owns it.
    pub(super) async fn owner(&self, site: SiteKey) -> Result<(String, Option<api::Worker>), Status> {
        let (placed, owner, owned) = self
            .ask(move |control| {
                let placed = control.placed(site)?;
                let owner = placed.as_ref().and_then(|placed| placed.owner);
                let owner: Vec<Member> =
                    control.members()?.into_iter().filter(|member| Some(member.id) == owner).collect();
                let owned = control.sites_owned(&owner)?;
                Ok((placed, owner, owned))
            })
            .await?;
        let group = placed.map(|placed| placed.group.as_str().to_owned()).unwrap_or_default();
        Ok((group, owner.first().map(|owner| worker(owner, &owned))))
    }

    /// Puts a question to the workers.
    pub(super) async fn put<R: queries::Request>(&self, request: R) -> Result<Response<R::Response>, Status> {
        let members = || async {
            // In its words, without the frame of a status: it gets one of its own below.
            let failed = |status: Status| QueryError::Failed(status.message().to_owned());
            let (workers, segments) = self.ask(Control::answering).await.map_err(failed)?;
            Ok(Members { workers: workers.iter().map(|name| format!("http://{name}")).collect(), segments })
        };
        let answered = self.coordinator.ask(&request, members).await;
        answered.map(Response::new).map_err(|error| match error {
            QueryError::Refused(_) => Status::invalid_argument(message(error)),
            QueryError::Unknown(_) | QueryError::NotVisited(_) | QueryError::NoPath(..) => {
                Status::not_found(message(error))
            }
            _ => Status::unavailable(message(error)),
        })
    }

    /// The turn to count a report. Others wait for theirs.
    pub(super) async fn report_turn(&self) -> Result<OwnedSemaphorePermit, Status> {
        self.turn(&self.reports).await
    }

    /// The turn to read a record. Others wait for theirs.
    pub(super) async fn record_turn(&self) -> Result<OwnedSemaphorePermit, Status> {
        self.turn(&self.records).await
    }

    /// A turn. Its holder may be waiting for a database that does not answer. Then no other request waits for the turn.
    async fn turn(&self, turns: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Status> {
        tokio::select! {
            turn = turns.clone().acquire_owned() => turn.map_err(|_| ends()),
            () = self.pulse.lost() => Err(lost()),
        }
    }

    /// The archive on shared storage.
    pub(super) fn archive(&self) -> Arc<SharedArchive> {
        self.archive.clone()
    }

    /// What puts questions to workers.
    pub(super) fn coordinator(&self) -> Coordinator {
        self.coordinator.clone()
    }

    /// The permission to wait for the end of a crawl.
    pub(super) fn permit(&self) -> Result<OwnedSemaphorePermit, Status> {
        self.crawls.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!("{CRAWLS_MAX} calls of Crawl are under way: try again later"))
        })
    }
}

/// The answer to a request that comes when the server ends.
pub(super) fn ends() -> Status {
    Status::unavailable("the server ends: nothing was done")
}

fn lost() -> Status {
    let seconds = SILENCE_MAX.as_secs();
    Status::unavailable(format!(
        "the database has not answered for {seconds} seconds: try again later; the request may have been executed all the same"
    ))
}

/// A worker's identity in letters and digits, so that no command line takes it for a flag.
fn id(worker: WorkerId) -> String {
    worker.to_string()
}

pub(super) fn worker(member: &Member, owned: &BTreeMap<WorkerId, u64>) -> api::Worker {
    api::Worker {
        id: id(member.id),
        name: member.name.clone(),
        leaving: member.is_leaving,
        groups: member.groups,
        sites: owned.get(&member.id).copied().unwrap_or_default(),
    }
}
