//! What the crawler takes from a page.

use anyhow::anyhow;
use extract::media_type::{self, Kind};
use extract::{HtmlPage, Image, ImageSource, Limits, Link, Refresh, Rel, RobotsDirectives, Truncated};
use model::Limit;
use serde::Serialize;
use weburl::{CanonicalRules, CanonicalUrl};

pub use extract::IgnoredLinks;

use crate::input::{Content, Input};
use crate::reference::{Reference, Resolver, by_rules};
use crate::request::Request;

/// What is known of a page besides its bytes.
#[derive(Debug)]
pub struct Page {
    /// Its URL.
    pub url: CanonicalUrl,
    /// The `Content-Type` that came with it.
    pub content_type: Option<String>,
    /// The canonical form of its links.
    pub rules: CanonicalRules,
}

/// What the crawler takes from a page.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "html")]
pub struct HtmlAnswer {
    /// The URL of the page.
    pub url: String,
    /// What the crawler takes the content for; it looks for links only in `html` and `xhtml`.
    pub kind: &'static str,
    /// The character encoding by which it was read.
    pub encoding: &'static str,
    /// What named the encoding.
    pub encoding_source: &'static str,
    /// Its title.
    pub title: Option<String>,
    /// Its language, as it says itself.
    pub lang: Option<String>,
    /// The reference of its `base` element.
    pub base: Option<Reference>,
    /// What references are resolved against.
    pub base_url: Option<String>,
    /// The URL that it names as its own.
    pub canonical: Option<Reference>,
    /// Its declarative refresh.
    pub refresh: Option<RefreshAnswer>,
    /// What its robots `meta` elements forbid.
    pub meta_robots: Vec<&'static str>,
    /// Its links, in order.
    pub links: Vec<LinkAnswer>,
    /// Its images, in order.
    pub images: Vec<ImageAnswer>,
    /// References that are no links to a crawler.
    pub ignored: IgnoredLinks,
    /// The length of the visible text in bytes of UTF-8.
    pub text_bytes: usize,
    /// What reached a limit.
    pub truncated: Vec<&'static str>,
}

/// One link.
#[derive(Debug, Serialize)]
pub struct LinkAnswer {
    /// The construct that the link comes from.
    pub kind: &'static str,
    /// Where it leads.
    #[serde(flatten)]
    pub target: Reference,
    /// Its text.
    pub text: String,
    /// Its `rel`, as far as it matters to a crawler.
    pub rel: Vec<&'static str>,
}

/// One image, at a URL or in the page itself.
#[derive(Debug, Serialize)]
pub struct ImageAnswer {
    /// The attribute that names the image: `src` or `srcset`.
    pub from: &'static str,
    /// Where it is.
    #[serde(flatten)]
    pub place: ImagePlace,
    /// Its alternative text.
    pub alt: String,
    /// Its width as the page gives it, in pixels.
    pub width: Option<u32>,
    /// Its height, likewise.
    pub height: Option<u32>,
}

/// Where an image is.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ImagePlace {
    /// At a URL.
    Url(Reference),
    /// In the page itself, as a `data:` URL.
    Data {
        /// Its media type.
        media_type: String,
        /// Its length.
        bytes: usize,
    },
}

/// A declarative refresh.
#[derive(Debug, Serialize)]
pub struct RefreshAnswer {
    /// The time until it happens, in seconds.
    pub delay_s: u32,
    /// Where to; `None` is the page itself.
    pub target: Option<Reference>,
}

/// Reads a page within the limits of a crawl.
///
/// # Errors
/// The input cannot be read.
pub fn inspect(page: &Page, input: Input) -> anyhow::Result<HtmlAnswer> {
    let content = input.read(model::Limits::default().body_bytes_max)?;
    Ok(answer(page, &content))
}

pub(crate) fn answer_request(mut request: Request) -> anyhow::Result<HtmlAnswer> {
    let input = request.input()?;
    let page = Page {
        url: request.page_url("url")?.ok_or_else(|| anyhow!("\"url\" is missing"))?,
        content_type: request.text("content_type")?,
        rules: request.rules()?,
    };
    request.end()?;
    inspect(&page, input)
}

fn answer(Page { url, content_type, rules }: &Page, content: &Content) -> HtmlAnswer {
    let limits = model::Limits::default();
    let limits =
        Limits { links_max: limits.links_per_page_max, text_bytes_max: limits.text_bytes_max, ..Limits::default() };
    let content_type = content_type.as_deref();
    let url = by_rules(url, rules);
    let kind = media_type::sniff(&content.bytes, content_type, url.path_extension()).kind;
    let page = extract::html::extract(&content.bytes, content_type, &limits);
    let base = page.base_href.as_deref().and_then(|href| url.join(href, rules).ok());
    let resolver = Resolver::new(Some(base.unwrap_or_else(|| url.clone())), rules).with_encoding(page.encoding);
    HtmlAnswer::new(&url, kind, page, content.is_cut, &resolver)
}

impl HtmlAnswer {
    fn new(url: &CanonicalUrl, kind: Kind, page: HtmlPage, is_cut: bool, resolver: &Resolver<'_>) -> Self {
        let resolve = |href: String| resolver.resolve(href);
        let own = Resolver::new(Some(url.clone()), resolver.rules);
        HtmlAnswer {
            url: url.to_string(),
            kind: kind.as_str(),
            encoding: page.encoding,
            encoding_source: page.encoding_source.as_str(),
            title: page.title,
            lang: page.lang,
            // The base itself is resolved against the URL of the page.
            base: page.base_href.map(|href| own.resolve(href)),
            base_url: resolver.base.as_ref().map(ToString::to_string),
            canonical: page.canonical.map(resolve),
            refresh: page.refresh.map(|Refresh { delay_s, url }| RefreshAnswer { delay_s, target: url.map(resolve) }),
            meta_robots: directives(page.meta_robots),
            links: page.links.into_iter().map(|link| LinkAnswer::new(link, resolver)).collect(),
            images: page.images.into_iter().map(|image| ImageAnswer::new(image, resolver)).collect(),
            ignored: page.ignored,
            text_bytes: page.text.len(),
            truncated: truncated(page.truncated, is_cut),
        }
    }
}

impl LinkAnswer {
    fn new(link: Link, resolver: &Resolver<'_>) -> Self {
        LinkAnswer {
            kind: link.kind.as_str(),
            target: resolver.resolve(link.href.into()),
            text: link.text.into(),
            rel: rel(link.rel),
        }
    }
}

impl ImageAnswer {
    fn new(image: Image, resolver: &Resolver<'_>) -> Self {
        let place = match image.source {
            ImageSource::Url(href) => ImagePlace::Url(resolver.resolve(href)),
            ImageSource::Data { media_type, bytes } => ImagePlace::Data { media_type, bytes: bytes.len() },
        };
        let from = if image.from_srcset { "srcset" } else { "src" };
        ImageAnswer { from, place, alt: image.alt, width: image.width, height: image.height }
    }
}

fn directives(
    RobotsDirectives { noindex, nofollow, noarchive, nosnippet, noimageindex }: RobotsDirectives,
) -> Vec<&'static str> {
    set([
        ("noindex", noindex),
        ("nofollow", nofollow),
        ("noarchive", noarchive),
        ("nosnippet", nosnippet),
        ("noimageindex", noimageindex),
    ])
}

fn rel(Rel { nofollow, ugc, sponsored }: Rel) -> Vec<&'static str> {
    set([("nofollow", nofollow), ("ugc", ugc), ("sponsored", sponsored)])
}

/// In the words of the crawl.
fn truncated(cut: Truncated, is_cut: bool) -> Vec<&'static str> {
    let body = is_cut.then_some(Limit::Length);
    body.into_iter().chain(engine::limits_of(cut).iter()).map(Limit::as_str).collect()
}

/// The names of what is true.
fn set<const N: usize>(flags: [(&'static str, bool); N]) -> Vec<&'static str> {
    flags.into_iter().filter_map(|(name, set)| set.then_some(name)).collect()
}
