//! Which content is kept: everything, or what the user names.

use extract::media_type::{Kind, MediaType};

/// What is kept besides HTML, XML and text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// PDF, Word and PowerPoint.
    pub documents: bool,
    /// Images.
    pub images: bool,
    /// Media types; `type/*` stands for all of a type.
    pub media_types: Vec<String>,
}

impl Keep {
    /// Whether content is kept: by what it is, by what its first bytes show, or by what it is declared as.
    #[must_use]
    pub fn keeps(&self, media: &MediaType, content_type: Option<&str>) -> bool {
        let declared = content_type.unwrap_or_default().split([';', ',']).next().unwrap_or_default();
        let declared = declared.trim().to_ascii_lowercase();
        let (top, _) = declared.split_once('/').unwrap_or((&declared, ""));
        let is_kept = |kind: Kind| match kind {
            Kind::Html | Kind::Xhtml | Kind::SitemapXml | Kind::Xml | Kind::Text => true,
            kind => (self.documents && kind.is_document()) || (self.images && kind.is_image()),
        };
        is_kept(media.kind)
            || media.sniffed.is_some_and(is_kept)
            || top == "text"
            || self
                .media_types
                .iter()
                .any(|wanted| *wanted == declared || wanted.strip_suffix("/*").is_some_and(|wanted| wanted == top))
    }

    /// The media types that may be what is kept.
    #[must_use]
    pub fn media_types(&self) -> Vec<String> {
        /// Documents, under their names and under those of anything that is to be downloaded.
        const DOCUMENTS: [&str; 11] = [
            "application/pdf",
            "application/x-pdf",
            "application/msword",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.ms-powerpoint",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/octet-stream",
            "binary/octet-stream",
            "application/zip",
            "application/x-download",
            "application/force-download",
        ];
        let mut all = self.media_types.clone();
        if self.documents {
            all.extend(DOCUMENTS.map(str::to_owned));
        }
        if self.images {
            all.push("image/*".to_owned());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use extract::media_type::sniff;

    use super::*;

    fn check(keep: &Keep, body: &[u8], content_type: &str, ending: &str, expect: bool) {
        let media = sniff(body, Some(content_type), Some(ending));
        assert_eq!(keep.keeps(&media, Some(content_type)), expect, "{keep:?} {content_type} {ending}");
    }

    #[test]
    fn what_is_named_is_kept() {
        let documents = Keep { documents: true, ..Keep::default() };
        check(&documents, b"%PDF-1.7", "application/pdf", "pdf", true);
        check(&documents, b"%PDF-1.7", "text/html", "", true);
        check(&documents, b"%PDF-1.7", "image/png", "", true);
        check(&documents, b"", "application/octet-stream", "docx", true);
        check(&documents, b"\x89PNG\r\n\x1a\n", "image/png", "png", false);
        check(&documents, b"GIF89a", "application/pdf", "pdf", true);
        check(&documents, b"", "application/epub+zip", "epub", false);
        check(&documents, b"a,b", "text/csv", "csv", true);
        check(&documents, b"<p>", "text/html", "", true);
        let types =
            Keep { media_types: vec!["image/*".to_owned(), "application/epub+zip".to_owned()], ..Keep::default() };
        check(&types, b"", "application/epub+zip; x=y", "epub", true);
        check(&types, b"", "Image/AVIF", "", true);
        check(&types, b"%PDF-1.7", "application/pdf", "pdf", false);
        let images = Keep { images: true, ..Keep::default() };
        check(&images, b"GIF89a", "application/octet-stream", "", true);
        check(&images, b"", "audio/ogg", "", false);
    }
}
