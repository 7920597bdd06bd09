//! From a visit to its rows.

use std::sync::Arc;

use dataset::{ImageRow, ItemRow, LinkRow, Links, PageContent, PageRow, Row, Rows, StructuredRow, Written};
use engine::{Details, HtmlDetails, ImageDetails, LinkDetails, Visited};
use extract::media_type::Kind;
use extract::{ImageSource, Rel, RobotsDirectives, media_type};
use maintext::MainText;
use model::{Limit, LimitSet, Outcome, PayloadDigest, Truncation};
use rules::Items;
use sha1::{Digest, Sha1};
use store::StoreError;
use structured::{Item, Metadata, Structured};
use weburl::{CanonicalUrl, UrlKey};

/// The kind of the link from a redirect to its target.
const REDIRECT: &str = "redirect";

/// The rows of a visit.
///
/// # Errors
/// The store cannot be read.
pub fn written(rows: &mut Rows<'_>, visited: Visited) -> Result<Written, StoreError> {
    let Visited { candidate, visit, details } = visited;
    let mut row = rows.of(&candidate, visit.attempts, Some(&visit))?;
    // The state has no title of a document that the crawl fetched, but did not read.
    if let Some(document) = details.as_ref().and_then(|details| details.document.as_ref()) {
        row.title = row.title.or_else(|| document.title.clone());
    }
    let key = candidate.url.key();
    rows.remember(&candidate.url);
    let is_duplicate = visit.outcome == Outcome::Duplicate;
    let (mut links, mut images, mut structured) = (Links::none(candidate.url), Vec::new(), Vec::new());
    let mut taken = Vec::new();
    let redirect_to = row.redirect_to.as_deref().and_then(CanonicalUrl::from_canonical);
    let content = details.map(|details| {
        // Mostly nobody else has it any more.
        let Details { media, fields, truncated, rendered, html, extra, document, items } =
            Arc::unwrap_or_clone(details);
        taken = if is_duplicate { Vec::new() } else { items };
        let gained = rendered.as_ref().and_then(|rendered| rendered.gained);
        let bounded = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let [server, last_modified, etag, content_encoding, content_language, cache_control, x_robots_tag] = fields;
        let mut of_page = html.as_ref().map_or(LimitSet::EMPTY, |html| html.cut);
        if document.as_ref().is_some_and(|document| document.is_cut) {
            of_page.insert(Limit::Document);
        }
        let mut content = PageContent {
            truncated: cut(truncated, of_page),
            kind: media.kind.as_str(),
            declared_kind: media.declared.map(Kind::as_str),
            extension_kind: media.extension.map(Kind::as_str),
            sniffed_kind: media.sniffed.map(Kind::as_str),
            server,
            last_modified,
            etag,
            content_encoding,
            content_language,
            cache_control,
            x_robots_tag,
            extra,
            rendered_for: rendered.map(|rendered| rendered.evidence),
            rendered_links: gained.map(|gained| bounded(gained.links)),
            rendered_chars: gained.map(|gained| bounded(gained.text_chars)),
            ..PageContent::default()
        };
        if let Some(documents::Text { author, text, .. }) = document.filter(|_| !is_duplicate) {
            content.metadata = author.map(|author| Metadata { author: Some(author), ..Metadata::default() });
            content.text = Some(text).filter(|text| !text.is_empty());
        }
        if let Some(html) = html {
            content.links = u32::try_from(html.links.len()).ok();
            content.images = u32::try_from(html.images.len()).ok();
            content.meta_robots = robots(html.meta_robots);
            content.encoding = Some(html.encoding);
            content.simhash = Some(html.simhash).filter(|_| !is_duplicate);
            let HtmlDetails { language, text, targets, main, links: found, images: shown, structured: said, .. } = html;
            content.language = language;
            content.text = Some(text).filter(|_| !is_duplicate);
            images.extend(shown.into_iter().map(|image| image_row(&links.source, image, &targets)));
            links.rows.extend(found.into_iter().map(link_row));
            links.targets = targets;
            if let Some(said) = said {
                let Structured { metadata, items, .. } = *said;
                content.metadata = Some(metadata);
                let items = items.into_iter().filter(|_| !is_duplicate);
                structured.extend(items.map(|item| structured_row(&links.source, item)));
            }
            if let Some(main) = main.filter(|_| !is_duplicate) {
                tell(&mut content, *main);
            }
        }
        content
    });
    // What redirects shows nothing itself.
    if let Some(target) = redirect_to {
        links = Links::of(links.source, REDIRECT, [(target, "".into())]);
    }
    let items = taken.into_iter().map(|items| item_rows(key, &row, items)).collect();
    Ok(Written { page: PageRow { key, row, content }, links, images, structured, items })
}

/// The rows of a rule on a page.
fn item_rows(key: UrlKey, page: &Row, items: Items) -> (String, Vec<ItemRow>) {
    let rows = items.rows.into_iter().zip(0..).map(|(values, row)| ItemRow {
        key,
        url: page.url.clone(),
        round: page.round,
        visit: page.visit,
        at: page.at,
        row,
        values,
    });
    (items.table, rows.collect())
}

fn structured_row(source: &CanonicalUrl, item: Item) -> StructuredRow {
    let Item { format, kind, path, json, repaired } = item;
    StructuredRow { source: source.clone(), format: format.as_str(), kind, path, json, repaired }
}

/// Fills in the columns of the main text.
fn tell(content: &mut PageContent, main: MainText) {
    let MainText { text, confidence, kind, kind_confidence } = main;
    content.main_text = Some(text);
    content.main_text_confidence = Some(confidence);
    content.page_kind = Some(kind.as_str());
    content.page_kind_confidence = Some(kind_confidence);
}

fn link_row(found: LinkDetails) -> LinkRow {
    LinkRow { target: found.target, text: found.text, kind: found.kind.as_str(), rel: words_of(found.rel) }
}

fn image_row(source: &CanonicalUrl, found: ImageDetails, targets: &[CanonicalUrl]) -> ImageRow {
    let image = found.image;
    let (declared_type, data) = match image.source {
        ImageSource::Url(_) => (None, None),
        ImageSource::Data { media_type, bytes } => (Some(media_type), Some(bytes)),
    };
    ImageRow {
        source: source.clone(),
        url: found.target.map(|target| targets[target].clone()),
        digest: data.as_ref().map(|data| PayloadDigest(Sha1::digest(data).into()).to_string()),
        alt: Some(image.alt).filter(|alt| !alt.is_empty()),
        sniffed_kind: data.as_ref().and_then(|data| media_type::sniff(data, None, None).sniffed).map(Kind::as_str),
        declared_type,
        width: image.width,
        height: image.height,
        from_srcset: image.from_srcset,
        data,
    }
}

/// What is missing of the body, then what of the page.
fn cut(truncated: Option<Truncation>, of_page: LimitSet) -> Option<String> {
    let words: Vec<&str> = truncated.map(word_of).into_iter().chain(of_page.iter().map(Limit::as_str)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn word_of(truncated: Truncation) -> &'static str {
    match truncated {
        // The archive says the same of both.
        Truncation::Length | Truncation::Ratio => "length",
        Truncation::Time => "time",
        Truncation::Disconnect => "disconnect",
        Truncation::Unwanted => "unwanted",
    }
}

fn words_of(rel: Rel) -> Option<&'static str> {
    match (rel.nofollow, rel.sponsored, rel.ugc) {
        (false, false, false) => None,
        (true, false, false) => Some("nofollow"),
        (false, true, false) => Some("sponsored"),
        (false, false, true) => Some("ugc"),
        (true, true, false) => Some("nofollow sponsored"),
        (true, false, true) => Some("nofollow ugc"),
        (false, true, true) => Some("sponsored ugc"),
        (true, true, true) => Some("nofollow sponsored ugc"),
    }
}

fn robots(robots: RobotsDirectives) -> Option<String> {
    let said = [
        (robots.noindex, "noindex"),
        (robots.nofollow, "nofollow"),
        (robots.noarchive, "noarchive"),
        (robots.nosnippet, "nosnippet"),
        (robots.noimageindex, "noimageindex"),
    ];
    let set: Vec<&str> = said.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word).collect();
    (!set.is_empty()).then(|| set.join(", "))
}
