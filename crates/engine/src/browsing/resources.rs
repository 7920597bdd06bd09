//! What pages ask for besides themselves: scripts, style sheets, data, frames.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use fetch::{Fetcher, ROBOTS_REDIRECTS_MAX, robots_elsewhere};
use model::{Exchange, FetchOutcome, FetchTask, Fetched, Purpose, Response, TaskId};
use render::{Kind, Served, Source, Wanted};
use robots::{Access, Lifetime, RobotsFetch, RobotsTxt};
use tokio::sync::OnceCell;
use weburl::{CanonicalRules, CanonicalUrl, Site, SiteKey};

use super::locked;
use super::pace::{Pace, Target, Turn, WAIT_MAX};
use crate::Settings;
use crate::clock::Clock;
use crate::step::{ROBOTS_PATH, robots_access};

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
    clock: Clock,
    robots: Mutex<HashMap<SiteKey, Arc<OnceCell<RobotsTxt>>>>,
    cache: Mutex<Cache>,
    pace: Mutex<Pace>,
}

/// What is remembered: a URL and the address that answered, `None` behind a proxy. To a page whose site is at another address the
/// answer is not that site's.
type CacheKey = (String, Option<IpAddr>);

/// Answers by URL, the oldest first out.
#[derive(Default)]
struct Cache {
    answers: HashMap<CacheKey, Response>,
    order: VecDeque<CacheKey>,
    bytes: usize,
}

impl Cache {
    fn put(&mut self, key: &CacheKey, response: &Response) {
        let size = response.body.len();
        if size > CACHE_BYTES_MAX / 8 || self.answers.contains_key(key) {
            return;
        }
        self.answers.insert(key.clone(), response.clone());
        self.order.push_back(key.clone());
        self.bytes += size;
        while self.bytes > CACHE_BYTES_MAX {
            let oldest = self.order.pop_front().and_then(|key| self.answers.remove(&key));
            self.bytes -= oldest.map_or(self.bytes, |response| response.body.len());
        }
    }
}

impl Resources {
    pub(super) fn new(fetcher: Arc<Fetcher>, settings: Arc<Settings>, clock: Clock) -> Self {
        let pace = Mutex::new(Pace::new(settings.limits.page_requests_per_second));
        Resources { fetcher, settings, clock, robots: Mutex::default(), cache: Mutex::default(), pace }
    }

    /// Takes note of a request of the crawl itself: pages get what it leaves of the rate of an address.
    pub(super) fn count(&self, task: &FetchTask) {
        locked(&self.pace).count(Target::of(task.address, task.url.domain()), self.clock.now());
    }

    /// Takes the robots.txt of a site that the crawl requested, so it is not requested again.
    pub(super) fn learn(&self, outcome: &FetchOutcome) {
        // What another site's robots.txt leads to says nothing of the site where it lies.
        let leads_elsewhere = !self.settings.robots_once && robots_elsewhere(outcome).is_some();
        if outcome.url.path_and_query() != ROBOTS_PATH || leads_elsewhere {
            return;
        }
        let access = self.access(outcome);
        if access.lifetime == Lifetime::Final {
            // Known already, they stay as they are.
            let _ = self.robots(&outcome.url.site()).set(access.rules);
        }
    }

    fn access(&self, outcome: &FetchOutcome) -> Access {
        let fetch = match &outcome.fetched {
            Fetched::Response(response) => RobotsFetch::Status { code: response.status, body: &response.body },
            Fetched::Failed(_) => RobotsFetch::Unreachable,
        };
        robots_access(fetch, &self.settings)
    }

    fn robots(&self, site: &Site) -> Arc<OnceCell<RobotsTxt>> {
        let mut sites = locked(&self.robots);
        if sites.len() >= SITES_MAX {
            sites.clear();
        }
        sites.entry(site.key()).or_default().clone()
    }

    async fn get(&self, page: &PageResources, wanted: &Wanted) -> Option<Response> {
        let url = CanonicalUrl::parse(&wanted.url, &CanonicalRules::default()).ok()?;
        if self.settings.filter.exclude.iter().any(|pattern| pattern.matches(url.as_str())) {
            return None;
        }
        if let Some(matching) = self.settings.site_rules.matching {
            let robots = self.robots(&url.site());
            let rules = robots.get_or_try_init(|| self.ask_robots(page, &url)).await.ok()?;
            if !rules.decide(url.path_and_query(), matching).allowed {
                return None;
            }
        }
        // What was answered to a request with a secret is for pages of the same site alone.
        let is_secret = self.fetcher.bears_secret(&url, &page.url);
        let key = if is_secret { format!("{} {url}", page.url.site()) } else { url.to_string() };
        let key = (key, page.pinned(&url).await.ok()?);
        if let Some(answer) = locked(&self.cache).answers.get(&key) {
            return Some(answer.clone());
        }
        let outcome = self.ask(page, url, Some(&key)).await.ok()?;
        let outcome = match outcome {
            Obtained::Cached(answer) => return Some(answer),
            Obtained::Fetched(outcome) => *outcome,
        };
        let Fetched::Response(response) = outcome.fetched else { return None };
        if !page.keep(outcome.exchanges) {
            return None;
        }
        let is_shared = matches!(wanted.kind, Kind::Script | Kind::Stylesheet | Kind::Media)
            && response.status == 200
            && !response.headers.get("cache-control").is_some_and(|value| value.contains("no-store"));
        if is_shared {
            locked(&self.cache).put(&key, &response);
        }
        Some(response)
    }

    /// Fetches for a page when its turn comes, unless the answer has come meanwhile for another. Every request of a page passes here.
    async fn ask(
        &self,
        page: &PageResources,
        url: CanonicalUrl,
        cached: Option<&CacheKey>,
    ) -> Result<Obtained, Refused> {
        let address = page.pinned(&url).await?;
        let turn = locked(&self.pace).turn(Target::of(address, url.domain()), self.clock.now());
        let Some(Turn { wait, at_once }) = turn else {
            page.beyond_rate.fetch_add(1, Ordering::Relaxed);
            return Err(Refused);
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // The semaphore is never closed.
        let _permit = at_once.acquire().await.map_err(|_| Refused)?;
        if let Some(answer) = cached.and_then(|key| locked(&self.cache).answers.get(key).cloned()) {
            return Ok(Obtained::Cached(answer));
        }
        let (id, purpose) = (TaskId(0), Purpose::Page);
        let task = FetchTask { id, url, purpose, address, head_first: false, validators: None };
        Ok(Obtained::Fetched(Box::new(self.fetcher.fetch_for(task, Some(&page.url)).await)))
    }

    /// The rules of the site of `url`. Redirects are followed here, each in its own turn (RFC 9309 §2.3.1.2).
    async fn ask_robots(&self, page: &PageResources, url: &CanonicalUrl) -> Result<RobotsTxt, Refused> {
        let Some(mut url) = CanonicalUrl::from_canonical(&format!("{}/robots.txt", url.site())) else {
            return Ok(RobotsTxt::allow_all());
        };
        let redirects_max = if self.settings.robots_once { 0 } else { ROBOTS_REDIRECTS_MAX };
        let mut redirects = 0;
        loop {
            let Obtained::Fetched(mut outcome) = self.ask(page, url.clone(), None).await? else { return Err(Refused) };
            page.keep(std::mem::take(&mut outcome.exchanges));
            let target = match &outcome.fetched {
                Fetched::Response(response) if matches!(response.status, 301 | 302 | 303 | 307 | 308) => {
                    response.headers.get("location").and_then(|to| url.join(to, &CanonicalRules::default()).ok())
                }
                _ => None,
            };
            match target {
                Some(target) if redirects < redirects_max => (url, redirects) = (target, redirects + 1),
                _ => return Ok(self.access(&outcome).rules),
            }
        }
    }
}

/// What came of asking.
enum Obtained {
    /// The answer had come for another page.
    Cached(Response),
    Fetched(Box<FetchOutcome>),
}

/// The page does not get it.
struct Refused;

/// What one page asks for.
pub(super) struct PageResources {
    shared: Arc<Resources>,
    /// The page.
    url: CanonicalUrl,
    /// What was fetched for it.
    pub(super) exchanges: Mutex<Vec<Exchange>>,
    /// What it did not get because its address was asked too often.
    pub(super) beyond_rate: AtomicU32,
    /// Where the sites of the page are, as long as it lives: `None` behind a proxy. A name that leads elsewhere meanwhile (DNS
    /// rebinding) would let the page read another server's answers as its own.
    pins: Mutex<HashMap<SiteKey, Arc<OnceCell<Option<IpAddr>>>>>,
}

impl PageResources {
    /// For a page that came from `address`, if that is known.
    pub(super) fn new(shared: Arc<Resources>, page: &CanonicalUrl, address: Option<IpAddr>) -> Self {
        let pin = address.map(|address| (page.key().site, Arc::new(OnceCell::new_with(Some(Some(address))))));
        PageResources {
            shared,
            url: page.clone(),
            exchanges: Mutex::default(),
            beyond_rate: AtomicU32::new(0),
            pins: Mutex::new(pin.into_iter().collect()),
        }
    }

    /// Where the site of a URL is: found once. A page has few sites, since what it may ask for is limited.
    async fn pinned(&self, url: &CanonicalUrl) -> Result<Option<IpAddr>, Refused> {
        let pin = locked(&self.pins).entry(url.key().site).or_default().clone();
        let find = || async {
            let Some(turn) = self.shared.fetcher.lookup_turn(&url.site(), Some(WAIT_MAX)) else {
                self.beyond_rate.fetch_add(1, Ordering::Relaxed);
                return Err(Refused);
            };
            if !turn.is_zero() {
                tokio::time::sleep(turn).await;
            }
            let addresses = self.shared.fetcher.resolve(&url.site()).await.map_err(|_| Refused)?;
            Ok(addresses.first().copied())
        };
        pin.get_or_try_init(find).await.copied()
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
