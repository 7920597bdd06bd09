//! What a browser made of an answer.

use bytes::Bytes;

use crate::{Exchange, Timestamp};

/// What came of showing an answer in a browser.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// When it was shown.
    pub at: Timestamp,
    /// The page as it was seen; `None` where the browser could not show it.
    pub document: Option<RenderedDocument>,
    /// Why it was rendered, and what it brought or what went wrong: for people.
    pub note: String,
    /// What the page asked for besides, and got.
    pub resources: Vec<Exchange>,
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
}

impl RenderedDocument {
    /// The media type of [`RenderedDocument::html`].
    pub const CONTENT_TYPE: &str = "text/html; charset=utf-8";
}
