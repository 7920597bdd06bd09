//! What pages ask for besides themselves: scripts, style sheets, data, frames.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use fetch::Fetcher;
use model::{Exchange, FetchOutcome, FetchTask, Fetched, Purpose, Response, TaskId};
use render::{Kind, Served, Source, Wanted};
use robots::{Access, Lifetime, RobotsFetch, RobotsTxt};
use tokio::sync::{OnceCell, Semaphore};
use weburl::{CanonicalRules, CanonicalUrl, Site, SiteKey};

use super::locked;
use crate::Settings;

/// Fetches for pages at once, from one site.
const AT_ONCE_PER_SITE: usize = 6;
/// Sites whose rules are remembered; all are forgotten when there are more.
const SITES_MAX: usize = 10_000;
/// Scripts and style sheets that are remembered, in bytes.
const CACHE_BYTES_MAX: usize = 64 << 20;
/// Answers kept of one page for the archive, in bytes. What a page asks for beyond is refused.
const PAGE_BYTES_MAX: usize = 64 << 20;

/// What the pages of a crawl share.
pub(super) struct Resources {
    fetcher: Arc<Fetcher>,
    settings: Arc<Settings>,
    sites: Mutex<HashMap<SiteKey, Arc<SiteState>>>,
    cache: Mutex<Cache>,
}

struct SiteState {
    robots: OnceCell<RobotsTxt>,
    at_once: Semaphore,
}

/// Answers by URL, the oldest first out.
#[derive(Default)]
struct Cache {
    answers: HashMap<String, Response>,
    order: VecDeque<String>,
    bytes: usize,
}

impl Cache {
    fn put(&mut self, url: &str, response: &Response) {
        let size = response.body.len();
        if size > CACHE_BYTES_MAX / 8 || self.answers.contains_key(url) {
            return;
        }
        self.answers.insert(url.to_owned(), response.clone());
        self.order.push_back(url.to_owned());
        self.bytes += size;
        while self.bytes > CACHE_BYTES_MAX {
            let oldest = self.order.pop_front().and_then(|url| self.answers.remove(&url));
            self.bytes -= oldest.map_or(self.bytes, |response| response.body.len());
        }
    }
}

impl Resources {
    pub(super) fn new(fetcher: Arc<Fetcher>, settings: Arc<Settings>) -> Self {
        Resources { fetcher, settings, sites: Mutex::default(), cache: Mutex::default() }
    }

    /// Takes in the robots.txt of a site that the crawl asked for, so that it is not asked for again.
    pub(super) fn learn(&self, outcome: &FetchOutcome) {
        let access = self.access(outcome);
        // Where redirects were followed, whose rules they are is not in the outcome.
        if outcome.exchanges.len() == 1 && access.lifetime == Lifetime::Final {
            // Known already, they stay as they are.
            let _ = self.site(&outcome.url.site()).robots.set(access.rules);
        }
    }

    fn access(&self, outcome: &FetchOutcome) -> Access {
        let fetch = match &outcome.fetched {
            Fetched::Response(response) => RobotsFetch::Status { code: response.status, body: &response.body },
            Fetched::Failed(_) => RobotsFetch::Unreachable,
        };
        robots::access(fetch, &self.settings.product_token)
    }

    fn site(&self, site: &Site) -> Arc<SiteState> {
        let mut sites = locked(&self.sites);
        if sites.len() >= SITES_MAX {
            sites.clear();
        }
        let new = || Arc::new(SiteState { robots: OnceCell::new(), at_once: Semaphore::new(AT_ONCE_PER_SITE) });
        sites.entry(site.key()).or_insert_with(new).clone()
    }

    async fn get(&self, page: &PageResources, wanted: &Wanted) -> Option<Response> {
        let url = CanonicalUrl::parse(&wanted.url, &CanonicalRules::default()).ok()?;
        if self.settings.filter.exclude.iter().any(|pattern| pattern.matches(url.as_str())) {
            return None;
        }
        let state = self.site(&url.site());
        if let Some(matching) = self.settings.site_rules.matching {
            let rules = state.robots.get_or_init(|| self.ask_robots(page, &url)).await;
            if !rules.decide(url.path_and_query(), matching).allowed {
                return None;
            }
        }
        if let Some(answer) = locked(&self.cache).answers.get(url.as_str()) {
            return Some(answer.clone());
        }
        // The semaphore is never closed.
        let _turn = state.at_once.acquire().await.ok()?;
        if let Some(answer) = locked(&self.cache).answers.get(url.as_str()) {
            return Some(answer.clone());
        }
        let outcome = self.fetcher.fetch(task(url.clone(), Purpose::Page)).await;
        let Fetched::Response(response) = outcome.fetched else { return None };
        if !page.keep(outcome.exchanges) {
            return None;
        }
        let is_shared = matches!(wanted.kind, Kind::Script | Kind::Stylesheet | Kind::Media)
            && response.status == 200
            && !response.headers.get("cache-control").is_some_and(|value| value.contains("no-store"));
        if is_shared {
            locked(&self.cache).put(url.as_str(), &response);
        }
        Some(response)
    }

    async fn ask_robots(&self, page: &PageResources, url: &CanonicalUrl) -> RobotsTxt {
        let Some(robots_txt) = CanonicalUrl::from_canonical(&format!("{}/robots.txt", url.site())) else {
            return RobotsTxt::allow_all();
        };
        let outcome = self.fetcher.fetch(task(robots_txt, Purpose::Robots)).await;
        let rules = self.access(&outcome).rules;
        page.keep(outcome.exchanges);
        rules
    }
}

fn task(url: CanonicalUrl, purpose: Purpose) -> FetchTask {
    FetchTask { id: TaskId(0), url, purpose, address: None, head_first: false }
}

/// What one page asks for.
pub(super) struct PageResources {
    shared: Arc<Resources>,
    /// What was fetched for it.
    pub(super) exchanges: Mutex<Vec<Exchange>>,
}

impl PageResources {
    pub(super) fn new(shared: Arc<Resources>) -> Self {
        PageResources { shared, exchanges: Mutex::default() }
    }

    /// Keeps exchanges for the archive. False where there are too many: they are not kept then.
    fn keep(&self, new: Vec<Exchange>) -> bool {
        let mut kept = locked(&self.exchanges);
        let size = |exchanges: &[Exchange]| exchanges.iter().map(|exchange| exchange.payload.len()).sum::<usize>();
        if size(&kept) + size(&new) > PAGE_BYTES_MAX {
            return false;
        }
        kept.extend(new);
        true
    }
}

impl Source for PageResources {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        Box::pin(async move {
            match self.shared.get(self, &wanted).await {
                Some(Response { status, headers, body, .. }) => Served::Answer { status, headers, body },
                None => Served::Refused,
            }
        })
    }
}
