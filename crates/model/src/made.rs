//! What was made of a page, and its name in an archive.

use std::borrow::Cow;

use crate::PictureKind;

/// `#` in a URN.
const ESCAPED_HASH: &str = "%23";

/// What was made of a page. In an archive each has a URN, made of a prefix and the URL of the page: under that URL, tools that index the
/// archive would show it in place of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// The document as a browser showed it.
    Document,
    /// The results of hooks.
    Extra,
    /// A picture.
    Picture(PictureKind),
}

impl Made {
    const ALL: [Made; 6] = [
        Made::Document,
        Made::Extra,
        Made::Picture(PictureKind::View),
        Made::Picture(PictureKind::FullPage),
        Made::Picture(PictureKind::Thumbnail),
        Made::Picture(PictureKind::Pdf),
    ];

    /// What its URN begins with. The words for pictures are Browsertrix's.
    fn prefix(self) -> &'static str {
        match self {
            Made::Document => "urn:dom:",
            Made::Extra => "urn:extra:",
            Made::Picture(PictureKind::View) => "urn:view:",
            Made::Picture(PictureKind::FullPage) => "urn:fullPage:",
            Made::Picture(PictureKind::Thumbnail) => "urn:thumbnail:",
            Made::Picture(PictureKind::Pdf) => "urn:pdf:",
        }
    }

    /// Its URN.
    ///
    /// The `#` of a hash route is written as `%23`. Indexes drop what is behind a `#`, and so do replay tools when they look up a name: what
    /// was made of all routes would have one name.
    #[must_use]
    pub fn urn(self, page: &str) -> String {
        format!("{}{}", self.prefix(), page.replacen('#', ESCAPED_HASH, 1))
    }

    /// What a URN names, and the URLs of which its page has one, the likelier one first; `None` if it names nothing of the kind.
    #[must_use]
    pub fn of(urn: &str) -> Option<(Made, Vec<Cow<'_, str>>)> {
        let (made, page) = Made::ALL.into_iter().find_map(|made| Some((made, urn.strip_prefix(made.prefix())?)))?;
        // A path may have `%23` too.
        let marks = page.match_indices(ESCAPED_HASH).map(|(at, _)| (&page[..at], &page[at + ESCAPED_HASH.len()..]));
        let route = marks.into_iter().find(|(_, route)| route.starts_with(['/', '!']));
        let of_route = route.map(|(front, route)| Cow::from(format!("{front}#{route}")));
        Some((made, of_route.into_iter().chain([Cow::from(page)]).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_urn_names_what_was_made_and_its_page() {
        for made in Made::ALL {
            for page in
                ["http://a.test/?x=urn:view:y", "http://a.test/#/b%23/c", "http://a.test/#!b", "http://a.test/b%23/"]
            {
                let urn = made.urn(page);
                let (of, pages) = Made::of(&urn).expect("one of them");
                assert_eq!(of, made);
                assert!(pages.iter().any(|one| one == page), "{page}: {pages:?}");
            }
        }
        assert_eq!(Made::Picture(PictureKind::View).urn("http://a.test/#/b"), "urn:view:http://a.test/%23/b");
        assert_eq!(Made::of("http://a.test/"), None);
    }
}
