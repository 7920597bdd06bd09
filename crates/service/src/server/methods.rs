//! The methods of the API.

use std::pin::Pin;
use std::time::Duration;

use api::crawler_server::Crawler;
use api::{
    AddSeedsRequest, AddSeedsResponse, AgainRequest, AgainResponse, ChangesRequest, ChangesResponse, CopiesRequest,
    CopiesResponse, CrawlProgressResponse, CrawlRequest, CrawlResponse, DomainsRequest, DomainsResponse, DrainRequest,
    DrainResponse, ExplainHostRequest, ExplainHostResponse, ExplainRequest, ExplainResponse, FreshnessRequest,
    FreshnessResponse, GetWorkersRequest, GetWorkersResponse, HistoryRequest, HistoryResponse, JournalRequest,
    JournalResponse, LinkingRequest, LinkingResponse, LinksRequest, LinksResponse, OverlapRequest, OverlapResponse,
    PagePictureRequest, PagePictureResponse, PageRankRequest, PageRankResponse, PathRequest, PathResponse,
    PauseRequest, PauseResponse, PictureRequest, PictureResponse, RecordRequest, RecordResponse, ReportRequest,
    ReportResponse, ResumeRequest, ResumeResponse, RowRequest, RowResponse, SearchRequest, SearchResponse,
    StatsRequest, StatsResponse, SteerRequest, SteerResponse, UndoRequest, UndoResponse, Unowned, UrlsRequest,
    UrlsResponse,
};
use coordination::Member;
use crawl::history::Moment;
use crawl::{Change, Changed};
use settings::site_name::SiteName;
use store::CrawlView;
use store_postgres::cluster::{Domain, InTrouble, SiteStanding, SitesAsked};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::crawling::{self, Seed};
use super::explaining::seconds;
use super::service::{Service, ends, worker};
use super::{changing, explaining, freshness, listing, pages, reporting, rounds, steering, undoing};

/// Sites told in one answer, unless the request says otherwise, and at most.
const DOMAINS_DEFAULT: u32 = 1_000;
const DOMAINS_MAX: u32 = 10_000;
/// Politeness groups without an owner that are told.
const UNOWNED_TOLD: usize = 100;
/// Changes told, the last ones.
const CHANGES_TOLD: usize = 5;
/// Sites in trouble that are named.
const TROUBLE_TOLD: usize = 5;
/// Messages of progress that the client has not read yet, at most. Then it is waited for.
const PROGRESS_MAX: usize = 4;

type Progress = Pin<Box<dyn tokio_stream::Stream<Item = Result<CrawlProgressResponse, Status>> + Send>>;

#[tonic::async_trait]
impl Crawler for Service {
    type CrawlProgressStream = Progress;

    async fn get_workers(&self, _: Request<GetWorkersRequest>) -> Result<Response<GetWorkersResponse>, Status> {
        let (members, owned, leases, unowned) = self
            .ask(|control| {
                let members = control.members()?;
                let owned = control.sites_owned(&members)?;
                Ok((members, owned, control.leases_left()?, control.unowned(UNOWNED_TOLD)?))
            })
            .await?;
        // A lease that has ended since the members were read has nothing left.
        let left = |member: &Member| leases.get(&member.id).map_or(0.0, Duration::as_secs_f64);
        let unowned = unowned
            .into_iter()
            .map(|(group, ownerless)| Unowned { group: group.as_str().to_owned(), seconds: ownerless.as_secs_f64() });
        Ok(Response::new(GetWorkersResponse {
            workers: members.iter().map(|member| worker(member, &owned)).collect(),
            leases_left: members.iter().map(left).collect(),
            unowned: unowned.collect(),
        }))
    }

    async fn crawl(&self, request: Request<CrawlRequest>) -> Result<Response<CrawlResponse>, Status> {
        Ok(Response::new(crawling::crawl(self.clone(), request.into_inner(), None).await?))
    }

    async fn crawl_progress(&self, request: Request<CrawlRequest>) -> Result<Response<Progress>, Status> {
        let request = request.into_inner();
        // Errors of the request are returned at once, not in the stream.
        Seed::of(self, &request).await?;
        let (sender, receiver) = mpsc::channel(PROGRESS_MAX);
        let service = self.clone();
        tokio::spawn(async move {
            let crawled = tokio::select! {
                crawled = crawling::crawl(service, request, Some(sender.clone())) => crawled,
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
        let urls = request.into_inner().urls;
        to_its_end(self, |service| async move {
            let added = crawling::add(&service, &urls).await?;
            Ok(AddSeedsResponse { added })
        })
        .await
    }

    async fn domains(&self, request: Request<DomainsRequest>) -> Result<Response<DomainsResponse>, Status> {
        let DomainsRequest { worker, after, limit, by_state } = request.into_inner();
        // PostgreSQL holds no such text.
        if after.contains('\0') {
            return Err(Status::invalid_argument("after: no site's name has the character U+0000"));
        }
        let member = self.worker(worker).await?;
        let max = if limit == 0 { DOMAINS_DEFAULT } else { limit.min(DOMAINS_MAX) } as usize;
        let held = self.plan().await?.options.hold.iter().flat_map(SiteName::keys).collect();
        let asked = SitesAsked { after, max, by_state, held };
        let domains = self.ask(move |control| control.domains(member.id, &asked)).await?;
        Ok(Response::new(DomainsResponse { domains: domains.into_iter().map(told).collect() }))
    }

    async fn overlap(&self, request: Request<OverlapRequest>) -> Result<Response<OverlapResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn page_rank(&self, request: Request<PageRankRequest>) -> Result<Response<PageRankResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn search(&self, request: Request<SearchRequest>) -> Result<Response<SearchResponse>, Status> {
        let request = request.into_inner();
        self.sites(&request.site).await?;
        self.put(request).await
    }

    async fn links(&self, request: Request<LinksRequest>) -> Result<Response<LinksResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn linking(&self, request: Request<LinkingRequest>) -> Result<Response<LinkingResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn path(&self, request: Request<PathRequest>) -> Result<Response<PathResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn picture(&self, request: Request<PictureRequest>) -> Result<Response<PictureResponse>, Status> {
        self.put(request.into_inner()).await
    }

    async fn row(&self, request: Request<RowRequest>) -> Result<Response<RowResponse>, Status> {
        Ok(Response::new(pages::row(self, request.into_inner()).await?))
    }

    async fn record(&self, request: Request<RecordRequest>) -> Result<Response<RecordResponse>, Status> {
        Ok(Response::new(pages::record(self, request.into_inner()).await?))
    }

    async fn page_picture(
        &self,
        request: Request<PagePictureRequest>,
    ) -> Result<Response<PagePictureResponse>, Status> {
        Ok(Response::new(pages::picture(self, request.into_inner()).await?))
    }

    async fn copies(&self, request: Request<CopiesRequest>) -> Result<Response<CopiesResponse>, Status> {
        Ok(Response::new(pages::copies(self, request.into_inner()).await?))
    }

    async fn explain(&self, request: Request<ExplainRequest>) -> Result<Response<ExplainResponse>, Status> {
        Ok(Response::new(explaining::explain(self, &request.into_inner().url).await?))
    }

    async fn explain_host(
        &self,
        request: Request<ExplainHostRequest>,
    ) -> Result<Response<ExplainHostResponse>, Status> {
        Ok(Response::new(explaining::explain_host(self, &request.into_inner().host).await?))
    }

    async fn urls(&self, request: Request<UrlsRequest>) -> Result<Response<UrlsResponse>, Status> {
        Ok(Response::new(listing::urls(self, request.into_inner()).await?))
    }

    async fn changes(&self, request: Request<ChangesRequest>) -> Result<Response<ChangesResponse>, Status> {
        Ok(Response::new(changing::changes(self, request.into_inner()).await?))
    }

    async fn again(&self, request: Request<AgainRequest>) -> Result<Response<AgainResponse>, Status> {
        let request = request.into_inner();
        to_its_end(self, |service| async move { rounds::begin(&service, request).await }).await
    }

    async fn foresee_again(&self, request: Request<AgainRequest>) -> Result<Response<AgainResponse>, Status> {
        Ok(Response::new(rounds::foresee(self, request.into_inner()).await?))
    }

    async fn freshness(&self, _: Request<FreshnessRequest>) -> Result<Response<FreshnessResponse>, Status> {
        Ok(Response::new(freshness::freshness(self).await?))
    }

    async fn stats(&self, _: Request<StatsRequest>) -> Result<Response<StatsResponse>, Status> {
        let plan = self.plan().await?;
        let pages_max = plan.settings.site_rules.pages_per_site_max;
        let (totals, counts, members, sites_spent, in_trouble, spent_by_all) = self
            .ask(move |control| {
                let spent = pages_max.map_or(Ok(0), |max| control.sites_spent(max))?;
                let in_trouble = control.in_trouble(TROUBLE_TOLD)?;
                let of_state = (control.totals()?, control.counts()?, control.members()?);
                Ok((of_state.0, of_state.1, of_state.2, spent, in_trouble, cluster::spent(control.spent()?)))
            })
            .await?;
        let changes = steering::last(self, CHANGES_TOLD).await?;
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
            round_began_at: seconds(totals.round.began_at),
            left_of_round: totals.again,
            hold: plan.options.hold.iter().map(ToString::to_string).collect(),
            sites_aside: counts.sites_aside,
            sites_spent,
            budgets_spent: plan.settings.budgets_spent(&spent_by_all).map(str::to_owned).collect(),
            unsealed_bytes: counts.unsealed_bytes,
            in_trouble: in_trouble
                .into_iter()
                .map(|InTrouble { site, due_at, reason }| api::InTrouble { site, due: seconds(due_at), reason })
                .collect(),
            changes: changes
                .into_iter()
                .map(|Changed { at, change, .. }| api::Changed { at, change: change.to_string() })
                .collect(),
        }))
    }

    async fn report(&self, _: Request<ReportRequest>) -> Result<Response<ReportResponse>, Status> {
        Ok(Response::new(reporting::report(self).await?))
    }

    async fn history(&self, _: Request<HistoryRequest>) -> Result<Response<HistoryResponse>, Status> {
        let recorded = self.clone();
        // It may wait for the storage that a moment is written to, and not for the database.
        let moments = tokio::task::spawn_blocking(move || recorded.recorded().moments()).await;
        let moments = moments.map_err(|error| Status::internal(error.to_string()))?;
        let told = |Moment { at, pages, bytes, sites_aside, workers, paused, .. }| api::Moment {
            at,
            pages,
            bytes,
            sites_aside: sites_aside as u64,
            workers: workers.unwrap_or_default() as u64,
            paused,
        };
        Ok(Response::new(HistoryResponse { moments: moments.into_iter().map(told).collect() }))
    }

    async fn steer(&self, request: Request<SteerRequest>) -> Result<Response<SteerResponse>, Status> {
        let request = request.into_inner();
        let change = steering::change_of(&request)?;
        match request.dry_run {
            true => Ok(Response::new(steering::affected(self, change, request.at_once).await?)),
            false => to_its_end(self, |service| async move { steering::make(&service, change).await }).await,
        }
    }

    async fn journal(&self, request: Request<JournalRequest>) -> Result<Response<JournalResponse>, Status> {
        Ok(Response::new(undoing::journal(self, request.into_inner()).await?))
    }

    async fn undo(&self, request: Request<UndoRequest>) -> Result<Response<UndoResponse>, Status> {
        let request = request.into_inner();
        to_its_end(self, |service| async move { undoing::undo(&service, request).await }).await
    }

    async fn pause(&self, _: Request<PauseRequest>) -> Result<Response<PauseResponse>, Status> {
        to_its_end(
            self,
            |service| async move { steering::make(&service, Change::Pause).await.map(|_| PauseResponse {}) },
        )
        .await
    }

    async fn resume(&self, _: Request<ResumeRequest>) -> Result<Response<ResumeResponse>, Status> {
        to_its_end(
            self,
            |service| async move { steering::make(&service, Change::Resume).await.map(|_| ResumeResponse {}) },
        )
        .await
    }

    async fn drain(&self, request: Request<DrainRequest>) -> Result<Response<DrainResponse>, Status> {
        let member = self.worker(request.into_inner().worker).await?;
        console::say!("drain of worker {} at {}", member.id, member.name);
        self.ask(move |control| control.drain(member.id)).await?;
        Ok(Response::new(DrainResponse {}))
    }
}

/// Makes a change to its end: neither a client that goes nor the end of the server cuts it. It would have no line in the journal.
async fn to_its_end<T: Send + 'static, F: Future<Output = Result<T, Status>> + Send + 'static>(
    service: &Service,
    change: impl FnOnce(Service) -> F,
) -> Result<Response<T>, Status> {
    let under_way = service.changes_under_way().begin().await.ok_or_else(ends)?;
    let work = change(service.clone());
    let made = tokio::spawn(async move { Ok((work.await?, under_way)) }).await;
    let (made, under_way) = made.unwrap_or_else(|_| Err(Status::internal("the server failed; its log says how")))?;
    let mut answer = Response::new(made);
    answer.extensions_mut().insert(under_way);
    Ok(answer)
}

fn told(Domain { site, waiting, fetched, state, due_at, trouble }: Domain) -> api::Domain {
    let is_aside = state == SiteStanding::Aside;
    let has_trouble = is_aside || state == SiteStanding::GivenUp;
    api::Domain {
        site: site.as_str().to_owned(),
        waiting,
        fetched,
        state: state.as_str().to_owned(),
        aside_until: if is_aside { seconds(due_at) } else { 0.0 },
        trouble: trouble.filter(|_| has_trouble).unwrap_or_default(),
    }
}
