//! The values that come out of an HTML page.

use compact_str::CompactString;

use crate::charset::EncodingSource;
use crate::robots_tag::RobotsDirectives;

/// Everything the crawler wants to know of one HTML page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlPage {
    /// Name of the encoding the bytes were decoded with, as the Encoding Standard writes it (`UTF-8`).
    pub encoding: &'static str,
    /// What decided the encoding.
    pub encoding_source: EncodingSource,
    /// Text of the first `title` element, white space collapsed.
    pub title: Option<String>,
    /// `href` of the first `base` element that has one of a length within the limit, cleaned, not resolved.
    pub base_href: Option<String>,
    /// `lang` of the `html` element, as written; `None` if it is longer than a language tag can sensibly be.
    pub lang: Option<String>,
    /// Links in the order of the document, with repeats.
    pub links: Vec<Link>,
    /// Images in the order of the document, with repeats.
    pub images: Vec<Image>,
    /// `href` of the first `link rel=canonical`; it is in `links` too.
    pub canonical: Option<String>,
    /// Union of all `meta` elements named `robots` or after our product token.
    pub meta_robots: RobotsDirectives,
    /// The first `meta http-equiv=refresh` outside `noscript`; its URL is in `links` too.
    pub refresh: Option<Refresh>,
    /// Visible text with white space collapsed: no script, style, template, noscript or title.
    /// Elements hidden by CSS or the `hidden` attribute are not recognised as such.
    pub text: String,
    /// What it leaves to scripts.
    pub scripting: Scripting,
    /// Links that are no links to a crawler, counted.
    pub ignored: IgnoredLinks,
    /// The limits that cut something off.
    pub truncated: Truncated,
}

/// Signs that a page shows more, or other things, once its scripts have run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scripting {
    /// It has scripts, click handlers, or documents within it that have no URL.
    pub is_active: bool,
    /// It has the root of an application of a known framework, with nothing in it.
    pub has_empty_root: bool,
}

/// One link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// As written, entities decoded, cleaned as [`href::clean`](crate::href::clean) says. May be empty
    /// (the page itself) or a bare fragment.
    pub href: CompactString,
    /// Text inside the anchor (or `alt`, `title` of what is clickable), white space collapsed, bounded.
    pub text: CompactString,
    /// Which construct made the link.
    pub kind: LinkKind,
    /// What its `rel` says about following it.
    pub rel: Rel,
}

/// The construct a link comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// `a href`, in SVG also `a xlink:href`.
    Anchor,
    /// `area href` of an image map.
    Area,
    /// `frame src`.
    Frame,
    /// `iframe src`.
    Iframe,
    /// `link rel=canonical`.
    Canonical,
    /// `link rel=next`.
    Next,
    /// `link rel=prev` (or `previous`).
    Prev,
    /// `link rel=alternate` that is not a style sheet: other languages, feeds.
    Alternate,
    /// `meta http-equiv=refresh` with a URL.
    Refresh,
    /// A constant location assigned in an `onclick` attribute.
    Onclick,
}

impl LinkKind {
    /// The kind in lower case, for rows and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Area => "area",
            Self::Frame => "frame",
            Self::Iframe => "iframe",
            Self::Canonical => "canonical",
            Self::Next => "next",
            Self::Prev => "prev",
            Self::Alternate => "alternate",
            Self::Refresh => "refresh",
            Self::Onclick => "onclick",
        }
    }
}

/// The tokens of `rel` that say something about following a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rel {
    /// `nofollow`: the author does not vouch for the target.
    pub nofollow: bool,
    /// `ugc`: written by users of the site.
    pub ugc: bool,
    /// `sponsored`: an advertisement.
    pub sponsored: bool,
}

impl Rel {
    /// Reads the white-space separated, case-insensitive tokens of a `rel` attribute.
    #[must_use]
    pub fn parse(rel: &str) -> Self {
        let has = |token| has_token(rel, token);
        Self { nofollow: has("nofollow"), ugc: has("ugc"), sponsored: has("sponsored") }
    }
}

/// Whether the white-space separated list has this token, whatever its case.
pub(crate) fn has_token(list: &str, token: &str) -> bool {
    list.split_ascii_whitespace().any(|t| t.eq_ignore_ascii_case(token))
}

/// One image of a page: an `img`, or one candidate of a `srcset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Where the pixels are.
    pub source: ImageSource,
    /// Its `alt` text, white space collapsed, bounded; empty for `source` elements.
    pub alt: String,
    /// The `width` attribute in CSS pixels, if it is a number.
    pub width: Option<u32>,
    /// The `height` attribute in CSS pixels, if it is a number.
    pub height: Option<u32>,
    /// Whether it comes from a `srcset` and not from `src`.
    pub from_srcset: bool,
}

/// Where the pixels of an image are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// At a URL, as written (see [`Link::href`]).
    Url(String),
    /// In the page itself, as a `data:` URI (RFC 2397), decoded.
    Data {
        /// Lower case, without parameters; `text/plain` when the URI has none.
        media_type: String,
        /// The decoded bytes.
        bytes: Vec<u8>,
    },
}

/// A declarative refresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Seconds to wait, whole; fractions are dropped as browsers do.
    pub delay_s: u32,
    /// Where to go, cleaned, not resolved; `None` reloads the page itself.
    pub url: Option<String>,
}

/// Links that are none to a crawler, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct IgnoredLinks {
    /// `mailto:`
    pub mailto: u32,
    /// `javascript:`
    pub javascript: u32,
    /// `tel:`
    pub tel: u32,
    /// `data:`
    pub data: u32,
    /// Any other scheme that is not `http` or `https`.
    pub other: u32,
    /// Longer than [`Limits::href_bytes_max`](crate::Limits::href_bytes_max).
    pub too_long: u32,
}

/// Which limits cut something off. See [`Limits`](crate::Limits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truncated {
    /// More different link targets than `links_max`.
    pub links: bool,
    /// More links than `links_max`, of which repeats were left out.
    pub link_repeats: bool,
    /// More images than `images_max`.
    pub images: bool,
    /// More text than `text_bytes_max`.
    pub text: bool,
    /// A title longer than `title_bytes_max`.
    pub title: bool,
    /// An anchor or alt text longer than `link_text_bytes_max`.
    pub link_text: bool,
    /// A URL longer than `href_bytes_max` was left out.
    pub href: bool,
    /// An image in a `data:` URI was left out for its size.
    pub data_images: bool,
}
