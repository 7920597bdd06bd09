//! What a browser made of an answer.

use bytes::Bytes;

use crate::{Exchange, Timestamp};

/// What came of showing an answer in a browser.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// When it was shown.
    pub at: Timestamp,
    /// What spoke for showing it, for people.
    pub evidence: String,
    /// What the page shows without a browser.
    pub before: Shown,
    /// The page as it was seen, or why the browser could not show it.
    pub document: Result<RenderedDocument, String>,
    /// What the page asked for besides, and got.
    pub resources: Vec<Exchange>,
    /// What it asked for and did not get, since pages had asked the same address too often
    /// ([`crate::Limits::page_requests_per_second`]).
    pub beyond_rate: u32,
}

/// A page after its scripts ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedDocument {
    /// Its HTML, in UTF-8.
    pub html: Bytes,
    /// URLs that its scripts lead to and that are no links in it.
    pub outlinks: Vec<String>,
    /// Where it went by itself.
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
    /// Links that a person can follow.
    pub links: u64,
    /// Characters of visible text.
    pub text_chars: u64,
}

impl Shown {
    /// What is shown here and was not before.
    #[must_use]
    pub fn beyond(self, before: Shown) -> Shown {
        Shown {
            links: self.links.saturating_sub(before.links),
            text_chars: self.text_chars.saturating_sub(before.text_chars),
        }
    }
}

impl Rendering {
    /// How much is to be recorded of it, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let document = self.document.as_ref().map_or(0, |document| {
            document.html.len() as u64 + document.screenshot.as_ref().map_or(0, |picture| picture.len() as u64)
        });
        document + self.resources.iter().map(|exchange| exchange.payload.len() as u64).sum::<u64>()
    }

    /// What is said of it in the reason of a row; `gained` where the page stayed what it is.
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
        if self.beyond_rate > 0 {
            note.push_str(&format!("; {} requests refused (render_rate)", self.beyond_rate));
        }
        note
    }
}
