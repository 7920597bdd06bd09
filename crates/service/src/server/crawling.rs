//! `Crawl`: from a URL to a depth, answered when nothing is left to do.
//!
//! A crawl has one bottom, the depth of its settings: a seed of a call that wants less begins further down. So whatever is called in
//! whatever order, a URL's depth says how much further to go from there, and a call that goes deeper than one before is a shorter
//! way to known URLs.
//!
//! Nothing is left where no site in scope has a queue. Links may have been judged before the seed was known, and settled as excluded:
//! those in its scope are put into the queue when the seed is added, and again each time that nothing seems to be left: those in the scope of
//! what it redirects to, and those that a worker had judged before it learned of the seed, and has not judged again yet.

use std::time::Duration;

use api::{CrawlProgressResponse, CrawlRequest, CrawlResponse};
use cluster::spent;
use coordination::SeedSite;
use engine::{Settings, sitemaps_of};
use frontier::Filter;
use model::{Candidate, Outcome, Visit};
use store::{CrawlView, StoreError};
use store_postgres::cluster::{Control, Outcomes, Reach};
use tokio::sync::mpsc;
use tonic::Status;
use weburl::{CanonicalUrl, Scope, ScopeKind, SiteKey, UrlKey, UserInfo, registrable_domain};

use super::service::Service;
use console::message::tell_all;
use crawl::keyring;

/// The database is looked at after this time, and then ever more seldom.
const LOOK_AFTER_MIN: Duration = Duration::from_millis(50);
const LOOK_AFTER_MAX: Duration = Duration::from_secs(1);

/// The budget of a site.
const SITE_BUDGET: &str = "max-pages-per-site";

/// Seeds in one request, at most.
const SEEDS_MAX: usize = 100_000;
/// Seeds in one commit, at most.
const SEEDS_COMMITTED_MAX: usize = 1_000;

/// Sitemaps in one commit, at most.
const FOUND_COMMITTED_MAX: usize = 1_000;

/// What belongs to a crawl because of some seeds.
#[derive(Clone)]
struct Area {
    filter: Filter,
    traps: frontier::TrapRules,
    reach: Reach,
    /// Hosts on which URLs may belong to the crawl because of these seeds, and did not before.
    widened: Vec<(String, bool)>,
    seeds: Vec<UrlKey>,
}

impl Area {
    fn of(settings: &Settings, seeds: &[CanonicalUrl]) -> Self {
        let filter = Filter { scope: Scope::new(settings.filter.scope.kind().clone()), ..settings.filter.clone() };
        let traps = settings.site_rules.traps.clone();
        let mut area = Area { filter, traps, reach: Reach::default(), widened: Vec::new(), seeds: Vec::new() };
        for seed in seeds {
            area.add_seed(seed);
        }
        area
    }

    fn add_seed(&mut self, seed: &CanonicalUrl) {
        self.filter.scope.add_seed(seed);
        self.seeds.push(seed.key());
        let (reach, site) = (&mut self.reach, seed.key().site);
        let widened = match self.filter.scope.kind() {
            ScopeKind::Any | ScopeKind::Matching(_) => {
                reach.all = true;
                return;
            }
            ScopeKind::HostSuffix(suffix) => {
                reach.sites.push(site);
                reach.hosts.push((suffix.trim_start_matches('.').to_owned(), true));
                return;
            }
            ScopeKind::Site | ScopeKind::Prefix => {
                reach.sites.push(site);
                (seed.host().to_owned(), false)
            }
            ScopeKind::Host => {
                reach.hosts.push((seed.host().to_owned(), false));
                (seed.host().to_owned(), false)
            }
            ScopeKind::Domain => {
                let domain = registrable_domain(seed.host()).to_owned();
                reach.hosts.push((domain.clone(), true));
                (domain, true)
            }
        };
        if !self.widened.contains(&widened) {
            self.widened.push(widened);
        }
    }

    /// Puts into the queue what was excluded and belongs to the crawl after all. Says how many URLs that were.
    fn admit(&self, control: &Control) -> Result<u64, StoreError> {
        let judge = |url: &CanonicalUrl| self.filter.judge(url).is_ok() && self.traps.broken_by(url).is_none();
        control.admit(&self.widened, &self.seeds, judge)
    }

    /// Adds the seeds, with the users and passwords in some of them. Says how many were none before.
    fn add(&self, control: &Control, seeds: &[Seed], settings: &Settings) -> Result<u64, StoreError> {
        let known = control.count_seeds(&self.seeds)?;
        // Before the seeds: who fetches one knows who may learn what.
        control.keep_seed_sites(&seeds.iter().map(Seed::site).collect::<Vec<_>>())?;
        let seeds: Vec<Candidate> = seeds.iter().map(|seed| seed.candidate.clone()).collect();
        let seeds = &seeds[..];
        let has_whole = seeds.iter().any(|seed| seed.depth == 0);
        // A scope that is the same whatever the seeds are is as wide by the first seed at depth 0 as it will ever be.
        let may_have_more = settings.sitemaps && has_whole && !(self.reach.all && control.has_whole_seed()?);
        // What is excluded behind this is judged by these seeds too.
        control.add(seeds)?;
        if may_have_more {
            self.read_sitemaps(control, settings)?;
        }
        self.admit(control)?;
        Ok((seeds.len() as u64).saturating_sub(known))
    }

    /// Has the sitemaps read of sites whose robots.txt was read before, for the sake of seeds with a depth of their own. Of other sites
    /// they are found when their robots.txt is.
    fn read_sitemaps(&self, control: &Control, settings: &Settings) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let sites = control.without_sitemap(&self.reach, after)?;
            let named = sites.values.iter().filter_map(|site| {
                site.robots.as_ref().map(|robots_txt| sitemaps_of(&site.site, robots_txt, settings))
            });
            let found: Vec<Candidate> = named.flatten().collect();
            for found in found.chunks(FOUND_COMMITTED_MAX) {
                control.find(found.to_vec())?;
            }
            match sites.next {
                Some(last) => after = Some(last),
                None => return Ok(()),
            }
        }
    }
}

/// A seed that a client names.
#[derive(Clone)]
pub(super) struct Seed {
    candidate: Candidate,
    /// The user and password in it.
    user: Option<UserInfo>,
}

impl Seed {
    /// Where a crawl from a URL begins, so that it ends `depth` links from there.
    pub(super) async fn of(service: &Service, request: &CrawlRequest) -> Result<Self, Status> {
        let plan = service.plan().await?;
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

    fn site(&self) -> SeedSite {
        let site = self.candidate.url.site().as_str().to_owned();
        SeedSite { site, user: self.user.as_ref().map(|user| user.as_str().to_owned()) }
    }

    /// Says what becomes of user and password.
    fn tell(&self) {
        if self.user.is_some() {
            let notice = keyring::credentials([&self.candidate.url.site()].into_iter(), "the database".to_owned());
            tell_all(notice.as_slice());
        }
    }
}

/// Adds seeds. Returns how many of them are new.
pub(super) async fn add(service: &Service, urls: &[String]) -> Result<u64, Status> {
    if urls.len() > SEEDS_MAX {
        return Err(Status::invalid_argument(format!("more than {SEEDS_MAX} seeds: add them in several requests")));
    }
    let plan = service.plan().await?;
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
        added += service.ask(move |control| area.add(control, &seeds, &plan.settings)).await?;
    }
    Ok(added)
}

/// Crawls from a URL to the end.
pub(super) async fn crawl(
    service: Service,
    request: CrawlRequest,
    progress: Option<mpsc::Sender<Result<CrawlProgressResponse, Status>>>,
) -> Result<CrawlResponse, Status> {
    let _permit = service.permit()?;
    let seed = Seed::of(&service, &request).await?;
    Crawling::begin(service, seed).await?.wait(progress).await
}

/// A call under way.
struct Crawling {
    service: Service,
    seed: CanonicalUrl,
}

/// Where a call stands.
struct CallState {
    is_done: bool,
    /// The budget of the crawl that is spent: what waits is visited when somebody changes it.
    spent: Option<&'static str>,
    /// What became of the seed.
    visit: Option<Visit>,
    reach: Reach,
}

impl Crawling {
    async fn begin(service: Service, seed: Seed) -> Result<Self, Status> {
        let (plan, url) = (service.plan().await?, seed.candidate.url.clone());
        let area = Area::of(&plan.settings, std::slice::from_ref(&url));
        seed.tell();
        service.ask(move |control| area.add(control, &[seed], &plan.settings)).await?;
        Ok(Crawling { service, seed: url })
    }

    /// Waits until nothing is left to do.
    async fn wait(
        self,
        progress: Option<mpsc::Sender<Result<CrawlProgressResponse, Status>>>,
    ) -> Result<CrawlResponse, Status> {
        let mut after = LOOK_AFTER_MIN;
        let mut told = None;
        loop {
            let (plan, seed) = (self.service.plan().await?, self.seed.clone());
            let standing = self.service.ask(move |control| CallState::of(control, &plan.settings, &seed)).await?;
            if standing.is_done {
                return self.response(standing).await;
            }
            if let Some(progress) = &progress {
                let outcomes = self.service.ask(move |control| control.outcomes(&standing.reach)).await?;
                let counts = (outcomes.waiting, fetched(&outcomes) + failed(&outcomes));
                if told != Some(counts) {
                    told = Some(counts);
                    let message = CrawlProgressResponse { waiting: counts.0, done: counts.1, response: None };
                    // Who asked may have gone: then this ends from outside.
                    let _ = progress.send(Ok(message)).await;
                }
            }
            tokio::time::sleep(after).await;
            after = (after * 3 / 2).min(LOOK_AFTER_MAX);
        }
    }

    async fn response(&self, standing: CallState) -> Result<CrawlResponse, Status> {
        let CallState { visit, reach, spent, .. } = standing;
        let budget = spent.unwrap_or(SITE_BUDGET);
        let outcomes = self.service.ask(move |control| control.outcomes(&reach)).await?;
        let (_, owner) = self.service.owner(self.seed.key().site).await?;
        let (outcome, reason) = match visit {
            Some(visit) => (visit.outcome.to_string(), visit.reason),
            None if outcomes.waiting > 0 => ("waiting".to_owned(), format!("{budget} is spent")),
            None => Default::default(),
        };
        let (fetched, failed, waiting) = (fetched(&outcomes), failed(&outcomes), outcomes.waiting);
        let waits_for = if waiting > 0 { budget.to_owned() } else { String::new() };
        Ok(CrawlResponse { owner, fetched, failed, outcome, reason, waiting, waits_for })
    }
}

impl CallState {
    fn of(control: &Control, settings: &Settings, seed: &CanonicalUrl) -> Result<Self, StoreError> {
        let mut area = Area::of(settings, std::slice::from_ref(seed));
        let first = control.get(seed.key())?;
        // What a seed redirects to is a seed, so it is in scope too.
        let mut last = first.clone();
        for _ in 0..settings.limits.redirects_max {
            let visit = last.as_ref().and_then(|entry| entry.visit.as_ref());
            let redirect = visit.filter(|visit| visit.outcome == Outcome::Redirect);
            let target = redirect.and_then(|visit| CanonicalUrl::from_canonical(visit.target.as_deref()?));
            let Some(target) = target.filter(|target| settings.filter.judge_seed(target).is_ok()) else { break };
            area.add_seed(&target);
            last = control.get(target.key())?;
        }
        let pages_max = settings.site_rules.pages_per_site_max;
        // Where it leads is not known before it is visited. It may be just now, and then its own site does not wait any more. It is never
        // visited where the budget of its site is spent.
        let is_known = match last.filter(|entry| entry.visit.is_none()) {
            None => true,
            Some(entry) => is_spent(control, entry.candidate.url.key().site, pages_max)?,
        };
        let waits = || control.is_waiting(&area.reach, pages_max);
        // Once more behind that: where its answer is lost and it is repeated, it finds nothing any more.
        let spent = settings.budgets_spent(&spent(control.spent()?)).next();
        let is_done = spent.is_some() || is_known && !waits()? && area.admit(control)? == 0 && !waits()?;
        let visit = first.and_then(|entry| entry.visit);
        Ok(CallState { is_done, spent, visit, reach: area.reach })
    }
}

/// Whether a site has had as many pages as it may have.
fn is_spent(control: &Control, site: SiteKey, pages_max: Option<u64>) -> Result<bool, StoreError> {
    let Some(max) = pages_max else { return Ok(false) };
    Ok(control.site(site)?.is_some_and(|record| record.pages_fetched >= max))
}

fn fetched(outcomes: &Outcomes) -> u64 {
    sum(outcomes, Outcome::is_fetched)
}

/// URLs visited without success.
fn failed(outcomes: &Outcomes) -> u64 {
    sum(outcomes, Outcome::is_failure)
}

fn sum(outcomes: &Outcomes, of: impl Fn(Outcome) -> bool) -> u64 {
    outcomes.outcomes.iter().filter(|(outcome, _)| of(**outcome)).map(|(_, count)| count).sum()
}
