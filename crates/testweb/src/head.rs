//! Reads the head of an HTTP/1.1 request (RFC 9112 sections 2 to 6).

use bytes::Bytes;

use crate::{Request, Scheme};

/// A head, understood.
#[derive(Debug)]
pub(crate) enum Head {
    /// A request for a site.
    Request {
        /// What the site is asked.
        request: Request,
        /// Whether another request may follow on the connection.
        keep_alive: bool,
        /// Whether the client understands chunked replies: it speaks HTTP/1.1.
        chunked: bool,
        /// How many bytes of body follow the head.
        body_bytes: u64,
    },
    /// `CONNECT`: from now on the connection is one to any host.
    Tunnel,
}

/// The status of the error reply to a head that cannot be understood.
pub(crate) type Refusal = u16;

/// Where the head ends, empty line included.
pub(crate) fn end(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

/// The head in these bytes, which end with the empty line.
pub(crate) fn parse(bytes: &[u8], scheme: Scheme) -> Result<Head, Refusal> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.trim_start_matches("\r\n").split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(400);
    };
    let chunked = match version {
        "HTTP/1.1" => true,
        "HTTP/1.0" => false,
        _ => return Err(505),
    };
    if method == "CONNECT" {
        return Ok(Head::Tunnel);
    }
    let headers = headers(lines)?;
    let body_bytes = body_bytes(&headers)?;
    let keep_alive = keep_alive(&headers, chunked);
    let request = request(method, target, headers, scheme)?;
    Ok(Head::Request { request, keep_alive, chunked, body_bytes })
}

/// Splits `host:port` (RFC 3986 section 3.2); the host lower-case.
pub(crate) fn split_authority(authority: &str) -> (String, Option<u16>) {
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rsplit_once(':') {
        // A colon inside the brackets of an IPv6 address is no port.
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    (host.to_ascii_lowercase(), port)
}

fn headers<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<(String, String)>, Refusal> {
    lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or(400_u16)?;
            Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect()
}

fn request(method: &str, target: &str, headers: Vec<(String, String)>, scheme: Scheme) -> Result<Request, Refusal> {
    let method = method.to_owned();
    if let Some((scheme, authority, target)) = absolute_form(target) {
        let (host, port) = split_authority(authority);
        return Ok(Request { method, scheme, host, port, target, headers, body: Bytes::new() });
    }
    if !target.starts_with('/') && target != "*" {
        return Err(400);
    }
    let authority = headers.iter().find(|(name, _)| name == "host").map_or("", |(_, value)| value);
    let (host, port) = split_authority(authority);
    Ok(Request { method, scheme, host, port, target: target.to_owned(), headers, body: Bytes::new() })
}

/// Splits `http://authority/target`, the form used towards proxies (RFC 9112 section 3.2.2).
fn absolute_form(target: &str) -> Option<(Scheme, &str, String)> {
    let (scheme, rest) = target.split_once("://")?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return None,
    };
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let slash = if target.starts_with('/') { "" } else { "/" };
    Some((scheme, authority, format!("{slash}{target}")))
}

fn body_bytes(headers: &[(String, String)]) -> Result<u64, Refusal> {
    if headers.iter().any(|(name, _)| name == "transfer-encoding") {
        return Err(501);
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    length.map_or(Ok(0), |(_, value)| value.parse().map_err(|_| 400))
}

fn keep_alive(headers: &[(String, String)], is_1_1: bool) -> bool {
    let said = |option: &str| {
        headers
            .iter()
            .filter(|(name, _)| name == "connection" || name == "proxy-connection")
            .any(|(_, value)| value.split(',').any(|word| word.trim().eq_ignore_ascii_case(option)))
    };
    if is_1_1 { !said("close") } else { said("keep-alive") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `METHOD scheme host port target keep-alive body`, `tunnel` or the refusal's status.
    fn check(head: &str, expect: &str) {
        let head = format!("{}\r\n\r\n", head.replace('\n', "\r\n"));
        let got = match parse(head.as_bytes(), Scheme::Http) {
            Ok(Head::Request { request, keep_alive, body_bytes, .. }) => {
                let Request { method, scheme, host, port, target, .. } = request;
                let port = port.map_or("-".to_owned(), |port| port.to_string());
                format!("{method} {scheme} {host} {port} {target} {keep_alive} {body_bytes}")
            }
            Ok(Head::Tunnel) => "tunnel".to_owned(),
            Err(status) => status.to_string(),
        };
        assert_eq!(got, expect, "{head}");
    }

    #[test]
    fn forms_of_the_target() {
        check("GET /a?b HTTP/1.1\nHost: A.Test", "GET http a.test - /a?b true 0");
        check("GET / HTTP/1.1\nhost: a.test:8080", "GET http a.test 8080 / true 0");
        check("GET / HTTP/1.1\nHost: [::1]:80", "GET http [::1] 80 / true 0");
        check("GET / HTTP/1.1\nHost: [::1]", "GET http [::1] - / true 0");
        check("GET http://B.test/x HTTP/1.1\nHost: ignored", "GET http b.test - /x true 0");
        check("GET http://b.test HTTP/1.1", "GET http b.test - / true 0");
        check("GET http://b.test:81?q HTTP/1.1", "GET http b.test 81 /?q true 0");
        check("HEAD https://b.test/ HTTP/1.1", "HEAD https b.test - / true 0");
        check("CONNECT b.test:443 HTTP/1.1", "tunnel");
        check("OPTIONS * HTTP/1.1\nHost: a", "OPTIONS http a - * true 0");
    }

    #[test]
    fn connection_and_body() {
        check("GET / HTTP/1.1\nHost: a\nConnection: TE, Close", "GET http a - / false 0");
        check("GET / HTTP/1.0\nHost: a", "GET http a - / false 0");
        check("GET / HTTP/1.0\nHost: a\nConnection: keep-alive", "GET http a - / true 0");
        check("POST / HTTP/1.1\nHost: a\nContent-Length: 12", "POST http a - / true 12");
    }

    #[test]
    fn refusals() {
        check("GET /", "400");
        check("GET / a HTTP/1.1", "400");
        check("GET x HTTP/1.1", "400");
        check("GET ftp://x/ HTTP/1.1", "400");
        check("GET / HTTP/2", "505");
        check("GET / HTTP/1.1\nno colon", "400");
        check("POST / HTTP/1.1\nContent-Length: x", "400");
        check("POST / HTTP/1.1\nTransfer-Encoding: chunked", "501");
    }
}
