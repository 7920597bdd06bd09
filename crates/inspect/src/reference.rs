//! A reference of a document, and where it leads.

use std::borrow::Cow;

use encoding_rs::Encoding;
use serde::Serialize;
use weburl::{CanonicalRules, CanonicalUrl, QueryEncoder, Rejected};

/// A reference as written, with the canonical URL that it leads to or the reason why it leads nowhere.
#[derive(Debug, Serialize)]
pub struct Reference {
    /// As written, cleaned of what a URL parser ignores.
    pub href: String,
    /// The canonical URL.
    pub url: Option<String>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Resolves the references of one document as the crawler does.
pub(crate) struct Resolver<'a> {
    /// What relative references are resolved against; `None` where that is not known.
    pub(crate) base: Option<CanonicalUrl>,
    /// The rules of the canonical form.
    pub(crate) rules: &'a CanonicalRules,
    /// The document's encoding, in which queries are encoded; `None` for UTF-8.
    encoding: Option<&'static Encoding>,
}

impl<'a> Resolver<'a> {
    /// For a document in UTF-8.
    pub(crate) fn new(base: Option<CanonicalUrl>, rules: &'a CanonicalRules) -> Self {
        Resolver { base, rules, encoding: None }
    }

    /// For a document in the encoding of this name (WHATWG Encoding, "get an output encoding").
    pub(crate) fn with_encoding(self, name: &str) -> Self {
        let encoding = Encoding::for_label(name.as_bytes()).map(Encoding::output_encoding);
        Resolver { encoding: encoding.filter(|encoding| *encoding != encoding_rs::UTF_8), ..self }
    }

    pub(crate) fn resolve(&self, href: String) -> Reference {
        match self.join(&href) {
            Ok(url) => Reference { href, url: Some(url.to_string()), reason: None },
            Err(error) => Reference { href, url: None, reason: Some(error.to_string()) },
        }
    }

    pub(crate) fn join(&self, href: &str) -> Result<CanonicalUrl, Rejected> {
        let Some(base) = &self.base else { return CanonicalUrl::parse(href, self.rules) };
        match self.encoding {
            None => base.join(href, self.rules),
            Some(encoding) => {
                let encoder: QueryEncoder<'_> = &|text: &str| Cow::Owned(encoding.encode(text).0.into_owned());
                base.join_encoded(href, self.rules, Some(encoder))
            }
        }
    }
}

/// Reads the URL of a document.
///
/// # Errors
/// It is no URL that the crawler fetches.
pub fn page_url(text: &str) -> Result<CanonicalUrl, Rejected> {
    CanonicalUrl::parse(text, &CanonicalRules::default())
}

/// The same URL by other rules.
pub(crate) fn by_rules(url: &CanonicalUrl, rules: &CanonicalRules) -> CanonicalUrl {
    // Rules only shorten what is canonical already; should they break a URL, it stays as it is.
    CanonicalUrl::parse(url.as_str(), rules).unwrap_or_else(|_| url.clone())
}
