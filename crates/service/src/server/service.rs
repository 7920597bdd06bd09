//! The answers.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use api::crawler_server::Crawler;
use api::{
    AddSeedsRequest, AddSeedsResponse, AgainRequest, AgainResponse, CrawlProgressResponse, CrawlRequest, CrawlResponse,
    DomainsRequest, DomainsResponse, DrainRequest, DrainResponse, ExplainRequest, ExplainResponse, GetWorkersRequest,
    GetWorkersResponse, LinksRequest, LinksResponse, OverlapRequest, OverlapResponse, PageRankRequest,
    PageRankResponse, PauseRequest, PauseResponse, ResumeRequest, ResumeResponse, SearchRequest, SearchResponse,
    StatsRequest, StatsResponse, SteerRequest, SteerResponse, UrlsRequest, UrlsResponse,
};
use coordination::{InForce, Member, WorkerId};
use crawl::Change;
use model::Candidate;
use store::{CrawlView, Entry, StoreError};
use store_postgres::cluster::{Control, Domain, Reach};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use weburl::{CanonicalRules, CanonicalUrl, SiteKey, UserInfo};

use super::crawling::{Area, Crawling, Seed};
use super::pulse::{Pulse, SILENCE_MAX};
use super::{listing, rounds, steering};
use crate::queries::{self, Coordinator, Members, QueryError};
use console::message::message;
use console::message::one_line;
use settings::plan::Plan;

/// Calls of `Crawl` that wait for their end, at most.
const CRAWLS_MAX: usize = 1_000;
/// Seeds in one request, at most.
const SEEDS_MAX: usize = 100_000;
/// Seeds in one commit, at most.
const SEEDS_COMMITTED_MAX: usize = 1_000;
/// Sites told in one answer, unless the request says otherwise, and at most.
const DOMAINS_DEFAULT: u32 = 1_000;
const DOMAINS_MAX: u32 = 10_000;
/// Messages of progress that the client has not read yet, at most. Then it is waited for.
const PROGRESS_MAX: usize = 4;

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
}

impl Service {
    /// Answers from the state, for a crawl whose URLs have these rules; what is asked of pages the workers answer, who know the token.
    #[must_use]
    pub fn new(control: Control, canonical: CanonicalRules, token: Option<String>) -> Self {
        let coordinator = Coordinator::new(canonical, token);
        let crawls = Arc::new(Semaphore::new(CRAWLS_MAX));
        let control = Arc::new(control);
        let pulse = Arc::new(Pulse::of(control.clone()));
        Service { control, pulse, in_force: Arc::default(), coordinator, crawls }
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

    /// The plan in force.
    pub(super) async fn plan(&self) -> Result<Arc<Plan>, Status> {
        Ok(self.in_force().await?.1)
    }

    /// The plan in force, and the number of the last change.
    pub(super) async fn in_force(&self) -> Result<NumberedPlan, Status> {
        let last = || self.in_force.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last().as_ref().map(|(changes, _)| *changes);
        if let Some(InForce { changes, settings }) = self.ask(move |control| control.in_force(known)).await? {
            let options = toml::from_str(&settings).map_err(anyhow::Error::from);
            let plan = options.and_then(|options| Plan::new(&options));
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

    async fn entry(&self, url: &CanonicalUrl) -> Result<Option<Entry>, Status> {
        let key = url.key();
        self.ask(move |control| control.get(key)).await
    }

    /// Reads a URL from which the crawl may begin, and the user and password in it.
    fn seed(plan: &Plan, text: &str) -> Result<(CanonicalUrl, Option<UserInfo>), Status> {
        let (url, user) = plan.seed(text).map_err(|error| Status::invalid_argument(message(error)))?;
        let judged = plan.settings.filter.judge_seed(&url);
        judged.map_err(|rule| {
            Status::failed_precondition(message(format_args!("{url} does not belong to this crawl: {rule}")))
        })?;
        Ok((url, user))
    }

    /// The worker of an id or a name.
    async fn worker(&self, given: String) -> Result<Member, Status> {
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
    async fn put<R: queries::Request>(&self, request: R) -> Result<Response<R::Response>, Status> {
        let members = || async {
            let (workers, segments) = self.ask(Control::answering).await?;
            Ok(Members { workers: workers.iter().map(|name| format!("http://{name}")).collect(), segments })
        };
        let answered = self.coordinator.ask(&request, members).await;
        answered.map(Response::new).map_err(|error| match error {
            QueryError::Refused(_) => Status::invalid_argument(message(error)),
            QueryError::Unknown(_) | QueryError::NotVisited(_) => Status::not_found(message(error)),
            _ => Status::unavailable(message(error)),
        })
    }

    /// Where a crawl from a URL begins, so that it ends `depth` links from there.
    async fn begin(&self, request: &CrawlRequest) -> Result<Seed, Status> {
        let plan = self.plan().await?;
        let (url, user) = Service::seed(&plan, &request.url)?;
        let bottom = plan.settings.depth_max.unwrap_or(u32::MAX);
        let depth = request.depth.unwrap_or(bottom);
        let Some(begins_at) = bottom.checked_sub(depth) else {
            return Err(Status::invalid_argument(format!(
                "depth {depth}: this crawl goes no deeper than {bottom} links (--depth of the server)"
            )));
        };
        Ok(Seed { candidate: Candidate { depth: begins_at, ..Candidate::seed(url) }, user })
    }

    /// Adds seeds. Returns how many of them are new.
    pub(super) async fn add(&self, urls: &[String]) -> Result<u64, Status> {
        if urls.len() > SEEDS_MAX {
            return Err(Status::invalid_argument(format!("more than {SEEDS_MAX} seeds: add them in several requests")));
        }
        let plan = self.plan().await?;
        let seed = |text: &String| {
            let (url, user) = Service::seed(&plan, text)?;
            Ok::<_, Status>(Seed { candidate: Candidate::seed(url), user })
        };
        let seeds: Vec<Seed> = urls.iter().map(seed).collect::<Result<_, _>>()?;
        seeds.iter().for_each(Seed::tell);
        let mut added = 0;
        for seeds in seeds.chunks(SEEDS_COMMITTED_MAX) {
            let urls: Vec<CanonicalUrl> = seeds.iter().map(|seed| seed.candidate.url.clone()).collect();
            let (plan, area, seeds) = (plan.clone(), Area::of(&plan.settings, &urls), seeds.to_vec());
            added += self.ask(move |control| area.add(control, &seeds, &plan.settings)).await?;
        }
        Ok(added)
    }

    async fn crawl_to_the_end(
        &self,
        request: CrawlRequest,
        progress: Option<mpsc::Sender<Result<CrawlProgressResponse, Status>>>,
    ) -> Result<CrawlResponse, Status> {
        let _permit = self.crawls.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!("{CRAWLS_MAX} calls of Crawl are under way: try again later"))
        })?;
        let seed = self.begin(&request).await?;
        Crawling::begin(self.clone(), seed).await?.wait(progress).await
    }
}

type Progress = Pin<Box<dyn tokio_stream::Stream<Item = Result<CrawlProgressResponse, Status>> + Send>>;

#[tonic::async_trait]
impl Crawler for Service {
    type CrawlProgressStream = Progress;

    async fn get_workers(&self, _: Request<GetWorkersRequest>) -> Result<Response<GetWorkersResponse>, Status> {
        let (members, owned) = self
            .ask(|control| {
                let members = control.members()?;
                let owned = control.sites_owned(&members)?;
                Ok((members, owned))
            })
            .await?;
        Ok(Response::new(GetWorkersResponse { workers: members.iter().map(|member| worker(member, &owned)).collect() }))
    }

    async fn crawl(&self, request: Request<CrawlRequest>) -> Result<Response<CrawlResponse>, Status> {
        Ok(Response::new(self.crawl_to_the_end(request.into_inner(), None).await?))
    }

    async fn crawl_progress(&self, request: Request<CrawlRequest>) -> Result<Response<Progress>, Status> {
        let request = request.into_inner();
        // Errors of the request are returned at once, not in the stream.
        self.begin(&request).await?;
        let (sender, receiver) = mpsc::channel(PROGRESS_MAX);
        let service = self.clone();
        tokio::spawn(async move {
            let crawled = tokio::select! {
                crawled = service.crawl_to_the_end(request, Some(sender.clone())) => crawled,
                () = sender.closed() => return,
            };
            let last = crawled.map(|response| CrawlProgressResponse {
                waiting: 0,
                done: response.fetched + response.failed,
                response: Some(response),
            });
            // The client may have gone.
            let _ = sender.send(last).await;
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn add_seeds(&self, request: Request<AddSeedsRequest>) -> Result<Response<AddSeedsResponse>, Status> {
        let added = self.add(&request.into_inner().urls).await?;
        Ok(Response::new(AddSeedsResponse { added }))
    }

    async fn domains(&self, request: Request<DomainsRequest>) -> Result<Response<DomainsResponse>, Status> {
        let DomainsRequest { worker, after, limit } = request.into_inner();
        // PostgreSQL holds no such text.
        if after.contains('\0') {
            return Err(Status::invalid_argument("after: no site's name has the character U+0000"));
        }
        let member = self.worker(worker).await?;
        let max = if limit == 0 { DOMAINS_DEFAULT } else { limit.min(DOMAINS_MAX) } as usize;
        let domains = self.ask(move |control| control.domains(member.id, &after, max)).await?;
        let domains = domains.into_iter().map(|Domain { site, waiting, fetched }| api::Domain {
            site: site.as_str().to_owned(),
            waiting,
            fetched,
        });
        Ok(Response::new(DomainsResponse { domains: domains.collect() }))
    }

    async fn overlap(&self, request: Request<OverlapRequest>) -> Result<Response<OverlapResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn page_rank(&self, request: Request<PageRankRequest>) -> Result<Response<PageRankResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn search(&self, request: Request<SearchRequest>) -> Result<Response<SearchResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn links(&self, request: Request<LinksRequest>) -> Result<Response<LinksResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn explain(&self, request: Request<ExplainRequest>) -> Result<Response<ExplainResponse>, Status> {
        let given = request.into_inner().url;
        let plan = self.plan().await?;
        let mut url = Service::url(&plan, &given)?;
        let mut entry = self.entry(&url).await?;
        // As by the local command: without a scheme, https is meant where that is what the crawl knows.
        if entry.is_none()
            && !given.contains("://")
            && let Ok(secure) = Service::url(&plan, &format!("https://{given}"))
            && let Some(known) = self.entry(&secure).await?
        {
            (url, entry) = (secure, Some(known));
        }
        let (found_on, site) = (entry.as_ref().and_then(|entry| entry.candidate.found_on), url.key().site);
        let (found_on, waiting) = self
            .ask(move |control| {
                let reach = Reach { sites: vec![site], ..Reach::default() };
                Ok((found_on.map(|key| control.get(key)).transpose()?.flatten(), control.outcomes(&reach)?.waiting))
            })
            .await?;
        let (group, owner) = self.owner(site).await?;
        let told =
            ExplainResponse { url: url.to_string(), group, owner, waiting_on_site: waiting, ..Default::default() };
        let Some(entry) = entry else {
            return Ok(Response::new(ExplainResponse { state: "unknown".to_owned(), ..told }));
        };
        let told = ExplainResponse {
            state: "waiting".to_owned(),
            depth: entry.candidate.depth,
            found_on: found_on.map(|found_on| found_on.candidate.url.to_string()).unwrap_or_default(),
            ..told
        };
        Ok(Response::new(match entry.visit {
            None => told,
            Some(visit) => ExplainResponse {
                state: visit.outcome.to_string(),
                status: u32::from(visit.status),
                reason: visit.reason,
                fetched_at: visit.at.0 as f64 / 1e6,
                ..told
            },
        }))
    }

    async fn urls(&self, request: Request<UrlsRequest>) -> Result<Response<UrlsResponse>, Status> {
        Ok(Response::new(listing::urls(self, request.into_inner()).await?))
    }

    async fn again(&self, request: Request<AgainRequest>) -> Result<Response<AgainResponse>, Status> {
        Ok(Response::new(rounds::begin(self, request.into_inner()).await?))
    }

    async fn stats(&self, _: Request<StatsRequest>) -> Result<Response<StatsResponse>, Status> {
        let plan = self.plan().await?;
        let (totals, counts, members) =
            self.ask(|control| Ok((control.totals()?, control.counts()?, control.members()?))).await?;
        Ok(Response::new(StatsResponse {
            urls: totals.urls,
            waiting: totals.pending,
            sites: totals.sites,
            bytes: totals.bytes,
            outcomes: totals.outcomes.iter().map(|(outcome, count)| (outcome.to_string(), *count)).collect(),
            workers: members.len() as u64,
            groups_without_owner: counts.groups_without_owner,
            sites_without_group: counts.sites_without_group,
            segments_sealed: counts.segments_sealed,
            segments_open: counts.segments_open,
            paused: plan.settings.paused,
            round: totals.round.number,
            left_of_round: totals.again,
        }))
    }

    async fn steer(&self, request: Request<SteerRequest>) -> Result<Response<SteerResponse>, Status> {
        Ok(Response::new(steering::steer(self, request.into_inner()).await?))
    }

    async fn pause(&self, _: Request<PauseRequest>) -> Result<Response<PauseResponse>, Status> {
        steering::make(self, Change::Pause).await?;
        Ok(Response::new(PauseResponse {}))
    }

    async fn resume(&self, _: Request<ResumeRequest>) -> Result<Response<ResumeResponse>, Status> {
        steering::make(self, Change::Resume).await?;
        Ok(Response::new(ResumeResponse {}))
    }

    async fn drain(&self, request: Request<DrainRequest>) -> Result<Response<DrainResponse>, Status> {
        let member = self.worker(request.into_inner().worker).await?;
        self.ask(move |control| control.drain(member.id)).await?;
        Ok(Response::new(DrainResponse {}))
    }
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

fn worker(member: &Member, owned: &BTreeMap<WorkerId, u64>) -> api::Worker {
    api::Worker {
        id: id(member.id),
        name: member.name.clone(),
        leaving: member.is_leaving,
        groups: member.groups,
        sites: owned.get(&member.id).copied().unwrap_or_default(),
    }
}
