//! The servers of the synthetic web and the network before them: a task goes in, its end comes out, with how long it took.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use model::{
    Exchange, Failure, FailureKind, FetchOutcome, FetchTask, Fetched, Headers, Limits, Method, Purpose, Resolved,
    Response, Timestamp, Truncation, Validators,
};
use weburl::{CanonicalUrl, Site};

use crate::outage::{Kind, Outage};
use crate::rng::Rng;
use crate::time::{SkewedClock, TrueTime};
use crate::web::{self, AlwaysFails, Busy, Fault, Html, Name, Reach, Reply, Robots, RobotsReply, Web};

/// How long what a name resolves to holds.
const HOLDS: [Duration; 3] = [Duration::from_secs(60), Duration::from_secs(3_600), Duration::from_secs(86_400)];

/// The servers, with what they remember.
#[derive(Debug, Default)]
pub struct Servers {
    outages: Vec<Outage>,
    /// The network answers all requests with validators in their place, by 304.
    says_unmodified: bool,
    requests: BTreeMap<String, usize>,
    lookups: BTreeMap<String, u32>,
}

/// What a task came to, as the server sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// An answer that will not change.
    Final,
    /// Busy: come again.
    Busy {
        /// After how long.
        retry_after: Option<Duration>,
    },
    /// No answer; the next request may have one.
    Failed,
    /// Nobody is there; later somebody may be.
    Refused,
}

/// An exchange that has been begun: its end lies in the future.
#[derive(Debug)]
pub struct Exchanged {
    /// When it ends.
    pub end: TrueTime,
    /// What the crawler gets then.
    pub outcome: FetchOutcome,
    /// What it was.
    pub served: Served,
    /// It fell into an outage.
    pub in_outage: bool,
}

/// A message before it has a time.
enum Message {
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8>, breaks: bool },
    Busy(Busy),
    Fails(FailureKind, &'static str),
}

impl Servers {
    /// Servers, with the times when they do not answer. `says_unmodified`: all that is asked for with validators has not changed.
    #[must_use]
    pub fn new(outages: &[Outage], says_unmodified: bool) -> Self {
        Servers { outages: outages.to_vec(), says_unmodified, ..Servers::default() }
    }

    /// What comes of a request now, if the site or the way to it is out of order.
    fn out_of_order(&self, site: &str, purpose: Purpose, now: TrueTime) -> Option<Message> {
        let busy = || Message::Busy(Busy { status: 503, retry_after_s: None, as_date: false });
        self.outages.iter().filter(|outage| outage.lasts(now)).find_map(|outage| match &outage.kind {
            Kind::OwnNetwork { is_silent: true } => Some(Message::Fails(FailureKind::Timeout, "connect timeout")),
            Kind::OwnNetwork { .. } => Some(Message::Fails(FailureKind::Connect, "connect: network is unreachable")),
            Kind::Refuses(text) if text == site => Some(Message::Fails(FailureKind::Connect, "connect: refused")),
            Kind::Silent(text) if text == site => Some(Message::Fails(FailureKind::Timeout, "total timeout")),
            Kind::Busy(text) if text == site => Some(busy()),
            Kind::Robots(text) if text == site && purpose == Purpose::Robots => Some(busy()),
            _ => None,
        })
    }

    /// Whether the name of a site cannot be asked for now.
    fn is_nameless(&self, site: &str, now: TrueTime) -> bool {
        self.outages.iter().filter(|outage| outage.lasts(now)).any(|outage| match &outage.kind {
            Kind::OwnNetwork { .. } => true,
            Kind::NameServer(text) => text == site,
            _ => false,
        })
    }

    /// The addresses of a site's name.
    ///
    /// # Errors
    /// As the web has it.
    pub fn resolve(&mut self, web: &Web, site: &Site, now: TrueTime) -> Result<Resolved, Failure> {
        let failure = |kind, detail: &str| Failure { kind, detail: detail.to_owned() };
        if self.is_nameless(site.as_str(), now) {
            return Err(failure(FailureKind::NameServer, "no answer"));
        }
        let Some(plan) = web.sites.get(site.as_str()) else {
            return Err(failure(FailureKind::NameNotFound, "no such name"));
        };
        let lookups = self.lookups.entry(site.as_str().to_owned()).or_default();
        *lookups += 1;
        match plan.name {
            Name::NotFound => Err(failure(FailureKind::NameNotFound, "no such name")),
            Name::Found { failures_first } if *lookups > failures_first => {
                let holds = HOLDS[usize::try_from(*lookups).unwrap_or_default() % HOLDS.len()];
                Ok(Resolved { addresses: plan.addresses.clone(), holds })
            }
            Name::Found { .. } | Name::ServerFails => Err(failure(FailureKind::NameServer, "no answer")),
        }
    }

    /// Begins the exchanges of a task.
    pub fn fetch(
        &mut self,
        web: &Web,
        rng: &mut Rng,
        task: &FetchTask,
        start: TrueTime,
        clock: SkewedClock,
    ) -> Exchanged {
        let url = task.url.as_str();
        let out_of_order = self.out_of_order(web::site_text(url), task.purpose, start);
        let in_outage = out_of_order.is_some();
        let message = out_of_order.unwrap_or_else(|| self.message(web, task));
        let pace = web.site_of(url).map_or(1, |(_, site)| site.pace_ms);
        let took = duration(rng, &message, pace);
        let end = start + took;
        let (started_at, finished_at) = (clock.at(start), clock.at(end));
        let (fetched, exchange, served) = deliver(message, &task.url, task, started_at, finished_at);
        let outcome = FetchOutcome {
            id: task.id,
            url: task.url.clone(),
            exchanges: exchange.into_iter().collect(),
            fetched,
            rendering: None,
            started_at,
            finished_at,
            response_time: took,
        };
        Exchanged { end, outcome, served, in_outage }
    }

    fn message(&mut self, web: &Web, task: &FetchTask) -> Message {
        let url = task.url.as_str();
        let Some((text, site)) = web.site_of(url) else { return Message::Fails(FailureKind::Connect, "no such host") };
        match site.reach {
            Reach::Refuses => return Message::Fails(FailureKind::Connect, "connect: refused"),
            Reach::Silent => return Message::Fails(FailureKind::Timeout, "total timeout"),
            Reach::Answers => {}
        }
        let seen = self.requests.entry(url.to_owned()).or_default();
        *seen += 1;
        let before = *seen - 1;
        let page = web.pages.get(url);
        let faults = match task.purpose {
            Purpose::Robots => &site.robots.faults[..],
            _ => page.map_or(&[][..], |page| &page.faults),
        };
        if let Some(fault) = faults.get(before) {
            return match fault {
                Fault::Lost => Message::Fails(FailureKind::Timeout, "total timeout"),
                Fault::Broken => Message::Fails(FailureKind::Disconnected, "connection reset"),
                Fault::Refused => Message::Fails(FailureKind::Connect, "connect: refused"),
                Fault::Busy(busy) => Message::Busy(*busy),
            };
        }
        let answers = *seen;
        let is_unmodified = |sent: &Validators| self.says_unmodified || web.says_unmodified(url, sent);
        match (task.purpose, page) {
            (Purpose::Robots, _) => robots_message(text, &site.robots),
            (_, None) => not_found(404),
            (_, Some(_)) if !web.is_gone(url) && task.validators().is_some_and(is_unmodified) => {
                Message::Answer { status: 304, headers: Vec::new(), body: Vec::new(), breaks: false }
            }
            (_, Some(page)) => with_validators(page_message(&page.reply), web.validators(url, answers)),
        }
    }
}

/// The answer with the validators of its page.
fn with_validators(mut message: Message, Validators { etag, last_modified }: Validators) -> Message {
    if let Message::Answer { status: 200, headers, .. } = &mut message {
        headers.extend(etag.map(|value| ("ETag", value)));
        headers.extend(last_modified.map(|value| ("Last-Modified", value)));
    }
    message
}

fn duration(rng: &mut Rng, message: &Message, pace_ms: u64) -> Duration {
    if matches!(message, Message::Fails(FailureKind::Timeout, _)) {
        return Limits::default().total_timeout;
    }
    let slowness = if rng.chance(20) { 20 } else { 1 };
    Duration::from_micros(1 + rng.between(pace_ms * 500, pace_ms * 2_000) * slowness)
        .min(Limits::default().total_timeout)
}

fn not_found(status: u16) -> Message {
    let headers = vec![("Content-Type", "text/html".to_owned())];
    Message::Answer { status, headers, body: b"<p>an error</p>".to_vec(), breaks: false }
}

fn robots_message(text: &str, robots: &Robots) -> Message {
    match &robots.reply {
        RobotsReply::Status(status) => return not_found(*status),
        RobotsReply::Rules => {}
        RobotsReply::RedirectTo(other) => {
            let headers = vec![("Location", format!("{other}/robots.txt"))];
            return Message::Answer { status: 302, headers, body: Vec::new(), breaks: false };
        }
    }
    let mut body = format!("# {text}\nUser-agent: otherbot\nDisallow: /\n\nUser-agent: *\n");
    let lines = robots.disallow.iter().map(|path| ("Disallow", path));
    for (word, path) in lines.chain(robots.allow.iter().map(|path| ("Allow", path))) {
        let _ = writeln!(body, "{word}: {path}");
    }
    if let Some(delay) = robots.crawl_delay {
        let _ = writeln!(body, "Crawl-delay: {delay}");
    }
    for sitemap in &robots.sitemaps {
        let _ = writeln!(body, "Sitemap: {sitemap}");
    }
    let headers = vec![("Content-Type", "text/plain".to_owned())];
    Message::Answer { status: 200, headers, body: body.into_bytes(), breaks: false }
}

/// The body of an answer; empty where there is none.
pub(crate) fn body_of(reply: &Reply) -> Vec<u8> {
    match page_message(reply) {
        Message::Answer { body, .. } => body,
        _ => Vec::new(),
    }
}

fn page_message(reply: &Reply) -> Message {
    let of = |content_type: &str, body: Vec<u8>, breaks| Message::Answer {
        status: 200,
        headers: vec![("Content-Type", content_type.to_owned())],
        body,
        breaks,
    };
    match reply {
        Reply::Html(html) => of("text/html; charset=utf-8", html_body(html), html.breaks_after.is_some()),
        Reply::Document(content) => of("application/pdf", format!("%PDF-1.4 {content}").into_bytes(), false),
        Reply::Image(content) => of("image/png", format!("\u{89}PNG {content}").into_bytes(), false),
        Reply::StyleSheet { needs, text } => of("text/css", style_sheet_body(needs, *text), false),
        Reply::Redirect { status, to } => {
            let headers = vec![("Location", to.href.clone())];
            Message::Answer { status: *status, headers, body: Vec::new(), breaks: false }
        }
        Reply::RedirectNowhere => Message::Answer { status: 302, headers: Vec::new(), body: Vec::new(), breaks: false },
        Reply::Status(status) => not_found(*status),
        Reply::AlwaysBusy(busy) => Message::Busy(*busy),
        Reply::AlwaysFails(AlwaysFails::Lost) => Message::Fails(FailureKind::Timeout, "total timeout"),
        Reply::AlwaysFails(AlwaysFails::Broken) => Message::Fails(FailureKind::Disconnected, "connection reset"),
        Reply::AlwaysFails(AlwaysFails::Garbage) => Message::Fails(FailureKind::Protocol, "not HTTP"),
        Reply::AlwaysFails(AlwaysFails::HugeHead) => Message::Fails(FailureKind::HeadTooLarge, "head too large"),
        Reply::Sitemap(urls) => of("application/xml", sitemap_body("urlset", "url", urls), false),
        Reply::SitemapIndex(urls) => of("application/xml", sitemap_body("sitemapindex", "sitemap", urls), false),
    }
}

fn html_body(html: &Html) -> Vec<u8> {
    let mut body = format!("<!doctype html><html><head><title>Page {}</title>", html.text);
    body.push_str(&html.furniture());
    if html.nofollow {
        body.push_str("<meta name=\"robots\" content=\"nofollow\">");
    }
    body.push_str("</head><body>");
    for link in html.links_sent() {
        let _ = write!(body, "<p><a href=\"{}\">a link</a>", link.href.replace('&', "&amp;"));
    }
    if html.breaks_after.is_none() {
        body.push_str("</body></html>");
    }
    body.into_bytes()
}

fn style_sheet_body(needs: &[String], text: u64) -> Vec<u8> {
    let (imports, images): (Vec<&String>, Vec<&String>) = needs.iter().partition(|url| url.ends_with(".css"));
    let imports = imports.iter().map(|url| format!("@import url(\"{url}\");"));
    let images = images.iter().map(|url| format!("body {{ background: url({url}) }}"));
    imports.chain(images).fold(format!("/* {text} */"), |all, one| all + &one).into_bytes()
}

fn sitemap_body(root: &str, entry: &str, urls: &[String]) -> Vec<u8> {
    let mut body = format!("<?xml version=\"1.0\"?><{root} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">");
    for url in urls {
        let _ = write!(body, "<{entry}><loc>{}</loc></{entry}>", url.replace('&', "&amp;"));
    }
    let _ = write!(body, "</{root}>");
    body.into_bytes()
}

fn deliver(
    message: Message,
    url: &CanonicalUrl,
    task: &FetchTask,
    started_at: Timestamp,
    finished_at: Timestamp,
) -> (Fetched, Option<Exchange>, Served) {
    match message {
        Message::Fails(kind, detail) => {
            let served = match kind {
                FailureKind::Protocol | FailureKind::HeadTooLarge => Served::Final,
                FailureKind::Connect => Served::Refused,
                _ => Served::Failed,
            };
            (Fetched::Failed(Failure { kind, detail: detail.to_owned() }), None, served)
        }
        Message::Busy(busy) => {
            let (retry_after, field) = retry_after(busy, finished_at);
            let headers = field.map(|value| ("Retry-After", value)).into_iter().collect();
            let (response, exchange) = answer(url, task, started_at, busy.status, headers, Vec::new(), false);
            (Fetched::Response(response), Some(exchange), Served::Busy { retry_after })
        }
        Message::Answer { status, headers, body, breaks } => {
            let temporary = status >= 500 && task.purpose == Purpose::Robots;
            let served = match temporary {
                true => Served::Busy { retry_after: None },
                // The next one may be whole.
                false if breaks => Served::Failed,
                false => Served::Final,
            };
            let (response, exchange) = answer(url, task, started_at, status, headers, body, breaks);
            (Fetched::Response(response), Some(exchange), served)
        }
    }
}

/// What is asked for, and the field that says so.
fn retry_after(busy: Busy, now: Timestamp) -> (Option<Duration>, Option<String>) {
    let Some(seconds) = busy.retry_after_s else { return (None, None) };
    if !busy.as_date {
        return (Some(Duration::from_secs(seconds)), Some(seconds.to_string()));
    }
    // Dates have whole seconds.
    let date = Duration::from_secs(now.0 / 1_000_000 + seconds);
    let text = httpdate::fmt_http_date(std::time::UNIX_EPOCH + date);
    (Some((Timestamp::default() + date).since(now)), Some(text))
}

fn answer(
    url: &CanonicalUrl,
    task: &FetchTask,
    at: Timestamp,
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    breaks: bool,
) -> (Response, Exchange) {
    let mut head = format!("HTTP/1.1 {status} Whatever\r\n");
    for (name, value) in &headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    let truncated = breaks.then_some(Truncation::Disconnect);
    let body = Bytes::from(body);
    let headers = Headers(headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    let exchange = exchange(task, url, at, head, body.clone(), truncated);
    (Response { status, headers, body, truncated, is_undecoded: false, note: None }, exchange)
}

fn exchange(
    task: &FetchTask,
    url: &CanonicalUrl,
    at: Timestamp,
    head: String,
    payload: Bytes,
    truncated: Option<Truncation>,
) -> Exchange {
    let port = url.site().port();
    Exchange {
        url: url.clone(),
        method: Method::Get,
        address: task.address.map(|address| SocketAddr::new(address, port)),
        started_at: at,
        request_head: format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", url.path_and_query(), url.host()).into(),
        request_body: Default::default(),
        response_head: head.into(),
        payload,
        truncated,
        redacted: Default::default(),
    }
}
