//! One page, shown once in a tab of its own, with cookies and storage of its own.

mod behaviours;
mod clock;
mod cookies;
mod custom;
mod frames;
mod order;
mod parts;
mod pictures;
mod requests;
mod storage;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use model::{LeftOut, Method, Refusal};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use self::frames::Frames;
use self::order::Order;
use self::parts::Parts;
use self::requests::{Given, Late, Paused, PausedAnswer};
use crate::browser::Browser;
use crate::connection::{Connection, Events};
use crate::paused::{all_requests, attaching};
use crate::{FoundBy, Page, RenderFailure, Rendered, ScriptLink, Served, Settings, Source, Wanted};

/// What runs in every document before its own scripts.
const SCRIPT: &str = concat!(
    include_str!("page.js"),
    include_str!("waits.js"),
    include_str!("document.js"),
    include_str!("behaviours.js")
);
/// What the page calls to say what it saw.
const BINDING: &str = "argiopeSaw";
/// URLs that a page may say it saw.
const FOUND_MAX: usize = 10_000;
/// What a page goes on doing after this part of its time is not waited for.
const LOOKED_AT_AFTER: (u32, u32) = (3, 4);
/// Answers that are given to a page at a time.
const ANSWERS_WAITING_MAX: usize = 64;

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
    frames: Frames<'a>,
    events: Events,
    answers: (mpsc::Sender<PausedAnswer>, mpsc::Receiver<PausedAnswer>),
    order: Order<PausedAnswer>,
    seen: HashSet<ScriptLink>,
    /// The script contexts of the page itself, not of its frames.
    contexts: HashSet<i64>,
    rendered: Rendered,
    /// What of the page only clicks have shown.
    parts: Parts,
    unloaded_bytes: usize,
    requests: u32,
    /// Requests that have no answer yet.
    waiting: u32,
    /// Requests without an answer of which the page does not know yet.
    late: Vec<Late>,
    /// The streams of events that were requested.
    streams: HashSet<String>,
    /// How often the page itself was given.
    loads: u32,
    has_clicked: bool,
    /// While the page is loaded again to be as it was: how often it was given since.
    restoring: Option<u32>,
    /// What the page got.
    given: HashMap<Given, Served>,
    /// Its time is not that of the machine any more.
    has_clock: bool,
    has_clock_stopped: bool,
    /// Steps of its clock while it was busy.
    busy_steps: u32,
    /// How much longer workers are waited for, by the clock of the machine.
    worker_time: Duration,
    /// When the page is looked at as it is.
    deadline: Instant,
    /// When what is done at present is over.
    limit: Instant,
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
        let events = connection.events(&session, context.as_str().unwrap_or_default());
        let frame = target.as_str().unwrap_or_default().to_owned();
        let tab = Tab {
            connection,
            settings,
            page,
            source,
            frames: Frames::new(&page.url, &frame),
            frame,
            context,
            target,
            session,
            events,
            answers: mpsc::channel(ANSWERS_WAITING_MAX),
            order: Order::new(),
            seen: HashSet::new(),
            contexts: HashSet::new(),
            rendered: Rendered::default(),
            parts: Parts::default(),
            unloaded_bytes: 0,
            requests: 0,
            waiting: 0,
            late: Vec::new(),
            streams: HashSet::new(),
            loads: 0,
            has_clicked: false,
            restoring: None,
            given: HashMap::new(),
            has_clock: false,
            has_clock_stopped: false,
            busy_steps: 0,
            worker_time: settings.wait.for_workers(),
            limit: Instant::now() + settings.page_time_max,
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
        self.call("Target.setAutoAttach", attaching(&["worker", "service_worker"])).await?;
        self.call("Runtime.addBinding", json!({"name": BINDING})).await?;
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": SCRIPT})).await?;
        if !self.settings.user_agent.is_empty() {
            let agent = json!({"userAgent": self.settings.user_agent});
            self.call("Emulation.setUserAgentOverride", agent).await?;
        }
        self.set_window().await?;
        self.give_cookies().await?;
        self.give_storage().await?;
        self.call("Fetch.enable", all_requests()).await?;
        Ok(())
    }

    async fn call(&self, method: &'static str, parameters: Value) -> Result<Value, RenderFailure> {
        self.connection.call(Some(&self.session), method, parameters).await
    }

    /// Shows the page, and gives what is seen of it.
    pub(crate) async fn render(&mut self) -> Result<Rendered, RenderFailure> {
        self.send_and_attend("Page.navigate", json!({"url": self.page.url.as_str()})).await?;
        self.wait_in_time().await?;
        if self.page.is_xml() && self.evaluate("argiopeCrawler.isMalformed()").await? == Value::Bool(true) {
            return Err(RenderFailure::Malformed);
        }
        if self.settings.scroll {
            self.scroll_in_time().await?;
        }
        self.play_in_time().await?;
        self.tell_files_from_pages().await?;
        self.take_document().await?;
        match self.act().await {
            // What it has shown is kept.
            Err(RenderFailure::Timeout(_)) => self.rendered.left_out.count(LeftOut::Time),
            acted => self.forgive(acted.map(|()| true))?,
        }
        self.parts.add_to(&mut self.rendered.html, self.settings.html_bytes_max);
        Ok(std::mem::take(&mut self.rendered))
    }

    /// What is done on a page once its document is taken: pictures, clicks, scripts of the user's.
    async fn act(&mut self) -> Result<(), RenderFailure> {
        self.look_for_router().await?;
        if self.settings.scroll {
            self.note_passed().await?;
        }
        self.take_pictures().await?;
        if self.rendered.redirect.is_none() && self.settings.clicks_max > 0 {
            self.click_in_time().await?;
            self.look_for_router().await?;
        }
        if self.rendered.redirect.is_none() {
            self.run_behaviours().await?;
        }
        Ok(())
    }

    async fn look_for_router(&mut self) -> Result<(), RenderFailure> {
        match self.evaluate("globalThis.argiopeCrawler?.hasRouter()").await {
            // The page has gone.
            Err(RenderFailure::Protocol { .. }) => Ok(()),
            has_router => {
                self.rendered.has_router |= has_router? == Value::Bool(true);
                Ok(())
            }
        }
    }

    /// Takes the document as it is now.
    async fn take_document(&mut self) -> Result<(), RenderFailure> {
        let max = self.settings.html_bytes_max;
        let url = json!(self.page.url.without_route());
        let html = self.evaluate(&format!("argiopeCrawler.html({url}, {max})")).await?;
        let html = html.as_str().unwrap_or_default();
        // There is none while a script keeps the page from answering, with dialogs for example.
        if html.is_empty() {
            return Err(RenderFailure::Timeout(self.settings.page_time_max));
        }
        if html.len() > max {
            return Err(RenderFailure::TooLarge(max));
        }
        html.clone_into(&mut self.rendered.html);
        Ok(())
    }

    /// Where the page wanted to go is no other page if it is a file to be saved, or nothing (HTML, 7.4.5), or if nobody answers there: what
    /// the page shows is all that there is.
    async fn tell_files_from_pages(&mut self) -> Result<(), RenderFailure> {
        let Some(url) = self.rendered.redirect.clone() else { return Ok(()) };
        let mut served = self.probe(&url, Method::Head).await;
        // Some servers close on HEAD, or stay silent.
        if matches!(served, Some(Served::Refused(Refusal::NoAnswer))) {
            served = self.probe(&url, Method::Get).await.or(served);
        }
        match served {
            Some(Served::Answer { status: 204 | 205, .. }) => self.rendered.redirect = None,
            Some(served) if served.is_file() => {
                self.rendered.redirect = None;
                self.see(url, FoundBy::Download);
            }
            Some(Served::Refused(Refusal::NoAnswer)) => {
                self.rendered.redirect = None;
                self.see(url, FoundBy::Unanswered);
            }
            _ => {}
        }
        Ok(())
    }

    /// What a URL gives to the page; `None` if that is not known in time.
    async fn probe(&self, url: &str, method: Method) -> Option<Served> {
        let wanted = Wanted::probe(url.to_owned(), method, self.settings);
        timeout_at(self.deadline, self.source.get(wanted)).await.ok()
    }

    /// The value of an expression in the page, or that of the promise that it gives.
    async fn evaluate(&mut self, expression: &str) -> Result<Value, RenderFailure> {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.send_and_attend("Runtime.evaluate", parameters).await?;
        if answer.get("exceptionDetails").is_some() {
            let details = &answer["exceptionDetails"];
            let description = details["exception"]["description"].as_str().map(str::to_owned);
            let answer = description.unwrap_or_else(|| details.to_string());
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

    /// Begins something that is to be over at a time. Gives when what is done besides is over.
    fn begin(&mut self, limit: Instant) -> Instant {
        let limit = limit.min(self.limit);
        std::mem::replace(&mut self.limit, limit)
    }

    /// Ends it. Gives whether it was done in time.
    fn end(&mut self, before: Instant, done: Result<(), RenderFailure>) -> Result<bool, RenderFailure> {
        self.limit = before;
        match done {
            Err(RenderFailure::Timeout(_)) => Ok(false),
            done => done.map(|()| true),
        }
    }

    /// Counts what was not done to its end: the time was over, or a script of the page broke it.
    fn forgive(&mut self, done: Result<bool, RenderFailure>) -> Result<(), RenderFailure> {
        match done {
            Ok(true) => {}
            Ok(false) => self.rendered.left_out.count(LeftOut::Time),
            Err(RenderFailure::Protocol { .. }) => self.rendered.left_out.count(LeftOut::Gone),
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// One event, or one answer for the page, unless what is done is over. Nothing is lost when this is dropped.
    async fn next(&mut self) -> Result<Next, RenderFailure> {
        tokio::select! {
            () = sleep_until(self.limit) => Err(RenderFailure::Timeout(self.settings.page_time_max)),
            event = self.events.next() => event.map(Next::Event),
            () = sleep_until(self.order.until().unwrap_or(self.limit)), if self.order.until().is_some() => Ok(Next::Overdue),
            // The tab holds a sender, so there is always one to come.
            Some(answer) = self.answers.1.recv() => Ok(Next::Answer(answer)),
        }
    }

    async fn attend(&mut self, next: Next) -> Result<(), RenderFailure> {
        match next {
            Next::Event(event) => self.take(event).await,
            Next::Answer(answer) => {
                let due = match answer.turn {
                    Some(turn) => self.order.came(turn, answer, Instant::now()),
                    None => Some(answer),
                };
                self.answer_all(due).await
            }
            Next::Overdue => {
                let overdue = self.order.overdue();
                self.answer_all(overdue).await
            }
        }
    }

    async fn answer_all(&mut self, answers: impl IntoIterator<Item = PausedAnswer>) -> Result<(), RenderFailure> {
        let mut answers = VecDeque::from_iter(answers);
        while let Some(answer) = answers.pop_front() {
            self.waiting -= 1;
            if answer.turn.is_some() {
                self.order.given(answer.request.network.clone());
            }
            let Some(left) = answer.late else {
                self.answer(answer).await?;
                continue;
            };
            answers.extend(self.order.loaded(&answer.request.network, Instant::now()));
            self.late.push(Late { request: answer.request, left });
            if !self.has_clock_stopped {
                self.tell_clock_to_go_on().await?;
            }
        }
        Ok(())
    }

    async fn take(&mut self, mut event: Value) -> Result<(), RenderFailure> {
        let mut parameters = event["params"].take();
        let method = event["method"].as_str().unwrap_or_default();
        let of_worker = event["sessionId"].as_str().filter(|session| *session != self.session);
        if method != "Fetch.requestPaused" && method != "Target.attachedToTarget" && of_worker.is_some() {
            return Ok(());
        }
        match method {
            "Fetch.requestPaused" => {
                let session = event["sessionId"].as_str().map(str::to_owned);
                let network = parameters["networkId"].as_str().unwrap_or_default().to_owned();
                let request = Paused { id: parameters["requestId"].take(), session, network };
                self.requested(request, &parameters).await?;
            }
            "Target.attachedToTarget" => {
                let worker = parameters["sessionId"].as_str();
                let url = parameters["targetInfo"]["url"].as_str().unwrap_or_default();
                self.frames.started(worker.unwrap_or_default(), url);
                self.events.hear(worker.unwrap_or_default());
                self.connection.tell(worker, "Fetch.enable", all_requests()).await?;
                self.connection.tell(worker, "Target.setAutoAttach", attaching(&["worker"])).await?;
                self.connection.tell(worker, "Runtime.runIfWaitingForDebugger", json!({})).await?;
            }
            "Target.targetCreated" => {
                let name = |field: &str| parameters["targetInfo"][field].as_str().unwrap_or_default();
                self.frames.attached(name("targetId"), name("parentFrameId"));
            }
            "Page.frameAttached" => {
                let name = |field: &str| parameters[field].as_str().unwrap_or_default();
                self.frames.attached(name("frameId"), name("parentFrameId"));
            }
            "Page.frameNavigated" => {
                let field = |name: &str| parameters["frame"][name].as_str().unwrap_or_default();
                self.frames.navigated(field("id"), field("securityOrigin"));
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let request = parameters["requestId"].as_str().unwrap_or_default();
                let next = self.order.loaded(request, Instant::now());
                self.answer_all(next).await?;
            }
            "Network.webSocketCreated" => self.rendered.refused.count(Refusal::WebSocket),
            "Emulation.virtualTimeBudgetExpired" => self.has_clock_stopped = true,
            "Inspector.targetCrashed" | "Inspector.detached" => return Err(RenderFailure::Crashed),
            "Page.javascriptDialogOpening" => {
                // Nobody is there to answer; what asks whether to stay is left.
                let accept = json!({"accept": parameters["type"] == "beforeunload"});
                self.connection.tell(Some(&self.session), "Page.handleJavaScriptDialog", accept).await?;
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
        let Some((by, url)) = payload.split_once(' ') else { return };
        let url = url.to_owned();
        match by {
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
        if is_http && self.rendered.redirect.is_none() && url.split('#').next() != Some(self.page.url.without_route()) {
            self.rendered.redirect = Some(url);
        }
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
    /// Answers have waited long enough for those before them.
    Overdue,
}
