//! The attributes of one tag that anyone here reads.

use super::names::{Name, NameTable};
use super::tokenizer::Part;
use std::borrow::Cow;

/// The attributes kept; all others are dropped as they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Href,
    XlinkHref,
    Src,
    Srcset,
    Alt,
    Width,
    Height,
    Rel,
    Name,
    Content,
    HttpEquiv,
    Lang,
    Onclick,
    Title,
    Id,
    Type,
    Srcdoc,
    Encoding,
    /// `color`, `face` or `size`: with one of them a `font` tag ends foreign content.
    FontStyle,
    /// Any other.
    Other,
}

const COUNT: usize = Key::Other as usize + 1;

static KNOWN: NameTable<Key, 32> = NameTable::new(
    &[
        ("href", Key::Href),
        ("xlink:href", Key::XlinkHref),
        ("src", Key::Src),
        ("srcset", Key::Srcset),
        ("alt", Key::Alt),
        ("width", Key::Width),
        ("height", Key::Height),
        ("rel", Key::Rel),
        ("name", Key::Name),
        ("content", Key::Content),
        ("http-equiv", Key::HttpEquiv),
        ("lang", Key::Lang),
        ("onclick", Key::Onclick),
        ("title", Key::Title),
        ("id", Key::Id),
        ("type", Key::Type),
        ("srcdoc", Key::Srcdoc),
        ("encoding", Key::Encoding),
        ("color", Key::FontStyle),
        ("face", Key::FontStyle),
        ("size", Key::FontStyle),
    ],
    Key::Other,
    0x215c_1c0b_a334_0d97,
);

/// What a tag has: a bit for each key that is among its attributes, and one for its name, which every tag has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Has(u32);

impl Has {
    pub(super) const NAME: Self = Self(1 << 31);

    pub(super) const fn of(key: Key) -> Self {
        Self(1 << key as u32)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    pub(super) const fn any_of(self, some: Self) -> bool {
        self.0 & some.0 != 0
    }
}

/// Values by name, as they stand in the document. Of attributes given twice the first counts, as the standard says.
#[derive(Debug)]
pub(super) struct Attributes<'d> {
    document: &'d str,
    values: [Part; COUNT],
    pub(super) has: Has,
}

impl<'d> Attributes<'d> {
    pub(super) fn of(document: &'d str) -> Self {
        Self { document, values: [Part::default(); COUNT], has: Has::NAME }
    }

    pub(super) fn clear(&mut self) {
        self.has = Has::NAME;
    }

    /// Keeps an attribute that anyone reads.
    #[inline]
    pub(super) fn keep(&mut self, name: Name<'_>, value: Part) {
        let key = KNOWN.find(name);
        // Whether it is known cannot be foreseen, so others are kept too, but never had.
        let bit = 1 << key as u32 & !(1 << Key::Other as u32);
        if self.has.0 & bit == 0 {
            self.values[key as usize] = value;
            self.has.0 |= bit;
        }
    }

    #[inline]
    pub(super) fn has(&self, key: Key) -> bool {
        self.has.any_of(Has::of(key))
    }

    /// The value, references decoded.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<Cow<'d, str>> {
        self.has(key).then(|| self.values[key as usize].meaning(self.document))
    }

    /// The value if it is not empty.
    #[inline]
    pub(super) fn non_empty(&self, key: Key) -> Option<Cow<'d, str>> {
        self.get(key).filter(|value| !value.is_empty())
    }
}
