//! The request head: which fields, in which order, in which form (RFC 9112 §3.2).

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Method, Request};
use http_body_util::Empty;
use model::{Failure, FailureKind};
use weburl::CanonicalUrl;

use crate::connection::HeadOnly;
use crate::failure::failure;
use crate::{ConfigError, FetchConfig};

/// The content codings that can be undone.
const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// Fields that are part of how the request is sent, so not the user's to set.
const RESERVED: [HeaderName; 8] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::PROXY_AUTHORIZATION,
];

/// The fields of all requests of a fetcher.
#[derive(Debug)]
pub(crate) struct Requests {
    fields: HeaderMap,
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
        let authorization = config.proxy.as_ref().and_then(|proxy| proxy.authorization.as_deref());
        let proxy_authorization = authorization
            .map(HeaderValue::from_str)
            .transpose()
            .map_err(|_| ConfigError::Field("Proxy-Authorization".to_owned()))?;
        Ok(Requests { fields, proxy_authorization })
    }

    /// The request for `url`.
    pub(crate) fn build(&self, method: model::Method, url: &CanonicalUrl, form: Form) -> Result<HeadOnly, Failure> {
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
        *request.method_mut() = match method {
            model::Method::Get => Method::GET,
            model::Method::Head => Method::HEAD,
        };
        *request.uri_mut() = Uri::from_parts(uri).map_err(|_| cannot("host or path"))?;
        let fields = request.headers_mut();
        if form != Form::Http2 {
            fields.insert(header::HOST, HeaderValue::from_str(authority).map_err(|_| cannot("host"))?);
        }
        fields.extend(self.fields.clone());
        if form == Form::Absolute
            && let Some(authorization) = &self.proxy_authorization
        {
            fields.insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }
}

fn set(fields: &mut HeaderMap, name: &str, value: &str) -> Result<(), ConfigError> {
    let field = HeaderName::try_from(name).map_err(|_| ConfigError::Field(name.to_owned()))?;
    let value = HeaderValue::from_str(value.trim()).map_err(|_| ConfigError::Field(name.to_owned()))?;
    if RESERVED.contains(&field) {
        return Err(ConfigError::FieldReserved(name.to_owned()));
    }
    fields.insert(field, value);
    Ok(())
}

/// A request head as it goes into the archive: without the proxy's password, which is nobody's business there.
pub(crate) fn without_proxy_authorization(head: Vec<u8>) -> Vec<u8> {
    const NAME: &[u8] = b"proxy-authorization:";
    let is_secret = |line: &[u8]| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    if !head.split(|byte| *byte == b'\n').any(is_secret) {
        return head;
    }
    head.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_secret(line)).flatten().copied().collect()
}
