//! An HTTP proxy: its URL, and the tunnel through it (RFC 9110 §9.3.6).

use std::fmt;
use std::str::FromStr;

use http::HeaderValue;
use model::{Failure, FailureKind};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use weburl::UserInfo;

use crate::failure::failure;
use crate::head::{self, EndOfHead};
use crate::keyring::{CredentialsError, basic};

/// `http://[user:password@]host[:port]`, the port 80 if not given. Its debug form does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The value of Proxy-Authorization (RFC 7617).
    pub(crate) authorization: Option<HeaderValue>,
}

/// Why a text is no [`ProxyUrl`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyUrlError {
    /// The text is not a URL.
    #[error("the proxy is not a URL: {0}")]
    Syntax(String),
    /// The scheme is another than http; it is named.
    #[error("the proxy's scheme is {0}, only http is supported")]
    Scheme(String),
    /// There is more than a host and a port.
    #[error("the proxy's URL has a path or a query: use http://[user:password@]host[:port]")]
    Path,
    /// The user name and password cannot be said.
    #[error("the proxy: {0}")]
    Credentials(#[source] CredentialsError),
}

impl FromStr for ProxyUrl {
    type Err = ProxyUrlError;

    fn from_str(text: &str) -> Result<Self, ProxyUrlError> {
        let url = url::Url::parse(text).map_err(|error| ProxyUrlError::Syntax(error.to_string()))?;
        if url.scheme() != "http" {
            return Err(ProxyUrlError::Scheme(url.scheme().to_owned()));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(ProxyUrlError::Path);
        }
        let authorization = UserInfo::of(text).as_ref().map(basic).transpose().map_err(ProxyUrlError::Credentials)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        Ok(ProxyUrl { host, port: url.port().unwrap_or(80), authorization })
    }
}

impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = if self.authorization.is_some() { "***@" } else { "" };
        write!(f, "http://{user}{}:{}", self.host, self.port)
    }
}

impl ProxyUrl {
    /// Makes the proxy connect `stream` to `authority` (`host:port`). Its answer may have `head_bytes_max` bytes.
    pub(crate) async fn tunnel<S>(&self, stream: &mut S, authority: &str, head_bytes_max: usize) -> Result<(), Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        if let Some(authorization) = &self.authorization {
            request.push_str(&format!("Proxy-Authorization: {}\r\n", authorization.to_str().unwrap_or_default()));
        }
        request.push_str("\r\n");
        let of_proxy = |kind, detail: String| failure(kind, format!("proxy {self:?}: {detail}"));
        let lost = |error: std::io::Error| of_proxy(FailureKind::Connect, error.to_string());
        stream.write_all(request.as_bytes()).await.map_err(lost)?;
        let answer = read_head(stream, head_bytes_max).await.map_err(lost)?;
        match head::parse_status(&answer) {
            Some(200..=299) => Ok(()),
            Some(_) => {
                let line = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
                Err(of_proxy(FailureKind::Connect, format!("refused CONNECT {authority}: {line}")))
            }
            None => Err(of_proxy(FailureKind::Protocol, format!("no HTTP answer to CONNECT {authority}"))),
        }
    }
}

/// Reads to the end of a head and not a byte further: what follows belongs to the tunnel.
async fn read_head<S: AsyncRead + Unpin>(stream: &mut S, bytes_max: usize) -> std::io::Result<Vec<u8>> {
    let (mut head, mut end) = (Vec::new(), EndOfHead::default());
    while head.len() < bytes_max {
        let byte = stream.read_u8().await?;
        head.push(byte);
        if end.find(&[byte]).is_some() {
            return Ok(head);
        }
    }
    Err(std::io::Error::other("head larger than its limit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_read_from_its_url() {
        for (text, host, port, authorization) in [
            ("http://proxy.test:3128", "proxy.test", 3128, None),
            ("http://proxy.test", "proxy.test", 80, None),
            ("http://[::1]:8080/", "[::1]", 8080, None),
            // RFC 7617 §2
            ("http://Aladdin:open%20sesame@p:1", "p", 1, Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
            ("http://user@p:1", "p", 1, Some("Basic dXNlcjo=")),
        ] {
            let proxy: ProxyUrl = text.parse().expect(text);
            let value = proxy.authorization.as_ref().map(|value| value.to_str().expect("ASCII"));
            assert_eq!((proxy.host.as_str(), proxy.port, value), (host, port, authorization));
            assert!(!format!("{proxy:?}").contains("sesame"));
        }
    }

    #[test]
    fn what_is_no_proxy_is_refused() {
        for (text, reason) in [
            ("proxy.test", "not a URL"),
            ("https://proxy.test", "scheme is https"),
            ("socks5://proxy.test", "scheme is socks5"),
            ("http://proxy.test/path", "has a path"),
        ] {
            let error = text.parse::<ProxyUrl>().expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
