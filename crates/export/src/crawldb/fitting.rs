//! Texts as the course's columns take them, and how many had to be shortened for it.

use std::borrow::Cow;

use model::essence;

use super::storable;

/// Characters that a code of `data_type` may have.
pub(super) const DATA_TYPE_CHARS_MAX: usize = 20;
/// Characters that the name of an image's file may have.
const FILENAME_CHARS_MAX: usize = 255;
/// Characters that the media type of an image may have.
const CONTENT_TYPE_CHARS_MAX: usize = 50;

/// How many texts were shortened, since the course's columns do not take them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortened {
    /// Names of images' files, of which the end was kept.
    pub filenames: u64,
    /// Media types of images, of which the parameters were left out, or the end.
    pub content_types: u64,
    /// Documents whose media type is too long to be a code: they have the code `OTHER`.
    pub data_types: u64,
}

impl Shortened {
    /// The name of an image's file. Its end, which says what it is, is kept.
    pub(super) fn filename<'t>(&mut self, name: &'t str) -> &'t str {
        let excess = name.chars().count().saturating_sub(FILENAME_CHARS_MAX);
        self.filenames += u64::from(excess > 0);
        name.char_indices().nth(excess).map_or("", |(start, _)| &name[start..])
    }

    /// The media type of an image.
    pub(super) fn content_type<'t>(&mut self, declared: &'t str) -> Cow<'t, str> {
        if declared.chars().count() <= CONTENT_TYPE_CHARS_MAX {
            return storable(declared);
        }
        self.content_types += 1;
        Cow::Owned(storable(&essence(declared)).chars().take(CONTENT_TYPE_CHARS_MAX).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_is_counted() {
        let mut shortened = Shortened::default();
        let long = format!("{}.png", "ž".repeat(252));
        assert_eq!(shortened.filename(&long[2..]), &long[2..]);
        assert_eq!(shortened.filename(""), "");
        assert_eq!(shortened.content_type("image/svg+xml; charset=utf-8"), "image/svg+xml; charset=utf-8");
        assert_eq!(shortened, Shortened::default());
        assert_eq!(shortened.filename(&long), &long[2..]);
        let with_parameters = format!("image/svg+xml; title={}", "x".repeat(50));
        assert_eq!(shortened.content_type(&with_parameters), "image/svg+xml");
        let name = format!("image/{}", "x".repeat(50));
        assert_eq!(shortened.content_type(&name), name[..50]);
        assert_eq!(shortened, Shortened { filenames: 1, content_types: 2, data_types: 0 });
    }
}
