//! One task to one outcome: a GET, a HEAD with its GET, or robots.txt with its redirects.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use cookies::{Cookie, Stored};
use model::{
    Exchange, Failure, FetchOutcome, FetchTask, Fetched, Limits, Method, Purpose, Resolved, Response, Timestamp,
};
use tokio::time::Instant;
use weburl::{CanonicalRules, CanonicalUrl, Site};

use crate::exchange::{Clock, Exchanger, Unanswerable};
use crate::head_first::HeadFirst;
use crate::initiator::Initiator;
use crate::request::Ask;
use crate::{ConfigError, FetchConfig, Grants, PageRequest};

/// Fetches. It holds the idle connections, the DNS cache and the budget of memory, so a crawl has one of them, shared
/// by all fetches at a time. It must be used within a tokio runtime.
pub struct Fetcher {
    exchanger: Exchanger,
    head_first: HeadFirst,
    limits: Limits,
    robots_redirects_max: usize,
    clock: Clock,
}

impl Fetcher {
    /// A fetcher; `clock` tells the wall time that goes into the archive.
    ///
    /// # Errors
    /// Settings that cannot be used: a request field, a CA certificate.
    pub fn new(config: FetchConfig, clock: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Result<Self, ConfigError> {
        Ok(Fetcher {
            exchanger: Exchanger::new(&config, Arc::clone(&clock))?,
            head_first: HeadFirst::new(&config.head_accepts, config.limits.body_bytes_max),
            limits: config.limits,
            robots_redirects_max: config.robots_redirects_max,
            clock,
        })
    }

    /// Carries out `task`. Dropping the future closes the connection it was using.
    ///
    /// The connection goes to the address of the task and to no other; without one, names are resolved here. `head_first`
    /// is for [`Purpose::Page`] only. Only [`Purpose::Robots`] follows redirects: up to
    /// [`FetchConfig::robots_redirects_max`] within its site, then the answer is the redirect that was not followed. Another site has turns of its own:
    /// [`robots_elsewhere`] says where it leads.
    // No future around the other: it would hold the task a second time.
    pub fn fetch(&self, task: FetchTask) -> impl Future<Output = FetchOutcome> + Send + '_ {
        self.fetch_for(task, None)
    }

    /// The same for a page in a browser that asks for it. Its method and body are for [`Purpose::Page`] only.
    pub async fn fetch_for(&self, task: FetchTask, page: Option<&PageRequest<'_>>) -> FetchOutcome {
        let started_at = (self.clock)();
        let (exchanges, response_time) = (Vec::new(), Duration::ZERO);
        let mut course = Course { fetcher: self, task: &task, url: task.url.clone(), page, exchanges, response_time };
        let fetched = match course.run().await {
            Ok(response) => Fetched::Response(response),
            Err(unanswerable) => Fetched::Failed(unanswerable.failure),
        };
        FetchOutcome {
            id: task.id,
            url: course.url,
            exchanges: course.exchanges,
            fetched,
            rendering: None,
            started_at,
            finished_at: (self.clock)(),
            response_time: course.response_time,
        }
    }

    /// True if requests may be sent now. While the gate of [`FetchConfig::gate`] is closed, fetches wait, and no limit counts.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.exchanger.is_open()
    }

    /// True once the head of some answer has come, from whatever site.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.exchanger.has_answer()
    }

    /// The longest that the limits let a task of this kind take, without what it waits for memory or at the gate.
    #[must_use]
    pub fn time_max(&self, purpose: Purpose, head_first: bool) -> Duration {
        let limits = &self.limits;
        // A kept connection that has died is replaced, and the request sent once more. Before that, addresses may be tried.
        let exchange = self.lookup_time_max() + (limits.connect_timeout + limits.total_timeout) * 2;
        let exchanges = match purpose {
            Purpose::Robots => self.robots_redirects_max + 1,
            Purpose::Page if head_first => 2,
            Purpose::Page | Purpose::Sitemap | Purpose::Requisite => 1,
        };
        exchange * u32::try_from(exchanges).unwrap_or(u32::MAX)
    }

    /// The longest that the limits let a look-up take, with the connections by which an address is chosen.
    #[must_use]
    pub fn lookup_time_max(&self) -> Duration {
        self.limits.dns_timeout + self.limits.connect_timeout
    }

    /// Whether a request for `url` bears a secret.
    #[must_use]
    pub fn bears_secret(&self, url: &CanonicalUrl, initiator: Initiator<'_>) -> bool {
        self.exchanger.bears_secret(url, initiator)
    }

    /// The cookies of the jar that scripts of a page may read: of all hosts of its registrable domain, those without `HttpOnly`, and
    /// without `Secure` unless the page came over TLS.
    #[must_use]
    pub fn cookies_for_scripts(&self, page: &CanonicalUrl) -> Vec<Cookie> {
        self.exchanger.cookies_for_scripts(page)
    }

    /// What pages of the registrable domain of this one keep in storage from the start.
    #[must_use]
    pub fn stored_for(&self, page: &CanonicalUrl) -> Vec<Stored> {
        self.exchanger.stored_for(page)
    }

    /// Whether a request for `url` bears a cookie of this name from the jar.
    #[must_use]
    pub fn has_cookie(&self, url: &CanonicalUrl, name: &str) -> bool {
        self.exchanger.has_cookie(url, name)
    }

    /// A turn to [`Fetcher::resolve`] a site: how long to wait before. Names of one registrable domain have a rate, since each asks its
    /// name servers. `None`, and no turn, if the wait were longer than `wait_max`.
    #[must_use]
    pub fn lookup_turn(&self, site: &Site, wait_max: Option<Duration>) -> Option<Duration> {
        self.exchanger.connector.lookup_turn(site, wait_max)
    }

    /// The addresses that connections for `site` may go to, never none: what `--connect-to`, `--resolve` and DNS say, the
    /// ones that `deny_private` refuses left out. Where there are several, the one that connects first comes first (RFC 8305).
    /// Behind a proxy, which resolves by itself, there are none.
    ///
    /// # Errors
    /// [`model::FailureKind::NameNotFound`], [`model::FailureKind::NameServer`] or [`model::FailureKind::AddressDenied`].
    pub async fn resolve(&self, site: &Site) -> Result<Vec<IpAddr>, Failure> {
        self.look_up(site, |_| true).await.map(|found| found.addresses)
    }

    /// The same, with how long it holds: the TTL of DNS, between a minute and a day; an hour for what `--resolve` and /etc/hosts say, for
    /// hosts that are addresses, and behind a proxy. With `--connect-to` that of the host to which it leads. No connection is made to
    /// addresses for which `may_try` does not hold: they may belong to others.
    ///
    /// # Errors
    /// As [`Fetcher::resolve`].
    pub async fn look_up(&self, site: &Site, may_try: impl Fn(IpAddr) -> bool + Send) -> Result<Resolved, Failure> {
        self.exchanger.connector.resolve(site, may_try).await
    }

    /// The sites that may have private addresses because a seed names them, to be filled by who knows the seeds.
    #[must_use]
    pub fn grants(&self) -> &Grants {
        &self.exchanger.connector.private.grants
    }

    /// How long it takes to connect to where requests for `site` go; nothing is asked there. Behind a proxy that is the proxy.
    ///
    /// # Errors
    /// No connection can be made.
    pub async fn round_trip(&self, site: &Site, address: Option<IpAddr>) -> Result<Duration, Failure> {
        self.exchanger.connector.round_trip(site, address).await
    }
}

/// A task under way.
struct Course<'a> {
    fetcher: &'a Fetcher,
    task: &'a FetchTask,
    url: CanonicalUrl,
    page: Option<&'a PageRequest<'a>>,
    exchanges: Vec<Exchange>,
    response_time: Duration,
}

impl Course<'_> {
    async fn run(&mut self) -> Result<Response, Unanswerable> {
        let task = self.task;
        match task.purpose {
            // Boxed: most fetches are neither, and are not to carry these along.
            Purpose::Robots => Box::pin(self.robots()).await,
            // With validators the server tells by itself what is not worth having.
            Purpose::Page if task.head_first && task.condition.is_none() => Box::pin(self.head_then_get()).await,
            Purpose::Page | Purpose::Requisite => {
                let method = self.page.map_or(Method::Get, |page| page.method);
                self.ask(method, self.fetcher.limits.body_bytes_max).await
            }
            Purpose::Sitemap => self.ask(Method::Get, self.fetcher.limits.sitemap_bytes_max).await,
        }
    }

    async fn ask(&mut self, method: Method, bytes_max: u64) -> Result<Response, Unanswerable> {
        let begun = Instant::now();
        let url = self.url.clone();
        let (task, page) = (self.task, self.page);
        let condition = task.condition.as_deref().filter(|condition| condition.url == url);
        let validators = condition.map(|condition| &condition.validators);
        let ask = Ask { method, url: &url, task, page, validators, body_bytes_max: bytes_max };
        let answered = self.fetcher.exchanger.exchange(&ask).await;
        match answered {
            Ok(answered) => {
                self.response_time = answered.response_time;
                self.exchanges.push(answered.exchange);
                Ok(answered.response)
            }
            Err(unanswerable) => {
                self.response_time = begun.elapsed();
                Err(unanswerable)
            }
        }
    }

    /// A HEAD without an answer says nothing of the page: some servers close on it, or stay silent.
    async fn head_then_get(&mut self) -> Result<Response, Unanswerable> {
        let bytes_max = self.fetcher.limits.body_bytes_max;
        let mut of_head = match self.ask(Method::Head, bytes_max).await {
            Err(Unanswerable { was_asked: true, .. }) => return self.ask(Method::Get, bytes_max).await,
            answered => answered?,
        };
        match self.fetcher.head_first.reason_against(&of_head) {
            None => self.ask(Method::Get, bytes_max).await,
            Some(reason) => {
                of_head.note = Some(format!("HEAD only: {reason}"));
                Ok(of_head)
            }
        }
    }

    /// The byte beyond `robots_bytes_max` shows that there is more.
    async fn robots(&mut self) -> Result<Response, Unanswerable> {
        let bytes_max = self.fetcher.limits.robots_bytes_max.saturating_add(1);
        for _ in 0..self.fetcher.robots_redirects_max {
            let response = self.ask(Method::Get, bytes_max).await?;
            match redirect_target(&self.url, &response) {
                Some(target) if target.site() == self.url.site() => self.url = target,
                Some(_) | None => return Ok(response),
            }
        }
        self.ask(Method::Get, bytes_max).await
    }
}

/// The URL on another site to which an answer for [`Purpose::Robots`] redirects. It was not asked for.
#[must_use]
pub fn robots_elsewhere(outcome: &FetchOutcome) -> Option<CanonicalUrl> {
    let Fetched::Response(response) = &outcome.fetched else { return None };
    redirect_target(&outcome.url, response).filter(|target| target.site() != outcome.url.site())
}

/// Where a redirect leads, if the answer is one that can be followed.
fn redirect_target(url: &CanonicalUrl, response: &Response) -> Option<CanonicalUrl> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    url.join(response.headers.get("location")?, &CanonicalRules::default()).ok()
}
