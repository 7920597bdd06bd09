//! The attributes of one tag that anyone here reads.

use super::names::{Known, Name};
use super::tokenizer;
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

static KNOWN: Known<Key, 32> = Known::new(
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

/// Values by name, as they stand in the document. Of attributes given twice the first counts, as the standard says.
#[derive(Debug, Default)]
pub(super) struct Attributes<'d> {
    values: [&'d str; COUNT],
    /// A bit for each key.
    present: u32,
}

impl<'d> Attributes<'d> {
    pub(super) fn clear(&mut self) {
        self.present = 0;
    }

    /// Keeps an attribute that anyone reads.
    #[inline]
    pub(super) fn keep(&mut self, name: Name<'_>, value: &'d str) {
        let key = KNOWN.find(name);
        // Whether it is known cannot be foreseen, so others are kept too, but never present.
        let bit = 1 << key as u32 & !(1 << Key::Other as u32);
        if self.present & bit == 0 {
            self.values[key as usize] = value;
            self.present |= bit;
        }
    }

    #[inline]
    pub(super) fn has(&self, key: Key) -> bool {
        self.present & (1 << key as u32) != 0
    }

    #[inline]
    pub(super) fn has_any(&self, keys: &[Key]) -> bool {
        keys.iter().any(|&key| self.has(key))
    }

    /// The value, references decoded.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<Cow<'d, str>> {
        self.has(key).then(|| tokenizer::value(self.values[key as usize]))
    }

    /// The value if it is not empty.
    #[inline]
    pub(super) fn non_empty(&self, key: Key) -> Option<Cow<'d, str>> {
        self.get(key).filter(|value| !value.is_empty())
    }
}
