//! One page, shown once in a tab of its own, with cookies and storage of its own.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use model::{Headers, Method, Refusal, Refusals};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use weburl::CanonicalUrl;

use crate::browser::Browser;
use crate::connection::{Connection, Events};
use crate::{PAGE_CLOCK, RenderFailure, Served, Settings, Source, Wait, Wanted, paused};

/// What runs in every document before its own scripts.
const SCRIPT: &str = include_str!("page.js");
/// What the page calls to say what it saw.
const BINDING: &str = "argiopeSaw";
/// URLs that a page may say it saw.
const FOUND_MAX: usize = 10_000;
/// After clicks the page's clock runs this far.
const CLOCK_AFTER_CLICKS: Duration = Duration::from_secs(2);
/// Between two looks at a page that is waited for, and after scrolling, its clock runs this far.
const CLOCK_OF_A_STEP: Duration = Duration::from_millis(500);
/// A page that goes on asking is looked at after so many steps.
const IDLE_STEPS_MAX: u32 = 120;
/// A page that grows without end is scrolled so often.
const SCROLLS_MAX: u32 = 50;
/// A picture of a page is no wider than this, in CSS pixels.
const SCREENSHOT_WIDTH_MAX: f64 = 4_096.0;
/// A picture of a page ends here, in CSS pixels.
pub const SCREENSHOT_HEIGHT_MAX: f64 = 10_000.0;
/// What a page goes on doing after this part of its time is not waited for.
const LOOKED_AT_AFTER: (u32, u32) = (3, 4);
/// How often a page that loads itself again is given.
const LOADS_MAX: u32 = 2;
/// Answers that are given to a page at a time.
const ANSWERS_WAITING_MAX: usize = 64;

/// The answer of a server that is to be rendered.
#[derive(Clone, Debug)]
pub struct Page {
    /// The URL.
    pub url: CanonicalUrl,
    /// The status.
    pub status: u16,
    /// The fields of the head.
    pub headers: Headers,
    /// The body without content coding.
    pub body: Bytes,
}

/// A page as a person would see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The document after its scripts ran: shadow trees and frames without a URL stand in it where they are seen.
    pub html: String,
    /// URLs that are no links in it, each once.
    pub found: Vec<ScriptLink>,
    /// Where the page wanted to go by itself, by a script or a refresh.
    pub redirect: Option<String>,
    /// A picture of it as PNG, if there is to be one: the width of a window, and down to [`SCREENSHOT_HEIGHT_MAX`].
    pub screenshot: Option<Bytes>,
    /// The answered requests of the page.
    pub served: u32,
    /// The requests of the page that got no answer.
    pub refused: Refusals,
}

/// A URL that a page's scripts lead to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScriptLink {
    /// The URL, absolute.
    pub url: String,
    /// How.
    pub by: FoundBy,
}

/// How a page's scripts lead somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoundBy {
    /// Something was clicked.
    Click,
    /// It put the URL into the address bar (`history.pushState`).
    History,
    /// It wanted to open a window.
    Window,
    /// It wanted to save a file.
    Download,
}

/// A tab while it lives.
pub(crate) struct Tab<'a> {
    connection: Connection,
    settings: &'a Settings,
    page: &'a Page,
    source: Arc<dyn Source>,
    context: Value,
    target: Value,
    session: String,
    frame: String,
    events: Events,
    answers: (mpsc::Sender<PausedAnswer>, mpsc::Receiver<PausedAnswer>),
    seen: HashSet<ScriptLink>,
    /// The script contexts of the page itself, not of its frames.
    contexts: HashSet<i64>,
    rendered: Rendered,
    requests: u32,
    /// The streams of events that were requested.
    streams: HashSet<String>,
    /// How often the page itself was given.
    loads: u32,
    has_clock_stopped: bool,
    /// When the page is looked at as it is.
    deadline: Instant,
}

/// What is sent to the page for a request that was paused.
struct PausedAnswer {
    request: Value,
    served: Served,
}

impl<'a> Tab<'a> {
    /// Opens a tab for a page.
    pub(crate) async fn open(
        browser: &Browser,
        settings: &'a Settings,
        page: &'a Page,
        source: Arc<dyn Source>,
    ) -> Result<Self, RenderFailure> {
        let connection = browser.connection.clone();
        let context = connection.call(None, "Target.createBrowserContext", json!({"disposeOnDetach": true})).await?;
        let context = context["browserContextId"].clone();
        let deny = json!({"behavior": "deny", "browserContextId": context});
        connection.call(None, "Browser.setDownloadBehavior", deny).await?;
        let blank = json!({"url": "about:blank", "browserContextId": context});
        let target = connection.call(None, "Target.createTarget", blank).await?["targetId"].clone();
        let attach = json!({"targetId": target, "flatten": true});
        let attached = connection.call(None, "Target.attachToTarget", attach).await?;
        let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        let events = connection.events(&session);
        let tab = Tab {
            connection,
            settings,
            page,
            source,
            frame: target.as_str().unwrap_or_default().to_owned(),
            context,
            target,
            session,
            events,
            answers: mpsc::channel(ANSWERS_WAITING_MAX),
            seen: HashSet::new(),
            contexts: HashSet::new(),
            rendered: Rendered::default(),
            requests: 0,
            streams: HashSet::new(),
            loads: 0,
            has_clock_stopped: false,
            deadline: Instant::now() + settings.page_time_max / LOOKED_AT_AFTER.1 * LOOKED_AT_AFTER.0,
        };
        tab.prepare().await?;
        Ok(tab)
    }

    async fn prepare(&self) -> Result<(), RenderFailure> {
        self.call("Page.enable", json!({})).await?;
        self.call("Runtime.enable", json!({})).await?;
        self.call("Inspector.enable", json!({})).await?;
        self.call("Network.enable", json!({})).await?;
        self.call("Network.setBypassServiceWorker", json!({"bypass": true})).await?;
        self.call("Runtime.addBinding", json!({"name": BINDING})).await?;
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": SCRIPT})).await?;
        if !self.settings.user_agent.is_empty() {
            let agent = json!({"userAgent": self.settings.user_agent});
            self.call("Emulation.setUserAgentOverride", agent).await?;
        }
        self.call("Fetch.enable", json!({"patterns": [{"urlPattern": "*", "requestStage": "Request"}]})).await?;
        Ok(())
    }

    async fn call(&self, method: &'static str, parameters: Value) -> Result<Value, RenderFailure> {
        self.connection.call(Some(&self.session), method, parameters).await
    }

    /// Shows the page, and gives what is seen of it.
    pub(crate) async fn render(&mut self) -> Result<Rendered, RenderFailure> {
        self.send_and_attend("Page.navigate", json!({"url": self.page.url.as_str()})).await?;
        // Not before: the clock of the empty page that is there at first would run out at once.
        self.wait_in_time().await?;
        if self.settings.scroll {
            timeout_at(self.deadline, self.scroll()).await.unwrap_or(Ok(()))?;
        }
        self.tell_files_from_pages().await?;
        let max = self.settings.html_bytes_max;
        let html = self.evaluate(&format!("argiopeCrawler.html({}, {max})", json!(self.page.url.as_str()))).await?;
        self.rendered.html = html.as_str().unwrap_or_default().to_owned();
        if self.rendered.html.len() > max {
            return Err(RenderFailure::TooLarge(max));
        }
        if self.settings.screenshot {
            self.rendered.screenshot = Some(self.screenshot().await?);
        }
        if self.rendered.redirect.is_none() && self.settings.clicks_max > 0 {
            timeout_at(self.deadline, self.click()).await.unwrap_or(Ok(()))?;
        }
        Ok(std::mem::take(&mut self.rendered))
    }

    /// Waits for what is to be waited for, until the deadline: what a page shows by then is kept, unless something is to be there.
    async fn wait_in_time(&mut self) -> Result<(), RenderFailure> {
        loop {
            let loads = self.loads;
            match timeout_at(self.deadline, self.wait()).await {
                Ok(waited) => waited?,
                Err(_) if matches!(self.settings.wait, Wait::Selector(_)) => {
                    return Err(RenderFailure::Timeout(self.settings.page_time_max));
                }
                Err(_) => return Ok(()),
            }
            if self.loads == loads {
                return Ok(());
            }
        }
    }

    /// Where the page wanted to go is no other page if it is a file to be saved.
    async fn tell_files_from_pages(&mut self) -> Result<(), RenderFailure> {
        let Some(url) = self.rendered.redirect.clone() else { return Ok(()) };
        let (source, wanted) = (self.source.clone(), Wanted::head_of(url.clone(), self.settings));
        let answered = timeout_at(self.deadline, source.get(wanted)).await;
        if answered.is_ok_and(|served| served.is_file()) {
            self.rendered.redirect = None;
            self.see(url, FoundBy::Download);
        }
        Ok(())
    }

    /// Waits for what is to be waited for.
    async fn wait(&mut self) -> Result<(), RenderFailure> {
        match &self.settings.wait {
            Wait::Clock(time) => self.run_clock(*time).await,
            Wait::Idle => self.wait_until_idle().await,
            Wait::Selector(selector) => {
                self.run_clock(PAGE_CLOCK).await?;
                let is_there = format!("document.querySelector({}) !== null", json!(selector));
                while self.evaluate(&is_there).await? != Value::Bool(true) {
                    self.run_clock(CLOCK_OF_A_STEP).await?;
                }
                Ok(())
            }
        }
    }

    async fn wait_until_idle(&mut self) -> Result<(), RenderFailure> {
        for _ in 0..IDLE_STEPS_MAX {
            let before = self.requests;
            self.run_clock(CLOCK_OF_A_STEP).await?;
            if self.requests == before {
                break;
            }
        }
        Ok(())
    }

    /// Scrolls to the end, until there is no more.
    async fn scroll(&mut self) -> Result<(), RenderFailure> {
        const SCROLL: &str = "{ const end = document.scrollingElement ?? document.body; end.scrollTop = end.scrollHeight; \
                              dispatchEvent(new Event('scroll')); end.scrollHeight }";
        let mut height = Value::Null;
        for _ in 0..SCROLLS_MAX {
            let now = self.evaluate(SCROLL).await?;
            if now == height {
                break;
            }
            height = now;
            self.run_clock(CLOCK_OF_A_STEP).await?;
        }
        Ok(())
    }

    /// A picture of the page.
    async fn screenshot(&mut self) -> Result<Bytes, RenderFailure> {
        const METHOD: &str = "Page.captureScreenshot";
        let metrics = self.send_and_attend("Page.getLayoutMetrics", json!({})).await?;
        let side = |name: &str| metrics["cssContentSize"][name].as_f64().unwrap_or(0.0).max(1.0);
        let (width, height) = (side("width").min(SCREENSHOT_WIDTH_MAX), side("height").min(SCREENSHOT_HEIGHT_MAX));
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
        let asked = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let taken = self.send_and_attend(METHOD, asked).await?;
        let png = BASE64.decode(taken["data"].as_str().unwrap_or_default().as_bytes());
        png.map(Bytes::from).map_err(|error| RenderFailure::Protocol { method: METHOD, answer: error.to_string() })
    }

    /// Clicks what looks like it, and notes what links come of it.
    async fn click(&mut self) -> Result<(), RenderFailure> {
        let before: HashSet<String> = strings(self.evaluate("argiopeCrawler.links()").await?);
        let clicks = self.evaluate(&format!("argiopeCrawler.click({})", self.settings.clicks_max)).await?;
        if clicks.as_u64().unwrap_or(0) == 0 {
            return Ok(());
        }
        self.run_clock(CLOCK_AFTER_CLICKS).await?;
        let after = strings(self.evaluate("argiopeCrawler.links()").await?);
        let mut new: Vec<String> = after.difference(&before).cloned().collect();
        new.sort_unstable();
        new.into_iter().for_each(|url| self.see(url, FoundBy::Click));
        Ok(())
    }

    /// Lets the page's clock run, and waits until it stops: fast where the page waits for it, not at all while the page waits for an answer.
    async fn run_clock(&mut self, time: Duration) -> Result<(), RenderFailure> {
        let budget = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let policy = json!({"policy": "pauseIfNetworkFetchesPending", "budget": budget});
        self.has_clock_stopped = false;
        self.send_and_attend("Emulation.setVirtualTimePolicy", policy).await?;
        while !self.has_clock_stopped {
            let next = self.next().await?;
            self.attend(next).await?;
        }
        Ok(())
    }

    /// The value of an expression in the page.
    async fn evaluate(&mut self, expression: &str) -> Result<Value, RenderFailure> {
        let parameters = json!({"expression": expression, "returnByValue": true});
        let mut answer = self.send_and_attend("Runtime.evaluate", parameters).await?;
        if answer.get("exceptionDetails").is_some() {
            let answer = answer["exceptionDetails"].to_string();
            return Err(RenderFailure::Protocol { method: "Runtime.evaluate", answer });
        }
        Ok(answer["result"]["value"].take())
    }

    /// Sends a command, and answers what the page asks for until it is done.
    async fn send_and_attend(&mut self, method: &'static str, parameters: Value) -> Result<Value, RenderFailure> {
        let (connection, session) = (self.connection.clone(), self.session.clone());
        let call = async move { connection.call(Some(&session), method, parameters).await };
        tokio::pin!(call);
        loop {
            // What is taken is always seen to: an answer to the command may come at any moment.
            let next = tokio::select! {
                answer = &mut call => return answer,
                next = self.next() => next?,
            };
            self.attend(next).await?;
        }
    }

    /// One event, or one answer for the page. Nothing is lost when this is dropped.
    async fn next(&mut self) -> Result<Next, RenderFailure> {
        tokio::select! {
            event = self.events.next() => event.map(Next::Event),
            // The tab holds a sender, so there is always one to come.
            Some(answer) = self.answers.1.recv() => Ok(Next::Answer(answer)),
        }
    }

    async fn attend(&mut self, next: Next) -> Result<(), RenderFailure> {
        match next {
            Next::Event(event) => self.take(event).await,
            Next::Answer(answer) => self.answer(answer).await,
        }
    }

    async fn take(&mut self, mut event: Value) -> Result<(), RenderFailure> {
        let mut parameters = event["params"].take();
        match event["method"].as_str().unwrap_or_default() {
            "Fetch.requestPaused" => self.requested(&mut parameters).await?,
            "Network.webSocketCreated" => self.rendered.refused.count(Refusal::WebSocket),
            "Emulation.virtualTimeBudgetExpired" => self.has_clock_stopped = true,
            "Inspector.targetCrashed" | "Inspector.detached" => return Err(RenderFailure::Crashed),
            "Page.javascriptDialogOpening" => {
                // Nobody is there to answer; what asks whether to stay is left.
                let accept = json!({"accept": parameters["type"] == "beforeunload"});
                self.connection.tell(&self.session, "Page.handleJavaScriptDialog", accept).await?;
            }
            "Runtime.executionContextCreated" => {
                let context = &parameters["context"];
                if context["auxData"]["frameId"].as_str() == Some(&self.frame) {
                    self.contexts.extend(context["id"].as_i64());
                }
            }
            "Runtime.bindingCalled" => {
                let is_page = parameters["executionContextId"].as_i64().is_some_and(|id| self.contexts.contains(&id));
                self.saw(parameters["payload"].as_str().unwrap_or_default(), is_page);
            }
            _ => {}
        }
        Ok(())
    }

    /// A page, or a frame in it, says that it wants to go somewhere. It may say anything, but no frame moves the page.
    fn saw(&mut self, payload: &str, is_page: bool) {
        let Ok([by, url]) = serde_json::from_str::<[String; 2]>(payload) else { return };
        match by.as_str() {
            "click" => self.see(url, FoundBy::Click),
            "history" => self.see(url, FoundBy::History),
            "window" => self.see(url, FoundBy::Window),
            "download" => self.see(url, FoundBy::Download),
            "navigation" if is_page => self.redirected(url),
            _ => {}
        }
    }

    fn see(&mut self, url: String, by: FoundBy) {
        let found = ScriptLink { url, by };
        let is_http = found.url.starts_with("http://") || found.url.starts_with("https://");
        let is_http = is_http && !found.url.contains(char::is_control);
        if is_http && self.seen.len() < FOUND_MAX && self.seen.insert(found.clone()) {
            self.rendered.found.push(found);
        }
    }

    fn redirected(&mut self, url: String) {
        let is_http = url.starts_with("http://") || url.starts_with("https://");
        if is_http && self.rendered.redirect.is_none() && url.split('#').next() != Some(self.page.url.as_str()) {
            self.rendered.redirect = Some(url);
        }
    }

    /// Sees to a request of the page.
    async fn requested(&mut self, parameters: &mut Value) -> Result<(), RenderFailure> {
        let request = parameters["requestId"].take();
        let is_document = parameters["resourceType"] == "Document";
        if is_document && parameters["frameId"].as_str() == Some(&self.frame) {
            return self.page_requested(request, parameters).await;
        }
        let wanted = match paused::wanted(parameters, self.settings) {
            None => return self.refuse(request).await,
            Some(Ok(_)) if self.requests >= self.settings.requests_max => Err(Refusal::TooMany),
            Some(wanted) => wanted,
        };
        let wanted = match wanted {
            Err(refusal) => return self.answer(PausedAnswer { request, served: Served::Refused(refusal) }).await,
            Ok(wanted) => wanted,
        };
        if wanted.is_stream() && !self.streams.insert(wanted.url.clone()) {
            // It is not asked for again (HTML, 9.2.1).
            let served = Served::Answer { status: 204, headers: Headers::default(), body: Bytes::new() };
            return self.answer(PausedAnswer { request, served }).await;
        }
        self.ask(request, wanted, None);
        Ok(())
    }

    /// Sees to a request for what is to be in place of the page: the page itself, perhaps again, or another.
    async fn page_requested(&mut self, request: Value, parameters: &Value) -> Result<(), RenderFailure> {
        let url = parameters["request"]["url"].as_str().unwrap_or_default().split('#').next().unwrap_or_default();
        let is_get = parameters["request"]["method"] == Method::Get.as_str();
        let is_first = self.loads == 0;
        if !is_get || !(is_first || (url == self.page.url.as_str() && self.loads < LOADS_MAX)) {
            // What page.js could not hold back: a refresh, a form. The page stays.
            self.redirected(url.to_owned());
            return self.fail(request, "Aborted").await;
        }
        self.loads += 1;
        let Page { status, mut headers, body, .. } = self.page.clone();
        headers.0.retain(|(name, _)| !name.eq_ignore_ascii_case("content-disposition"));
        let page = Served::Answer { status, headers, body };
        match paused::wanted(parameters, self.settings) {
            // It may say something else to those who have its cookies.
            Some(Ok(wanted)) if !is_first => self.ask(request, wanted, Some(page)),
            _ => self.answer(PausedAnswer { request, served: page }).await?,
        }
        Ok(())
    }

    /// Asks the source. What it refuses is refused, unless there is something else to give.
    fn ask(&mut self, request: Value, wanted: Wanted, instead: Option<Served>) {
        self.requests += 1;
        let (source, answers) = (self.source.clone(), self.answers.0.clone());
        let time_max = self.settings.page_time_max / 2;
        tokio::spawn(async move {
            let served = tokio::time::timeout(time_max, source.get(wanted)).await;
            let served = match (served.unwrap_or(Served::Refused(Refusal::NoAnswer)), instead) {
                (Served::Refused(_), Some(instead)) => instead,
                (served, _) => served,
            };
            // The page may be gone.
            let _ = answers.send(PausedAnswer { request, served }).await;
        });
    }

    async fn refuse(&self, request: Value) -> Result<(), RenderFailure> {
        self.fail(request, "BlockedByClient").await
    }

    async fn fail(&self, request: Value, reason: &str) -> Result<(), RenderFailure> {
        let parameters = json!({"requestId": request, "errorReason": reason});
        self.connection.tell(&self.session, "Fetch.failRequest", parameters).await
    }

    async fn answer(&mut self, PausedAnswer { request, served }: PausedAnswer) -> Result<(), RenderFailure> {
        let (status, headers, body) = match served {
            Served::Answer { status, headers, body } => (status, headers, body),
            Served::Refused(refusal) => {
                self.rendered.refused.count(refusal);
                return self.refuse(request).await;
            }
        };
        self.rendered.served += 1;
        /// What is about the connection, or about the coding that the body has no more.
        const DROPPED: [&str; 5] =
            ["content-encoding", "content-length", "transfer-encoding", "connection", "strict-transport-security"];
        let headers = headers.0.into_iter().filter(|(name, _)| !DROPPED.contains(&name.to_ascii_lowercase().as_str()));
        let headers: Vec<Value> = headers.map(|(name, value)| json!({"name": name, "value": value})).collect();
        let parameters = json!({
            "requestId": request,
            "responseCode": status,
            "responseHeaders": headers,
            "body": BASE64.encode(&body),
        });
        self.connection.tell(&self.session, "Fetch.fulfillRequest", parameters).await
    }

    /// Closes the tab, whatever is in it.
    pub(crate) async fn close(self) {
        // A browser that has ended has closed it.
        let _ = self.connection.call(None, "Target.closeTarget", json!({"targetId": self.target})).await;
        let context = json!({"browserContextId": self.context});
        let _ = self.connection.call(None, "Target.disposeBrowserContext", context).await;
    }
}

/// What is to be attended to.
enum Next {
    Event(Value),
    Answer(PausedAnswer),
}

fn strings(value: Value) -> HashSet<String> {
    let Value::Array(values) = value else { return HashSet::new() };
    values.into_iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}
