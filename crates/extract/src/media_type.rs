//! What kind of content a response is.
//!
//! The declared type decides; only where it says nothing (missing, `application/octet-stream` or another
//! that only asks for a download, `text/plain`, a generic XML or zip type) the content does: a small part
//! of the WHATWG MIME Sniffing Standard, plus the office formats. Content that begins like a document or
//! an image is none of HTML, whatever is declared. What is declared as a document, or as a type that is not
//! known, is the document that it begins like. The name in the URL is asked last.

mod content;

/// The kinds that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// HTML.
    Html,
    /// XHTML.
    Xhtml,
    /// A sitemap or a feed in XML.
    SitemapXml,
    /// Other XML.
    Xml,
    /// PDF.
    Pdf,
    /// Word, before 2007.
    Doc,
    /// Word, Office Open XML.
    Docx,
    /// PowerPoint, before 2007.
    Ppt,
    /// PowerPoint, Office Open XML.
    Pptx,
    /// A text, presentation or table of OpenDocument.
    OpenDocument,
    /// A book in EPUB.
    Epub,
    /// PNG image.
    Png,
    /// GIF image.
    Gif,
    /// JPEG image.
    Jpeg,
    /// WebP image.
    Webp,
    /// SVG image.
    Svg,
    /// An image of another type.
    OtherImage,
    /// gzip, for instance a compressed sitemap.
    Gzip,
    /// Plain text.
    Text,
    /// Anything else.
    Other,
}

impl Kind {
    /// The kind in lower case, for rows and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Xhtml => "xhtml",
            Self::SitemapXml => "sitemap-xml",
            Self::Xml => "xml",
            Self::Pdf => "pdf",
            Self::Doc => "doc",
            Self::Docx => "docx",
            Self::Ppt => "ppt",
            Self::Pptx => "pptx",
            Self::OpenDocument => "opendocument",
            Self::Epub => "epub",
            Self::Png => "png",
            Self::Gif => "gif",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
            Self::Svg => "svg",
            Self::OtherImage => "image",
            Self::Gzip => "gzip",
            Self::Text => "text",
            Self::Other => "other",
        }
    }

    /// Whether [`html::extract`](crate::html::extract) can read it.
    #[must_use]
    pub const fn is_html(self) -> bool {
        matches!(self, Self::Html | Self::Xhtml)
    }

    /// Whether it is a document as offices write them: PDF, Word, PowerPoint.
    #[must_use]
    pub const fn is_document(self) -> bool {
        matches!(self, Self::Pdf | Self::Doc | Self::Docx | Self::Ppt | Self::Pptx)
    }

    /// Whether it is an image that is no markup.
    #[must_use]
    pub const fn is_raster_image(self) -> bool {
        self.is_image() && !matches!(self, Self::Svg)
    }

    /// What the ending of a path, without its dot, says.
    #[must_use]
    pub fn of_ending(path_ext: &str) -> Option<Kind> {
        Some(match path_ext.to_ascii_lowercase().as_str() {
            "html" | "htm" => Kind::Html,
            "xhtml" | "xht" => Kind::Xhtml,
            "xml" => Kind::Xml,
            "rss" | "atom" => Kind::SitemapXml,
            "pdf" => Kind::Pdf,
            "doc" => Kind::Doc,
            "docx" => Kind::Docx,
            "ppt" => Kind::Ppt,
            "pptx" => Kind::Pptx,
            "odt" | "odp" | "ods" => Kind::OpenDocument,
            "epub" => Kind::Epub,
            "png" => Kind::Png,
            "gif" => Kind::Gif,
            "jpg" | "jpeg" => Kind::Jpeg,
            "webp" => Kind::Webp,
            "svg" => Kind::Svg,
            "bmp" | "ico" | "tif" | "tiff" | "avif" => Kind::OtherImage,
            "gz" => Kind::Gzip,
            "txt" => Kind::Text,
            _ => return None,
        })
    }

    /// Whether it is an image.
    #[must_use]
    pub const fn is_image(self) -> bool {
        matches!(self, Self::Png | Self::Gif | Self::Jpeg | Self::Webp | Self::Svg | Self::OtherImage)
    }
}

/// What a response was said to be and what it looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// By the `Content-Type` header; `None` if there is none or it is no media type.
    pub declared: Option<Kind>,
    /// By the first bytes; `None` if they show nothing.
    pub sniffed: Option<Kind>,
    /// By the ending of the URL's path; `None` if there is none, or it is not known.
    pub extension: Option<Kind>,
    /// The verdict of the two, and of the URL's ending where they are silent.
    pub kind: Kind,
}

impl MediaType {
    /// Whether [`html::extract`](crate::html::extract) can read it.
    #[must_use]
    pub const fn is_html(self) -> bool {
        self.kind.is_html()
    }
}

/// Decides what a response is. `declared` is the `Content-Type` header, `path_ext` the ending of the
/// URL's path without its dot.
#[must_use]
pub fn sniff(bytes: &[u8], declared: Option<&str>, path_ext: Option<&str>) -> MediaType {
    let essence = declared.and_then(essence);
    let declared = essence.as_deref().map(by_name);
    let sniffed = content::sniff(bytes);
    let extension = path_ext.and_then(Kind::of_ending);
    let kind = match essence.as_deref() {
        None
        | Some(
            "application/octet-stream"
            | "binary/octet-stream"
            | "application/zip"
            | "application/x-zip-compressed"
            | "application/download"
            | "application/x-download"
            | "application/force-download"
            | "application/x-msdownload",
        ) => sniffed.or(extension),
        Some("text/html" | "application/xhtml+xml") => {
            sniffed.filter(|kind| kind.is_document() || kind.is_raster_image())
        }
        Some("text/plain") => sniffed,
        Some("text/xml" | "application/xml") => match sniffed {
            Some(Kind::Html) => Some(Kind::Xhtml),
            sniffed => sniffed,
        },
        // Servers take documents for one another, and know too few of their types.
        Some(_) if declared.is_some_and(|kind| is_document_or_book(kind) || kind == Kind::Other) => {
            sniffed.filter(|kind| is_document_or_book(*kind))
        }
        Some(_) => None,
    };
    MediaType { declared, sniffed, extension, kind: kind.or(declared).unwrap_or(Kind::Other) }
}

/// Whether it is a document of any program.
const fn is_document_or_book(kind: Kind) -> bool {
    kind.is_document() || matches!(kind, Kind::OpenDocument | Kind::Epub)
}

/// The media type without its parameters, lower case; `None` if it says nothing.
fn essence(content_type: &str) -> Option<String> {
    let essence = content_type.split([';', ',']).next()?.trim().to_ascii_lowercase();
    let says_nothing =
        !essence.contains('/') || matches!(essence.as_str(), "unknown/unknown" | "application/unknown" | "*/*");
    (!says_nothing).then_some(essence)
}

fn by_name(essence: &str) -> Kind {
    match essence {
        "text/html" => Kind::Html,
        "application/xhtml+xml" => Kind::Xhtml,
        "application/rss+xml" | "application/atom+xml" | "application/rdf+xml" => Kind::SitemapXml,
        "application/pdf" | "application/x-pdf" => Kind::Pdf,
        "application/msword" => Kind::Doc,
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => Kind::Docx,
        "application/vnd.ms-powerpoint" => Kind::Ppt,
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => Kind::Pptx,
        "application/vnd.oasis.opendocument.text"
        | "application/vnd.oasis.opendocument.presentation"
        | "application/vnd.oasis.opendocument.spreadsheet" => Kind::OpenDocument,
        "application/epub+zip" => Kind::Epub,
        "image/png" => Kind::Png,
        "image/gif" => Kind::Gif,
        "image/jpeg" | "image/jpg" | "image/pjpeg" => Kind::Jpeg,
        "image/webp" => Kind::Webp,
        "image/svg+xml" => Kind::Svg,
        "application/gzip" | "application/x-gzip" => Kind::Gzip,
        "text/plain" => Kind::Text,
        "text/xml" | "application/xml" => Kind::Xml,
        other if other.starts_with("image/") => Kind::OtherImage,
        other if other.ends_with("+xml") => Kind::Xml,
        _ => Kind::Other,
    }
}
