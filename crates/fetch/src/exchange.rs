//! One request and its answer, over a connection kept from before or a new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cookies::{Cookie, Stored};
use model::{Exchange, Failure, FailureKind, Headers, Limits, Method, Purpose, Redacted, Response, Timestamp};
use stages::{Stage, wait};
use tokio::time::{Instant, timeout_at};
use weburl::CanonicalUrl;

use crate::body::{Collected, Collector};
use crate::budget::{Budget, Division};
use crate::connect::{Connector, Target};
use crate::connection::Connection;
use crate::failure::failure;
use crate::gate::Gate;
use crate::initiator::Initiator;
use crate::known_values::KnownValues;
use crate::message::{Request, ResponseHead, Unanswered};
use crate::pace::Pace;
use crate::pool::Pool;
use crate::request::{Ask, Requests};
use crate::wanted::Wanted;
use crate::{ConfigError, FetchConfig, head, set_cookies};

/// The wall clock, from outside.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The part of `in_flight_bytes_max` that bodies take besides which pages in a browser ask for: one in so many.
const PAGES_PART: u64 = 4;

/// The same for robots.txt files: they come first, so large ones of many sites would fill all of it before the first page.
const ROBOTS_PART: u64 = 16;

/// All that exchanges share.
pub(crate) struct Exchanger {
    pub(crate) connector: Connector,
    pool: Pool,
    requests: Requests,
    budget: Arc<Budget>,
    /// Of what pages in a browser ask for.
    page_budget: Arc<Budget>,
    /// Of robots.txt files.
    robots_budget: Arc<Budget>,
    /// The same memory, for redirects on the way to them.
    robots_hops_budget: Arc<Budget>,
    limits: Limits,
    wanted: Option<Wanted>,
    gate: Gate,
    clock: Clock,
    /// The head of an answer has come, of whatever site.
    has_answer: AtomicBool,
}

/// What was answered.
pub(crate) struct Answered {
    pub(crate) exchange: Exchange,
    pub(crate) response: Response,
    pub(crate) response_time: Duration,
}

/// Why there is no answer.
pub(crate) struct Unanswerable {
    pub(crate) failure: Failure,
    /// There was a connection, and the request was sent.
    pub(crate) was_asked: bool,
}

impl From<Failure> for Unanswerable {
    fn from(failure: Failure) -> Self {
        Unanswerable { failure, was_asked: false }
    }
}

impl Exchanger {
    pub(crate) fn new(config: &FetchConfig, clock: Clock) -> Result<Self, ConfigError> {
        let part = |one_in: u64| Budget::new(config.limits.in_flight_bytes_max / one_in);
        let robots_budget = part(ROBOTS_PART);
        Ok(Exchanger {
            connector: Connector::new(config)?,
            pool: Pool::new(config.idle_connections_max),
            requests: Requests::new(config)?,
            budget: Budget::new(Division::of(config.limits.in_flight_bytes_max).bodies),
            page_budget: part(PAGES_PART).lenient(),
            robots_hops_budget: robots_budget.lenient(),
            robots_budget,
            limits: config.limits.clone(),
            wanted: config.media_wanted.as_deref().map(Wanted::new),
            gate: config.gate.clone(),
            clock,
            has_answer: AtomicBool::new(false),
        })
    }

    /// True if some answer has begun to come.
    pub(crate) fn has_answer(&self) -> bool {
        self.has_answer.load(Ordering::Relaxed)
    }

    /// True if requests may be sent at the moment.
    pub(crate) fn is_open(&self) -> bool {
        self.gate.is_open()
    }

    /// Whether a request for `url` bears a secret.
    pub(crate) fn bears_secret(&self, url: &CanonicalUrl, initiator: Initiator<'_>) -> bool {
        self.requests.bears_secret(url, initiator, (self.clock)())
    }

    /// The cookies that scripts of a page may read.
    pub(crate) fn cookies_for_scripts(&self, page: &CanonicalUrl) -> Vec<Cookie> {
        self.requests.cookies_for_scripts(page, (self.clock)())
    }

    /// What pages of the registrable domain of this one keep in storage.
    pub(crate) fn stored_for(&self, page: &CanonicalUrl) -> Vec<Stored> {
        self.requests.stored_for(page)
    }

    /// Whether a request for `url` bears a cookie of this name.
    pub(crate) fn has_cookie(&self, url: &CanonicalUrl, name: &str) -> bool {
        self.requests.has_cookie(url, name, (self.clock)())
    }

    /// Asks and reads the whole answer. A connection kept from before may have died in the meantime, or bear what a server sent behind an
    /// answer, too late to be seen with it. If it gives not a byte or no HTTP, the request is sent once more over a new one, as all but POST may
    /// be (RFC 9110 §9.2.2).
    pub(crate) async fn exchange(&self, ask: &Ask<'_>) -> Result<Answered, Unanswerable> {
        let target = self.connector.target(&ask.url.site(), ask.task.address).await?;
        let mut connection = if ask.method == Method::Post { None } else { self.pool.take(&target.key) };
        if let Some(kept) = &mut connection {
            match self.ask(ask, &target, kept).await {
                Err(unanswered) if unanswered.untouched && unanswered.failure.kind != FailureKind::Timeout => {
                    connection = None;
                }
                done => return self.done(ask, done, target, connection),
            }
        }
        let new = connection.insert(self.connect(&target).await?);
        let done = self.ask(ask, &target, new).await;
        self.done(ask, done, target, connection)
    }

    /// Keeps the connection if another request can be sent over it.
    fn done(
        &self,
        ask: &Ask<'_>,
        answered: Result<Answered, Unanswered>,
        target: Target,
        connection: Option<Connection>,
    ) -> Result<Answered, Unanswerable> {
        let answered = answered.map_err(|Unanswered { failure, .. }| Unanswerable { failure, was_asked: true })?;
        let can_be_kept = |connection: &Connection| {
            // Some servers send a body after the head that answers HEAD: it would be read as the answer to the next request.
            let is_certain = ask.method != Method::Head || connection.is_http2();
            is_certain && answered.exchange.truncated.is_none()
        };
        if let Some(connection) = connection.filter(can_be_kept) {
            self.pool.put(target.key, connection);
        }
        Ok(answered)
    }

    async fn connect(&self, target: &Target) -> Result<Connection, Failure> {
        self.gate.pass().await;
        // Boxed: it is large with its TLS and HTTP/2 handshakes, and a fetch that waits for a page is not to carry it along.
        Box::pin(self.connector.connect(target)).await
    }

    async fn ask(&self, ask: &Ask<'_>, target: &Target, connection: &mut Connection) -> Result<Answered, Unanswered> {
        let final_failure = |failure| Unanswered { failure, untouched: false };
        let (mut answer, started_at, sent) = {
            let request = self.requests.build(ask, target.form(connection), &*self.clock).map_err(final_failure)?;
            // Its wait is not the server's: no limit on the answer runs yet.
            self.gate.pass().await;
            let (started_at, sent) = ((self.clock)(), Instant::now());
            (self.head_in_time(ask, connection, &request, sent).await?, started_at, sent)
        };
        self.has_answer.store(true, Ordering::Relaxed);
        if answer.status == 101 {
            let detail = "answer is not HTTP: 101 Switching Protocols without being asked to";
            return Err(final_failure(failure(FailureKind::Protocol, detail)));
        }
        let fields = self.take_cookies(ask, &mut answer);
        // What a page needs is kept whatever it is.
        let wanted = self.wanted.as_ref().filter(|_| ask.task.purpose != Purpose::Requisite);
        let unwanted = wanted.and_then(|wanted| wanted.reason_against(ask.url, answer.status, &fields));
        let collected = match unwanted.filter(|_| ask.method != Method::Head) {
            Some(reason) => Collected::unwanted(reason),
            None => {
                let budget = match (ask.page, ask.task.purpose) {
                    (Some(_), _) => &self.page_budget,
                    (None, Purpose::Robots) if (300..400).contains(&answer.status) => &self.robots_hops_budget,
                    (None, Purpose::Robots) => &self.robots_budget,
                    (None, Purpose::Page | Purpose::Sitemap | Purpose::Requisite) => &self.budget,
                };
                self.body(ask, &fields, connection, budget, sent).await
            }
        };
        let response_time = sent.elapsed();
        // Not before: hundreds of fetches wait for their bodies.
        let request_body = recorded_body(ask, self.requests.known_values(ask).as_ref(), &mut answer);
        Ok(answered(ask, target, started_at, response_time, (answer, fields, request_body), collected))
    }

    /// The fields of an answer. The cookies that it sets go to the jar, if there is one, and the head of one that may open a
    /// session in the user's name is recorded without their values.
    fn take_cookies(&self, ask: &Ask<'_>, answer: &mut ResponseHead) -> Headers {
        let fields = head::parse_fields(&answer.head);
        if let Some(jar) = self.requests.jar(ask.url, ask.initiator()).filter(|_| fields.get("set-cookie").is_some()) {
            jar.receive(ask.url, fields.all("set-cookie"), (self.clock)());
        }
        if self.requests.sets_secrets(ask) {
            answer.head = set_cookies::without_values(&answer.head).into_owned();
        }
        fields
    }

    async fn head_in_time(
        &self,
        ask: &Ask<'_>,
        connection: &mut Connection,
        request: &Request<'_>,
        sent: Instant,
    ) -> Result<ResponseHead, Unanswered> {
        let (first_byte, total) = (self.limits.first_byte_timeout, self.total_timeout(ask));
        let (limit, name) =
            if first_byte <= total { (first_byte, "first_byte_timeout") } else { (total, "total_timeout") };
        timeout_at(sent + limit, wait(Stage::Answer, connection.send(request))).await.unwrap_or_else(|_| {
            let detail = format!("no whole head of an answer within {limit:?} ({name})");
            Err(Unanswered { failure: failure(FailureKind::Timeout, detail), untouched: false })
        })
    }

    /// The limit for a whole answer. That to a page may be less.
    fn total_timeout(&self, ask: &Ask<'_>) -> Duration {
        ask.page.map_or(self.limits.total_timeout, |page| page.time_max.min(self.limits.total_timeout))
    }

    async fn body(
        &self,
        ask: &Ask<'_>,
        fields: &Headers,
        connection: &mut Connection,
        budget: &Arc<Budget>,
        sent: Instant,
    ) -> Collected {
        let pace = Pace::new(&self.limits, self.total_timeout(ask), sent, Instant::now());
        let encodings = fields.all("content-encoding");
        let ratio_max = self.limits.decompression_ratio_max;
        let mut collector = Collector::new(encodings, ask.body_bytes_max, ratio_max, budget.share(), pace);
        let end = collector.collect(connection).await;
        let mut collected = collector.finish(end);
        collected.notes.extend(foreign_coding(fields));
        collected
    }
}

/// A transfer coding that the body still has (RFC 9112 §6.1): no request asks for one but chunked.
fn foreign_coding(fields: &Headers) -> Option<String> {
    let codings = fields.all("transfer-encoding").flat_map(|value| value.split(',')).map(str::trim);
    let is_undone = |coding: &str| ["", "chunked", "identity"].iter().any(|known| coding.eq_ignore_ascii_case(known));
    let coding = codings.into_iter().find(|coding| !is_undone(coding))?;
    Some(format!("transfer coding `{coding}` was not requested, and is not decoded"))
}

/// The body of a request as it is recorded. Neither it nor a head keeps one of these values; counts those that they had.
fn recorded_body(ask: &Ask<'_>, values: Option<&KnownValues>, answer: &mut ResponseHead) -> (Bytes, Redacted) {
    let body = ask.page.map_or_else(Bytes::new, |page| page.body.clone());
    let Some(values) = values else { return (body, Redacted::default()) };
    let redacted = values.redacted_body(&body, coding_of(ask));
    let request = values.redacted_head(&answer.request_head, redacted.as_ref().map(|text| text.recorded.len()));
    let head = values.redacted_head(&answer.head, None);
    let bodies = redacted.as_ref().map_or(0, |text| text.values);
    let counted = Redacted { fields: request.values + head.values, bodies };
    (answer.request_head, answer.head) = (request.recorded, head.recorded);
    (redacted.map_or(body, |text| text.recorded.into()), counted)
}

/// The content coding that a page says its request has.
fn coding_of<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a str> {
    ask.page.into_iter().flat_map(|page| page.headers.all("content-encoding"))
}

fn answered(
    ask: &Ask<'_>,
    target: &Target,
    started_at: Timestamp,
    response_time: Duration,
    (answer, fields, (request_body, redacted)): (ResponseHead, Headers, (Bytes, Redacted)),
    collected: Collected,
) -> Answered {
    let exchange = Exchange {
        url: ask.url.clone(),
        method: ask.method,
        address: target.address(),
        started_at,
        request_head: Bytes::from(answer.request_head),
        request_body,
        response_head: Bytes::from(answer.head),
        payload: collected.payload,
        truncated: collected.truncated,
        redacted,
    };
    let note = (!collected.notes.is_empty()).then(|| collected.notes.join("; "));
    let response = Response {
        status: answer.status,
        headers: fields,
        body: collected.body,
        truncated: collected.truncated,
        is_undecoded: collected.is_undecoded,
        note,
    };
    Answered { exchange, response, response_time }
}
