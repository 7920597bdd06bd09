//! A page to be rendered, and what came of it.

use std::collections::BTreeSet;

use bytes::Bytes;
use model::{Headers, LeftOut, Pictures, Refusals, Tally, essence};
use weburl::CanonicalUrl;

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

impl Page {
    /// Whether it says that it is XML.
    pub(crate) fn is_xml(&self) -> bool {
        self.headers.get("content-type").is_some_and(|value| essence(value).ends_with("xml"))
    }

    /// The same as HTML, in the encoding that it names, or else in that of XML.
    pub(crate) fn as_html(&self) -> Self {
        let mut page = self.clone();
        let value = page.headers.get("content-type").unwrap_or_default();
        let is_charset = |parameter: &&str| parameter.to_ascii_lowercase().starts_with("charset=");
        let charset = value.split(';').skip(1).map(str::trim).find(is_charset);
        let html = match charset {
            Some(charset) => format!("text/html; {charset}"),
            // Browsers read that of HTML, too.
            None if self.declares_encoding() => "text/html".to_owned(),
            None => "text/html; charset=utf-8".to_owned(),
        };
        page.headers.0.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        page.headers.0.push(("Content-Type".to_owned(), html));
        page
    }

    /// Whether it begins with an XML declaration that names an encoding.
    fn declares_encoding(&self) -> bool {
        let declaration = self.body.strip_prefix(b"<?xml").unwrap_or_default();
        let declaration = declaration.split(|byte| *byte == b'>').next().unwrap_or_default();
        String::from_utf8_lossy(declaration).contains("encoding")
    }
}

/// Bytes of the URLs in [`Rendered::unloaded`], together.
pub(crate) const UNLOADED_BYTES_MAX: usize = 1 << 20;

/// A page as a person would see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The document after its scripts ran: shadow trees and frames without a URL stand in it where they are seen.
    pub html: String,
    /// URLs that are no links in it, each once.
    pub found: Vec<ScriptLink>,
    /// Where the page wanted to go by itself, by a script or a refresh.
    pub redirect: Option<String>,
    /// Its scripts make pages of hash routes.
    pub has_router: bool,
    /// The pictures of it that were wanted.
    pub pictures: Pictures,
    /// Images, sound, video and fonts that it requested where none are wanted. What there is no room for counts as refused.
    pub unloaded: BTreeSet<String>,
    /// The answered requests of the page.
    pub served: u32,
    /// The requests of the page that got no answer.
    pub refused: Refusals,
    /// What was not clicked or scrolled.
    pub left_out: Tally<LeftOut>,
    /// What went wrong in scripts of the user's, with their names: an error, or no end in their time.
    pub script_errors: Vec<String>,
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
    /// It was there while the page was scrolled.
    Scroll,
    /// A script of the user's led to it.
    Script,
    /// It put the URL into the address bar (`history.pushState`).
    History,
    /// It wanted to open a window.
    Window,
    /// It wanted to save a file.
    Download,
    /// It went there by itself, and nobody answered.
    Unanswered,
}
