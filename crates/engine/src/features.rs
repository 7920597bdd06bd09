//! The features that distinguish a page or document from others of its site.

use std::collections::HashSet;

use extract::besides::Known;
use extract::html::dom::Document;
use extract::media_type::Kind;
use extract::passages::Passages;
use extract::{HtmlPage, LinkKind, numbers};
use frontier::{Features, ShapeRule, TrapRules};
use model::ContentDigest;
use weburl::CanonicalUrl;

/// Images and frames of a page that are looked at.
const MEDIA_MAX: usize = 64;

/// Elements that show what is no text, with the attribute that names it.
const FILMS: [(&str, &str); 5] =
    [("video", "src"), ("audio", "src"), ("source", "src"), ("embed", "src"), ("object", "data")];

/// The longest text beside which films are looked for: a page that says more is judged by that.
const FILM_TEXT_BYTES_MAX: usize = 8 << 10;

/// Links to URLs of the shape of their page that are looked at.
const ALIKE_MAX: usize = 256;

/// The features of a document that is no page: itself.
pub(crate) fn of_document(digest: &ContentDigest) -> Features {
    let payload = mark_of(digest);
    Features { media: vec![payload], payload: Some(payload), ..Features::default() }
}

/// A page whose features are wanted.
pub(crate) struct PageText<'a> {
    pub(crate) url: &'a CanonicalUrl,
    pub(crate) traps: &'a TrapRules,
    pub(crate) html: &'a HtmlPage,
    pub(crate) body: &'a [u8],
    pub(crate) digest: Option<&'a ContentDigest>,
}

/// The features of a page. `links` and `images` give the places of its links and images among the targets.
pub(crate) fn of_page(
    page: &PageText<'_>,
    passages: Passages,
    (links, images): (&[Option<usize>], &[Option<usize>]),
    targets: &[CanonicalUrl],
) -> Features {
    let is_frame = |kind| matches!(kind, LinkKind::Frame | LinkKind::Iframe);
    let links_with_places = page.html.links.iter().zip(links);
    let frames = links_with_places.filter_map(|(link, place)| place.filter(|_| is_frame(link.kind)));
    let shown = images.iter().flatten().copied().chain(frames);
    let mut media: Vec<u32> = shown.take(MEDIA_MAX).map(|place| mark(&targets[place])).collect();
    if page.html.text.len() <= FILM_TEXT_BYTES_MAX && has_films(page.body) {
        media.extend(films(&String::from_utf8_lossy(page.body)));
    }
    let (leads_on, saying) = saying_besides_alike(page, targets);
    Features {
        words: (passages.count > 0).then_some(passages.words),
        passages: passages.sample,
        passages_count: passages.count,
        saying,
        numbers: numbers_besides_addresses(page, targets),
        media,
        payload: page.digest.map(mark_of),
        leads_on,
    }
}

/// Whether a page links to others of its shape, and what it says besides the numbers of their URLs and its own.
fn saying_besides_alike(page: &PageText<'_>, targets: &[CanonicalUrl]) -> (bool, Option<u32>) {
    let PageText { url, traps, html, .. } = page;
    let Some(own) = traps.shape(url) else { return (false, None) };
    let is_alike = |target: &&CanonicalUrl| match own.1 {
        ShapeRule::Queries | ShapeRule::SimpleQueries => target.path() == url.path() && target.query().is_some(),
        ShapeRule::Calendar | ShapeRule::Session => traps.shape(target) == Some(own),
    };
    let others = targets.iter().filter(|target| target != url);
    let mut alike = others.filter(is_alike).take(ALIKE_MAX).peekable();
    if alike.peek().is_none() {
        return (false, None);
    }
    let mut known = Known::default();
    known.add_numbers(url.path_and_query());
    alike.for_each(|target| known.add_numbers(target.path_and_query()));
    (true, known.besides(&html.text))
}

/// The numbers of a page's text that are in no address on it, nor in its own.
fn numbers_besides_addresses(page: &PageText<'_>, targets: &[CanonicalUrl]) -> Vec<u32> {
    let mut numbers = numbers::of_text(&page.html.text);
    if numbers.is_empty() {
        return numbers;
    }
    let site = page.url.key().site;
    let addresses = targets.iter().filter(|target| target.key().site == site).take(ALIKE_MAX).chain([page.url]);
    let known: HashSet<u32> = addresses.flat_map(|address| numbers::of_address(address.path_and_query())).collect();
    numbers.retain(|number| !known.contains(number));
    numbers
}

fn mark_of(digest: &ContentDigest) -> u32 {
    digest.as_bytes().first_chunk().copied().map(u32::from_be_bytes).unwrap_or_default()
}

/// Whether a page may have an element of [`FILMS`]. Only then its tree is made.
fn has_films(body: &[u8]) -> bool {
    let tags = body.split(|byte| *byte == b'<').skip(1);
    let begins =
        |tag: &[u8], name: &str| tag.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()));
    tags.into_iter().any(|tag| FILMS.iter().any(|(name, _)| begins(tag, name)))
}

/// Numbers for the films, sounds and documents within a page.
fn films(html: &str) -> Vec<u32> {
    let document = Document::parse(html);
    let files = document.elements().filter_map(|node| {
        let (_, attribute) = FILMS.iter().find(|(name, _)| node.is(name))?;
        node.attribute(attribute)
    });
    files.take(MEDIA_MAX).map(|file| (weburl::SiteKey::of(&file).0 >> u32::BITS) as u32).collect()
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
    fn films_and_sounds_are_found() {
        let page =
            "<title>A</title><VIDEO controls><source src=/a.mp4></video><object data=b.pdf></object><audio src=c>";
        assert!(has_films(page.as_bytes()) && !has_films(b"<p>video src=/a.mp4 <vide"));
        assert_eq!(films(page).len(), 3);
        assert_ne!(films(page), films(&page.replace("a.mp4", "d.mp4")));
    }

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
