//! The values of an answer for the dataset, beyond those that the crawl itself needs. They are a function of the answer's bytes, so
//! they can be derived again from the archive.

use std::sync::Arc;

use compact_str::CompactString;
use extract::media_type::MediaType;
use extract::{HtmlPage, Image, ImageSource, LinkKind, Rel, RobotsDirectives};
use maintext::MainText;
use model::{Headers, LimitSet, Response, Shown, Truncation};
use rules::Items;
use structured::Structured;
use weburl::CanonicalUrl;

use crate::cut;

/// The longest value kept of a header field, in characters.
const FIELD_CHARS_MAX: usize = 500;

/// The values of an answer for the dataset.
#[derive(Clone, Debug)]
pub struct Details {
    /// The kind of its content, by each source.
    pub media: MediaType,
    /// The header fields named in [`FIELDS`], in that order.
    pub fields: [Option<String>; FIELDS.len()],
    /// Why the body is incomplete.
    pub truncated: Option<Truncation>,
    /// The result of rendering it in a browser, if that was tried.
    pub rendered: Option<RenderedDetails>,
    /// The content of the page, if it is HTML.
    pub html: Option<HtmlDetails>,
    /// The results of hooks, as a JSON object ([`crate::Extra`]).
    pub extra: Option<String>,
    /// What it says, if it is a document that is read.
    pub document: Option<documents::Text>,
    /// What rules take out of it.
    pub items: Vec<Items>,
}

/// The result of rendering an answer in a browser.
#[derive(Clone, Debug)]
pub struct RenderedDetails {
    /// The reason for rendering it.
    pub evidence: String,
    /// The content that only the rendered page shows; `None` if the browser failed, or the page led elsewhere.
    pub gained: Option<Shown>,
}

/// The header fields that are kept.
pub const FIELDS: [&str; 7] =
    ["server", "last-modified", "etag", "content-encoding", "content-language", "cache-control", "x-robots-tag"];

/// The content of an HTML page.
#[derive(Clone, Debug)]
pub struct HtmlDetails {
    /// `lang` of the `html` element.
    pub language: Option<String>,
    /// The encoding it was decoded with.
    pub encoding: &'static str,
    /// The directives for robots in its `meta` elements.
    pub meta_robots: RobotsDirectives,
    /// The limits that cut off something of the page.
    pub cut: LimitSet,
    /// Its visible text.
    pub text: String,
    /// The fingerprint of its text.
    pub simhash: u64,
    /// Its main text and kind, if they are asked for.
    pub main: Option<Box<MainText>>,
    /// The URLs that its links and images lead to, each once.
    pub targets: Arc<[CanonicalUrl]>,
    /// Its links in the order of the page, with repeats.
    pub links: Vec<LinkDetails>,
    /// Its images in the order of the page, with repeats.
    pub images: Vec<ImageDetails>,
    /// What it says about itself; only metadata if the main text is wanted, but no structured data.
    pub structured: Option<Box<Structured>>,
}

/// A link of a page.
#[derive(Clone, Debug)]
pub struct LinkDetails {
    /// Where it leads: an index into the page's targets.
    pub target: usize,
    /// Its text.
    pub text: CompactString,
    /// The construct it comes from.
    pub kind: LinkKind,
    /// The directives in its `rel` about following it.
    pub rel: Rel,
}

/// An image of a page.
#[derive(Clone, Debug)]
pub struct ImageDetails {
    /// Where it is: an index into the page's targets; `None` for an image in the page itself.
    pub target: Option<usize>,
    /// The image as the page declares it.
    pub image: Image,
}

impl Details {
    pub(crate) fn new(response: &Response, media: MediaType, html: Option<HtmlDetails>) -> Self {
        let field = |name: &&str| joined(&response.headers, name);
        Details {
            media,
            fields: FIELDS.each_ref().map(field),
            truncated: response.truncated,
            rendered: None,
            html,
            extra: None,
            document: None,
            items: Vec::new(),
        }
    }
}

impl HtmlDetails {
    /// `simhash` is the fingerprint of the page's text; `links` and `images` give the places of the page's links and images among the targets; what has none leads nowhere.
    pub(crate) fn new(
        page: HtmlPage,
        simhash: u64,
        links: Vec<Option<usize>>,
        images: Vec<Option<usize>>,
        targets: Arc<[CanonicalUrl]>,
    ) -> Self {
        let links = page.links.into_iter().zip(links).filter_map(|(link, target)| {
            Some(LinkDetails { target: target?, text: link.text, kind: link.kind, rel: link.rel })
        });
        let images = page.images.into_iter().zip(images).filter_map(|(image, target)| {
            (target.is_some() || href_of(&image).is_none()).then_some(ImageDetails { target, image })
        });
        HtmlDetails {
            language: page.lang,
            encoding: page.encoding,
            meta_robots: page.meta_robots,
            cut: cut::limits_of(page.truncated),
            simhash,
            main: None,
            text: page.text,
            targets,
            links: links.collect(),
            images: images.collect(),
            structured: None,
        }
    }
}

/// The reference of an image that is not in the page itself.
pub(crate) fn href_of(image: &Image) -> Option<&str> {
    match &image.source {
        ImageSource::Url(href) => Some(href),
        ImageSource::Data { .. } => None,
    }
}

/// The values of a field in one text, as RFC 9110 §5.3 joins them.
fn joined(headers: &Headers, name: &str) -> Option<String> {
    let mut values = headers.all(name);
    let first = values.next()?;
    let mut value = values.fold(first.to_owned(), |joined, value| joined + ", " + value);
    if let Some((end, _)) = value.char_indices().nth(FIELD_CHARS_MAX) {
        value.truncate(end);
    }
    (!value.is_empty()).then_some(value)
}
