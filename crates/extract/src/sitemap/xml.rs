//! Sitemaps and feeds in XML, read as a stream of events.

use super::{Kind, Limits, Sitemap};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Elements nested deeper than this are not told apart; no sitemap or feed needs so many.
const DEPTH_MAX: usize = 64;
/// The longest date kept, in bytes.
const LASTMOD_BYTES_MAX: usize = 64;

/// The elements that matter, by local name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// `url`, `sitemap`, `item`, `entry`: holds one URL.
    Item,
    /// `loc` in a sitemap, `link` in a feed.
    Loc,
    /// `lastmod`, `pubDate`, `updated`, `date`.
    Date,
    Other,
}

/// Reads as much of the document as is XML.
pub(super) fn read(document: &str, limits: &Limits, sitemap: &mut Sitemap) {
    let mut xml = Reader::from_str(document);
    let config = xml.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.check_comments = false;
    let mut items = Items {
        limits,
        sitemap,
        open: Vec::new(),
        too_deep: 0,
        text: String::new(),
        loc: None,
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
    // A URL that was complete counts even if its item was not.
    items.end_item();
}

struct Items<'s> {
    limits: &'s Limits,
    sitemap: &'s mut Sitemap,
    /// The open elements, at most [`DEPTH_MAX`], and how many more are open inside them.
    open: Vec<Tag>,
    too_deep: usize,
    text: String,
    loc: Option<String>,
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
        let tag = self.tag(name);
        if tag == Tag::Item {
            self.end_item();
        }
        self.open.push(tag);
        self.text.clear();
        if tag == Tag::Loc && self.sitemap.kind == Kind::Atom {
            self.atom_link(element);
        }
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
                let value = quick_xml::escape::unescape(&attribute.value);
                href = Some(value.map_or_else(|_| attribute.value.to_string(), Into::into));
            } else if key.eq_ignore_ascii_case("rel") {
                is_alternate = attribute.value.trim().eq_ignore_ascii_case("alternate");
            }
        }
        if is_alternate && self.loc.is_none() {
            self.loc = href;
        }
    }

    fn text(&mut self, text: &str) {
        let wanted = self.too_deep == 0 && matches!(self.open.last(), Some(Tag::Loc | Tag::Date));
        if wanted {
            // There may be any amount of padding in front. The rest is kept to the end, whatever its length: only then
            // is it known how much is padding, and a URL that is too long is never cut.
            let is_first = self.text.is_empty();
            self.text.push_str(if is_first { text.trim_start_matches(|c| c <= ' ') } else { text });
        }
    }

    /// Resolves `&amp;` and its like; others stay as they are written.
    fn reference(&mut self, reference: &BytesRef<'_>) {
        let name: &str = reference;
        let character = match reference.resolve_char_ref() {
            Ok(Some(character)) => Some(character.to_string()),
            _ => quick_xml::escape::resolve_predefined_entity(name).map(str::to_owned),
        };
        self.text(&character.unwrap_or_else(|| format!("&{name};")));
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
            () if is("lastmod") || is("pubDate") || is("date") || is("updated") => Tag::Date,
            () => self.tag(name),
        }
    }

    fn pop(&mut self) {
        let text = std::mem::take(&mut self.text);
        match self.open.pop() {
            Some(Tag::Loc) if self.loc.is_none() => {
                self.loc = Some(text).filter(|text| !text.trim().is_empty());
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
        if self.loc.is_some() {
            self.end_item_even_empty();
        }
    }

    fn end_item_even_empty(&mut self) {
        let loc = self.loc.take().unwrap_or_default();
        let lastmod = self.lastmod.take();
        self.done |= !self.sitemap.add(&loc, lastmod, self.limits);
    }
}
