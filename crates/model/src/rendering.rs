//! The result of rendering an answer in a browser.

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
    /// The number of requests refused because of the rate limit of an address
    /// ([`crate::Limits::page_requests_per_second`]).
    pub beyond_rate: u32,
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
    /// Links that a person can follow.
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
        if self.beyond_rate > 0 {
            note.push_str(&format!("; {} requests refused (render_rate)", self.beyond_rate));
        }
        note
    }
}
