//! The attributes of one tag that anyone here reads, in reused buffers.

/// The attributes kept; all others are dropped as they are tokenized.
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

impl Key {
    /// By the name as the tokenizer gives it, lower case.
    pub(super) fn parse(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"href" => Self::Href,
            b"xlink:href" => Self::XlinkHref,
            b"src" => Self::Src,
            b"srcset" => Self::Srcset,
            b"alt" => Self::Alt,
            b"width" => Self::Width,
            b"height" => Self::Height,
            b"rel" => Self::Rel,
            b"name" => Self::Name,
            b"content" => Self::Content,
            b"http-equiv" => Self::HttpEquiv,
            b"lang" => Self::Lang,
            b"onclick" => Self::Onclick,
            b"title" => Self::Title,
            b"id" => Self::Id,
            b"type" => Self::Type,
            b"srcdoc" => Self::Srcdoc,
            b"encoding" => Self::Encoding,
            b"color" | b"face" | b"size" => Self::FontStyle,
            _ => return None,
        })
    }
}

/// Values by name. Of attributes given twice the first counts, as the standard says.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    values: [Vec<u8>; COUNT],
    present: [bool; COUNT],
}

impl Attributes {
    pub(super) fn clear(&mut self) {
        self.present = [false; COUNT];
    }

    /// Begins an attribute: its buffer, unless the tag had it already.
    pub(super) fn begin(&mut self, key: Key) -> bool {
        let at = key as usize;
        let new = !std::mem::replace(&mut self.present[at], true);
        if new {
            self.values[at].clear();
        }
        new
    }

    pub(super) fn extend(&mut self, key: Key, value: &[u8]) {
        self.values[key as usize].extend_from_slice(value);
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.present[key as usize]
    }

    /// The value, entities decoded.
    pub(super) fn get(&self, key: Key) -> Option<&str> {
        // The document was decoded to UTF-8 before, so the conversion cannot fail.
        let value = || std::str::from_utf8(&self.values[key as usize]).ok();
        self.has(key).then(value).flatten()
    }

    /// The value if it is not empty.
    pub(super) fn non_empty(&self, key: Key) -> Option<&str> {
        self.get(key).filter(|value| !value.is_empty())
    }
}
