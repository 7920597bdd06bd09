//! Sitemaps and feeds in XML, read as a stream of events.

use std::borrow::Cow;

use super::{Kind, Limits, Sitemap};
use crate::href;
use quick_xml::Reader;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesRef, BytesStart, Event};
use url::Url;

/// Elements nested deeper than this are not told apart; no sitemap or feed needs so many.
const DEPTH_MAX: usize = 64;
/// The longest date kept, in bytes.
const LASTMOD_BYTES_MAX: usize = 64;

/// The longest `xml:base` that counts, in bytes: each reference may be resolved by it.
const BASE_BYTES_MAX: usize = 8 << 10;

/// The elements that matter, by local name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// `url`, `sitemap`, `item`, `entry`: holds one URL.
    Item,
    /// `loc` in a sitemap, `link` in a feed.
    Loc,
    /// `guid` of an RSS item, which is its URL unless `isPermaLink` says no.
    Guid,
    /// `lastmod`, `pubDate`, `updated`, `date`.
    Date,
    Other,
}

/// Reads as much of the document as is XML.
pub(super) fn read(document: &str, url: Option<&str>, limits: &Limits, sitemap: &mut Sitemap) {
    let mut xml = Reader::from_str(document);
    let config = xml.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.check_comments = false;
    let mut items = Items {
        limits,
        sitemap,
        url: url.and_then(|url| Url::parse(url).ok()),
        open: Vec::new(),
        bases: Vec::new(),
        too_deep: 0,
        text: String::new(),
        is_undecodable: false,
        loc: None,
        guid: None,
        lastmod: None,
        done: false,
    };
    while !items.done {
        match xml.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => items.event(&event),
            Err(_) => {
                items.sitemap.flaws.broken_xml_at = Some(xml.error_position());
                break;
            }
        }
    }
    // A URL that was complete counts even if its item was not. Behind a `guid` there may have been a link.
    items.guid = None;
    items.end_item();
}

struct Items<'s> {
    limits: &'s Limits,
    sitemap: &'s mut Sitemap,
    /// Where the document is.
    url: Option<Url>,
    /// The open elements, at most [`DEPTH_MAX`], and how many more are open inside them.
    open: Vec<Tag>,
    too_deep: usize,
    /// What references are relative to by the `xml:base` of an open element, by how many are open with it.
    bases: Vec<(usize, Url)>,
    text: String,
    /// The text has a reference that XML does not know: it is not what was meant.
    is_undecodable: bool,
    loc: Option<String>,
    guid: Option<String>,
    lastmod: Option<String>,
    done: bool,
}

impl Items<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::Empty(tag) => {
                self.start(tag);
                self.end(tag.local_name().as_ref());
            }
            Event::End(tag) => self.end(tag.local_name().as_ref()),
            Event::Text(text) => self.text(text),
            Event::CData(text) => self.text(text),
            Event::GeneralRef(reference) => self.reference(reference),
            _ => {}
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) {
        let name = element.local_name();
        let name: &str = name.as_ref();
        self.root(name);
        if self.open.len() >= DEPTH_MAX {
            self.too_deep += 1;
            return;
        }
        let mut tag = self.tag(name);
        if tag == Tag::Guid && !is_permalink(element) {
            tag = Tag::Other;
        }
        if tag == Tag::Item {
            self.end_item();
        }
        self.open.push(tag);
        self.text.clear();
        self.is_undecodable = false;
        if self.sitemap.kind == Kind::Atom {
            self.base(element);
            if tag == Tag::Loc {
                self.atom_link(element);
            }
        }
    }

    /// RFC 4287, 2: an element may have an `xml:base`, which is relative to that of the elements around it, and to the document's URL. One that is
    /// no URL, or too long, says nothing.
    fn base(&mut self, element: &BytesStart<'_>) {
        let is_base = |attribute: &Attribute<'_>| attribute.key.as_ref().eq_ignore_ascii_case("xml:base");
        let found =
            element.html_attributes().with_checks(false).flatten().find(is_base).and_then(|base| decoded(&base.value));
        let Some(base) = found.filter(|base| base.len() <= BASE_BYTES_MAX) else { return };
        let around = self.bases.last().map(|(_, url)| url).or(self.url.as_ref());
        let base = Url::options().base_url(around).parse(&href::clean(&base));
        let base = base.ok().filter(|base| base.as_str().len() <= BASE_BYTES_MAX);
        self.bases.extend(base.map(|base| (self.open.len(), base)));
    }

    /// A reference, resolved where an `xml:base` says what it is relative to. A whole URL stays as it is written.
    fn resolved(&self, reference: String) -> String {
        let cleaned = href::clean(&reference);
        let Some((_, base)) = self.bases.last().filter(|_| href::scheme(&cleaned).is_none()) else { return reference };
        if cleaned.len() > self.limits.url_bytes_max {
            return reference;
        }
        base.join(&cleaned).map_or(reference, String::from)
    }

    /// The first element that says what the document is.
    fn root(&mut self, name: &str) {
        if self.sitemap.kind != Kind::Unknown {
            return;
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        self.sitemap.kind = match () {
            () if is("urlset") || is("url") => Kind::UrlSet,
            () if is("sitemapindex") || is("sitemap") => Kind::Index,
            () if is("rss") || is("rdf") => Kind::Rss,
            () if is("feed") => Kind::Atom,
            () => Kind::Unknown,
        };
        // A page in place of a sitemap: there is nothing in it for us.
        self.done = is("html");
    }

    /// What an element is depends on where it is: `image:loc` is inside `image:image`.
    fn tag(&self, name: &str) -> Tag {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let in_item = self.open.last() == Some(&Tag::Item);
        let (item, loc, date) = match self.sitemap.kind {
            Kind::UrlSet | Kind::Index => (is("url") || is("sitemap"), is("loc"), is("lastmod")),
            Kind::Rss => (is("item"), is("link"), is("pubDate") || is("date")),
            Kind::Atom => (is("entry"), is("link"), is("updated")),
            Kind::Text | Kind::Unknown => (false, false, false),
        };
        match () {
            () if item => Tag::Item,
            () if loc && in_item => Tag::Loc,
            () if self.sitemap.kind == Kind::Rss && is("guid") && in_item => Tag::Guid,
            () if date && in_item => Tag::Date,
            () => Tag::Other,
        }
    }

    /// RFC 4287, 4.2.7: an entry's own page is its link with `rel=alternate`, or without `rel`.
    fn atom_link(&mut self, element: &BytesStart<'_>) {
        let (mut href, mut is_alternate) = (None, true);
        for attribute in element.html_attributes().with_checks(false).flatten() {
            let key = attribute.key.local_name();
            let key: &str = key.as_ref();
            if key.eq_ignore_ascii_case("href") {
                href = Some(decoded(&attribute.value));
            } else if key.eq_ignore_ascii_case("rel") {
                is_alternate = attribute.value.trim().eq_ignore_ascii_case("alternate");
            }
        }
        if is_alternate && self.loc.is_none() {
            // Without a URL it is an item all the same.
            self.loc = href.map(|href| href.map_or_else(String::new, |href| self.resolved(href)));
        }
    }

    fn text(&mut self, text: &str) {
        let wanted = self.too_deep == 0 && matches!(self.open.last(), Some(Tag::Loc | Tag::Guid | Tag::Date));
        if wanted {
            // There may be any amount of padding in front. The rest is kept to the end, whatever its length: only then
            // is it known how much is padding, and a URL that is too long is never cut.
            let is_first = self.text.is_empty();
            self.text.push_str(if is_first { text.trim_start_matches(|c| c <= ' ') } else { text });
        }
    }

    fn reference(&mut self, reference: &BytesRef<'_>) {
        match meant(reference) {
            Some(text) => self.text(&text),
            None => self.is_undecodable = true,
        }
    }

    /// Ends the innermost open element of this name, and with it all inside.
    fn end(&mut self, name: &str) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let tag = match self.named(name) {
            Tag::Other if self.open.last() != Some(&Tag::Other) => return,
            tag => tag,
        };
        let Some(at) = self.open.iter().rposition(|&open| open == tag) else {
            return;
        };
        while self.open.len() > at {
            self.pop();
        }
    }

    /// The tag that an end tag of this name can end.
    fn named(&self, name: &str) -> Tag {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match () {
            () if self.open.last() == Some(&Tag::Other) && self.tag(name) != Tag::Item => Tag::Other,
            () if is("loc") || is("link") => Tag::Loc,
            () if is("guid") => Tag::Guid,
            () if is("lastmod") || is("pubDate") || is("date") || is("updated") => Tag::Date,
            () => self.tag(name),
        }
    }

    fn pop(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        let is_undecodable = std::mem::take(&mut self.is_undecodable);
        if is_undecodable {
            text.clear();
        }
        let depth = self.open.len();
        self.bases.pop_if(|(open, _)| *open == depth);
        match self.open.pop() {
            Some(Tag::Loc) if self.loc.is_none() => {
                self.loc = Some(text).filter(|text| is_undecodable || !text.trim().is_empty());
            }
            // What is no whole URL is an identifier, whatever `isPermaLink` says or leaves out.
            Some(Tag::Guid) if self.guid.is_none() => {
                self.guid = Some(text).filter(|text| href::is_absolute(&href::clean(text)));
            }
            Some(Tag::Date) if self.lastmod.is_none() => {
                let date = text.trim();
                let kept = !date.is_empty() && date.len() <= LASTMOD_BYTES_MAX;
                self.lastmod = kept.then(|| date.to_owned());
            }
            Some(Tag::Item) => self.end_item_even_empty(),
            _ => {}
        }
    }

    /// Ends an item that the next one cuts off.
    fn end_item(&mut self) {
        if self.loc.is_some() || self.guid.is_some() {
            self.end_item_even_empty();
        }
    }

    fn end_item_even_empty(&mut self) {
        let guid = self.guid.take();
        let loc = self.loc.take().filter(|loc| !loc.is_empty()).or(guid).unwrap_or_default();
        let lastmod = self.lastmod.take();
        self.done |= !self.sitemap.add(&loc, lastmod, self.limits);
    }
}

/// RSS 2.0, `guid`: it is the URL of the item unless `isPermaLink` is `false`.
fn is_permalink(element: &BytesStart<'_>) -> bool {
    element.html_attributes().with_checks(false).flatten().all(|attribute| {
        let is_said = attribute.key.local_name().as_ref().eq_ignore_ascii_case("isPermaLink");
        !(is_said && attribute.value.trim().eq_ignore_ascii_case("false"))
    })
}

/// The value of an attribute, references resolved. `None` if it has one that XML does not know.
fn decoded(value: &str) -> Option<String> {
    let mut decoded = String::with_capacity(value.len());
    let mut pieces = value.split('&');
    decoded.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        match piece.split_once(';') {
            Some((name, text)) => {
                decoded.push_str(&meant(name)?);
                decoded.push_str(text);
            }
            None => {
                decoded.push('&');
                decoded.push_str(piece);
            }
        }
    }
    Some(decoded)
}

/// What a reference stands for; `None` if XML knows none of this name, or no such character (XML 1.0, 2.2). What is no name is text
/// with an `&` that should have been written as `&amp;`: `?a=1&b=2;c`.
fn meant(name: &str) -> Option<Cow<'_, str>> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix('x') {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
            None => number.parse(),
        };
        let is_of_xml =
            |c: &char| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
        return code.ok().and_then(char::from_u32).filter(is_of_xml).map(|c| Cow::Owned(c.into()));
    }
    let is_name = || {
        name.starts_with(|c: char| c.is_alphabetic() || "_:".contains(c))
            && name.chars().all(|c| c.is_alphanumeric() || "_:-.".contains(c))
    };
    match quick_xml::escape::resolve_predefined_entity(name) {
        Some(text) => Some(Cow::Borrowed(text)),
        None if is_name() => None,
        None => Some(Cow::Owned(format!("&{name};"))),
    }
}
