//! The requests of a page: asked of the source, answered, or refused.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use model::{Headers, Method, Refusal};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Tab;
use crate::rendered::UNLOADED_BYTES_MAX;
use crate::{FoundBy, Kind, Page, RenderFailure, Served, Wanted, credentials, paused};

/// A request that fails sooner fails at once.
const LATE_FROM: Duration = Duration::from_millis(500);
/// How often a page that loads itself again is given.
const LOADS_MAX: u32 = 2;

/// What is sent to the page for a request that was paused.
pub(super) struct PausedAnswer {
    pub(super) request: Paused,
    pub(super) served: Served,
    /// It is the same whenever the page is restored.
    pub(super) given: Option<Given>,
    /// Its place among the answers to scripts.
    pub(super) turn: Option<u64>,
    /// That there is none took so long, while the page's clock stood.
    pub(super) late: Option<Duration>,
}

/// A request that has no answer. The page learns it when its clock has gone on for as long as that took: what it does meanwhile, such as
/// to give the request up, comes first, as it does for a visitor.
pub(super) struct Late {
    pub(super) request: Paused,
    pub(super) left: Duration,
}

/// What a page gets again when it is restored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Given {
    /// The page itself.
    Document,
    /// What this URL gave.
    Url(String),
}

/// A request that the browser holds back.
pub(super) struct Paused {
    pub(super) id: Value,
    /// Of the page, or of a worker; none where the browser itself holds it back.
    pub(super) session: Option<String>,
    /// Its name in the events of the network.
    pub(super) network: String,
}

impl Tab<'_> {
    /// Sees to a request of the page.
    pub(super) async fn requested(&mut self, request: Paused, parameters: &Value) -> Result<(), RenderFailure> {
        let is_document = parameters["resourceType"] == "Document";
        if is_document && parameters["frameId"].as_str() == Some(&self.frame) {
            return self.page_requested(request, parameters).await;
        }
        let wanted = match paused::wanted(parameters, self.settings) {
            None => {
                paused::unloaded(parameters).into_iter().for_each(|url| self.note_unloaded(url));
                return self.refuse(request).await;
            }
            Some(Ok(_)) if self.requests >= self.settings.requests_max => Err(Refusal::TooMany),
            Some(wanted) => wanted,
        };
        let mut wanted = match wanted {
            Err(refusal) => return self.give(request, Served::Refused(refusal)).await,
            Ok(wanted) => wanted,
        };
        let frame = parameters["frameId"].as_str().unwrap_or_default();
        let initiator = request.session.as_deref().filter(|session| *session != self.session).unwrap_or(frame);
        let is_foreign = self.frames.is_foreign(initiator, is_document.then_some(wanted.url.as_str()));
        // A sandbox may request before its frame is reported.
        wanted.has_credentials &= !is_foreign && wanted.headers.get("origin") != Some("null");
        if wanted.is_stream() && !self.streams.insert(wanted.url.clone()) {
            // It is not asked for again (HTML, 9.2.1).
            let served = Served::Answer { status: 204, headers: Headers::default(), body: Bytes::new() };
            return self.give(request, served).await;
        }
        let given = (wanted.method == Method::Get).then(|| Given::Url(wanted.url.clone()));
        if let Some(served) = self.restored(given.as_ref()) {
            return self.give(request, served).await;
        }
        self.ask(request, wanted, given, None);
        Ok(())
    }

    /// Notes what is requested in vain, once.
    fn note_unloaded(&mut self, url: String) {
        if self.rendered.unloaded.contains(&url) {
            return;
        }
        match self.unloaded_bytes + url.len() {
            bytes if bytes > UNLOADED_BYTES_MAX => self.rendered.refused.count(Refusal::TooMany),
            bytes => {
                self.unloaded_bytes = bytes;
                self.rendered.unloaded.insert(url);
            }
        }
    }

    /// Sees to a request for what is to be in place of the page: the page itself, perhaps again, or another.
    async fn page_requested(&mut self, request: Paused, parameters: &Value) -> Result<(), RenderFailure> {
        let url = parameters["request"]["url"].as_str().unwrap_or_default().split('#').next().unwrap_or_default();
        let is_get = parameters["request"]["method"] == Method::Get.as_str();
        let is_first = self.loads == 0;
        if let Some(served) =
            self.restored(Some(&Given::Document)).filter(|_| is_get && url == self.page.url.without_route())
        {
            let times = self.restoring.get_or_insert(0);
            *times += 1;
            return if *times > LOADS_MAX {
                self.fail(request, "Aborted").await
            } else {
                self.give(request, served).await
            };
        }
        if self.restoring.is_some() {
            // The page wants to go somewhere while it is loaded again: it does not, as it did not the first time.
            return self.fail(request, "Aborted").await;
        }
        if !is_get {
            self.rendered.refused.count(Refusal::Form);
            return self.fail(request, "Aborted").await;
        }
        if self.has_clicked {
            self.see(url.to_owned(), FoundBy::Click);
            return self.fail(request, "Aborted").await;
        }
        if !(is_first || (url == self.page.url.without_route() && self.loads < LOADS_MAX)) {
            // What page.js could not hold back: a refresh, a form. The page stays.
            self.redirected(url.to_owned());
            return self.fail(request, "Aborted").await;
        }
        self.loads += 1;
        let Page { status, mut headers, body, .. } = self.page.clone();
        headers.0.retain(|(name, _)| !name.eq_ignore_ascii_case("content-disposition"));
        headers.0.extend(credentials::marks(&self.page.url));
        let page = Served::Answer { status, headers, body };
        match paused::wanted(parameters, self.settings) {
            // It may say something else to those who have its cookies.
            Some(Ok(wanted)) if !is_first => self.ask(request, wanted, Some(Given::Document), Some(page)),
            _ => {
                let given = Some(Given::Document);
                self.answer(PausedAnswer { request, served: page, given, turn: None, late: None }).await?;
            }
        }
        Ok(())
    }

    /// What the page got before, if it is being restored.
    fn restored(&self, given: Option<&Given>) -> Option<Served> {
        self.restoring.and(given).and_then(|given| self.given.get(given).cloned())
    }

    /// Asks the source. What it refuses is refused, unless there is something else to give.
    fn ask(&mut self, request: Paused, mut wanted: Wanted, given: Option<Given>, instead: Option<Served>) {
        wanted.is_after_click = self.has_clicked;
        self.requests += 1;
        self.waiting += 1;
        // Nothing tells when a worker has an answer.
        let is_of_page = request.session.as_ref() == Some(&self.session) && !request.network.is_empty();
        let is_ordered = is_of_page && wanted.kind == Kind::Data && wanted.method != Method::Options;
        let turn = is_ordered.then(|| self.order.turn());
        let (source, answers) = (self.source.clone(), self.answers.0.clone());
        let time_max = self.settings.page_time_max / 2;
        let (asked_at, stands) = (Instant::now(), self.has_clock);
        tokio::spawn(async move {
            let served = tokio::time::timeout(time_max, source.get(wanted)).await;
            let served = match (served.unwrap_or(Served::Refused(Refusal::NoAnswer)), instead) {
                (Served::Refused(_), Some(instead)) => instead,
                (served, _) => served,
            };
            let is_late = stands && matches!(served, Served::Refused(Refusal::NoAnswer));
            let late = is_late.then(|| asked_at.elapsed()).filter(|late| *late >= LATE_FROM);
            // The page may be gone.
            let _ = answers.send(PausedAnswer { request, served, given, turn, late }).await;
        });
    }

    async fn refuse(&self, request: Paused) -> Result<(), RenderFailure> {
        self.fail(request, "BlockedByClient").await
    }

    async fn fail(&self, request: Paused, reason: &str) -> Result<(), RenderFailure> {
        let parameters = json!({"requestId": request.id, "errorReason": reason});
        self.connection.tell(request.session.as_deref(), "Fetch.failRequest", parameters).await
    }

    pub(super) async fn answer(
        &mut self,
        PausedAnswer { request, served, given, .. }: PausedAnswer,
    ) -> Result<(), RenderFailure> {
        if let Some(given) = given.filter(|_| matches!(served, Served::Answer { .. })) {
            self.given.insert(given, served.clone());
        }
        self.give(request, served).await
    }

    /// Tells the page what has no answer and is due.
    pub(super) async fn give_late(&mut self) -> Result<(), RenderFailure> {
        for late in self.late.extract_if(.., |late| late.left.is_zero()).collect::<Vec<_>>() {
            self.give(late.request, Served::Refused(Refusal::NoAnswer)).await?;
        }
        Ok(())
    }

    async fn give(&mut self, request: Paused, served: Served) -> Result<(), RenderFailure> {
        let (status, headers, body) = match served {
            Served::Answer { status, headers, body } => (status, headers, body),
            Served::Refused(refusal) => {
                self.rendered.refused.count(refusal);
                return self.refuse(request).await;
            }
        };
        self.rendered.served += 1;
        /// What is about the connection, or about the coding that the body has no more.
        const DROPPED: [&str; 4] = ["content-encoding", "transfer-encoding", "connection", "strict-transport-security"];
        // To HEAD, the length is all that an answer says of its body.
        let is_kept = |name: &str| !DROPPED.contains(&name) && (body.is_empty() || name != "content-length");
        let headers = headers.0.iter().filter(|(name, _)| is_kept(&name.to_ascii_lowercase()));
        let headers: Vec<Value> = headers.map(|(name, value)| json!({"name": name, "value": value})).collect();
        let parameters = json!({
            "requestId": request.id,
            "responseCode": status,
            "responseHeaders": headers,
            "body": BASE64.encode(&body),
        });
        self.connection.tell(request.session.as_deref(), "Fetch.fulfillRequest", parameters).await
    }
}
