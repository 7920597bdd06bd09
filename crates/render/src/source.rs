//! Where a page's requests go.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use cookies::{Cookie, Stored};
use model::{Headers, Method, Refusal};

/// Answers the requests of a page.
pub trait Source: Send + Sync {
    /// Answers one, or refuses it. All requests are HTTP.
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>>;

    /// The cookies that scripts of the page may read from the start: none is for servers alone. What they are is a secret.
    fn cookies(&self) -> Vec<Cookie> {
        Vec::new()
    }

    /// What pages of the site have in storage from the start. What it is is a secret.
    fn stored(&self) -> Vec<Stored> {
        Vec::new()
    }
}

/// Something that a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The URL, without its fragment.
    pub url: String,
    /// What it is for.
    pub kind: Kind,
    /// The method.
    pub method: Method,
    /// The fields that the page and its browser give: `Accept`, `Origin`, `Cookie`.
    pub headers: Headers,
    /// The body.
    pub body: Bytes,
    /// It bears the secrets that the page may send: by its credentials mode (Fetch, 2.2.5), and unless a frame of another site than the page's
    /// makes it, or a frame in such a one.
    pub has_credentials: bool,
    /// It comes after something on the page was clicked.
    pub is_after_click: bool,
    /// The page goes on without what came after this.
    pub time_max: Duration,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The document of a frame in the page.
    Document,
    /// A script.
    Script,
    /// A style sheet.
    Stylesheet,
    /// Data that a script asks for.
    Data,
    /// An image, sound, video or font.
    Media,
}

impl Kind {
    /// By the protocol's `Network.ResourceType`; `None` for what no page needs to be seen: reports, preloads of other
    /// pages.
    pub(crate) fn of(resource_type: &str) -> Option<Self> {
        Some(match resource_type {
            "Document" => Kind::Document,
            "Script" => Kind::Script,
            "Stylesheet" => Kind::Stylesheet,
            "XHR" | "Fetch" | "EventSource" | "Preflight" => Kind::Data,
            "Image" | "Media" | "Font" | "TextTrack" => Kind::Media,
            _ => return None,
        })
    }
}

/// Media types that a browser shows, or beginnings of them; it saves the others.
const SHOWN: [&str; 10] = [
    "text/",
    "image/",
    "audio/",
    "video/",
    "application/xhtml+xml",
    "application/xml",
    "application/json",
    "application/javascript",
    "application/pdf",
    "multipart/",
];

/// What a page gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// An answer; its body is without content coding.
    Answer {
        /// The status.
        status: u16,
        /// The fields of its head.
        headers: Headers,
        /// The body.
        body: Bytes,
    },
    /// Nothing.
    Refused(Refusal),
}

impl Served {
    /// Whether a browser saves it as a file, as far as its head tells (RFC 6266).
    pub(crate) fn is_file(&self) -> bool {
        let Served::Answer { status: 200..=299, headers, .. } = self else { return false };
        let is_saved = |value: &str| value.trim_start().to_ascii_lowercase().starts_with("attachment");
        let is_shown =
            |value: &str| SHOWN.iter().any(|shown| value.trim_start().to_ascii_lowercase().starts_with(shown));
        headers.get("content-disposition").is_some_and(is_saved)
            || headers.get("content-type").is_some_and(|value| !is_shown(value))
    }
}
