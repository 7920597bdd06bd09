//! The features that distinguish a page or document from others of its site.

use extract::media_type::Kind;
use extract::passages::Passages;
use extract::{HtmlPage, LinkKind};
use frontier::Features;
use model::ContentDigest;
use weburl::CanonicalUrl;

/// Images and frames of a page that are looked at.
const MEDIA_MAX: usize = 64;

/// The features of a document that is no page: itself.
pub(crate) fn of_document(digest: &ContentDigest) -> Features {
    let first = digest.as_bytes().first_chunk().copied().unwrap_or_default();
    Features { media: vec![u32::from_be_bytes(first)], ..Features::default() }
}

/// The features of a page. `links` and `images` give the places of its links and images among the targets.
pub(crate) fn of_page(
    passages: Passages,
    page: &HtmlPage,
    links: &[Option<usize>],
    images: &[Option<usize>],
    targets: &[CanonicalUrl],
) -> Features {
    let is_frame = |kind| matches!(kind, LinkKind::Frame | LinkKind::Iframe);
    let frames = page.links.iter().zip(links).filter_map(|(link, place)| place.filter(|_| is_frame(link.kind)));
    let shown = images.iter().flatten().copied().chain(frames);
    let media = shown.take(MEDIA_MAX).map(|place| mark(&targets[place])).collect();
    Features { passages: passages.sample, passages_count: passages.count, media }
}

/// A number for an image. The query of an image file does not count: it is a random number where visits are counted by an image.
fn mark(image: &CanonicalUrl) -> u32 {
    let is_file = image.path_extension().and_then(Kind::of_ending).is_some_and(Kind::is_image);
    let query = image.query().filter(|_| !is_file).unwrap_or_default();
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = image.path().bytes().chain([0]).chain(query.bytes()).fold(image.key().site.0, step);
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_an_image_file_does_not_count() {
        let mark = |url: &str| mark(&CanonicalUrl::parse(url, &weburl::CanonicalRules::default()).expect("a URL"));
        for (one, other, same) in [
            ("http://a.test/count.gif?rand=1", "http://a.test/count.gif?rand=2", true),
            ("http://a.test/image?id=1", "http://a.test/image?id=2", false),
            ("http://a.test/1.jpg", "http://a.test/2.jpg", false),
            ("http://a.test/1.jpg", "http://b.test/1.jpg", false),
        ] {
            assert_eq!(mark(one) == mark(other), same, "{one} {other}");
        }
    }
}
