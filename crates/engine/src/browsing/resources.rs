//! What pages ask for besides themselves: scripts, style sheets, data, frames.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use cookies::{Cookie, Stored};
use fetch::{Fetcher, Initiator, PageRequest, ROBOTS_REDIRECTS_MAX, robots_elsewhere};
use frontier::Trouble;
use model::{Exchange, FetchOutcome, FetchTask, Fetched, Headers, Method, Purpose, Refusal, Response, TaskId};
use render::{Kind, Served, Source, Wanted};
use robots::{Access, Lifetime, ROBOTS_CACHE_MAX, RobotsTxt};
use tokio::sync::OnceCell;
use weburl::{CanonicalRules, CanonicalUrl, Site, SiteKey, UrlKey};

use super::locked;
use super::pace::{Pace, Target, Turn, WAIT_MAX};
use super::robots_files::{Answer, RobotsFiles, Said};
use crate::Settings;
use crate::clock::Clock;
use crate::step::{retry_after, robots_access_by, robots_expiry, robots_txt_of};

/// Scripts and style sheets that are remembered with their heads and URLs, in bytes.
const CACHE_BYTES_MAX: usize = 64 << 20;
/// Answers kept of one page for the archive, in bytes. What a page asks for beyond is refused.
const PAGE_BYTES_MAX: usize = 64 << 20;

/// What the pages of a crawl share.
pub(super) struct Resources {
    fetcher: Arc<Fetcher>,
    settings: Arc<Settings>,
    clock: Clock,
    robots: RobotsFiles,
    cache: Mutex<Cache>,
    /// What is being fetched for the cache: another page that wants it waits for the answer.
    flights: Mutex<HashMap<CacheKey, Weak<tokio::sync::Mutex<()>>>>,
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
        let size = size_of_answer(key, response);
        if size > CACHE_BYTES_MAX / 8 || self.answers.contains_key(key) {
            return;
        }
        self.answers.insert(key.clone(), response.clone());
        self.order.push_back(key.clone());
        self.bytes += size;
        while self.bytes > CACHE_BYTES_MAX {
            let oldest = self.order.pop_front().and_then(|key| self.answers.remove_entry(&key));
            self.bytes -= oldest.map_or(self.bytes, |(key, response)| size_of_answer(&key, &response));
        }
    }

    fn forget(&mut self, urls: &HashSet<&str>) {
        let is_kept = |(name, _): &CacheKey| name.rsplit(' ').next().is_none_or(|url| !urls.contains(url));
        self.order.retain(is_kept);
        self.answers.retain(|key, _| is_kept(key));
        self.bytes = self.answers.iter().map(|(key, response)| size_of_answer(key, response)).sum();
    }
}

/// What an answer takes in the cache, in bytes: the body of a redirect is empty, but its URL and its head may be long.
fn size_of_answer((name, _): &CacheKey, response: &Response) -> usize {
    let fields = response.headers.0.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<String>());
    // The key is there twice.
    2 * (size_of::<CacheKey>() + name.len()) + size_of::<Response>() + fields.sum::<usize>() + response.body.len()
}

/// Whether the answer may be for other pages too.
fn is_shared(wanted: &Wanted) -> bool {
    matches!(wanted.kind, Kind::Script | Kind::Stylesheet | Kind::Media)
        && wanted.method == Method::Get
        && wanted.headers.get("authorization").is_none()
}

fn key_of(secret_of: &str, origin: &str, url: &CanonicalUrl, address: Option<IpAddr>) -> CacheKey {
    (format!("{secret_of} {origin} {url}"), address)
}

/// Whether an answer may be given again, as far as its server says.
fn may_keep(response: &Response) -> bool {
    let is_kept = response.headers.get("cache-control").is_none_or(|value| !value.contains("no-store"));
    is_kept && (response.status == 200 || is_redirect(response))
}

fn is_redirect(response: &Response) -> bool {
    matches!(response.status, 301 | 302 | 303 | 307 | 308)
}

impl Resources {
    pub(super) fn new(fetcher: Arc<Fetcher>, settings: Arc<Settings>, clock: Clock) -> Self {
        let pace = Mutex::new(Pace::new(settings.limits.page_requests_per_second));
        Resources {
            fetcher,
            settings,
            clock,
            robots: RobotsFiles::default(),
            cache: Mutex::default(),
            flights: Mutex::default(),
            pace,
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes note of a request of the crawl itself: pages get what it leaves of the rate of an address.
    pub(super) fn count(&self, task: &FetchTask) {
        locked(&self.pace).count(Target::of(task.address, task.url.domain()), self.clock.now());
    }

    /// Takes a file that the crawl fetched, so no page requests it again. One that came to a request with a secret stays with it.
    pub(super) fn learn_file(&self, outcome: &FetchOutcome, address: Option<IpAddr>) {
        let Fetched::Response(response) = &outcome.fetched else { return };
        let is_whole = response.truncated.is_none() && !response.is_undecoded;
        if is_whole && may_keep(response) && !self.fetcher.bears_secret(&outcome.url, Initiator::Crawl) {
            locked(&self.cache).put(&key_of("", "", &outcome.url, address), response);
        }
    }

    /// Takes a robots.txt that the crawl requested, so it is not requested again.
    pub(super) fn learn(&self, outcome: &FetchOutcome) {
        // Redirects within the site were followed.
        let asked = outcome.exchanges.first().map_or(&outcome.url, |exchange| &exchange.url);
        let answer = self.robots_answer(outcome, robots_elsewhere(outcome), 0);
        if answer.failed_tries == 0 {
            self.robots.put(asked.key(), answer);
        }
    }

    /// Forgets what these URLs gave.
    pub(super) fn forget(&self, urls: &[CanonicalUrl]) {
        locked(&self.cache).forget(&urls.iter().map(CanonicalUrl::as_str).collect());
        self.robots.forget(urls.iter().map(CanonicalUrl::key));
    }

    async fn get(&self, page: &PageResources, wanted: &Wanted) -> Result<Response, Refusal> {
        let url = CanonicalUrl::parse(&wanted.url, &CanonicalRules::default()).map_err(|_| Refusal::Url)?;
        if self.settings.filter.excluding(url.as_str()).is_some() {
            return Err(Refusal::Excluded);
        }
        let initiator = if wanted.has_credentials { Initiator::Page(&page.url) } else { Initiator::Anonymous };
        if wanted.is_after_click && wanted.method == Method::Post && self.fetcher.bears_secret(&url, initiator) {
            return Err(Refusal::Click);
        }
        if let Some(matching) = self.settings.site_rules.matching {
            let rules = self.rules(page, &url.site()).await?;
            if !rules.decide(url.path_and_query(), matching).allowed {
                return Err(Refusal::Robots);
            }
        }
        let key = if is_shared(wanted) { Some(self.key(page, &url, initiator, wanted).await?) } else { None };
        let flight = key.as_ref().map(|key| self.flight(key));
        let _turn = match &flight {
            Some(flight) => Some(flight.lock().await),
            None => None,
        };
        let known = key.as_ref().and_then(|key| locked(&self.cache).answers.get(key).cloned());
        // A redirect that a page comes back to may have set a cookie meanwhile: its server has another answer now.
        if let Some(answer) = known.filter(|answer| !is_redirect(answer) || !page.has_got(url.key())) {
            locked(&page.reused).push(url.key());
            return Ok(answer);
        }
        let Wanted { method, headers, body, time_max, .. } = wanted;
        let request = PageRequest { initiator, method: *method, headers, body, time_max: *time_max };
        let outcome = self.ask(page, url, &request).await?;
        let Fetched::Response(response) = outcome.fetched else { return Err(Refusal::NoAnswer) };
        page.keep(outcome.exchanges, |kept| &mut kept.files)?;
        if let Some(key) = key.filter(|_| may_keep(&response)) {
            locked(&self.cache).put(&key, &response);
        }
        Ok(response)
    }

    /// Under what an answer is remembered. One to a request with a secret is for pages of the same site alone, and one for another
    /// origin may say that this origin alone may read it (CORS).
    async fn key(
        &self,
        page: &PageResources,
        url: &CanonicalUrl,
        initiator: Initiator<'_>,
        wanted: &Wanted,
    ) -> Result<CacheKey, Refusal> {
        let secret_of = self.fetcher.bears_secret(url, initiator).then(|| page.url.site().to_string());
        let origin = wanted.headers.get("origin").unwrap_or_default();
        Ok(key_of(&secret_of.unwrap_or_default(), origin, url, page.pinned(url).await?))
    }

    /// What lets one page at a time fetch what is then in the cache for all.
    fn flight(&self, key: &CacheKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut flights = locked(&self.flights);
        if let Some(flight) = flights.get(key).and_then(Weak::upgrade) {
            return flight;
        }
        flights.retain(|_, flight| flight.strong_count() > 0);
        let flight = Arc::default();
        flights.insert(key.clone(), Arc::downgrade(&flight));
        flight
    }

    /// Fetches for a page when its turn comes. Every request of a page passes here.
    async fn ask(
        &self,
        page: &PageResources,
        url: CanonicalUrl,
        request: &PageRequest<'_>,
    ) -> Result<FetchOutcome, Refusal> {
        page.goes_on()?;
        let address = page.pinned(&url).await?;
        let turn = locked(&self.pace).turn(Target::of(address, url.domain()), self.clock.now());
        let Some(Turn { wait, at_once }) = turn else { return Err(Refusal::Rate) };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // The semaphore is never closed.
        let _permit = at_once.acquire().await.map_err(|_| Refusal::Rate)?;
        page.goes_on()?;
        let (id, purpose) = (TaskId(0), Purpose::Page);
        let task = FetchTask { id, url, purpose, address, head_first: false, condition: None, for_page: None };
        Ok(self.fetcher.fetch_for(task, Some(request)).await)
    }

    /// The rules of a site. Redirects are followed here, each in its own turn (RFC 9309 §2.3.1.2).
    async fn rules(&self, page: &PageResources, site: &Site) -> Result<RobotsTxt, Refusal> {
        let mut next = robots_txt_of(site);
        for _ in 0..=ROBOTS_REDIRECTS_MAX {
            let Some(url) = next else { break };
            let ask = |failed_tries| self.ask_robots(page, &url, failed_tries);
            match self.robots.get(url.key(), self.clock.now(), ask).await? {
                Said::Rules(rules) => return Ok(rules),
                Said::At(target) => next = Some(target),
            }
        }
        Ok(RobotsTxt::allow_all())
    }

    async fn ask_robots(&self, page: &PageResources, url: &CanonicalUrl, failed_tries: u32) -> Result<Answer, Refusal> {
        let (headers, body) = (Headers::default(), Bytes::new());
        let (initiator, method, time_max) = (Initiator::Page(&page.url), Method::Get, Duration::MAX);
        let request = PageRequest { initiator, method, headers: &headers, body: &body, time_max };
        let mut outcome = self.ask(page, url.clone(), &request).await?;
        match page.keep(std::mem::take(&mut outcome.exchanges), |kept| &mut kept.robots) {
            // It holds all the same.
            Ok(()) | Err(Refusal::TooLarge) => {}
            Err(refusal) => return Err(refusal),
        }
        let target = match &outcome.fetched {
            Fetched::Response(response) if is_redirect(response) => {
                response.headers.get("location").and_then(|to| url.join(to, &CanonicalRules::default()).ok())
            }
            _ => None,
        };
        Ok(self.robots_answer(&outcome, target, failed_tries))
    }

    /// What came of a request for a robots.txt that may redirect, after so many that failed.
    fn robots_answer(&self, outcome: &FetchOutcome, target: Option<CanonicalUrl>, failed_tries: u32) -> Answer {
        let now = self.clock.now();
        if let Some(target) = target.filter(|_| !self.settings.robots_once) {
            return Answer { said: Said::At(target), until: now + ROBOTS_CACHE_MAX, failed_tries: 0 };
        }
        let Access { rules, lifetime } = robots_access_by(outcome.fetched.clone(), &self.settings);
        let (until, failed_tries) = match lifetime {
            Lifetime::Final => (robots_expiry(now, &self.settings), 0),
            Lifetime::Temporary => {
                let (tries, asked) = (failed_tries.saturating_add(1), retry_after(&outcome.fetched, self.clock.date()));
                let politeness = &self.settings.site_rules.politeness;
                (now + politeness.backoff_after(Trouble::Unreached, tries, asked), tries)
            }
        };
        Answer { said: Said::Rules(rules), until, failed_tries }
    }
}

/// What was fetched for a page.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) files: Vec<Exchange>,
    /// Files for robots, with what they redirect to.
    pub(super) robots: Vec<Exchange>,
    bytes: usize,
}

/// What one page asks for.
pub(super) struct PageResources {
    shared: Arc<Resources>,
    /// The page.
    url: CanonicalUrl,
    /// What was fetched for it; `None` when it has ended. What comes later is recorded nowhere, so no other page may get it from here.
    kept: Mutex<Option<Kept>>,
    /// What it got without that.
    pub(super) reused: Mutex<Vec<UrlKey>>,
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
            kept: Mutex::new(Some(Kept::default())),
            reused: Mutex::default(),
            pins: Mutex::new(pin.into_iter().collect()),
        }
    }

    /// Where the site of a URL is: found once. A page has few sites, since what it may ask for is limited.
    async fn pinned(&self, url: &CanonicalUrl) -> Result<Option<IpAddr>, Refusal> {
        let pin = locked(&self.pins).entry(url.key().site).or_default().clone();
        let find = || async {
            let Some(turn) = self.shared.fetcher.lookup_turn(&url.site(), Some(WAIT_MAX)) else {
                return Err(Refusal::Rate);
            };
            if !turn.is_zero() {
                tokio::time::sleep(turn).await;
            }
            let addresses = self.shared.fetcher.resolve(&url.site()).await.map_err(|_| Refusal::NoAnswer)?;
            Ok(addresses.first().copied())
        };
        pin.get_or_try_init(find).await.copied()
    }

    /// Whether the page got an answer from this URL before.
    fn has_got(&self, url: UrlKey) -> bool {
        let is_kept = |kept: &Kept| kept.files.iter().any(|exchange| exchange.url.key() == url);
        locked(&self.reused).contains(&url) || locked(&self.kept).as_ref().is_some_and(is_kept)
    }

    /// Keeps exchanges for the archive. Where there are too many they are refused, and where the page has ended.
    fn keep(&self, new: Vec<Exchange>, among: fn(&mut Kept) -> &mut Vec<Exchange>) -> Result<(), Refusal> {
        let mut kept = locked(&self.kept);
        let kept = kept.as_mut().ok_or(Refusal::NoAnswer)?;
        let bytes = kept.bytes + new.iter().map(|exchange| exchange.payload.len()).sum::<usize>();
        if bytes > PAGE_BYTES_MAX {
            return Err(Refusal::TooLarge);
        }
        kept.bytes = bytes;
        among(kept).extend(new);
        Ok(())
    }

    /// Ends it, and gives what was fetched for it.
    pub(super) fn end(&self) -> Kept {
        locked(&self.kept).take().unwrap_or_default()
    }

    fn goes_on(&self) -> Result<(), Refusal> {
        locked(&self.kept).as_ref().map(drop).ok_or(Refusal::NoAnswer)
    }
}

impl Source for PageResources {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        Box::pin(async move {
            match self.shared.get(self, &wanted).await {
                Ok(Response { status, headers, body, .. }) => Served::Answer { status, headers, body },
                Err(refusal) => Served::Refused(refusal),
            }
        })
    }

    fn cookies(&self) -> Vec<Cookie> {
        self.shared.fetcher.cookies_for_scripts(&self.url)
    }

    fn stored(&self) -> Vec<Stored> {
        self.shared.fetcher.stored_for(&self.url)
    }
}

#[cfg(test)]
mod tests;
