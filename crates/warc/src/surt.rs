//! SURT keys: URLs turned round, so that sorting brings the pages of a domain together.
//!
//! Replay tools compute the key of the URL they look for and search for it in the index; a key
//! that differs in one byte is never found. The rules are therefore those of the `surt` library
//! that pywb and cdxj-indexer use (default canonicaliser), even where others would be nicer.

use crate::surt_session::{without_path_session, without_query_session};

/// The key of a URL, `com,example)/path?query` for `http://www.example.com/path?query`.
///
/// Scheme, user and fragment are dropped, and so are a leading `www.` (`www2.` too), the default
/// port, slashes at the end and doubled ones, dot segments, and session ids of the well-known
/// kinds. Percent-encoding is removed as often as possible and added once, letters become lower
/// case, and the query is sorted. Text without `://` is no URL with a host, and stays. A URN, such as that of a picture
/// (`urn:view:URL`), keeps its order.
pub fn surt(url: &str) -> String {
    let url = url.trim();
    let Some((scheme, rest)) = url.split_once("://") else {
        return if url.is_empty() { "-".to_owned() } else { escape_once(url.as_bytes()) };
    };
    let is_urn = scheme.starts_with("urn:");
    let rest = if is_urn { url } else { rest };
    let rest = rest.split('#').next().unwrap_or_default();
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let mut key = if is_urn {
        let name = escape_once(&unescape_repeatedly(rest)).to_ascii_lowercase();
        name.strip_suffix('/').unwrap_or(&name).to_owned()
    } else {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        format!("{}){}", host_key(scheme, authority), path_key(path))
    };
    if let Some(query) = query.map(query_key).filter(|query| !query.is_empty()) {
        key.push('?');
        key.push_str(&query);
    }
    key
}

fn host_key(scheme: &str, authority: &str) -> String {
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host_and_port.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (host_and_port, ""),
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let host = escape_once(&unescape_repeatedly(host)).to_ascii_lowercase().replace("..", ".");
    let mut labels = without_www(host.trim_matches('.')).split('.').rev().collect::<Vec<_>>().join(",");
    let default_port = if scheme.eq_ignore_ascii_case("https") { "443" } else { "80" };
    if !port.is_empty() && port != default_port {
        labels.push(':');
        labels.push_str(port);
    }
    labels
}

/// The host without `www.`, `www1.` and the like.
fn without_www(host: &str) -> &str {
    let after = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    after.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

fn path_key(path: &str) -> String {
    let path = escape_once(&without_dot_segments(&unescape_repeatedly(path))).to_ascii_lowercase();
    let path = without_path_session(&path);
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter.to_owned(),
        _ => path,
    }
}

fn query_key(query: &str) -> String {
    let query = without_query_session(&escape_once(&unescape_repeatedly(query)));
    let query = query.to_ascii_lowercase();
    let mut arguments = query
        .split('&')
        .map(|argument| match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        })
        .collect::<Vec<_>>();
    arguments.sort_unstable();
    let arguments = arguments.into_iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    });
    arguments.collect::<Vec<_>>().join("&")
}

fn without_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    let mut path = vec![b'/'];
    if let Some((last, before)) = kept.split_last() {
        for segment in before.iter().filter(|segment| !segment.is_empty()) {
            path.extend_from_slice(segment);
            path.push(b'/');
        }
        path.extend_from_slice(last);
    }
    path
}

/// Decodes `%41`, and what that makes, until nothing is left to decode. One pass: whenever the
/// end of the output is an escape, it is replaced.
fn unescape_repeatedly(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        out.push(byte);
        while let [.., b'%', high, low] = out[..] {
            let (Some(high), Some(low)) = (hex(high), hex(low)) else {
                break;
            };
            out.truncate(out.len() - 3);
            out.push(high * 16 + low);
        }
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Encodes what is not a printable ASCII character, and `#` and `%`.
fn escape_once(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'#' | b'%' => out.push_str(&format!("%{byte:02X}")),
            b'!'..=b'~' => out.push(char::from(*byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_surt_library() {
        fn check(url: &str, expect: &str) {
            assert_eq!(surt(url), expect, "{url}");
        }
        check("http://www.example.com/", "com,example)/");
        check("https://Example.COM", "com,example)/");
        check("http://www34.archive.org/goo", "org,archive)/goo");
        check("http://wwww.example.com/", "com,example,wwww)/");
        check("http://www.com/", "com)/");
        check("http://www2/", "www2)/");
        check("http://example.com:80/a", "com,example)/a");
        check("http://example.com:443/a", "com,example:443)/a");
        check("https://example.com:443/a", "com,example)/a");
        check("http://example.com:8080/a", "com,example:8080)/a");
        check("http://user:pass@example.com/a", "com,example)/a");
        check("http://example.com./a", "com,example)/a");
        check("http://127.0.0.1:8000/x", "1,0,0,127:8000)/x");
        check("http://[::1]:8000/x", "::1:8000)/x");
        check("http://example.com/A/B.HTML#top", "com,example)/a/b.html");
        check("http://example.com/a/", "com,example)/a");
        check("http://example.com//a///b", "com,example)/a/b");
        check("http://example.com/a/./b/../c", "com,example)/a/c");
        check("http://example.com/%7Euser/%25%32%35", "com,example)/~user/%25");
        check("http://example.com/čaj", "com,example)/%c4%8daj");
        check("http://example.com/a b", "com,example)/a%20b");
        check("http://example.com/?", "com,example)/");
        check("http://example.com?b=1&a=2", "com,example)/?a=2&b=1");
        check("http://example.com/q?B=b&b&b=a&a=", "com,example)/q?a=&b&b=a&b=b");
        check("http://example.com/q?u=http://x/y?z", "com,example)/q?u=http://x/y?z");
        check("http://example.com/q?a=%C3%A9+%2B", "com,example)/q?a=%c3%a9++");
        check("urn:uuid:1", "urn:uuid:1");
        check("urn:view:http://simple.test/", "urn:view:http://simple.test");
        check("urn:fullPage:http://www.a.test/B/?b=1&a=2#c", "urn:fullpage:http://www.a.test/b?a=2&b=1");
        check("urn:pdf:https://a.test:443/%7Ex", "urn:pdf:https://a.test:443/~x");
        check("", "-");
    }

    #[test]
    fn an_url_of_nothing_but_escapes_takes_linear_time() {
        let url = format!("http://example.com/{}", "%25".repeat(200_000));
        assert_eq!(surt(&url), format!("com,example)/{}", "%25".repeat(200_000)));
        let url = format!("http://example.com/%{}", "25".repeat(200_000));
        assert_eq!(surt(&url), "com,example)/%25");
    }
}
