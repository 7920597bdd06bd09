//! One page, shown once in a tab of its own, with cookies and storage of its own.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use model::Headers;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use weburl::CanonicalUrl;

use crate::browser::Browser;
use crate::connection::{Connection, Events};
use crate::{Kind, PAGE_CLOCK, RenderFailure, Served, Settings, Source, Wait, Wanted};

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
    /// The refused requests of the page.
    pub refused: u32,
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
    is_answered: bool,
    has_clock_stopped: bool,
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
            is_answered: false,
            has_clock_stopped: false,
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
        self.wait().await?;
        if self.settings.scroll {
            self.scroll().await?;
        }
        let max = self.settings.html_bytes_max;
        let html = self.evaluate(&format!("argiopeCrawler.html({max})")).await?;
        self.rendered.html = html.as_str().unwrap_or_default().to_owned();
        if self.rendered.html.len() > max {
            return Err(RenderFailure::TooLarge(max));
        }
        if self.settings.screenshot {
            self.rendered.screenshot = Some(self.screenshot().await?);
        }
        if self.rendered.redirect.is_none() && self.settings.clicks_max > 0 {
            self.click().await?;
        }
        Ok(std::mem::take(&mut self.rendered))
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
        let url = parameters["request"]["url"].as_str().unwrap_or_default();
        let url = url.split('#').next().unwrap_or_default().to_owned();
        let is_get = parameters["request"]["method"] == "GET";
        let kind = Kind::of(parameters["resourceType"].as_str().unwrap_or_default());
        let is_of_page = kind == Some(Kind::Document) && parameters["frameId"].as_str() == Some(&self.frame);
        if is_of_page {
            if !self.is_answered && is_get {
                self.is_answered = true;
                let Page { status, headers, body, .. } = self.page.clone();
                return self.answer(PausedAnswer { request, served: Served::Answer { status, headers, body } }).await;
            }
            // What page.js could not hold back: a refresh, a form.
            self.redirected(url);
            return self.refuse(request).await;
        }
        let is_http = url.starts_with("http://") || url.starts_with("https://");
        let is_had = is_get
            && is_http
            && !is_of_no_use(&parameters["request"]["headers"])
            && (kind != Some(Kind::Media) || self.settings.media);
        let Some(kind) = kind.filter(|_| is_had && self.requests < self.settings.requests_max) else {
            // What the browser wants by itself, an icon for example, is not of the page.
            self.rendered.refused += u32::from(kind.is_some());
            return self.refuse(request).await;
        };
        self.requests += 1;
        let (source, answers) = (self.source.clone(), self.answers.0.clone());
        tokio::spawn(async move {
            let served = source.get(Wanted { url, kind }).await;
            // The page may be gone.
            let _ = answers.send(PausedAnswer { request, served }).await;
        });
        Ok(())
    }

    async fn refuse(&self, request: Value) -> Result<(), RenderFailure> {
        let parameters = json!({"requestId": request, "errorReason": "BlockedByClient"});
        self.connection.tell(&self.session, "Fetch.failRequest", parameters).await
    }

    async fn answer(&mut self, PausedAnswer { request, served }: PausedAnswer) -> Result<(), RenderFailure> {
        let Served::Answer { status, headers, body } = served else {
            self.rendered.refused += 1;
            return self.refuse(request).await;
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

/// Whether a request adds nothing to what is seen: one for events, which have no end, or for a page that may be wanted later.
fn is_of_no_use(headers: &Value) -> bool {
    let Value::Object(fields) = headers else { return false };
    fields.iter().any(|(name, value)| match name.to_ascii_lowercase().as_str() {
        "accept" => value == "text/event-stream",
        "purpose" | "sec-purpose" => value.as_str().is_some_and(|purpose| purpose.contains("prefetch")),
        _ => false,
    })
}

fn strings(value: Value) -> HashSet<String> {
    let Value::Array(values) = value else { return HashSet::new() };
    values.into_iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}
