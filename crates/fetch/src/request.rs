//! The request head: which fields, in which order, in which form (RFC 9112 §3.2).

use std::net::IpAddr;

use bytes::Bytes;
use cookies::Cookies;
use http::header::{self, HeaderMap, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Method, Request};
use http_body_util::Empty;
use model::{Failure, FailureKind, Purpose, Timestamp, Validators};
use weburl::CanonicalUrl;

use crate::failure::failure;
use crate::message::HeadOnly;
use crate::{ConfigError, FetchConfig, Field, FieldError, Keyring, REDACTED};

/// What to ask for.
pub(crate) struct Ask<'a> {
    pub(crate) method: model::Method,
    pub(crate) url: &'a CanonicalUrl,
    pub(crate) purpose: Purpose,
    /// The page in a browser that asks for it.
    pub(crate) page: Option<&'a CanonicalUrl>,
    /// Asked for only where these do not fit.
    pub(crate) validators: Option<&'a Validators>,
    pub(crate) address: Option<IpAddr>,
    pub(crate) body_bytes_max: u64,
}

/// The content codings that can be undone.
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// The fields of the requests of a fetcher.
#[derive(Debug)]
pub(crate) struct Requests {
    /// Of all of them.
    fields: HeaderMap,
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
        let proxy_authorization = config.proxy.as_ref().and_then(|proxy| proxy.authorization.clone());
        let (keyring, cookies) = (config.keyring.clone(), config.cookies.clone());
        Ok(Requests { fields, keyring, cookies, proxy_authorization })
    }

    /// The request of a task, sent at `now`.
    pub(crate) fn build(&self, ask: &Ask<'_>, form: Form, now: Timestamp) -> Result<HeadOnly, Failure> {
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
        let mut request = Request::new(Empty::<Bytes>::new());
        *request.method_mut() = match ask.method {
            model::Method::Get => Method::GET,
            model::Method::Head => Method::HEAD,
        };
        *request.uri_mut() = Uri::from_parts(uri).map_err(|_| cannot("host or path"))?;
        let fields = request.headers_mut();
        if form != Form::Http2 {
            fields.insert(header::HOST, HeaderValue::from_str(authority).map_err(|_| cannot("host"))?);
        }
        fields.extend(self.fields.clone());
        self.keyring.add_fields(url, ask.page, fields);
        self.add_cookies(ask, fields, now);
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

    /// The jar whose cookies a request for `url` bears, and which takes those of its answer. A page in a browser has none on other sites.
    pub(crate) fn jar(&self, url: &CanonicalUrl, page: Option<&CanonicalUrl>) -> Option<&Cookies> {
        self.cookies.as_ref().filter(|_| page.is_none_or(|page| is_same_site(page, url)))
    }

    /// Whether a request for `url` that a page makes bears a secret.
    pub(crate) fn bears_secret(&self, url: &CanonicalUrl, page: &CanonicalUrl, now: Timestamp) -> bool {
        let has_cookies = |jar: &Cookies| jar.field(url, now).is_some();
        self.keyring.fits(url, Some(page)) || self.jar(url, Some(page)).is_some_and(has_cookies)
    }

    /// Whether there is a jar at all.
    pub(crate) fn has_jar(&self) -> bool {
        self.cookies.is_some()
    }

    /// Adds the cookies of the jar to those that the user gives for these URLs.
    fn add_cookies(&self, ask: &Ask<'_>, fields: &mut HeaderMap, now: Timestamp) {
        let Some(cookies) = self.jar(ask.url, ask.page).and_then(|jar| jar.field(ask.url, now)) else { return };
        let given = fields.get(header::COOKIE).map(|given| [given.as_bytes(), b"; "].concat()).unwrap_or_default();
        // What the server gave it gets back, unless no field may have it.
        if let Ok(mut value) = HeaderValue::from_bytes(&[&given[..], cookies.as_bytes()].concat()) {
            value.set_sensitive(true);
            fields.insert(header::COOKIE, value);
        }
    }
}

/// Whether two URLs are of one site in the sense of cookies: scheme and registrable domain (RFC 6265bis §5.2).
fn is_same_site(one: &CanonicalUrl, other: &CanonicalUrl) -> bool {
    one.domain() == other.domain() && one.site().is_https() == other.site().is_https()
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
pub(crate) fn without_secrets(request: &HeadOnly) -> Option<HeadOnly> {
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
