//! The answer about a page.

use extract::media_type::Kind;
use extract::{HtmlPage, IgnoredLinks, Image, ImageSource, Link, Refresh, Rel, RobotsDirectives, Truncated};
use model::Limit;
use serde::Serialize;
use weburl::CanonicalUrl;

use super::super::reference::{Reference, Resolver};

/// What the crawler takes from a page.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "html")]
pub(in super::super) struct HtmlAnswer {
    pub(super) url: String,
    /// What the crawler takes the content for; it looks for links only in `html` and `xhtml`.
    pub(super) kind: &'static str,
    pub(super) encoding: &'static str,
    pub(super) encoding_source: &'static str,
    pub(super) title: Option<String>,
    pub(super) lang: Option<String>,
    pub(super) base: Option<Reference>,
    /// What references are resolved against.
    pub(super) base_url: Option<String>,
    pub(super) canonical: Option<Reference>,
    pub(super) refresh: Option<RefreshAnswer>,
    pub(super) meta_robots: Vec<&'static str>,
    pub(super) links: Vec<LinkAnswer>,
    pub(super) images: Vec<ImageAnswer>,
    pub(super) ignored: Ignored,
    /// The length of the visible text in bytes of UTF-8.
    pub(super) text_bytes: usize,
    /// What reached a limit.
    pub(super) truncated: Vec<&'static str>,
}

/// One link.
#[derive(Debug, Serialize)]
pub(super) struct LinkAnswer {
    pub(super) kind: &'static str,
    #[serde(flatten)]
    pub(super) target: Reference,
    pub(super) text: String,
    pub(super) rel: Vec<&'static str>,
}

/// One image, at a URL or in the page itself.
#[derive(Debug, Serialize)]
pub(super) struct ImageAnswer {
    pub(super) from: &'static str,
    #[serde(flatten)]
    pub(super) place: ImagePlace,
    pub(super) alt: String,
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
}

/// Where an image is.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ImagePlace {
    Url(Reference),
    Data { media_type: String, bytes: usize },
}

/// A declarative refresh.
#[derive(Debug, Serialize)]
pub(super) struct RefreshAnswer {
    pub(super) delay_s: u32,
    /// Where to; `None` is the page itself.
    pub(super) target: Option<Reference>,
}

/// Links that are none to a crawler, counted.
#[derive(Debug, Serialize)]
pub(super) struct Ignored {
    mailto: u32,
    javascript: u32,
    tel: u32,
    data: u32,
    other: u32,
    too_long: u32,
}

impl HtmlAnswer {
    pub(super) fn new(url: &CanonicalUrl, kind: Kind, page: HtmlPage, is_cut: bool, resolver: &Resolver<'_>) -> Self {
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
            ignored: Ignored::from(page.ignored),
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

impl From<IgnoredLinks> for Ignored {
    fn from(IgnoredLinks { mailto, javascript, tel, data, other, too_long }: IgnoredLinks) -> Self {
        Ignored { mailto, javascript, tel, data, other, too_long }
    }
}

impl Ignored {
    /// The counts that are not zero.
    pub(super) fn counted(&self) -> Vec<String> {
        let Ignored { mailto, javascript, tel, data, other, too_long } = self;
        let counts = [
            ("mailto", mailto),
            ("javascript", javascript),
            ("tel", tel),
            ("data", data),
            ("other schemes", other),
            ("too long", too_long),
        ];
        counts.iter().filter(|(_, count)| **count > 0).map(|(name, count)| format!("{name} {count}")).collect()
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
