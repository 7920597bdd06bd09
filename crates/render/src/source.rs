//! Where a page's requests go.

use std::pin::Pin;

use bytes::Bytes;
use model::Headers;

/// Answers the requests of a page.
pub trait Source: Send + Sync {
    /// Answers one, or refuses it. All requests are GET over HTTP.
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>>;
}

/// Something that a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The URL, without its fragment.
    pub url: String,
    /// What it is for.
    pub kind: Kind,
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
    /// pages, streams without end.
    pub(crate) fn of(resource_type: &str) -> Option<Self> {
        Some(match resource_type {
            "Document" => Kind::Document,
            "Script" => Kind::Script,
            "Stylesheet" => Kind::Stylesheet,
            "XHR" | "Fetch" => Kind::Data,
            "Image" | "Media" | "Font" | "TextTrack" => Kind::Media,
            _ => return None,
        })
    }
}

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
    Refused,
}
