//! The kind of a document where there is no dataset to tell it: by what the server declared, else by the ending of the URL.

/// The kinds that a report always names, since people ask for them.
pub(crate) const OFFICE: [&str; 5] = ["pdf", "doc", "docx", "ppt", "pptx"];

/// Media types of [`OFFICE`].
const TYPES: [(&str, &str); 5] = [
    ("application/pdf", "pdf"),
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-powerpoint", "ppt"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
];

/// Types that say nothing.
const SILENT: [&str; 3] = ["", "application/octet-stream", "application/zip"];

/// A media type without its parameters, in lower case.
pub(crate) fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The kind, in the words of the dataset where it is one of [`OFFICE`], else the media type.
pub(crate) fn declared_kind(essence: &str, path: &str) -> String {
    if let Some((_, kind)) = TYPES.iter().find(|(name, _)| *name == essence) {
        return (*kind).to_owned();
    }
    let ending =
        path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_ascii_lowercase());
    match ending.filter(|ending| SILENT.contains(&essence) && OFFICE.contains(&ending.as_str())) {
        Some(ending) => ending,
        None if essence.is_empty() => "other".to_owned(),
        None => essence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for (declared, path, expect) in [
            ("application/pdf", "/x", "pdf"),
            ("application/octet-stream", "/a/b.DOCX", "docx"),
            ("", "/b.ppt", "ppt"),
            ("", "/b.exe", "other"),
            ("image/png", "/b.pdf", "image/png"),
        ] {
            assert_eq!(declared_kind(declared, path), expect, "{declared} {path}");
        }
        assert_eq!(essence("Text/HTML; charset=x"), "text/html");
    }
}
