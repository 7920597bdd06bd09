//! How a page looked: pictures of it, and its print.

use bytes::Bytes;

/// What is kept of how a page looked.
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

    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            PictureKind::View | PictureKind::FullPage => "image/png",
            PictureKind::Thumbnail => "image/jpeg",
            PictureKind::Pdf => "application/pdf",
        }
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
    fn what_is_missing_is_said() {
        assert_eq!(Pictures::default().note(), "");
        assert_eq!(
            Pictures { cut: 1, left_out: 2, ..Pictures::default() }.note(),
            "; 1 pictures cut; 2 pictures left out"
        );
    }
}
