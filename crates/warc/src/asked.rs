//! What a request asked with besides its URL: method and body, as replay tools look for it.
//!
//! Tools that replay POST requests find the answer under the URL with the method and the body appended as a query
//! (`__wb_method=POST&…`). The rules are those of pywb (`MethodQueryCanonicalizer`) and cdxj-indexer
//! (`append_method_query`), even where others would be nicer: a query that differs in one byte is never found.

use std::collections::HashMap;

use data_encoding::BASE64;
use serde_json::Value;

use crate::http::{HttpHead, split_http};

/// A longer query is cut, in characters.
const QUERY_CHARS_MAX: usize = 4_096;
/// Of a body that is longer than this, in bytes, no query is made.
pub(crate) const BODY_BYTES_MAX: u64 = 16 << 20;

/// The method and body of a request that was neither GET nor HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method, in capitals.
    pub method: String,
    /// The body as a query; empty where there is none.
    pub query: String,
}

impl Asked {
    /// Of a request's head and body; `None` for GET and HEAD, whose URL says it all.
    pub(crate) fn of(head: &HttpHead, body: &[u8]) -> Option<Asked> {
        let method = head.start_line().split(' ').next().unwrap_or_default().to_ascii_uppercase();
        if matches!(method.as_str(), "" | "GET" | "HEAD") {
            return None;
        }
        let has_query = matches!(method.as_str(), "POST" | "PUT") && !body.is_empty();
        if !has_query {
            return Some(Asked { method, query: String::new() });
        }
        let query = query(head.get("Content-Type").unwrap_or_default(), body);
        Some(Asked { method, query: query.chars().take(QUERY_CHARS_MAX).collect() })
    }

    /// The URL under which the answer is found.
    pub(crate) fn append_to(&self, url: &str) -> String {
        let Asked { method, query } = self;
        let (start, join) = (if url.contains('?') { '&' } else { '?' }, if query.is_empty() { "" } else { "&" });
        format!("{url}{start}__wb_method={method}{join}{query}")
    }
}

fn query(content_type: &str, body: &[u8]) -> String {
    let json = || serde_json::from_slice(body).ok().map(|json| of_json(&json));
    let known = if content_type.starts_with("application/x-www-form-urlencoded") {
        std::str::from_utf8(body).ok().map(unescaped)
    } else if content_type.starts_with("multipart/") {
        content_type.split_once("boundary=").and_then(|(_, boundary)| of_form(boundary, body))
    } else if content_type.starts_with("application/json") {
        Some(json().unwrap_or_default())
    } else if content_type.starts_with("text/plain") {
        json()
    } else {
        None
    };
    known.unwrap_or_else(|| format!("__wb_post_data={}", BASE64.encode(body)))
}

/// Without plus signs for spaces, and without percent-encoding.
fn unescaped(text: &str) -> String {
    let text = text.replace('+', " ");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let digit = |at: usize| others.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0).zip(digit(1))) {
            (b'%', Some((high, low))) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = &others[2..];
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// As the query of a form, with plus signs for spaces.
fn escaped(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        match byte {
            b' ' => out.push('+'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => out.push(char::from(*byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn joined<'p>(pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> String {
    let mut query = String::new();
    for (name, value) in pairs {
        if !query.is_empty() {
            query.push('&');
        }
        escaped(&mut query, name);
        query.push('=');
        escaped(&mut query, value);
    }
    query
}

/// The fields of a `multipart/form-data` body (RFC 7578).
fn of_form(boundary: &str, body: &[u8]) -> Option<String> {
    let delimiter = [b"--", boundary.split(';').next()?.trim().trim_matches('"').as_bytes()].concat();
    let mut starts: Vec<usize> = memchr::memmem::find_iter(body, &delimiter).collect();
    let last = starts.pop()?;
    let ends = starts.iter().skip(1).copied().chain([last]);
    let parts = starts.iter().zip(ends).filter_map(|(start, end)| {
        let part = body.get(start + delimiter.len()..end)?.strip_prefix(b"\r\n")?;
        let (head, value) = split_http(part);
        let head = String::from_utf8_lossy(head);
        let name = head.split(';').find_map(|field| field.trim_start().strip_prefix("name="))?;
        let name = name.lines().next()?.trim().trim_matches('"').to_owned();
        Some((name, value.strip_suffix(b"\r\n").unwrap_or(value)))
    });
    let parts: Vec<(String, &[u8])> = parts.collect();
    Some(joined(parts.iter().map(|(name, value)| (name.as_bytes(), *value))))
}

/// The values of a JSON text by their names, however deep. A name that comes again gets a number.
fn of_json(json: &Value) -> String {
    let mut found = Found::default();
    found.add("", json);
    joined(found.values.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())))
}

#[derive(Default)]
struct Found {
    values: Vec<(String, String)>,
    /// How often each name came.
    times: HashMap<String, u32>,
}

impl Found {
    fn add(&mut self, name: &str, json: &Value) {
        let value = match json {
            Value::Object(fields) => return fields.iter().for_each(|(name, value)| self.add(name, value)),
            Value::Array(values) => return values.iter().for_each(|value| self.add(name, value)),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if name.is_empty() {
            return;
        }
        let times = self.times.entry(name.to_owned()).or_default();
        *times += 1;
        let name = if *times == 1 { name.to_owned() } else { format!("{name}.{times}_") };
        self.values.push((name, value.strip_suffix(".0").filter(|_| json.is_f64()).unwrap_or(&value).to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, content_type: &str, body: &str, expect: Option<&str>) {
        let head = format!("{method} /api HTTP/1.1\r\nContent-Type: {content_type}\r\n\r\n");
        let asked = Asked::of(&HttpHead::parse(head.into_bytes()), body.as_bytes());
        assert_eq!(asked.map(|asked| asked.append_to("http://a.test/api")).as_deref(), expect, "{content_type} {body}");
    }

    #[test]
    fn method_and_body_are_a_query_as_in_pywb() {
        check("GET", "text/plain", "", None);
        check("HEAD", "text/plain", "", None);
        check("OPTIONS", "", "", Some("http://a.test/api?__wb_method=OPTIONS"));
        check("POST", "text/plain", "", Some("http://a.test/api?__wb_method=POST"));
        let post = |content_type: &str, body: &str, query: &str| {
            check("POST", content_type, body, Some(&format!("http://a.test/api?__wb_method=POST&{query}")));
        };
        post("application/x-www-form-urlencoded; charset=UTF-8", "a=b+c&d=%C3%A9%2", "a=b c&d=é%2");
        post(
            "application/json",
            r#"{"q": "a b&c", "n": {"n": [1, 2.0, 2.5], "x": null, "y": true}}"#,
            "q=a+b%26c&n=1&n.2_=2&n.3_=2.5&x=null&y=true",
        );
        check("POST", "application/json", "[1, 2]", Some("http://a.test/api?__wb_method=POST"));
        post("text/plain;charset=UTF-8", r#"{"a": "é"}"#, "a=%C3%A9");
        post("text/plain", "x y", "__wb_post_data=eCB5");
        post("", "x", "__wb_post_data=eA==");
        let form = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 2\r\n--B\r\nContent-Disposition: form-data; \
                    name=\"f\"; filename=\"x\"\r\nContent-Type: text/plain\r\n\r\nfile\r\n--B--\r\n";
        post("multipart/form-data; boundary=B", form, "a=1+2&f=file");
        let cut = format!("__wb_post_data={}", "eHh4".repeat(2_000));
        post("application/octet-stream", &"x".repeat(6_000), &cut[..QUERY_CHARS_MAX]);
    }
}
