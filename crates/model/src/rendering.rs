//! The result of rendering an answer in a browser.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use weburl::UrlKey;

use crate::{Exchange, Limit, LimitSet, Pictures, Timestamp};

/// The result of rendering an answer in a browser.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// When it was rendered.
    pub at: Timestamp,
    /// The reason for rendering it, for people.
    pub evidence: String,
    /// The amount of content without a browser.
    pub before: Shown,
    /// The rendered page, or why the browser failed.
    pub document: Result<RenderedDocument, String>,
    /// The answered requests of the page.
    pub resources: Vec<Exchange>,
    /// The robots.txt files of their sites that had to be requested, with what they redirect to.
    pub robots: Vec<Exchange>,
    /// URLs of further answers that the page got: they were fetched for another page, or by the crawl, and recorded there.
    pub shared: Vec<UrlKey>,
    /// URLs of images, sound, video and fonts that the page requested where none are wanted.
    pub unloaded: Vec<String>,
    /// The requests of the page that got no answer.
    pub refused: Refusals,
    /// What was not clicked, not scrolled, not played.
    pub left_out: Tally<LeftOut>,
    /// What went wrong in scripts of the user's, with their names: an error, or no end in their time.
    pub script_errors: Vec<String>,
}

impl Rendering {
    /// Takes from another one, which is not recorded, the files that this page used without a request of its own, so they are recorded
    /// here. All robots.txt files are such: no page asks for them twice.
    pub fn take_shared(&mut self, unrecorded: Rendering) {
        let is_used = |exchange: &Exchange| self.shared.contains(&exchange.url.key());
        let used: Vec<Exchange> = unrecorded.resources.into_iter().filter(is_used).collect();
        self.shared.retain(|key| !used.iter().any(|exchange| exchange.url.key() == *key));
        self.resources.extend(used);
        self.robots.extend(unrecorded.robots);
    }
}

/// Why a page in a browser got no answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Its method is none that is sent: PUT, PATCH and DELETE ask to change something.
    Method,
    /// It has too many bytes, or the browser does not say what is in its body.
    Request,
    /// It is POST in the user's name, after something was clicked: nobody knows what the click does.
    Click,
    /// It sends a form: the page wants to be replaced by the answer to a POST.
    Form,
    /// It is for a connection that is no HTTP.
    WebSocket,
    /// The page requested too much.
    TooMany,
    /// It is no URL that can be requested.
    Url,
    /// An exclude pattern matches it.
    Excluded,
    /// The robots.txt of its site disallows it.
    Robots,
    /// The rate limit of its address ([`crate::Limits::page_requests_per_second`]).
    Rate,
    /// The server did not answer, or not in time.
    NoAnswer,
    /// The answers of the page have too many bytes.
    TooLarge,
}

impl Refusal {
    /// Whether there is a limit behind it, not a rule.
    fn is_by_limit(self) -> bool {
        matches!(self, Refusal::Request | Refusal::TooMany | Refusal::Rate | Refusal::TooLarge)
    }
}

impl Reason for Refusal {
    const WHAT: &str = "requests refused";

    fn as_str(self) -> &'static str {
        match self {
            Refusal::Method => "method",
            Refusal::Request => "request too large",
            Refusal::Click => "click",
            Refusal::Form => "form",
            Refusal::WebSocket => "WebSocket",
            Refusal::TooMany => "too many",
            Refusal::Url => "URL",
            Refusal::Excluded => "exclude",
            Refusal::Robots => "robots.txt",
            Refusal::Rate => "render_rate",
            Refusal::NoAnswer => "no answer",
            Refusal::TooLarge => "too many bytes",
        }
    }
}

/// Why something on a page in a browser was not done to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// The time of the page was over.
    Time,
    /// As much was clicked as may be.
    Clicks,
    /// The page requested too much.
    Requests,
    /// It stands behind too many clicks.
    Depth,
    /// What was clicked did not come to an end, and was stopped.
    Hangs,
    /// It grew as often as it may, and would have grown again.
    Growth,
    /// More films and sounds than are played.
    Media,
    /// It has more nodes than are looked at for what can be clicked and scrolled.
    Nodes,
    /// The page went away, or did not answer.
    Gone,
}

impl Reason for LeftOut {
    const WHAT: &str = "actions left out";

    fn as_str(self) -> &'static str {
        match self {
            LeftOut::Time => "render_time",
            LeftOut::Clicks => "render_clicks",
            LeftOut::Requests => "too many requests",
            LeftOut::Depth => "depth",
            LeftOut::Hangs => "hangs",
            LeftOut::Growth => "growth",
            LeftOut::Media => "media",
            LeftOut::Nodes => "nodes",
            LeftOut::Gone => "page gone",
        }
    }
}

/// Why something of a page is missing.
pub trait Reason: Copy + Ord {
    /// What is counted, in the plural.
    const WHAT: &str;

    /// Its name in the reason of a row.
    fn as_str(self) -> &'static str;
}

/// What is missing of a page, by reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally<R>(BTreeMap<R, u32>);

/// The refused requests of a page.
pub type Refusals = Tally<Refusal>;

impl<R> Default for Tally<R> {
    fn default() -> Self {
        Tally(BTreeMap::new())
    }
}

impl<R: Reason> Tally<R> {
    /// Counts one.
    pub fn count(&mut self, reason: R) {
        self.add(reason, 1);
    }

    /// Counts so many.
    pub fn add(&mut self, reason: R, count: u32) {
        if count > 0 {
            let counted = self.0.entry(reason).or_default();
            *counted = counted.saturating_add(count);
        }
    }

    /// Counts what another one has.
    pub fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|(reason, count)| self.add(*reason, *count));
    }

    /// The reasons.
    fn reasons(&self) -> impl Iterator<Item = R> {
        self.0.keys().copied()
    }

    /// The number of all.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// `5 requests refused (render_rate)`, or with the number of each reason.
impl<R: Reason> fmt::Display for Tally<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_one = self.0.len() == 1;
        let reason = |(reason, count): (&R, &u32)| match is_one {
            true => reason.as_str().to_owned(),
            false => format!("{count} {}", reason.as_str()),
        };
        let reasons: Vec<String> = self.0.iter().map(reason).collect();
        write!(f, "{} {} ({})", self.total(), R::WHAT, reasons.join(", "))
    }
}

/// A page after its scripts ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedDocument {
    /// Its HTML, in UTF-8.
    pub html: Bytes,
    /// URLs that its scripts lead to, without a link in it.
    pub outlinks: Vec<String>,
    /// Where it navigated by itself.
    pub redirect: Option<String>,
    /// Its scripts make pages of hash routes.
    pub has_router: bool,
    /// How it looked.
    pub pictures: Pictures,
}

impl RenderedDocument {
    /// The media type of [`RenderedDocument::html`].
    pub const CONTENT_TYPE: &str = "text/html; charset=utf-8";
}

/// How much a page shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Pages that its links lead a person to, itself not counted.
    pub links: u64,
    /// Characters of visible text.
    pub text_chars: u64,
}

impl Shown {
    /// The amount that is shown here and was not before.
    #[must_use]
    pub fn beyond(self, before: Shown) -> Shown {
        Shown {
            links: self.links.saturating_sub(before.links),
            text_chars: self.text_chars.saturating_sub(before.text_chars),
        }
    }
}

impl Rendering {
    /// The bytes to record of it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let document =
            self.document.as_ref().map_or(0, |document| document.html.len() as u64 + document.pictures.bytes());
        let exchanges = self.resources.iter().chain(&self.robots);
        document + exchanges.map(|exchange| exchange.payload.len() as u64).sum::<u64>()
    }

    /// The limits that kept something of the page.
    #[must_use]
    pub fn limits(&self) -> LimitSet {
        let is_refused = self.refused.reasons().any(Refusal::is_by_limit);
        let pictures = self.document.as_ref().map_or((0, 0), |seen| (seen.pictures.cut, seen.pictures.left_out));
        let reached = [
            (self.left_out.total() > 0, Limit::Actions),
            (!self.script_errors.is_empty(), Limit::Behaviours),
            (is_refused, Limit::PageRequests),
            (pictures != (0, 0), Limit::Pictures),
        ];
        reached.into_iter().filter_map(|(is_reached, limit)| is_reached.then_some(limit)).collect()
    }

    /// Its text in the reason of a row; `gained` if the page did not navigate away.
    #[must_use]
    pub fn note(&self, gained: Option<Shown>) -> String {
        let evidence = &self.evidence;
        let mut note = match (&self.document, gained) {
            (Err(failure), _) => format!("rendering ({evidence}): {failure}"),
            (Ok(_), None) => format!("rendered ({evidence}): it leads elsewhere"),
            (Ok(_), Some(Shown { links, text_chars })) => {
                format!("rendered ({evidence}): {links} links and {text_chars} characters gained")
            }
        };
        if self.refused.total() > 0 {
            note.push_str(&format!("; {}", self.refused));
        }
        if self.left_out.total() > 0 {
            note.push_str(&format!("; {}", self.left_out));
        }
        for error in &self.script_errors {
            note.push_str(&format!("; behaviour {error}"));
        }
        note.push_str(&self.document.as_ref().map(|document| document.pictures.note()).unwrap_or_default());
        note
    }
}
