//! What a site is asked: a request, as far as a site needs it.

use std::fmt;

use bytes::Bytes;

/// The scheme a request came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method as sent: `GET`, `HEAD`, …
    pub method: String,
    /// The scheme of the connection, or of the absolute-form target when the server is used as a proxy.
    pub scheme: Scheme,
    /// The host asked for, lower-case, without port.
    pub host: String,
    /// The port, if the request named one.
    pub port: Option<u16>,
    /// Path and query as sent (origin-form, RFC 9112 section 3.2.1); bytes that are not UTF-8 are replaced.
    pub target: String,
    /// Header names in lower case and their values, in the order sent.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Scheme {
    /// `http` or `https`.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Request {
    /// The target up to the question mark.
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(&self.target, |(path, _)| path)
    }

    /// The target after the question mark.
    pub fn query(&self) -> Option<&str> {
        self.target.split_once('?').map(|(_, query)| query)
    }

    /// The value of a parameter `name=value` of the query, as sent.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query()?
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// The first header of that name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
