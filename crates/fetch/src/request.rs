//! The request head: which fields, in which order, in which form (RFC 9112 §3.2).

use std::net::IpAddr;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Method, Request};
use http_body_util::Empty;
use model::{Failure, FailureKind, Purpose, Validators};
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
        Ok(Requests { fields, keyring: config.keyring.clone(), proxy_authorization })
    }

    /// The request of a task.
    pub(crate) fn build(&self, ask: &Ask<'_>, form: Form) -> Result<HeadOnly, Failure> {
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
