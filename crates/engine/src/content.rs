//! The content of an answer: a pure function of its bytes, computed beside the fetch, not in the step.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use compact_str::CompactString;
use extract::html::dom::Document;
use extract::media_type::{self, MediaType};
use extract::parts::{self, Parts};
use extract::{HtmlPage, Link, LinkKind, Rel, Scripting, Truncated, html, passages, robots_tag, wording};
use frontier::Features;
use model::{
    Announcement, ContentDigest, Exchange, FetchOutcome, Fetched, Limit, LimitSet, Method, PayloadDigest, Purpose,
    RenderedDocument, Response, Shown, Sought, Timestamp, Truncation,
};
use rules::Body;
use stages::{Stage, time};
use structured::Structured;
use url::Url;
use weburl::{CanonicalUrl, UrlKey};

use crate::cut;
use crate::details::{self, Details, HtmlDetails, RenderedDetails};
use crate::features::{self, PageText};
use crate::part;
use crate::references::{self, Resolver};
use crate::requisites::{self, Needs};
use crate::{RenderMode, Settings};

/// The content of an answer.
#[derive(Debug, Default)]
pub struct Content {
    /// What was found in it.
    pub finding: Finding,
    /// The media type as declared.
    pub content_type: Option<String>,
    /// The label of the payload; `None` without a payload, or if the crawl needs none.
    pub digest: Option<PayloadDigest>,
    /// The digest of the body without its content coding, that of a sitemap [apart](ContentDigest::apart); `None` without a body, or if it is
    /// incomplete: equal beginnings prove nothing.
    pub digest_of_content: Option<ContentDigest>,
    /// The digest of the answer's block in the archive, if there is one; `None` without a payload.
    pub block_digest: Option<warc::Digest>,
    /// Bytes of the payload.
    pub length: u64,
    /// References that are not followed because they are no http URL, are too long, or are broken.
    pub rejected: u32,
    /// The limits that cut off something of it.
    pub limits: LimitSet,
    /// The content that only the rendered page shows; `None` if it was not rendered or led elsewhere.
    pub gained: Option<Shown>,
    /// The body as a number ([`model::Visit::identity`]).
    pub identity: Option<u64>,
    /// The words as a number ([`model::Visit::wording`]).
    pub wording: Option<u64>,
    /// What was looked for in the page ([`model::Visit::sought`]).
    pub sought: Sought,
    /// The features that decide whether it brings something new; `None` for pages whose text is not read.
    pub features: Option<Box<Features>>,
    /// Its values for the dataset, if the crawl writes one.
    pub details: Option<Box<Details>>,
    /// What it needs to be shown, however it was asked for; nothing unless requisites are fetched.
    pub requisites: Option<Box<Needs>>,
    /// Further links from hooks.
    pub more_links: Vec<CanonicalUrl>,
    /// The images that a browser has loaded with it; none unless images are fetched.
    pub loaded: Box<[Loaded]>,
    /// Bytes that its texts and links take in memory until it is recorded, about.
    pub bytes: usize,
}

impl Content {
    /// Whether a browser shows a text where the document has none: an application shows it.
    pub(crate) fn has_text_of_application(&self) -> bool {
        self.gained.is_some_and(|gained| gained.text_chars >= crate::browsing::TEXT_CHARS_MIN)
    }
}

/// An image that a browser has loaded with its page, or a redirect to one: no request is needed for it.
#[derive(Debug)]
pub struct Loaded {
    /// Its URL.
    pub url: CanonicalUrl,
    /// When it was requested: the date of its record.
    pub at: Timestamp,
    /// The status of the answer.
    pub status: u16,
    /// What is in it.
    pub content: Content,
}

/// The kind of an answer.
#[derive(Debug, Default)]
pub enum Finding {
    /// Nothing to parse: no success, or no answer.
    #[default]
    Nothing,
    /// A part of a content, although the whole was requested.
    Part,
    /// A redirect, with its target or why there is none.
    Redirect(Result<CanonicalUrl, String>),
    /// An HTML page.
    Page(Page),
    /// Another document.
    Document,
    /// Another document whose content is not kept; the text names its kind.
    Unwanted(String),
    /// A sitemap or feed.
    Sitemap {
        /// Pages it lists.
        pages: Vec<CanonicalUrl>,
        /// Sitemaps it lists.
        sitemaps: Vec<CanonicalUrl>,
        /// What it says of changes.
        announced: Vec<Announcement>,
    },
    /// A feed that is fetched as a page.
    Feed {
        /// The pages of its entries.
        pages: Vec<CanonicalUrl>,
        /// The server says nofollow.
        nofollow: bool,
        /// What it says of changes.
        announced: Vec<Announcement>,
    },
}

/// The parts of an HTML page that the crawl needs.
#[derive(Debug, Default)]
pub struct Page {
    /// Its title.
    pub title: Option<String>,
    /// The distinct targets of its links in page order; then the places of images without a link to them.
    pub targets: Arc<[CanonicalUrl]>,
    /// How many of these belong to links.
    pub links: usize,
    /// The places of its images, if they are to be fetched.
    pub images: Vec<CanonicalUrl>,
    /// The canonical URL that it names.
    pub canonical: Option<CanonicalUrl>,
    /// It has nofollow.
    pub nofollow: bool,
    /// The amount of content that it shows, if the crawl has a browser.
    pub shown: Option<Shown>,
    /// The parts that it leaves to scripts.
    pub scripting: Scripting,
    /// What these are made of, if that may decide whether it is rendered.
    pub parts: Option<Box<Parts>>,
}

/// The images that a browser has loaded with a page that shows `images`, and the redirects on the way to them, as if the crawl had requested each
/// by itself.
fn loaded_images(outcome: &FetchOutcome, images: &[CanonicalUrl], settings: &Settings) -> Vec<Loaded> {
    let Some(rendering) = outcome.rendering.as_ref().filter(|_| settings.images) else { return Vec::new() };
    let mut loaded: Vec<Loaded> = Vec::new();
    let (mut known, mut redirects) = (HashSet::from([outcome.url.key()]), Vec::new());
    for exchange in rendering.resources.iter().filter(|exchange| exchange.method == Method::Get) {
        let Some(response) = response_of(exchange, settings) else { continue };
        let (url, at, status) = (exchange.url.clone(), exchange.started_at, response.status);
        if is_redirect(status) {
            let Ok(target) = redirect_target(&url, &response, settings) else { continue };
            redirects.push((url.key(), target.key()));
        } else if !(200..=299).contains(&status)
            || !media_type(&url, &response).kind.is_image()
            || !known.insert(url.key())
        {
            continue;
        }
        let answer = FetchOutcome {
            id: outcome.id,
            url: url.clone(),
            exchanges: vec![exchange.clone()],
            fetched: Fetched::Response(response),
            rendering: None,
            started_at: at,
            finished_at: at,
            response_time: Duration::ZERO,
        };
        loaded.push(Loaded { url, at, status, content: look_into_answer(&answer, Purpose::Page, settings) });
    }
    let mut of_images: HashSet<UrlKey> = images.iter().map(CanonicalUrl::key).chain(known.iter().copied()).collect();
    // A redirect comes before its target. So this finds what leads to an image that was loaded, and then where a shown one leads.
    for (from, to) in redirects.iter().rev() {
        of_images.extend(of_images.contains(to).then_some(*from));
    }
    for (from, to) in &redirects {
        of_images.extend(of_images.contains(from).then_some(*to));
    }
    let mut is_first = |key| of_images.contains(&key) && known.insert(key);
    loaded.retain(|image| !is_redirect(image.status) || is_first(image.url.key()));
    loaded
}

pub(crate) fn is_redirect(status: u16) -> bool {
    matches!(status, 301..=303 | 307 | 308)
}

/// The answer of an exchange, as a fetch gives it.
fn response_of(exchange: &Exchange, settings: &Settings) -> Option<Response> {
    let headers = fetch::parse_fields(&exchange.response_head);
    let bytes_max = usize::try_from(settings.limits.body_bytes_max).unwrap_or(usize::MAX);
    let body = fetch::decode(headers.all("content-encoding"), exchange.payload.to_vec(), bytes_max);
    let status = fetch::parse_status(&exchange.response_head)?;
    let truncated = exchange.truncated;
    Some(Response { status, headers, body: body.into(), truncated, is_undecoded: false, note: None })
}

/// What an answer contains. The text of a document is left to be read.
pub(crate) fn look_into_answer(outcome: &FetchOutcome, purpose: Purpose, settings: &Settings) -> Content {
    let Fetched::Response(response) = &outcome.fetched else { return Content::default() };
    let mut content = Content { content_type: response.headers.get("content-type").map(bounded), ..Content::default() };
    if let Some(exchange) = outcome.exchanges.last().filter(|exchange| !exchange.payload.is_empty()) {
        time(Stage::Digest, || digest(exchange, response, settings, &mut content));
        if purpose == Purpose::Sitemap {
            content.digest_of_content = content.digest_of_content.map(ContentDigest::apart);
        }
    }
    content.finding = match (response.status, purpose) {
        (status, _) if is_redirect(status) => Finding::Redirect(redirect_target(&outcome.url, response, settings)),
        _ if part::is_unasked(outcome, response) => Finding::Part,
        (200..=299, Purpose::Sitemap) => lists::look_into_sitemap(&outcome.url, response, settings, &mut content),
        (200..=299, Purpose::Page) => look_into_document(outcome, response, settings, &mut content),
        (404, Purpose::Page) if rendered(outcome).is_some() => {
            look_into_document(outcome, response, settings, &mut content)
        }
        (200..=299, Purpose::Requisite) => {
            needs_of_document(outcome, response, settings, &mut content);
            Finding::Document
        }
        // What an error page leads to is not followed, but it is shown in replay.
        (400..=599, Purpose::Page) if settings.requisites => {
            needs_of_document(outcome, response, settings, &mut content);
            Finding::Nothing
        }
        _ => Finding::Nothing,
    };
    if settings.details && purpose == Purpose::Page && content.details.is_none() {
        let media = media_type(&outcome.url, response);
        content.details = Some(Box::new(Details::new(response, media, None)));
    }
    read_body(outcome, response, purpose, settings, &mut content);
    let images = match &content.finding {
        Finding::Page(page) => &page.images[..],
        _ => &[],
    };
    content.loaded = loaded_images(outcome, images, settings).into();
    if let (Some(details), Some(rendering)) = (&mut content.details, &outcome.rendering) {
        details.rendered = Some(RenderedDetails { evidence: rendering.evidence.clone(), gained: content.gained });
    }
    content.bytes = content.heap_bytes();
    content
}

/// The page of a 404, as far as it decides whether to render it: where a server has no file for a route of an application, it
/// answers with a page that runs the application.
pub(crate) fn missing_page(outcome: &FetchOutcome, settings: &Settings) -> Option<Page> {
    let Fetched::Response(response) = &outcome.fetched else { return None };
    if response.status != 404 || response.body.is_empty() {
        return None;
    }
    match look_into_document(outcome, response, settings, &mut Content::default()) {
        Finding::Page(page) => Some(page),
        _ => None,
    }
}

/// Reads what the dataset keeps beyond links and visible text: a page's main text, what it says for machines, and what rules take out of it.
/// All look at one tree. Rules read JSON too.
fn read_body(
    outcome: &FetchOutcome,
    response: &Response,
    purpose: Purpose,
    settings: &Settings,
    content: &mut Content,
) {
    let Some(details) = &mut content.details else { return };
    let url = outcome.url.as_str();
    let is_of_rules =
        purpose == Purpose::Page && (200..=299).contains(&response.status) && settings.rules.is_about(url);
    let items_of = |body| time(Stage::Structure, || settings.rules.items_of(&rules::Page { url, body }));
    let rendered = rendered(outcome);
    let bytes = rendered.map_or(&response.body, |document| &document.html);
    let mut cut = LimitSet::EMPTY;
    if let Some(html) = details.html.as_mut().filter(|_| settings.main_text || settings.structured || is_of_rules) {
        // To detect the encoding once more takes longer than all else.
        let content_type = response.headers.get("content-type").filter(|_| rendered.is_none());
        let text = html::decode_page(bytes, html.encoding, content_type);
        let document = time(Stage::Tree, || Document::parse(&text));
        let parsed = Url::parse(url).ok();
        if settings.main_text {
            html.main = Some(Box::new(time(Stage::MainText, || maintext::read(&document, parsed.as_ref()))));
        }
        if settings.structured {
            let limits = structured::Limits::default();
            let structured = time(Stage::Structure, || structured::read(&document, parsed.as_ref(), &limits));
            if structured.is_cut {
                cut.insert(Limit::Structured);
            }
            html.structured = Some(Box::new(structured));
        } else if settings.main_text {
            let metadata = time(Stage::Structure, || structured::metadata(&document, parsed.as_ref()));
            html.structured = Some(Box::new(Structured { metadata, ..Structured::default() }));
        }
        if is_of_rules {
            details.items = items_of(Body::Html(&document));
        }
        if document.is_cut() {
            cut.insert(Limit::Tree);
        }
        html.cut = html.cut.union(cut);
    } else if is_of_rules && matches!(bytes.trim_ascii_start(), [b'{' | b'[', ..]) {
        details.items = items_of(Body::Json(bytes));
    }
    if details.items.iter().any(|items| items.is_cut) {
        cut.insert(Limit::Items);
    }
    content.limits = content.limits.union(cut);
}

/// What a browser made of the page, if it was asked.
fn rendered(outcome: &FetchOutcome) -> Option<&RenderedDocument> {
    outcome.rendering.as_ref()?.document.as_ref().ok()
}

fn digest(exchange: &Exchange, response: &Response, settings: &Settings, content: &mut Content) {
    let payload = &exchange.payload[..];
    content.length = payload.len() as u64;
    let is_whole = response.truncated.is_none() && !response.body.is_empty();
    content.digest_of_content = is_whole.then(|| ContentDigest::of(&response.body));
    content.identity = content.digest_of_content.map(|digest| digest.short());
    let label = if settings.archive {
        let (label, of_block) = warc::Digest::of_response(&exchange.response_head, payload);
        content.block_digest = Some(of_block);
        Some(label)
    } else {
        (settings.labels || !is_whole).then(|| warc::Digest::of(payload))
    };
    content.digest = label.map(|label| PayloadDigest(*label.as_bytes()));
}

/// The media type as it is recorded: without surrounding space, of bounded length.
pub(crate) fn bounded(content_type: &str) -> String {
    const CONTENT_TYPE_CHARS_MAX: usize = 200;
    content_type.trim().chars().take(CONTENT_TYPE_CHARS_MAX).collect()
}

fn redirect_target(from: &CanonicalUrl, response: &Response, settings: &Settings) -> Result<CanonicalUrl, String> {
    let location = response.headers.get("location").ok_or("a redirect without Location")?;
    from.join(location, &settings.canonical).map_err(|error| format!("Location {}: {error}", shown(location)))
}

/// A text from the web, shortened to fit into a reason.
fn shown(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

/// The kind of a content: by its header, its first bytes, and the ending of the URL's path.
fn media_type(url: &CanonicalUrl, response: &Response) -> MediaType {
    media_type::sniff(&response.body, response.headers.get("content-type"), url.path_extension())
}

fn look_into_document(
    outcome: &FetchOutcome,
    response: &Response,
    settings: &Settings,
    content: &mut Content,
) -> Finding {
    let headed = outcome.exchanges.last().is_some_and(|exchange: &Exchange| exchange.method == Method::Head);
    let media = media_type(&outcome.url, response);
    if !media.is_html() {
        let content_type = response.headers.get("content-type");
        let is_kept = headed || settings.keep.as_ref().is_none_or(|keep| keep.keeps(&media, content_type));
        let is_read = response.truncated != Some(Truncation::Unwanted);
        content.features = content.digest_of_content.map(|digest| Box::new(features::of_document(&digest)));
        if settings.requisites && is_kept && is_read {
            needs_of_document(outcome, response, settings, content);
        }
        if !is_kept || !is_read {
            return unwanted(outcome, response, settings, content);
        }
        return lists::look_into_feed(&outcome.url, response, settings, content).unwrap_or(Finding::Document);
    }
    if headed {
        return Finding::Document;
    }
    content.sought = settings.sought();
    let mut limits = extract::Limits {
        links_max: settings.limits.links_per_page_max,
        href_bytes_max: settings.canonical.url_bytes_max.saturating_mul(4),
        text_bytes_max: settings.limits.text_bytes_max,
        ..extract::Limits::default()
    };
    let is_counted = !settings.details && settings.site_rules.traps.counts_few(&outcome.url);
    if !settings.details {
        limits.link_text_bytes_max = 0;
        let is_text_read = is_counted || settings.render.is_some() || settings.changes_in_text;
        limits.text_bytes_max = if is_text_read { limits.text_bytes_max } else { 0 };
        limits.images_max = if is_counted || settings.images { limits.images_max } else { 0 };
    }
    let rendered = rendered(outcome);
    let target =
        rendered.and_then(|document| outcome.url.join(document.redirect.as_deref()?, &settings.canonical).ok());
    // A page that leads nowhere else is a page.
    if let Some(target) = target.filter(|target| *target != outcome.url) {
        return Finding::Redirect(Ok(target));
    }
    let mut html = time(Stage::Extract, || match rendered {
        Some(document) => seen(document, &limits),
        None => html::extract(&response.body, response.headers.get("content-type"), &limits),
    });
    if !settings.details {
        // What the crawl does not keep is not missing.
        let Truncated { links, link_repeats, title, href, images, .. } = html.truncated;
        let images = images && settings.images;
        html.truncated = Truncated { links, link_repeats, title, href, images, ..Truncated::default() };
    }
    let header = robots_tag::x_robots_tag(response.headers.all("x-robots-tag"), &settings.product_token);
    let rules = match rendered {
        Some(document) if document.has_router => Cow::Owned(settings.canonical.with_router()),
        _ => Cow::Borrowed(&settings.canonical),
    };
    let mut resolver = Resolver::new(
        references::base_of(&outcome.url, html.base_href.as_deref(), settings),
        html.encoding,
        &rules,
        html.links.len(),
    );
    let (links, links_count, images, canonical) = time(Stage::Canonicalise, || {
        let leading = html.links.iter().map(|link| Some(link).filter(|link| leads_somewhere(link.kind)));
        let links: Vec<Option<usize>> = leading.map(|link| resolver.place(&link?.href)).collect();
        content.rejected = resolver.rejected;
        let links_count = resolver.urls.len();
        let images: Vec<Option<usize>> =
            html.images.iter().map(|image| resolver.place(details::href_of(image)?)).collect();
        let canonical = html.canonical.as_deref().and_then(|href| resolver.join(href).ok());
        (links, links_count, images, canonical)
    });
    html.truncated.href |= resolver.has_too_long;
    content.limits = cut::limits_of(html.truncated);
    if settings.requisites {
        let needs = time(Stage::Extract, || requisites::of_page(outcome, response, html.encoding, settings));
        content.requisites = Some(Box::new(needs));
    }
    let targets: Arc<[CanonicalUrl]> = resolver.urls.into();
    let is_shown = settings.render.is_some() || rendered.is_some();
    let shown = is_shown.then(|| shown_of(&html, &links, &targets, &outcome.url));
    if let (Some(rendering), Some(_)) = (&outcome.rendering, rendered) {
        content.gained = shown.map(|shown| shown.beyond(rendering.before));
    }
    let is_judged = settings.render == Some(RenderMode::Auto) && rendered.is_none() && html.scripting.is_active;
    let text = || html::decode_page(&response.body, html.encoding, response.headers.get("content-type"));
    let parts = is_judged.then(|| time(Stage::Extract, || Box::new(parts::of_page(&text()))));
    let embedded: BTreeSet<usize> = images.iter().flatten().copied().filter(|_| settings.images).collect();
    let page = Page {
        title: html.title.take(),
        targets: targets.clone(),
        links: links_count,
        images: embedded.into_iter().map(|place| targets[place].clone()).collect(),
        canonical,
        nofollow: (html.meta_robots.union(header)).nofollow && !settings.ignore_nofollow,
        shown,
        scripting: html.scripting,
        parts,
    };
    // The words of a part are not those of the page.
    let broke_off = matches!(response.truncated, Some(Truncation::Time | Truncation::Disconnect));
    if settings.changes_in_text && !broke_off {
        content.wording = wording::of_page(page.title.as_deref(), &html.text);
    }
    let body = rendered.map_or(&response.body, |document| &document.html);
    let (traps, digest) = (&settings.site_rules.traps, content.digest_of_content);
    let digest = digest.as_ref();
    if is_counted {
        let (passages, _) = time(Stage::Describe, || passages::with_fingerprint(&html.text));
        let page = PageText { url: &outcome.url, traps, html: &html, body, digest };
        content.features = Some(Box::new(features::of_page(&page, passages, (&links[..], &images[..]), &targets)));
    }
    if settings.details {
        let details = time(Stage::Describe, || {
            let (passages, simhash) = passages::with_fingerprint(&html.text);
            let page = PageText { url: &outcome.url, traps, html: &html, body, digest };
            content.features = Some(Box::new(features::of_page(&page, passages, (&links[..], &images[..]), &targets)));
            HtmlDetails::new(html, simhash, links, images, targets)
        });
        content.details = Some(Box::new(Details::new(response, media, Some(details))));
    }
    Finding::Page(page)
}

fn needs_of_document(outcome: &FetchOutcome, response: &Response, settings: &Settings, content: &mut Content) {
    let content_type = response.headers.get("content-type");
    let find = || requisites::of_document(&outcome.url, &response.body, content_type, settings);
    content.requisites = Some(Box::new(time(Stage::Extract, find)));
}

/// Content that is not kept. Its description must be the same with its bytes and without them, when it is derived from the archive.
fn unwanted(outcome: &FetchOutcome, response: &Response, settings: &Settings, content: &mut Content) -> Finding {
    let bare = Response { body: Default::default(), truncated: Some(Truncation::Unwanted), ..response.clone() };
    if settings.details {
        let media = media_type(&outcome.url, &bare);
        content.details = Some(Box::new(Details::new(&bare, media, None)));
    }
    (content.digest, content.digest_of_content, content.block_digest, content.length) = (None, None, None, 0);
    let declared = content.content_type.as_deref().unwrap_or("no media type");
    Finding::Unwanted(response.note.clone().unwrap_or_else(|| format!("not kept: {}", shown(declared))))
}

/// All kinds of links are followed; the name of each is written out so that a new one must be decided about.
fn leads_somewhere(kind: LinkKind) -> bool {
    match kind {
        LinkKind::Anchor
        | LinkKind::Area
        | LinkKind::Frame
        | LinkKind::Iframe
        | LinkKind::Canonical
        | LinkKind::Next
        | LinkKind::Prev
        | LinkKind::Alternate
        | LinkKind::Refresh
        | LinkKind::Onclick => true,
    }
}

/// How much a page shows. `links` are the places of its links in `targets`.
fn shown_of(html: &HtmlPage, links: &[Option<usize>], targets: &[CanonicalUrl], own: &CanonicalUrl) -> Shown {
    let is_followed = |link: &Link| matches!(link.kind, LinkKind::Anchor | LinkKind::Area | LinkKind::Onclick);
    let followed = html.links.iter().zip(links).filter(|(link, _)| is_followed(link)).filter_map(|(_, place)| *place);
    let distinct: BTreeSet<usize> = followed.filter(|place| targets[*place] != *own).collect();
    Shown { links: distinct.len() as u64, text_chars: html.text.chars().count() as u64 }
}

/// The content of a rendered page, with the URLs that its scripts lead to.
fn seen(document: &RenderedDocument, limits: &extract::Limits) -> HtmlPage {
    let mut page = html::extract(&document.html, Some(RenderedDocument::CONTENT_TYPE), limits);
    let room = limits.links_max.saturating_sub(page.links.len());
    page.truncated.links |= document.outlinks.len() > room;
    page.links.extend(document.outlinks.iter().take(room).map(|url| Link {
        href: url.into(),
        text: CompactString::default(),
        kind: LinkKind::Onclick,
        rel: Rel::default(),
    }));
    page
}

mod lists;
mod weight;

#[cfg(test)]
mod tests;
