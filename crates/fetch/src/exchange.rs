//! One request and its answer, over a connection kept from before or a new one.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response as HttpResponse;
use hyper::body::Incoming;
use model::{Exchange, Failure, FailureKind, Headers, Limits, Method, Response, Timestamp};
use stages::{Stage, wait};
use tokio::time::{Instant, timeout_at};
use weburl::CanonicalUrl;

use crate::body::{Collected, Collector};
use crate::budget::Budget;
use crate::connect::{Connector, Target};
use crate::connection::{Connection, Unanswered};
use crate::failure::{self, failure};
use crate::gate::Gate;
use crate::pace::Pace;
use crate::pool::Pool;
use crate::request::{Requests, without_proxy_authorization};
use crate::wanted::Wanted;
use crate::{Clock, ConfigError, FetchConfig, head};

/// All that exchanges share.
pub(crate) struct Exchanger {
    pub(crate) connector: Connector,
    pool: Pool,
    requests: Requests,
    budget: Arc<Budget>,
    limits: Limits,
    wanted: Option<Wanted>,
    gate: Gate,
    clock: Clock,
}

/// What to ask for.
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a CanonicalUrl,
    pub(crate) address: Option<IpAddr>,
    pub(crate) body_bytes_max: u64,
}

/// What was answered.
pub(crate) struct Answered {
    pub(crate) exchange: Exchange,
    pub(crate) response: Response,
    pub(crate) response_time: Duration,
}

/// The heads of both sides, and the answer's in its parts.
struct Heads {
    request: Vec<u8>,
    response: Vec<u8>,
    status: u16,
    fields: Headers,
}

impl Exchanger {
    pub(crate) fn new(config: &FetchConfig, clock: Clock) -> Result<Self, ConfigError> {
        Ok(Exchanger {
            connector: Connector::new(config)?,
            pool: Pool::default(),
            requests: Requests::new(config)?,
            budget: Budget::new(config.limits.in_flight_bytes_max),
            limits: config.limits.clone(),
            wanted: config.media_wanted.as_deref().map(Wanted::new),
            gate: config.gate.clone(),
            clock,
        })
    }

    /// Asks and reads the whole answer. A connection kept from before may have died in the meantime: if it gives not a
    /// byte, the request is sent once more over a new one, as GET and HEAD may be (RFC 9110 §9.2.2).
    pub(crate) async fn exchange(&self, ask: &Ask<'_>) -> Result<Answered, Failure> {
        let target = self.connector.target(&ask.url.site(), ask.address).await?;
        if let Some(kept) = self.pool.take(&target.key) {
            match self.ask(ask, &target, kept).await {
                Err(unanswered) if unanswered.untouched && unanswered.failure.kind != FailureKind::Timeout => {}
                done => return done.map_err(|unanswered| unanswered.failure),
            }
        }
        self.gate.pass().await;
        let connection = self.connector.connect(&target).await?;
        self.ask(ask, &target, connection).await.map_err(|unanswered| unanswered.failure)
    }

    async fn ask(&self, ask: &Ask<'_>, target: &Target, mut connection: Connection) -> Result<Answered, Unanswered> {
        let final_failure = |failure| Unanswered { failure, untouched: false };
        let request = self.requests.build(ask.method, ask.url, target.form(&connection)).map_err(final_failure)?;
        let written =
            connection.is_http2().then(|| head::written_request(request.method(), request.uri(), request.headers()));
        // Its wait is not the server's: no limit on the answer runs yet.
        self.gate.pass().await;
        let (started_at, sent) = ((self.clock)(), Instant::now());
        let answer = self.head_in_time(&mut connection, request, sent).await?;
        let heads = heads(&connection, &answer, written);
        if heads.response.len() > self.limits.header_bytes_max {
            return Err(final_failure(failure::head_too_large()));
        }
        if heads.status == 101 {
            let detail = "answer is not HTTP: 101 Switching Protocols without being asked to";
            return Err(final_failure(failure(FailureKind::Protocol, detail)));
        }
        let unwanted =
            self.wanted.as_ref().and_then(|wanted| wanted.reason_against(ask.url, heads.status, &heads.fields));
        let collected = match unwanted.filter(|_| ask.method == Method::Get) {
            Some(reason) => Collected::unwanted(reason),
            None => self.body(&heads.fields, answer, ask.body_bytes_max, sent).await,
        };
        let response_time = sent.elapsed();
        if collected.truncated.is_none() {
            self.pool.put(target.key.clone(), connection);
        }
        Ok(answered(ask, target, started_at, response_time, heads, collected))
    }

    async fn head_in_time(
        &self,
        connection: &mut Connection,
        request: crate::connection::HeadOnly,
        sent: Instant,
    ) -> Result<HttpResponse<Incoming>, Unanswered> {
        let (limit, name) = if self.limits.first_byte_timeout <= self.limits.total_timeout {
            (self.limits.first_byte_timeout, "first_byte_timeout")
        } else {
            (self.limits.total_timeout, "total_timeout")
        };
        timeout_at(sent + limit, wait(Stage::Answer, connection.send(request))).await.unwrap_or_else(|_| {
            let detail = format!("no whole head of an answer within {limit:?} ({name})");
            Err(Unanswered { failure: failure(FailureKind::Timeout, detail), untouched: false })
        })
    }

    async fn body(&self, fields: &Headers, answer: HttpResponse<Incoming>, bytes_max: u64, sent: Instant) -> Collected {
        let pace = Pace::new(&self.limits, sent, Instant::now());
        let encodings = fields.all("content-encoding");
        let ratio_max = self.limits.decompression_ratio_max;
        let collector = Collector::new(encodings, bytes_max, ratio_max, self.budget.share(), pace);
        collector.collect(answer.into_body()).await
    }
}

fn heads(connection: &Connection, answer: &HttpResponse<Incoming>, written: Option<Vec<u8>>) -> Heads {
    let status = answer.status().as_u16();
    let (request, response) = connection
        .take_heads()
        .unwrap_or_else(|| (written.unwrap_or_default(), head::written_response(answer.status(), answer.headers())));
    let fields = head::parse_fields(&response);
    Heads { request: without_proxy_authorization(request), response, status, fields }
}

fn answered(
    ask: &Ask<'_>,
    target: &Target,
    started_at: Timestamp,
    response_time: Duration,
    heads: Heads,
    collected: Collected,
) -> Answered {
    let exchange = Exchange {
        url: ask.url.clone(),
        method: ask.method,
        address: target.address(),
        started_at,
        request_head: Bytes::from(heads.request),
        response_head: Bytes::from(heads.response),
        payload: collected.payload,
        truncated: collected.truncated,
    };
    let note = (!collected.notes.is_empty()).then(|| collected.notes.join("; "));
    let response = Response {
        status: heads.status,
        headers: heads.fields,
        body: collected.body,
        truncated: collected.truncated,
        note,
    };
    Answered { exchange, response, response_time }
}
