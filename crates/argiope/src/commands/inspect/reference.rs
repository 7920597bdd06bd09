//! A reference of a document, and where it leads.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::Encoding;
use serde::Serialize;
use weburl::{CanonicalRules, CanonicalUrl, QueryEncoder, Rejected};

use printable::Printable;

/// A reference as written, with the canonical URL that it leads to or the reason why it leads nowhere.
#[derive(Debug, Serialize)]
pub(super) struct Reference {
    /// As written, cleaned of what a URL parser ignores.
    href: String,
    /// The canonical URL.
    url: Option<String>,
    /// Why there is none.
    reason: Option<String>,
}

/// Where the URL leads, in one line.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.url, &self.reason) {
            (Some(url), _) => Printable(url).fmt(f),
            (None, Some(reason)) => write!(f, "\"{}\": {}", Printable(&self.href), Printable(reason)),
            (None, None) => Printable(&self.href).fmt(f),
        }
    }
}

/// Resolves the references of one document as the crawler does.
pub(super) struct Resolver<'a> {
    /// What relative references are resolved against; `None` where that is not known.
    pub(super) base: Option<CanonicalUrl>,
    /// The rules of the canonical form.
    pub(super) rules: &'a CanonicalRules,
    /// The document's encoding, in which queries are encoded; `None` for UTF-8.
    encoding: Option<&'static Encoding>,
}

impl<'a> Resolver<'a> {
    /// For a document in UTF-8.
    pub(super) fn new(base: Option<CanonicalUrl>, rules: &'a CanonicalRules) -> Self {
        Resolver { base, rules, encoding: None }
    }

    /// For a document in the encoding of this name (WHATWG Encoding, "get an output encoding").
    pub(super) fn with_encoding(self, name: &str) -> Self {
        let encoding = Encoding::for_label(name.as_bytes()).map(Encoding::output_encoding);
        Resolver { encoding: encoding.filter(|encoding| *encoding != encoding_rs::UTF_8), ..self }
    }

    pub(super) fn resolve(&self, href: String) -> Reference {
        match self.join(&href) {
            Ok(url) => Reference { href, url: Some(url.to_string()), reason: None },
            Err(error) => Reference { href, url: None, reason: Some(error.to_string()) },
        }
    }

    pub(super) fn join(&self, href: &str) -> Result<CanonicalUrl, Rejected> {
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
