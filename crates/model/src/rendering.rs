//! The result of rendering an answer in a browser.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;

use crate::{Exchange, Timestamp};

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
    /// The requests of the page that got no answer.
    pub refused: Refusals,
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
    /// Its name in the reason of a row.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Refusal::Method => "method",
            Refusal::Request => "request too large",
            Refusal::Click => "click",
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

/// The number of refused requests, by their reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals(BTreeMap<Refusal, u32>);

impl Refusals {
    /// Counts one.
    pub fn count(&mut self, refusal: Refusal) {
        *self.0.entry(refusal).or_default() += 1;
    }

    /// The number of all.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.values().sum()
    }
}

/// `5 requests refused (render_rate)`, or with the number of each reason.
impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_one = self.0.len() == 1;
        let reason = |(refusal, count): (&Refusal, &u32)| match is_one {
            true => refusal.as_str().to_owned(),
            false => format!("{count} {}", refusal.as_str()),
        };
        let reasons: Vec<String> = self.0.iter().map(reason).collect();
        write!(f, "{} requests refused ({})", self.total(), reasons.join(", "))
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
    /// A picture of it, as PNG, if there is to be one.
    pub screenshot: Option<Bytes>,
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
        let document = self.document.as_ref().map_or(0, |document| {
            document.html.len() as u64 + document.screenshot.as_ref().map_or(0, |picture| picture.len() as u64)
        });
        document + self.resources.iter().map(|exchange| exchange.payload.len() as u64).sum::<u64>()
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
        note
    }
}
