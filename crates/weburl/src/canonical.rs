//! The canonical form of a URL.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::{HashRoutes, Site, SiteKey, UrlKey, percent, plain, query, route};

/// The default of the longest canonical URL followed, in bytes.
pub const URL_BYTES_MAX: usize = 2048;

/// The longest text looked at before parsing, as a multiple of the limit on the result: percent-encoding makes text
/// longer, never shorter, but a scheme, a port or dot segments may go away.
const RAW_BYTES_FACTOR: usize = 8;

/// The rules of the canonical form that are not always on, each off by default, and the limit on the length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalRules {
    /// Sort the parameters of the query by bytes.
    pub sort_query: bool,
    /// Remove session ids: `;jsessionid=…` in the path, `PHPSESSID`, `sid` and the like in the query.
    pub strip_session_ids: bool,
    /// Remove tracking parameters: `utm_*`, `gclid`, `fbclid` and the like.
    pub strip_tracking: bool,
    /// Collapse `//` in the path to `/`.
    pub collapse_slashes: bool,
    /// Remove every leading `www.` of the host.
    pub strip_www: bool,
    /// Keep fragments that are routes of an application.
    pub hash_routes: HashRoutes,
    /// The longest canonical URL accepted, in bytes.
    pub url_bytes_max: usize,
}

impl CanonicalRules {
    /// The rules for the links of a page whose application has a router.
    #[must_use]
    pub fn with_router(&self) -> Self {
        let hash_routes = match self.hash_routes {
            HashRoutes::Auto => HashRoutes::Always,
            given => given,
        };
        CanonicalRules { hash_routes, ..self.clone() }
    }

    /// Whether a route is kept, in a URL that is given as a whole or in a link.
    fn keeps_route(&self, is_link: bool) -> bool {
        match self.hash_routes {
            HashRoutes::Never => false,
            HashRoutes::Auto => !is_link,
            HashRoutes::Always => true,
        }
    }

    /// Whether any of the rules is on.
    fn rewrite(&self) -> bool {
        let CanonicalRules {
            sort_query,
            strip_session_ids,
            strip_tracking,
            collapse_slashes,
            strip_www,
            hash_routes: _,
            url_bytes_max: _,
        } = *self;
        sort_query || strip_session_ids || strip_tracking || collapse_slashes || strip_www
    }
}

impl Default for CanonicalRules {
    fn default() -> Self {
        CanonicalRules {
            sort_query: false,
            strip_session_ids: false,
            strip_tracking: false,
            collapse_slashes: false,
            strip_www: false,
            hash_routes: HashRoutes::Never,
            url_bytes_max: URL_BYTES_MAX,
        }
    }
}

/// Why a text is not a URL that can be crawled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// The scheme is not http or https; it is named.
    #[error("the scheme is {0}, not http or https")]
    Scheme(String),
    /// The text is no URL by the WHATWG URL standard.
    #[error("not a URL: {0}")]
    Syntax(String),
    /// The URL is longer than the limit, in bytes.
    #[error("longer than {0} bytes")]
    TooLong(usize),
}

/// Encodes the characters of a query that are not ASCII, for documents that are not UTF-8 (WHATWG URL, "query state").
pub type QueryEncoder<'a> = &'a dyn Fn(&str) -> Cow<'_, [u8]>;

/// An http or https URL in canonical form.
///
/// By the WHATWG URL standard: scheme and host in lower case, the host in its ASCII (IDNA) form, the scheme's default
/// port dropped, dot segments resolved, an empty path written `/`. By RFC 3986 §6.2.2: percent-encoding in one
/// spelling. Besides: no fragment that is not a route ([`HashRoutes`]), no user name or password, no dot at the end of the host.
#[derive(Clone)]
pub struct CanonicalUrl {
    /// Shared between the crawl, the dataset, and the cache of references.
    text: Arc<str>,
    // Offsets into the text, each a function of it.
    host_end: u32,
    path_start: u32,
    path_end: u32,
    query_end: u32,
    /// Kept, since every URL that is found is looked up by it, several times.
    key: UrlKey,
}

impl CanonicalUrl {
    /// Reads an absolute URL and brings it into canonical form.
    ///
    /// # Errors
    /// A text that is no http or https URL, or too long.
    pub fn parse(text: &str, rules: &CanonicalRules) -> Result<Self, Rejected> {
        check_raw_length(text, rules)?;
        let parsed = url::Url::parse(text).map_err(|error| Rejected::Syntax(error.to_string()))?;
        CanonicalUrl::from_parsed(parsed, rules, None)
    }

    /// Reads back the text of a canonical URL, as kept in a store. `None` if it is not one.
    #[must_use]
    pub fn from_canonical(text: &str) -> Option<Self> {
        let url = url::Url::parse(text).ok()?;
        let is_canonical = url.as_str() == text
            && matches!(url.scheme(), "http" | "https")
            && url[url::Position::AfterScheme..url::Position::BeforeHost] == *"://"
            && url.fragment().is_none_or(|fragment| route::of(fragment).as_deref() == Some(fragment));
        is_canonical.then(|| CanonicalUrl::of(&url, None))
    }

    /// Resolves `href` against this URL, as a browser does in a UTF-8 document.
    ///
    /// # Errors
    /// As [`CanonicalUrl::parse`].
    pub fn join(&self, href: &str, rules: &CanonicalRules) -> Result<Self, Rejected> {
        self.join_encoded(href, rules, None)
    }

    /// Resolves `href` against this URL, as a browser does in a document whose encoding `encoder` stands for.
    ///
    /// # Errors
    /// As [`CanonicalUrl::parse`].
    pub fn join_encoded(
        &self,
        href: &str,
        rules: &CanonicalRules,
        encoder: Option<QueryEncoder<'_>>,
    ) -> Result<Self, Rejected> {
        check_raw_length(href, rules)?;
        if let Some(joined) = self.resolve(href, rules, encoder.is_some()).and_then(Resolved::joined) {
            return Ok(joined);
        }
        let base = (!CanonicalUrl::is_whole(href)).then(|| url::Url::parse(&self.text)).transpose();
        let base = base.map_err(|error| Rejected::Syntax(error.to_string()))?;
        let options = url::Url::options().base_url(base.as_ref()).encoding_override(encoder);
        let parsed = match options.parse(href) {
            Err(url::ParseError::EmptyHost) => options.parse(&with_two_slashes(href)),
            parsed => parsed,
        };
        CanonicalUrl::from_parsed(parsed.map_err(|error| Rejected::Syntax(error.to_string()))?, rules, Some(self))
    }

    /// Whether a reference names the host itself, so that the base does not matter.
    pub(crate) fn is_whole(href: &str) -> bool {
        ["http://", "https://"].iter().any(|scheme| href.starts_with(scheme))
    }

    fn from_parsed(mut url: url::Url, rules: &CanonicalRules, base: Option<&CanonicalUrl>) -> Result<Self, Rejected> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Rejected::Scheme(url.scheme().to_owned()));
        }
        drop_what_is_not_identity(&mut url, rules.keeps_route(base.is_some()));
        canonical_host(&mut url, rules)?;
        canonical_path(&mut url, rules);
        canonical_query(&mut url, rules);
        if url.as_str().len() > rules.url_bytes_max {
            return Err(Rejected::TooLong(rules.url_bytes_max));
        }
        Ok(CanonicalUrl::of(&url, base))
    }

    /// Takes over a URL that is canonical. Most links lead to the site of their page, `base`, whose key is known.
    fn of(url: &url::Url, base: Option<&CanonicalUrl>) -> Self {
        let offset = |position: url::Position| u32::try_from(url[..position].len()).unwrap_or(u32::MAX);
        let site = &url[..url::Position::BeforePath];
        let site_key = match base {
            Some(base) if base.site_text() == site => base.key.site,
            _ => SiteKey::of(site),
        };
        CanonicalUrl {
            text: url.as_str().into(),
            host_end: offset(url::Position::AfterHost),
            path_start: offset(url::Position::BeforePath),
            path_end: offset(url::Position::AfterPath),
            query_end: offset(url::Position::AfterQuery),
            key: UrlKey::on(site_key, url.as_str()),
        }
    }

    /// What [`CanonicalUrl::join_encoded`] comes to, if it turns out that the URL parser is not needed for it; `None` if it is.
    pub(crate) fn resolve<'u>(
        &'u self,
        href: &'u str,
        rules: &CanonicalRules,
        is_encoded: bool,
    ) -> Option<Resolved<'u>> {
        let path_start = self.path_start as usize;
        let base = plain::Base { text: self.without_route(), path_start, path_end: self.path_end as usize };
        let takes_parser = rules.rewrite() || (rules.keeps_route(true) && route::has_mark(href));
        let parts = base.split(href).filter(|_| !takes_parser)?;
        let is_other = is_encoded && parts.rest_path_length < parts.rest.len();
        let is_long = parts.kept.len() + parts.rest.len() > rules.url_bytes_max;
        (!is_other && !is_long).then_some(Resolved { base: self, parts })
    }

    /// The whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host: a lower-case ASCII name, an IPv4 address, or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        let scheme = if self.is_https() { "https://" } else { "http://" };
        &self.text[scheme.len()..self.host_end as usize]
    }

    fn is_https(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// The path, which begins with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.text[self.path_start as usize..self.path_end as usize]
    }

    /// The ending of the last part of the path, without its dot: `pdf` of `/a/report.pdf`.
    #[must_use]
    pub fn path_extension(&self) -> Option<&str> {
        self.path().rsplit('/').next()?.rsplit_once('.').map(|(_, extension)| extension)
    }

    /// The query without its `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.text.get(self.path_end as usize + 1..self.query_end as usize)
    }

    /// Path and query as they stand in a request line.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_start as usize..self.query_end as usize]
    }

    /// The hash route without its `#`, of a page that an application makes.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.text.get(self.query_end as usize + 1..)
    }

    /// The URL that is requested for it.
    #[must_use]
    pub fn without_route(&self) -> &str {
        &self.text[..self.query_end as usize]
    }

    /// Scheme, host and port, as [`Site::as_str`] has them.
    pub(crate) fn site_text(&self) -> &str {
        &self.text[..self.path_start as usize]
    }

    /// The site: scheme, host and port.
    #[must_use]
    pub fn site(&self) -> Site {
        Site::of(self.site_text(), self.host_end)
    }

    /// The registrable domain of the host.
    #[must_use]
    pub fn domain(&self) -> &str {
        crate::registrable_domain(self.host())
    }

    /// Whether another URL is of the same site in the sense of cookies: scheme and registrable domain (RFC 6265bis §5.2).
    #[must_use]
    pub fn is_same_site(&self, other: &CanonicalUrl) -> bool {
        self.domain() == other.domain() && self.site().is_https() == other.site().is_https()
    }

    /// The key of this URL.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        self.key
    }
}

/// A reference resolved, not yet a URL of its own.
#[derive(Clone, Copy)]
pub(crate) struct Resolved<'u> {
    base: &'u CanonicalUrl,
    parts: plain::Parts<'u, 'u>,
}

impl<'u> Resolved<'u> {
    /// The two parts of its text.
    pub(crate) fn parts(self) -> (&'u str, &'u str) {
        (self.parts.kept, self.parts.rest)
    }

    /// The URL; `None` if it takes the URL parser to tell.
    pub(crate) fn joined(self) -> Option<CanonicalUrl> {
        let Resolved { base, parts } = self;
        let (kept, rest) = self.parts();
        if rest.is_empty() && kept.len() == base.text.len() {
            return Some(base.clone());
        }
        // What is left of a base without its route is the page itself.
        if rest.is_empty() || !parts.is_plain() {
            return None;
        }
        let mut text = String::with_capacity(kept.len() + rest.len());
        text.push_str(kept);
        text.push_str(rest);
        let path_end = u32::try_from(kept.len() + parts.rest_path_length).ok()?;
        let query_end = u32::try_from(text.len()).ok()?;
        Some(CanonicalUrl { key: UrlKey::on(base.key.site, &text), text: text.into(), path_end, query_end, ..*base })
    }
}

impl PartialEq for CanonicalUrl {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.as_str() == other.as_str()
    }
}

impl Eq for CanonicalUrl {}

impl Hash for CanonicalUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl Ord for CanonicalUrl {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for CanonicalUrl {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A reference that names a host, with two slashes before the host. The standard ignores further ones ("special authority ignore
/// slashes state"); the parser takes them for an empty host where the reference begins with `//`.
fn with_two_slashes(href: &str) -> Cow<'_, str> {
    let href = href.trim_start_matches(|c| c <= ' ');
    let host = href.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    if host.len() == href.len() { Cow::Borrowed(href) } else { Cow::Owned(format!("//{host}")) }
}

fn check_raw_length(text: &str, rules: &CanonicalRules) -> Result<(), Rejected> {
    if text.len() > rules.url_bytes_max.saturating_mul(RAW_BYTES_FACTOR) {
        return Err(Rejected::TooLong(rules.url_bytes_max));
    }
    Ok(())
}

fn drop_what_is_not_identity(url: &mut url::Url, keeps_route: bool) {
    let route = url.fragment().filter(|_| keeps_route).and_then(route::of).map(Cow::into_owned);
    url.set_fragment(route.as_deref());
    if !url.username().is_empty() || url.password().is_some() {
        // Both fail only for URLs without a host, which http URLs always have.
        let _ = url.set_username("");
        let _ = url.set_password(None);
    }
}

fn canonical_host(url: &mut url::Url, rules: &CanonicalRules) -> Result<(), Rejected> {
    let Some(host) = url.host_str() else { return Err(Rejected::Syntax("empty host".to_owned())) };
    let mut wanted = host.trim_end_matches('.');
    if rules.strip_www {
        while let Some(rest) = wanted.strip_prefix("www.").filter(|rest| rest.contains('.')) {
            wanted = rest;
        }
    }
    if wanted.is_empty() {
        return Err(Rejected::Syntax("empty host".to_owned()));
    }
    if wanted.len() != host.len() {
        let wanted = wanted.to_owned();
        url.set_host(Some(&wanted)).map_err(|error| Rejected::Syntax(error.to_string()))?;
    }
    Ok(())
}

fn canonical_path(url: &mut url::Url, rules: &CanonicalRules) {
    let mut path = percent::normalise(url.path());
    if rules.strip_session_ids
        && let Some(shorter) = query::without_session_path(&path)
    {
        path = Cow::Owned(shorter);
    }
    // Last: a session id may have stood between two slashes.
    if rules.collapse_slashes && path.contains("//") {
        path = Cow::Owned(collapse_slashes(&path));
    }
    if let Cow::Owned(path) = path {
        url.set_path(&path);
    }
}

fn collapse_slashes(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !out.ends_with('/') {
            out.push(character);
        }
    }
    out
}

fn canonical_query(url: &mut url::Url, rules: &CanonicalRules) {
    let Some(old) = url.query() else { return };
    let normal = percent::normalise(old);
    let new = if rules.sort_query || rules.strip_session_ids || rules.strip_tracking {
        query::rewrite(&normal, rules.sort_query, |name| {
            (rules.strip_session_ids && query::is_session_id(name))
                || (rules.strip_tracking && query::is_tracking(name))
        })
    } else {
        Some(normal.clone().into_owned())
    };
    if new.as_deref() != Some(old) {
        url.set_query(new.as_deref());
    }
}

impl serde::Serialize for CanonicalUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for CanonicalUrl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        CanonicalUrl::from_canonical(&text).ok_or_else(|| serde::de::Error::custom("no canonical URL"))
    }
}

impl Site {
    /// Reads back what [`Site::as_str`] gave. `None` if the text is not that of a site.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let site = CanonicalUrl::from_canonical(&format!("{text}/"))?.site();
        (site.as_str() == text).then_some(site)
    }
}
