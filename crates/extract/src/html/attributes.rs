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
}

const COUNT: usize = Key::FontStyle as usize + 1;

static KNOWN: Known<Option<Key>, 32> = Known::new(
    &[
        ("href", Some(Key::Href)),
        ("xlink:href", Some(Key::XlinkHref)),
        ("src", Some(Key::Src)),
        ("srcset", Some(Key::Srcset)),
        ("alt", Some(Key::Alt)),
        ("width", Some(Key::Width)),
        ("height", Some(Key::Height)),
        ("rel", Some(Key::Rel)),
        ("name", Some(Key::Name)),
        ("content", Some(Key::Content)),
        ("http-equiv", Some(Key::HttpEquiv)),
        ("lang", Some(Key::Lang)),
        ("onclick", Some(Key::Onclick)),
        ("title", Some(Key::Title)),
        ("id", Some(Key::Id)),
        ("type", Some(Key::Type)),
        ("srcdoc", Some(Key::Srcdoc)),
        ("encoding", Some(Key::Encoding)),
        ("color", Some(Key::FontStyle)),
        ("face", Some(Key::FontStyle)),
        ("size", Some(Key::FontStyle)),
    ],
    None,
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
        if let Some(key) = KNOWN.find(name)
            && !self.has(key)
        {
            self.values[key as usize] = value;
            self.present |= 1 << key as u32;
        }
    }

    #[inline]
    pub(super) fn has(&self, key: Key) -> bool {
        self.present & (1 << key as u32) != 0
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
