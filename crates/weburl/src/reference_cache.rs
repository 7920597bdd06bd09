//! Recently resolved references: those of a site's pages mostly lead to the same URLs.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::{CanonicalRules, CanonicalUrl, QueryEncoder, Rejected};

/// Places for URLs: a megabyte, and as much for the texts of the URLs.
const PLACES: usize = 16_384;

/// Resolves references, and caches the targets of frequent ones. A cached reference costs neither the hash of its key
/// nor memory of its own.
#[derive(Default)]
pub struct ReferenceCache {
    /// Marks of each place, checked before the place is read: most references of the web occur once, and then neither the place nor
    /// its URL is read. Empty, like the places, until the first reference.
    marks: Vec<Marks>,
    /// URLs, each in the place that its hash gives.
    places: Vec<Option<CachedReference>>,
    random: RandomState,
    rules: CanonicalRules,
}

/// Parts of hashes.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// Of the URL in the place.
    found: u32,
    /// Of the last URL that was looked up and missing: it enters at its second lookup.
    missed: u32,
}

struct CachedReference {
    /// The reference as written, if it needs the URL parser and does not depend on the base.
    written: Option<Box<str>>,
    url: CanonicalUrl,
}

impl ReferenceCache {
    /// The result of [`CanonicalUrl::join_encoded`].
    ///
    /// # Errors
    /// As that.
    pub fn join(
        &mut self,
        base: &CanonicalUrl,
        href: &str,
        rules: &CanonicalRules,
        encoder: Option<QueryEncoder<'_>>,
    ) -> Result<CanonicalUrl, Rejected> {
        if self.rules != *rules {
            *self = ReferenceCache { rules: rules.clone(), ..ReferenceCache::default() };
        }
        if let Some(resolved) = base.resolve(href, rules, encoder.is_some()) {
            let (kept, rest) = resolved.parts();
            let hash = self.random.hash_one((kept, rest));
            // What is the text of a canonical URL has nothing in it that would stand for something else.
            if let Some(CachedReference { url, .. }) = self.found(hash)
                && url.as_str().strip_prefix(kept) == Some(rest)
            {
                return Ok(url.clone());
            }
            if let Some(url) = resolved.joined() {
                self.missed(hash, || CachedReference { written: None, url: url.clone() });
                return Ok(url);
            }
        }
        // A reference with a scheme leads to the same wherever it stands; one in another encoding may not.
        if encoder.is_some() || !CanonicalUrl::is_whole(href) {
            return base.join_encoded(href, rules, encoder);
        }
        let hash = self.random.hash_one((href, ""));
        if let Some(CachedReference { written: Some(written), url }) = self.found(hash)
            && **written == *href
        {
            return Ok(url.clone());
        }
        let url = base.join_encoded(href, rules, encoder)?;
        self.missed(hash, || CachedReference { written: Some(href.into()), url: url.clone() });
        Ok(url)
    }

    /// What may be the one with this hash.
    fn found(&self, hash: u64) -> Option<&CachedReference> {
        let place = hash as usize % PLACES;
        self.marks.get(place).filter(|marks| marks.found == mark(hash)).and_then(|_| self.places[place].as_ref())
    }

    /// Takes in what was not found, if it was the last that was missed in its place before.
    fn missed(&mut self, hash: u64, found: impl FnOnce() -> CachedReference) {
        if self.places.is_empty() {
            self.marks.resize_with(PLACES, Marks::default);
            self.places.resize_with(PLACES, || None);
        }
        let place = hash as usize % PLACES;
        let marks = &mut self.marks[place];
        if std::mem::replace(&mut marks.missed, mark(hash)) == mark(hash) {
            marks.found = mark(hash);
            self.places[place] = Some(found());
        }
    }
}

/// The part of a hash that does not tell the place.
fn mark(hash: u64) -> u32 {
    (hash >> u32::BITS) as u32
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    #[test]
    fn gives_what_joining_gives_the_first_time_and_every_time() {
        let bases = ["http://a.test/", "http://a.test/dir/page?q", "https://b.test:8443/dir/deep/x.html"].map(url);
        let references = [
            "",
            "#top",
            "/",
            "y.html",
            "./y.html",
            "../y.html",
            "?q=1",
            "y.html?q=1#top",
            "./mailto:x@a.test",
            "./http:y.html",
            "z/../y.html",
            "z/./y.html",
            "..y.html",
            "%7Ey",
            "~y",
            "./y%2E",
            "?",
            "y.html?",
            " y.html",
            "y\t.html",
            "\\c.test/x",
            "/\\c.test/x",
            "y.html?a:b",
            "y.html?a/../b",
            "http://a.test/dir/y.html",
            "http://A.test:80/dir/./y.html",
            "HTTP://c.test/%7Ex",
            "//c.test/x",
            "https:y.html",
            "http:y.html",
            "http://",
            "mailto:x@a.test",
            "\u{e9}?\u{e9}",
            "http://c.test/?\u{e9}",
        ];
        let latin: QueryEncoder<'_> = &|text| Cow::Owned(text.chars().map(|c| c as u8).collect());
        let stripping = CanonicalRules { strip_www: true, sort_query: true, ..CanonicalRules::default() };
        let short = CanonicalRules { url_bytes_max: 20, ..CanonicalRules::default() };
        let mut lately = ReferenceCache::default();
        for rules in [&CanonicalRules::default(), &stripping, &short, &CanonicalRules::default()] {
            for _ in 0..3 {
                for base in &bases {
                    for href in references {
                        for encoder in [None, Some(latin)] {
                            let expect = base.join_encoded(href, rules, encoder);
                            assert_eq!(lately.join(base, href, rules, encoder), expect, "{href} on {base}");
                        }
                    }
                }
            }
        }
    }

    /// By the memory of its text.
    fn is_the_same(a: &CanonicalUrl, b: &CanonicalUrl) -> bool {
        std::ptr::eq(a.as_str(), b.as_str())
    }

    #[test]
    fn what_is_found_again_has_no_memory_of_its_own() {
        let (mut lately, base, rules) = (ReferenceCache::default(), url("http://a.test/x/"), CanonicalRules::default());
        let mut find = |href: &str| lately.join(&base, href, &rules, None).expect(href);
        for href in ["page", "../page", "http://B.test"] {
            let (first, second) = (find(href), find(href));
            assert!(!is_the_same(&first, &second), "{href}: found once");
            assert!(is_the_same(&second, &find(href)), "{href}: found again");
        }
    }

    #[test]
    fn what_is_found_once_takes_the_place_of_nothing() {
        let (mut lately, base, rules) = (ReferenceCache::default(), url("http://a.test/"), CanonicalRules::default());
        let mut find = |href: &str| lately.join(&base, href, &rules, None).expect(href);
        find("page");
        let page = find("page");
        for n in 0..PLACES * 3 {
            find(&format!("page/{n}"));
        }
        assert!(is_the_same(&page, &find("page")));
    }

    #[test]
    fn remembers_so_many_and_no_more() {
        let mut lately = ReferenceCache::default();
        let (base, rules) = (url("http://a.test/"), CanonicalRules::default());
        for n in 0..PLACES * 3 {
            let href = format!("page/{n}");
            for _ in 0..3 {
                assert_eq!(lately.join(&base, &href, &rules, None), base.join(&href, &rules));
            }
        }
        assert_eq!(lately.places.len(), PLACES);
    }

    const PIECES: [&str; 20] = [
        "a",
        "b",
        "/",
        "//",
        ".",
        "..",
        "./",
        "../",
        ":",
        "?",
        "#",
        "%7E",
        "~",
        "%2e",
        "\\",
        " ",
        "\t",
        "&",
        "\u{e9}",
        "http://a.test",
    ];

    proptest! {
        #[test]
        fn what_was_found_before_changes_nothing(
            references in prop::collection::vec(prop::collection::vec(prop::sample::select(&PIECES[..]), 0..6), 1..60),
        ) {
            let (mut lately, rules) = (ReferenceCache::default(), CanonicalRules::default());
            let bases = ["http://a.test/", "http://a.test/a/b?a", "http://a.test/a/a:b"].map(url);
            for pieces in references.iter().cycle().take(3 * references.len()) {
                for base in &bases {
                    let href = pieces.concat();
                    prop_assert_eq!(lately.join(base, &href, &rules, None), base.join(&href, &rules), "{} on {}", href, base);
                }
            }
        }
    }
}
