//! References of a document, resolved: each URL once.

use std::borrow::Cow;
use std::sync::Mutex;

use foldhash::HashMap;
use weburl::{CanonicalRules, CanonicalUrl, QueryEncoder, ReferenceCache, Rejected, UrlKey, target_of};

use crate::Settings;

/// The URL against which the page's references are resolved (HTML, "document base URL").
pub(crate) fn base_of(url: &CanonicalUrl, base_href: Option<&str>, settings: &Settings) -> CanonicalUrl {
    let base = base_href.and_then(|href| url.join(href, &settings.canonical).ok());
    base.unwrap_or_else(|| url.clone())
}

/// Recently resolved references, one set for each document that is parsed at the time.
static CACHES: Mutex<Vec<ReferenceCache>> = Mutex::new(Vec::new());

/// How many sets are kept, two megabytes each. If more documents are parsed at once, some begin without.
const CACHES_MAX: usize = 32;

/// One of them, given back when the document is done.
struct Lease(ReferenceCache);

impl Lease {
    fn take() -> Self {
        let kept = CACHES.lock().map_or(None, |mut kept| kept.pop());
        Lease(kept.unwrap_or_default())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Ok(mut kept) = CACHES.lock()
            && kept.len() < CACHES_MAX
        {
            kept.push(std::mem::take(&mut self.0));
        }
    }
}

/// Resolves the references of one document.
pub(crate) struct Resolver<'a, 'h> {
    base: CanonicalUrl,
    rules: &'a CanonicalRules,
    cache: Lease,
    /// The document's encoding if it is not UTF-8: queries of its URLs are encoded with it.
    encoding: Option<&'static encoding_rs::Encoding>,
    /// The URLs found, each once, in the order of the document.
    pub(crate) urls: Vec<CanonicalUrl>,
    /// Their places, by their keys and by the references that lead to them; `None` if a reference leads nowhere.
    places: HashMap<UrlKey, usize>,
    references: HashMap<&'h str, Option<usize>>,
    pub(crate) rejected: u32,
    /// A reference was rejected for its length.
    pub(crate) has_too_long: bool,
}

impl<'a, 'h> Resolver<'a, 'h> {
    /// For a document in the encoding of this name with about `count` references.
    pub(crate) fn new(base: CanonicalUrl, encoding: &str, rules: &'a CanonicalRules, count: usize) -> Self {
        let encoding =
            encoding_rs::Encoding::for_label(encoding.as_bytes()).map(encoding_rs::Encoding::output_encoding);
        let encoding = encoding.filter(|encoding| *encoding != encoding_rs::UTF_8);
        let urls = Vec::with_capacity(count);
        let (mut places, mut references) = (HashMap::default(), HashMap::default());
        places.reserve(count);
        references.reserve(count);
        Resolver {
            base,
            rules,
            cache: Lease::take(),
            encoding,
            urls,
            places,
            references,
            rejected: 0,
            has_too_long: false,
        }
    }

    pub(crate) fn join(&mut self, href: &str) -> Result<CanonicalUrl, Rejected> {
        let rules = self.rules;
        match self.encoding {
            None => self.cache.0.join(&self.base, href, rules, None),
            Some(encoding) => {
                let encoder: QueryEncoder<'_> = &|text: &str| Cow::Owned(encoding.encode(text).0.into_owned());
                self.cache.0.join(&self.base, href, rules, Some(encoder))
            }
        }
    }

    /// The place of a reference's target among the URLs found. A part of a page does not count.
    pub(crate) fn place(&mut self, href: &'h str) -> Option<usize> {
        let reference = target_of(href);
        if let Some(place) = self.references.get(reference) {
            return *place;
        }
        let place = match self.join(href) {
            Ok(url) => Some(self.place_of(url)),
            Err(rejected) => {
                self.rejected += 1;
                self.has_too_long |= matches!(rejected, Rejected::TooLong(_));
                None
            }
        };
        self.references.insert(reference, place);
        place
    }

    fn place_of(&mut self, url: CanonicalUrl) -> usize {
        *self.places.entry(url.key()).or_insert_with(|| {
            self.urls.push(url);
            self.urls.len() - 1
        })
    }
}
