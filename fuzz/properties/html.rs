//! What holds for every HTML page.
//!
//! Input: the first line is the Content-Type header, the rest is the page.

use extract::href::{Target, clean, target};
use extract::html::extract;
use extract::{HtmlPage, Image, ImageSource, Limits, LinkKind, charset, data_uri, media_type, refresh, srcset};

/// Languages and media types are shorter than this, in bytes.
const SHORT_BYTES_MAX: usize = 255;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let cut = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let content_type = String::from_utf8_lossy(&input[..cut]);
    let content_type = Some(&*content_type).filter(|value| !value.is_empty());
    let bytes = input.get(cut + 1..).unwrap_or_default();

    let whole = extract(bytes, content_type, &Limits::default());
    limits_are_obeyed(&whole, &Limits::default());
    values_are_clean(&whole);
    assert_eq!(whole.encoding, charset::decide(bytes, content_type).encoding.name());
    for limits in [few(), none()] {
        let part = extract(bytes, content_type, &limits);
        limits_are_obeyed(&part, &limits);
        values_are_clean(&part);
        a_limit_only_leaves_out(&whole, &part, &limits);
    }
    small_values(&String::from_utf8_lossy(bytes), content_type, bytes);
}

fn few() -> Limits {
    Limits {
        links_max: 3,
        images_max: 3,
        text_bytes_max: 16,
        title_bytes_max: 8,
        link_text_bytes_max: 8,
        ..Limits::default()
    }
}

fn none() -> Limits {
    Limits {
        links_max: 0,
        images_max: 0,
        text_bytes_max: 0,
        title_bytes_max: 0,
        link_text_bytes_max: 0,
        href_bytes_max: 0,
        data_image_bytes_max: 0,
        data_images_bytes_max: 0,
    }
}

fn limits_are_obeyed(page: &HtmlPage, limits: &Limits) {
    assert!(page.links.len() <= limits.links_max);
    assert!(page.images.len() <= limits.images_max);
    assert!(page.text.len() <= limits.text_bytes_max);
    assert!(page.title.as_ref().is_none_or(|title| title.len() <= limits.title_bytes_max));
    for link in &page.links {
        assert!(link.href.len() <= limits.href_bytes_max, "{link:?}");
        assert!(link.text.len() <= limits.link_text_bytes_max, "{link:?}");
    }
    let mut data_bytes = 0;
    for Image { source, alt, .. } in &page.images {
        assert!(alt.len() <= limits.link_text_bytes_max, "{alt:?}");
        match source {
            ImageSource::Url(url) => assert!(url.len() <= limits.href_bytes_max, "{url}"),
            ImageSource::Data { bytes, media_type } => {
                assert!(media_type.len() <= SHORT_BYTES_MAX, "{media_type}");
                assert!(bytes.len() <= limits.data_image_bytes_max);
                data_bytes += bytes.len();
            }
        }
    }
    assert!(data_bytes <= limits.data_images_bytes_max);
    let refresh = page.refresh.as_ref().and_then(|refresh| refresh.url.as_ref());
    for url in [page.base_href.as_ref(), page.canonical.as_ref(), refresh].into_iter().flatten() {
        assert!(url.len() <= limits.href_bytes_max, "{url}");
    }
    assert!(page.lang.as_ref().is_none_or(|lang| lang.len() <= SHORT_BYTES_MAX));
}

fn values_are_clean(page: &HtmlPage) {
    let collapsed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ") == text;
    assert!(collapsed(&page.text), "{:?}", page.text);
    assert!(page.title.as_deref().is_none_or(collapsed), "{:?}", page.title);
    for link in &page.links {
        assert!(collapsed(&link.text), "{link:?}");
        assert_eq!(clean(&link.href), link.href, "{link:?}");
        assert_eq!(target(&link.href), Target::Web, "{link:?}");
    }
    for image in &page.images {
        assert!(collapsed(&image.alt), "{image:?}");
        if let ImageSource::Url(url) = &image.source {
            assert_eq!(&clean(url), url);
        }
    }
    // Both are links too, unless they are none that a crawler could follow or there is no room.
    let refresh = page.refresh.as_ref().and_then(|refresh| refresh.url.as_ref());
    for (url, kind) in [(page.canonical.as_ref(), LinkKind::Canonical), (refresh, LinkKind::Refresh)] {
        let Some(url) = url.filter(|url| target(url) == Target::Web) else { continue };
        let is_left_out = page.truncated.links || page.truncated.href;
        assert!(is_left_out || page.links.iter().any(|link| link.kind == kind && link.href == *url), "{kind:?} {url}");
    }
}

/// The page read with smaller limits is the beginning of the page read with larger ones, and says that it is.
fn a_limit_only_leaves_out(whole: &HtmlPage, part: &HtmlPage, limits: &Limits) {
    assert_eq!((part.encoding, part.encoding_source), (whole.encoding, whole.encoding_source));
    assert_eq!(part.meta_robots, whole.meta_robots);
    assert!(whole.text.starts_with(&part.text), "{:?} {:?}", whole.text, part.text);
    assert_eq!(part.text.len() < whole.text.len(), part.truncated.text, "{:?} {:?}", whole.text, part.text);
    if let (Some(whole), Some(part)) = (&whole.title, &part.title) {
        assert!(whole.starts_with(part.as_str()), "{whole:?} {part:?}");
    }
    if limits.href_bytes_max == Limits::default().href_bytes_max {
        assert_eq!(part.base_href, whole.base_href);
        // It is one of the links, so there must be room for it.
        assert!(part.canonical == whole.canonical || part.truncated.links);
        assert_eq!(part.refresh, whole.refresh);
        assert_eq!(part.links.len(), whole.links.len().min(limits.links_max));
        assert_eq!(part.truncated.links, whole.links.len() > limits.links_max);
        for (part, whole) in part.links.iter().zip(&whole.links) {
            assert_eq!((&part.href, part.kind, part.rel), (&whole.href, whole.kind, whole.rel));
            assert!(whole.text.starts_with(&*part.text), "{whole:?} {part:?}");
        }
        for (part, whole) in part.images.iter().zip(&whole.images) {
            assert_eq!(part.source, whole.source);
        }
    }
}

/// The readers of single values, which `extract` calls only where the page is right for them.
fn small_values(text: &str, content_type: Option<&str>, bytes: &[u8]) {
    const DECODED_BYTES_MAX: usize = 64;
    let _ = media_type::sniff(bytes, content_type, content_type);
    if let Ok(decoded) = data_uri::decode(text, DECODED_BYTES_MAX) {
        assert!(decoded.bytes.len() <= DECODED_BYTES_MAX);
        assert_eq!(
            data_uri::decode(text, decoded.bytes.len()).as_ref(),
            Ok(&decoded),
            "a limit that fits changes nothing"
        );
    }
    if let Some(url) = refresh::parse(text).and_then(|refresh| refresh.url) {
        assert_eq!(clean(&url), url);
    }
    for url in srcset::urls(text) {
        assert!(!url.is_empty() && !url.contains(|c: char| c.is_ascii_whitespace()), "{url:?}");
    }
    let all = extract::robots_tag::x_robots_tag([text], "argiope");
    assert_eq!(extract::robots_tag::x_robots_tag([text, text], "argiope"), all, "said twice is said once");
}
