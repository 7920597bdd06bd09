//! Tags and text to links, images and metadata.

use super::attributes::{Attributes, Key};
use super::scanner::{self, Sink, Within};
use super::tag::Tag;
use super::targets::Targets;
use super::tokenizer::Text;
use crate::charset::Charset;
use crate::collapse::Collapsed;
use crate::href::{self, Target};
use crate::limits::Limits;
use crate::onclick;
use crate::page::{HtmlPage, IgnoredLinks, Link, LinkKind, Rel, Scripting, Truncated, has_token};
use crate::refresh;
use crate::robots_tag::{self, RobotsDirectives};
use compact_str::CompactString;
use std::borrow::Cow;

/// The longest `lang` kept, in bytes. Language tags (RFC 5646, section 4.4.1) need 35 bytes, rarely more.
const LANG_BYTES_MAX: usize = 128;

/// Bytes of a page for each of its links, and for each byte of its text, as many pages have them: room is made for so many at first.
const BYTES_A_LINK: usize = 192;
const BYTES_A_BYTE_OF_TEXT: usize = 4;

/// What the element is called in which an application of React, Vue, Next, Nuxt or Svelte is shown. Angular's is `app-root`.
const ROOTS: [&str; 6] = ["root", "app", "__next", "__nuxt", "__layout", "svelte"];

/// Whether a `script` of this type is run (HTML Standard, "prepare the script element").
pub(crate) fn is_script(kind: &str) -> bool {
    kind.trim().is_empty() || ["module", "javascript", "ecmascript"].iter().any(|name| ends_with(kind, name))
}

fn ends_with(text: &str, end: &str) -> bool {
    let text = text.trim().as_bytes();
    text.len() >= end.len() && text[text.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

/// The page as far as it has been read.
#[derive(Debug)]
pub(super) struct Collector<'l> {
    pub(super) limits: &'l Limits,
    pub(super) page: HtmlPage,
    text: Collapsed,
    /// What the links lead to, on a page with as many of them as are kept.
    targets: Option<Targets>,
    /// The place of the open `a` element among the page's links, if it is one.
    pub(super) anchor: Option<usize>,
    anchor_text: Collapsed,
    /// The `alt` texts inside, for an anchor without text.
    pub(super) anchor_alt: Collapsed,
    /// Open `template` elements: their content is inert.
    templates: usize,
    in_noscript: bool,
    /// Inside `script` or `style` of SVG, whose text arrives as ordinary text.
    in_foreign_code: bool,
    /// The last tag opened the root of an application.
    at_root: bool,
    pub(super) data_images_bytes: usize,
}

impl<'l> Collector<'l> {
    /// For a document of so many bytes.
    pub(super) fn new(bytes: usize, charset: Charset, limits: &'l Limits) -> Self {
        let page = HtmlPage {
            encoding: charset.encoding.name(),
            encoding_source: charset.source,
            title: None,
            base_href: None,
            lang: None,
            links: Vec::with_capacity((bytes / BYTES_A_LINK).min(limits.links_max)),
            images: Vec::new(),
            canonical: None,
            meta_robots: RobotsDirectives::default(),
            refresh: None,
            text: String::new(),
            scripting: Scripting::default(),
            ignored: IgnoredLinks::default(),
            truncated: Truncated::default(),
        };
        Self {
            limits,
            page,
            text: Collapsed::with_capacity(bytes / BYTES_A_BYTE_OF_TEXT, limits.text_bytes_max),
            targets: None,
            anchor: None,
            anchor_text: Collapsed::new(limits.link_text_bytes_max),
            anchor_alt: Collapsed::new(limits.link_text_bytes_max),
            templates: 0,
            in_noscript: false,
            in_foreign_code: false,
            at_root: false,
            data_images_bytes: 0,
        }
    }

    pub(super) fn finish(mut self) -> HtmlPage {
        self.close_anchor();
        self.page.truncated.text = self.text.truncated();
        self.page.text = self.text.into_text();
        // Room that was made for nothing is not kept with the page.
        self.page.text.shrink_to(2 * self.page.text.len());
        self.page.links.shrink_to(2 * self.page.links.len());
        self.page
    }

    /// Looks for what is left to scripts.
    fn scripting(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        let scripting = &mut self.page.scripting;
        let has_handler = attributes.has(Key::Onclick) && attributes.non_empty(Key::Onclick).is_some();
        let script = (tag == Tag::Script).then(|| attributes.get(Key::Type).unwrap_or_default());
        scripting.is_active |= has_handler
            || script.is_some_and(|kind| is_script(&kind))
            || (tag == Tag::IFrame && attributes.non_empty(Key::Srcdoc).is_some());
        let is_named = tag.may_be_root() && attributes.get(Key::Id).is_some_and(|id| ROOTS.contains(&id.as_ref()));
        self.at_root = is_named || tag == Tag::AppRoot;
    }

    fn html_tag(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::A => self.anchor(attributes.get(Key::Href), attributes),
            Tag::Area => self.area(attributes),
            Tag::Frame => self.frame(LinkKind::Frame, attributes),
            Tag::IFrame => self.frame(LinkKind::Iframe, attributes),
            Tag::Img | Tag::Image => self.img(attributes),
            Tag::Source => self.srcset(attributes, ""),
            Tag::Link => self.link_element(attributes),
            Tag::Meta => self.meta(attributes),
            Tag::Base if !self.in_noscript && self.page.base_href.is_none() => {
                let href = attributes.get(Key::Href).map(|href| href::clean(&href).into_owned());
                self.page.base_href = href.filter(|href| self.fits(href));
            }
            Tag::Html if self.page.lang.is_none() => {
                let lang = attributes.non_empty(Key::Lang).filter(|lang| lang.len() <= LANG_BYTES_MAX);
                self.page.lang = lang.map(Cow::into_owned);
            }
            // A cell ends the anchors opened in the one before.
            Tag::Td | Tag::Th | Tag::Caption => self.close_anchor(),
            _ => {}
        }
    }

    fn foreign_tag(&mut self, tag: Tag, attributes: &Attributes<'_>, self_closing: bool) {
        match tag {
            Tag::A => {
                let href = attributes.get(Key::Href);
                self.anchor(href.or(attributes.get(Key::XlinkHref)), attributes);
            }
            Tag::Script | Tag::Style => self.in_foreign_code = !self_closing,
            _ => {}
        }
    }

    fn anchor(&mut self, href: Option<Cow<'_, str>>, attributes: &Attributes<'_>) {
        self.close_anchor();
        let Some(href) = href else { return };
        let rel = attributes.get(Key::Rel).map_or_else(Rel::default, |rel| Rel::parse(&rel));
        self.anchor = self.link(LinkKind::Anchor, &href, "", rel);
    }

    fn close_anchor(&mut self) {
        let Some(link) = self.anchor.take() else { return };
        let has_text = !self.anchor_text.is_empty() || self.anchor_text.truncated();
        let text = if has_text { &self.anchor_text } else { &self.anchor_alt };
        self.page.truncated.link_text |= text.truncated();
        if !text.is_empty() {
            self.page.links[link].text = text.compact();
        }
        self.anchor_text.clear();
        self.anchor_alt.clear();
    }

    fn area(&mut self, attributes: &Attributes<'_>) {
        if let Some(href) = attributes.get(Key::Href) {
            let rel = attributes.get(Key::Rel).map_or_else(Rel::default, |rel| Rel::parse(&rel));
            let text = attributes.get(Key::Alt).unwrap_or_default();
            self.link(LinkKind::Area, &href, &text, rel);
        }
    }

    fn frame(&mut self, kind: LinkKind, attributes: &Attributes<'_>) {
        if let Some(src) = attributes.non_empty(Key::Src) {
            let text = attributes.get(Key::Title).unwrap_or_default();
            self.link(kind, &src, &text, Rel::default());
        }
    }

    fn link_element(&mut self, attributes: &Attributes<'_>) {
        let rel = attributes.get(Key::Rel).unwrap_or_default();
        let has = |token| has_token(&rel, token);
        let kind = match () {
            () if has("canonical") => LinkKind::Canonical,
            () if has("next") => LinkKind::Next,
            () if has("prev") || has("previous") => LinkKind::Prev,
            () if has("alternate") && !has("stylesheet") => LinkKind::Alternate,
            () => return,
        };
        let Some(href) = attributes.non_empty(Key::Href) else {
            return;
        };
        let text = attributes.get(Key::Title).unwrap_or_default();
        let link = self.link(kind, &href, &text, Rel::parse(&rel));
        let is_canonical = kind == LinkKind::Canonical && !self.in_noscript;
        if let Some(link) = link.filter(|_| is_canonical && self.page.canonical.is_none()) {
            self.page.canonical = Some(self.page.links[link].href.to_string());
        }
    }

    fn meta(&mut self, attributes: &Attributes<'_>) {
        let Some(content) = attributes.get(Key::Content) else {
            return;
        };
        if attributes.get(Key::Name).is_some_and(|name| robots_tag::addresses_us(&name)) {
            let directives = RobotsDirectives::parse(&content);
            self.page.meta_robots = self.page.meta_robots.union(directives);
        }
        let is_refresh = attributes.get(Key::HttpEquiv).is_some_and(|name| name.eq_ignore_ascii_case("refresh"));
        if let Some(refresh) = is_refresh.then(|| refresh::parse(&content)).flatten() {
            if let Some(url) = &refresh.url {
                self.link(LinkKind::Refresh, url, "", Rel::default());
            }
            let fits = refresh.url.as_ref().is_none_or(|url| self.fits(url));
            if fits && !self.in_noscript && self.page.refresh.is_none() {
                self.page.refresh = Some(refresh);
            }
        }
    }

    /// Keeps a link if it is one to a crawler and there is room; its place in the page's links.
    fn link(&mut self, kind: LinkKind, href: &str, text: &str, rel: Rel) -> Option<usize> {
        let (href, target) = href::read(href);
        if !self.is_for_a_crawler(&href, target) {
            return None;
        }
        if self.page.links.len() >= self.limits.links_max && !self.is_new_target(&href) {
            return None;
        }
        let (text, cut) = self.collapsed(text);
        self.page.truncated.link_text |= cut;
        self.page.links.push(Link { href: CompactString::new(href), text: text.into(), kind, rel });
        Some(self.page.links.len() - 1)
    }

    /// Whether a link on a page with many leads where none before it does, and there is room for one more. Says so if it is left out.
    #[cold]
    fn is_new_target(&mut self, href: &str) -> bool {
        let targets = self.targets.get_or_insert_with(|| Targets::of(&self.page.links));
        if targets.has(href) {
            self.page.truncated.link_repeats = true;
            return false;
        }
        let has_room = targets.len() < self.limits.links_max;
        self.page.truncated.links |= !has_room;
        if has_room {
            targets.add(href);
        }
        has_room
    }

    /// Whether a URL is short enough to be kept, and says so if it is not.
    fn fits(&mut self, url: &str) -> bool {
        let fits = url.len() <= self.limits.href_bytes_max;
        self.page.truncated.href |= !fits;
        fits
    }

    /// Counts the ones that are not.
    fn is_for_a_crawler(&mut self, href: &str, target: Target) -> bool {
        let too_long = href.len() > self.limits.href_bytes_max;
        let ignored = &mut self.page.ignored;
        let count = match target {
            Target::Web if too_long => {
                self.page.truncated.href = true;
                &mut ignored.too_long
            }
            Target::Web => return true,
            Target::Mailto => &mut ignored.mailto,
            Target::Javascript => &mut ignored.javascript,
            Target::Tel => &mut ignored.tel,
            Target::Data => &mut ignored.data,
            Target::Other => &mut ignored.other,
        };
        *count += 1;
        false
    }

    pub(super) fn collapsed(&self, text: &str) -> (String, bool) {
        Collapsed::whole(text, self.limits.link_text_bytes_max)
    }

    fn content(&mut self, text: &str) {
        if text == "\0" {
            return;
        }
        if self.anchor.is_some() {
            self.anchor_text.push(text);
        }
        if !self.in_noscript {
            self.text.push(text);
        }
    }

    /// Whether more text among elements would change nothing: all there is room for is there, and it is known that there was more.
    #[inline]
    fn is_full(&self) -> bool {
        self.text.truncated() && self.limits.link_text_bytes_max == 0 && self.page.truncated.link_text
    }

    #[inline]
    fn short_content(&mut self, text: &str, word: u64) {
        if self.anchor.is_some() {
            self.anchor_text.push_short(text, word);
        }
        if !self.in_noscript {
            self.text.push_short(text, word);
        }
    }

    fn title(&mut self, text: &str) {
        if self.page.title.is_some() || self.in_noscript {
            return;
        }
        let (title, cut) = Collapsed::whole(text, self.limits.title_bytes_max);
        self.page.truncated.title = cut;
        self.page.title = Some(title).filter(|title| !title.is_empty());
    }

    fn noscript(&mut self, markup: &str) {
        self.in_noscript = true;
        scanner::scan(markup, self, false);
        self.in_noscript = false;
        self.templates = 0;
        self.in_foreign_code = false;
    }

    fn separate_words(&mut self, tag: Tag) {
        let is_separate = !tag.is_inline();
        self.text.separate_if(is_separate);
        // Outside of an anchor there is no word yet, so this does nothing.
        self.anchor_text.separate_if(is_separate);
    }
}

impl Sink for Collector<'_> {
    fn start_tag(&mut self, tag: Tag, attributes: &Attributes<'_>, in_html: bool, self_closing: bool) {
        if !self.in_noscript && self.templates == 0 {
            self.scripting(tag, attributes);
        }
        if in_html && tag == Tag::Template {
            self.templates += 1;
        }
        if self.templates > 0 {
            return;
        }
        self.separate_words(tag);
        if in_html {
            self.in_foreign_code = false;
            self.html_tag(tag, attributes);
        } else {
            self.foreign_tag(tag, attributes, self_closing);
        }
        if let Some(code) = attributes.non_empty(Key::Onclick) {
            for location in onclick::locations(&code) {
                self.link(LinkKind::Onclick, &location, "", Rel::default());
            }
        }
    }

    #[inline]
    fn plain_start_tag(&mut self, tag: Tag) {
        self.at_root = false;
        if self.templates > 0 {
            return;
        }
        self.in_foreign_code = false;
        self.separate_words(tag);
    }

    #[inline]
    fn plain_end_tag(&mut self, tag: Tag) {
        self.page.scripting.has_empty_root |= std::mem::take(&mut self.at_root);
        if self.templates == 0 {
            self.separate_words(tag);
        }
    }

    fn end_tag(&mut self, tag: Tag, in_html: bool) {
        self.page.scripting.has_empty_root |= std::mem::take(&mut self.at_root);
        if in_html && tag == Tag::Template {
            self.templates = self.templates.saturating_sub(1);
        }
        if self.templates > 0 {
            return;
        }
        self.separate_words(tag);
        match tag {
            Tag::A => self.close_anchor(),
            Tag::Script | Tag::Style => self.in_foreign_code = false,
            _ => {}
        }
    }

    fn text(&mut self, text: Text<'_>, within: Within) {
        if self.at_root {
            text.pieces(|piece| self.at_root &= piece.trim_ascii().is_empty());
        }
        if self.templates > 0 {
            return;
        }
        match within {
            Within::Content if self.in_foreign_code || self.is_full() => {}
            Within::Content if let Some((text, word)) = text.short() => self.short_content(text, word),
            Within::Content => text.pieces(|piece| self.content(piece)),
            Within::Title => self.title(&text.whole()),
            Within::Noscript => self.noscript(&text.whole()),
            Within::Hidden => {}
        }
    }
}
