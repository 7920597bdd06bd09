//! The request head: which fields, in which order, in which form (RFC 9112 §3.2).

use std::time::Duration;

use bytes::Bytes;
use cookies::{Cookie, Cookies, Stored};
use http::Method;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use model::{Failure, FailureKind, FetchTask, ForPage, Headers, Timestamp, Validators};
use weburl::CanonicalUrl;

use crate::failure::failure;
use crate::field::RESERVED;
use crate::initiator::Initiator;
use crate::known_values::KnownValues;
use crate::message::Request;
use crate::{ConfigError, FetchConfig, Field, FieldError, Keyring, REDACTED};

/// A request that a page in a browser makes.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<'a> {
    /// The page, or a frame in it.
    pub initiator: Initiator<'a>,
    /// The method.
    pub method: model::Method,
    /// The fields that the page and its browser give. Those of the connection, and what the crawler says of itself, are left out.
    pub headers: &'a Headers,
    /// The body.
    pub body: &'a Bytes,
    /// The limit for the whole answer, if it is less than [`model::Limits::total_timeout`]. What came of the body until then is taken.
    pub time_max: Duration,
}

/// What to ask for.
pub(crate) struct Ask<'a> {
    pub(crate) method: model::Method,
    /// That of the task, or that to which robots.txt redirects.
    pub(crate) url: &'a CanonicalUrl,
    pub(crate) task: &'a FetchTask,
    /// What a page in a browser asks with.
    pub(crate) page: Option<&'a PageRequest<'a>>,
    /// Asked for only where these do not fit.
    pub(crate) validators: Option<&'a Validators>,
    pub(crate) body_bytes_max: u64,
}

impl Ask<'_> {
    pub(crate) fn initiator(&self) -> Initiator<'_> {
        self.page.map_or(Initiator::Crawl, |page| page.initiator)
    }
}

/// The content codings that can be undone.
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// The fields of the requests of a fetcher.
#[derive(Debug)]
pub(crate) struct Requests {
    /// Of all of them.
    fields: HeaderMap,
    /// The user gives `Accept`.
    has_own_accept: bool,
    keyring: Keyring,
    cookies: Option<Cookies>,
    proxy_authorization: Option<HeaderValue>,
}

/// How the target stands in the request line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Path and query, the host in a field of its own.
    Origin,
    /// The whole URL, for a proxy.
    Absolute,
    /// In the pseudo-fields of HTTP/2 (RFC 9113 §8.3.1).
    Http2,
}

impl Requests {
    pub(crate) fn new(config: &FetchConfig) -> Result<Self, ConfigError> {
        let mut fields = HeaderMap::new();
        set(&mut fields, "User-Agent", &config.user_agent)?;
        set(&mut fields, "Accept", &config.accept)?;
        set(&mut fields, "Accept-Encoding", ACCEPT_ENCODING)?;
        for (name, value) in &config.headers {
            set(&mut fields, name, value)?;
        }
        let has_own_accept = config.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(header::ACCEPT.as_str()));
        let proxy_authorization = config.proxy.as_ref().and_then(|proxy| proxy.authorization.clone());
        let (keyring, cookies) = (config.keyring.clone(), config.cookies.clone());
        Ok(Requests { fields, has_own_accept, keyring, cookies, proxy_authorization })
    }

    /// The request of a task. The clock tells which cookies are still good.
    pub(crate) fn build<'a>(
        &self,
        ask: &Ask<'a>,
        form: Form,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Request<'a>, Failure> {
        let url: &CanonicalUrl = ask.url;
        let cannot = |what: &str| failure(FailureKind::Protocol, format!("{what} of the URL cannot be sent over HTTP"));
        let site = url.site();
        let authority = site.as_str().split_once("://").map_or(site.as_str(), |(_, authority)| authority);
        let target = PathAndQuery::try_from(url.path_and_query()).map_err(|_| cannot("path"))?;
        let mut uri = http::uri::Parts::default();
        uri.path_and_query = Some(target);
        if form != Form::Origin {
            uri.scheme = Some(if site.is_https() { Scheme::HTTPS } else { Scheme::HTTP });
            uri.authority = Some(Authority::try_from(authority).map_err(|_| cannot("host"))?);
        }
        let mut request = Request::new(ask.page.map(|page| page.body));
        *request.method_mut() = match ask.method {
            model::Method::Get => Method::GET,
            model::Method::Head => Method::HEAD,
            model::Method::Post => Method::POST,
            model::Method::Options => Method::OPTIONS,
        };
        let length = request.body().map_or(0, Bytes::len);
        *request.uri_mut() = Uri::from_parts(uri).map_err(|_| cannot("host or path"))?;
        let fields = request.headers_mut();
        if form != Form::Http2 {
            fields.insert(header::HOST, HeaderValue::from_str(authority).map_err(|_| cannot("host"))?);
        }
        fields.extend(self.fields.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(for_page) = ask.task.for_page.as_deref() {
            self.add_fields_for_page(for_page, fields);
        }
        self.keyring.add_fields(url, ask.initiator(), fields);
        self.add_cookies(ask, fields, clock);
        if let Some(page) = ask.page {
            add_fields_of_page(page.headers, fields);
        }
        if length > 0 || ask.method == model::Method::Post {
            fields.insert(header::CONTENT_LENGTH, length.into());
        }
        if let Some(model::Validators { etag, last_modified }) = ask.validators {
            let conditions = [(header::IF_NONE_MATCH, etag), (header::IF_MODIFIED_SINCE, last_modified)];
            for (name, validator) in conditions {
                // What the server gave it gets back, unless no field may have it.
                let value = validator.as_ref().and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok());
                value.map(|value| fields.insert(name, value));
            }
        }
        if form == Form::Absolute
            && let Some(authorization) = &self.proxy_authorization
        {
            fields.insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }

    /// Asks as a browser does for a file that a page needs. Where the user gives such a field, the user's is sent.
    fn add_fields_for_page(&self, for_page: &ForPage, fields: &mut HeaderMap) {
        if let Some(accept) = for_page.accept.filter(|_| !self.has_own_accept) {
            fields.insert(header::ACCEPT, HeaderValue::from_static(accept));
        }
        let referer = for_page.referer.as_ref().and_then(|site| HeaderValue::try_from(format!("{site}/")).ok());
        if let Some(referer) = referer.filter(|_| !fields.contains_key(header::REFERER)) {
            fields.insert(header::REFERER, referer);
        }
    }

    /// The jar whose cookies a request for `url` bears, and which takes those of its answer. A page in a browser has none on other sites.
    pub(crate) fn jar(&self, url: &CanonicalUrl, initiator: Initiator<'_>) -> Option<&Cookies> {
        self.cookies.as_ref().filter(|_| match initiator {
            Initiator::Crawl => true,
            Initiator::Page(page) => page.is_same_site(url),
            Initiator::Anonymous => false,
        })
    }

    /// Whether a request for `url` bears a secret.
    pub(crate) fn bears_secret(&self, url: &CanonicalUrl, initiator: Initiator<'_>, now: Timestamp) -> bool {
        let has_cookies = |jar: &Cookies| jar.field(url, now).is_some();
        self.keyring.fits(url, initiator) || self.jar(url, initiator).is_some_and(has_cookies)
    }

    /// Whether a request for `url` bears a cookie of this name.
    pub(crate) fn has_cookie(&self, url: &CanonicalUrl, name: &str, now: Timestamp) -> bool {
        self.cookies.as_ref().is_some_and(|jar| jar.has(url, name, now))
    }

    /// The cookies of the jar that scripts of a page may read, of all hosts of its registrable domain.
    pub(crate) fn cookies_for_scripts(&self, page: &CanonicalUrl, now: Timestamp) -> Vec<Cookie> {
        self.cookies.as_ref().map_or_else(Vec::new, |jar| jar.for_scripts(page, now))
    }

    /// The entries of storage for pages of the registrable domain of this one.
    pub(crate) fn stored_for(&self, page: &CanonicalUrl) -> Vec<Stored> {
        self.cookies.as_ref().map_or_else(Vec::new, |jar| jar.stored_for(page))
    }

    /// Whether the cookies that the answer sets may be those of a session in the user's name: there is a jar, or the request bears a
    /// secret.
    pub(crate) fn sets_secrets(&self, ask: &Ask<'_>) -> bool {
        self.cookies.is_some() || self.keyring.fits(ask.url, ask.initiator())
    }

    /// What the records of a request and its answer must not have: the secrets that the server may know, and for a page all that it may
    /// have copied from cookies. `None` without any.
    pub(crate) fn known_values(&self, ask: &Ask<'_>) -> Option<KnownValues> {
        let mut values = KnownValues::default();
        let mut fields = HeaderMap::new();
        for url in [Some(ask.url), ask.page.and_then(|page| page.initiator.page())].into_iter().flatten() {
            self.keyring.add_fields(url, Initiator::Crawl, &mut fields);
            values.add_fields(&fields);
            fields.clear();
        }
        self.keyring.each_unsent(|value| values.add(value));
        let of_jar = match (&self.cookies, ask.page) {
            (None, _) => Vec::new(),
            (Some(jar), Some(_)) => jar.values(),
            (Some(jar), None) => jar.values_of(ask.url.domain()),
        };
        of_jar.iter().for_each(|value| values.add(value));
        if let Some(page) = ask.page.filter(|_| self.cookies.is_some() || !values.is_empty()) {
            page.headers.all("cookie").for_each(|field| values.add_cookies(field));
            page.headers.all("authorization").for_each(|field| values.add_authorization(field));
        }
        (!values.is_empty()).then_some(values)
    }

    /// Adds the cookies of the jar to those that the user gives for these URLs.
    fn add_cookies(&self, ask: &Ask<'_>, fields: &mut HeaderMap, clock: &dyn Fn() -> Timestamp) {
        let Some(cookies) = self.jar(ask.url, ask.initiator()).and_then(|jar| jar.field(ask.url, clock())) else {
            return;
        };
        let given = fields.get(header::COOKIE).map(|given| [given.as_bytes(), b"; "].concat()).unwrap_or_default();
        // What the server gave it gets back, unless no field may have it.
        if let Ok(mut value) = HeaderValue::from_bytes(&[&given[..], cookies.as_bytes()].concat()) {
            value.set_sensitive(true);
            fields.insert(header::COOKIE, value);
        }
    }
}

/// Fields that a page does not set, beside those that nobody sets: what is decoded here, and the name of the crawler.
const NOT_OF_PAGES: [HeaderName; 5] =
    [header::EXPECT, header::ACCEPT_ENCODING, header::USER_AGENT, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE];

/// Adds the fields of a page's request, in place of others of the same name. Its cookies come after those of the user, and a name
/// that both have is the user's. The archive has no values of credentials.
fn add_fields_of_page(page: &Headers, fields: &mut HeaderMap) {
    for (name, value) in &page.0 {
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else { continue };
        if RESERVED.contains(&name) || NOT_OF_PAGES.contains(&name) {
            continue;
        }
        if name == header::COOKIE
            && let Some(cookies) = fields.get(&name).and_then(|own| merged(own, &value))
        {
            value = cookies;
        }
        value.set_sensitive(matches!(name, header::COOKIE | header::AUTHORIZATION));
        fields.insert(name, value);
    }
}

/// Cookies, and others whose names are not among them (RFC 6265 §4.2).
fn merged(own: &HeaderValue, others: &HeaderValue) -> Option<HeaderValue> {
    let name = |cookie: &str| cookie.split('=').next().unwrap_or_default().trim().to_owned();
    let (own, others) = (own.to_str().ok()?, others.to_str().ok()?);
    let names: Vec<String> = own.split(';').map(name).collect();
    let others = others.split(';').map(str::trim).filter(|cookie| !names.contains(&name(cookie)));
    HeaderValue::try_from([own].into_iter().chain(others).collect::<Vec<_>>().join("; ")).ok()
}

fn set(fields: &mut HeaderMap, name: &str, value: &str) -> Result<(), ConfigError> {
    let field = Field::new(name, value).map_err(|error| match error {
        FieldError::Reserved(_) => ConfigError::FieldReserved(name.to_owned()),
        _ => ConfigError::Field(name.to_owned()),
    })?;
    fields.insert(field.name, field.value);
    Ok(())
}

/// A request as it is recorded, if that is not as it is sent: secret values are [`REDACTED`], and what is the proxy's alone is left out.
pub(crate) fn without_secrets<'a>(request: &Request<'a>) -> Option<Request<'a>> {
    if !request.headers().values().any(HeaderValue::is_sensitive) {
        return None;
    }
    let mut recorded = request.clone();
    let fields = recorded.headers_mut();
    fields.remove(header::PROXY_AUTHORIZATION);
    fields
        .values_mut()
        .filter(|value| value.is_sensitive())
        .for_each(|value| *value = HeaderValue::from_static(REDACTED));
    Some(recorded)
}
