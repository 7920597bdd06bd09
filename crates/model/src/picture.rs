//! How a page looked: pictures of it, and its print.

use std::borrow::Cow;

use bytes::Bytes;

/// `#` in the URN of a picture.
const ESCAPED_HASH: &str = "%23";

/// What is kept of how a page looked. In an archive each has a URN, made of a prefix and the URL of the page; the words are Browsertrix's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PictureKind {
    /// What its window shows first.
    View,
    /// The whole page.
    FullPage,
    /// What its window shows first, small.
    Thumbnail,
    /// The page as it would be printed.
    Pdf,
}

impl PictureKind {
    /// All of them, in the order in which they are taken.
    pub const ALL: [PictureKind; 4] =
        [PictureKind::View, PictureKind::FullPage, PictureKind::Thumbnail, PictureKind::Pdf];

    /// What its URN begins with.
    fn prefix(self) -> &'static str {
        match self {
            PictureKind::View => "urn:view:",
            PictureKind::FullPage => "urn:fullPage:",
            PictureKind::Thumbnail => "urn:thumbnail:",
            PictureKind::Pdf => "urn:pdf:",
        }
    }

    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            PictureKind::View | PictureKind::FullPage => "image/png",
            PictureKind::Thumbnail => "image/jpeg",
            PictureKind::Pdf => "application/pdf",
        }
    }

    /// The URN of a picture of a page.
    ///
    /// The `#` of a hash route is written as `%23`. Indexes drop what is behind a `#`, and so do replay tools when they look up a name: the
    /// pictures of all routes would have one name.
    #[must_use]
    pub fn urn(self, page: &str) -> String {
        format!("{}{}", self.prefix(), page.replacen('#', ESCAPED_HASH, 1))
    }

    /// The kind that a URN names, and the URLs of which its page has one, the likelier one first; `None` if it names no picture.
    #[must_use]
    pub fn of(urn: &str) -> Option<(PictureKind, Vec<Cow<'_, str>>)> {
        let (kind, page) =
            PictureKind::ALL.into_iter().find_map(|kind| Some((kind, urn.strip_prefix(kind.prefix())?)))?;
        // A path may have `%23` too.
        let marks = page.match_indices(ESCAPED_HASH).map(|(at, _)| (&page[..at], &page[at + ESCAPED_HASH.len()..]));
        let route = marks.into_iter().find(|(_, route)| route.starts_with(['/', '!']));
        let of_route = route.map(|(front, route)| Cow::from(format!("{front}#{route}")));
        Some((kind, of_route.into_iter().chain([Cow::from(page)]).collect()))
    }
}

/// A picture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it shows.
    pub kind: PictureKind,
    /// The file.
    pub bytes: Bytes,
}

/// The pictures of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pictures {
    /// Those that were taken.
    pub taken: Vec<Picture>,
    /// How many of them do not show all: the page has more pixels than a picture may have.
    pub cut: u32,
    /// How many are missing: they have too many bytes, or took too long.
    pub left_out: u32,
}

impl Pictures {
    /// The bytes of all.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.taken.iter().map(|picture| picture.bytes.len() as u64).sum()
    }

    /// What of them is missing, in the reason of a row; empty if nothing is.
    #[must_use]
    pub fn note(&self) -> String {
        let of = |count: u32, what: &str| (count > 0).then(|| format!("; {count} {what}"));
        let notes = [of(self.cut, "pictures cut"), of(self.left_out, "pictures left out")];
        notes.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_urn_names_a_picture_and_its_page() {
        for kind in PictureKind::ALL {
            for page in
                ["http://a.test/?x=urn:view:y", "http://a.test/#/b%23/c", "http://a.test/#!b", "http://a.test/b%23/"]
            {
                let urn = kind.urn(page);
                let (of, pages) = PictureKind::of(&urn).expect("a picture");
                assert_eq!(of, kind);
                assert!(pages.iter().any(|one| one == page), "{page}: {pages:?}");
            }
        }
        assert_eq!(PictureKind::View.urn("http://a.test/#/b"), "urn:view:http://a.test/%23/b");
        assert_eq!(PictureKind::of("http://a.test/"), None);
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(Pictures::default().note(), "");
        assert_eq!(
            Pictures { cut: 1, left_out: 2, ..Pictures::default() }.note(),
            "; 1 pictures cut; 2 pictures left out"
        );
    }
}
