//! `data:` URIs (RFC 2397; WHATWG Fetch, "data: URL processor").

use data_encoding::{BASE64, BASE64_NOPAD, Encoding};

/// The longest media type kept, in bytes: two names of 127 characters (RFC 6838, section 4.2) and a slash.
const MEDIA_TYPE_BYTES_MAX: usize = 255;

/// A decoded `data:` URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataUri {
    /// Lower case, without parameters; `text/plain` when the URI names none, or one longer than any real one.
    pub media_type: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Why a `data:` URI gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is no `data:` URI, has no comma, or its base64 is broken.
    Malformed,
    /// Its content is larger than the limit.
    TooLarge,
}

/// Decodes a cleaned `data:` URI whose content is `bytes_max` bytes at most.
pub fn decode(uri: &str, bytes_max: usize) -> Result<DataUri, Refused> {
    let after_scheme = uri
        .get(..5)
        .filter(|scheme| scheme.eq_ignore_ascii_case("data:"))
        .map(|_| &uri[5..])
        .ok_or(Refused::Malformed)?;
    let (head, body) = after_scheme.split_once(',').ok_or(Refused::Malformed)?;
    let body = body.split('#').next().unwrap_or(body);
    let bytes = if is_base64(head) { decode_base64(body, bytes_max)? } else { percent_decode(body) };
    if bytes.len() > bytes_max {
        return Err(Refused::TooLarge);
    }
    Ok(DataUri { media_type: media_type(head), bytes })
}

fn is_base64(head: &str) -> bool {
    head.rsplit_once(';').is_some_and(|(_, last)| last.trim_matches(' ').eq_ignore_ascii_case("base64"))
}

fn media_type(head: &str) -> String {
    let essence = head.split(';').next().unwrap_or(head).trim();
    let is_one = essence.contains('/') && essence.len() <= MEDIA_TYPE_BYTES_MAX;
    if is_one { essence.to_ascii_lowercase() } else { "text/plain".to_owned() }
}

/// Forgiving base64: white space is ignored, padding is optional.
fn decode_base64(body: &str, bytes_max: usize) -> Result<Vec<u8>, Refused> {
    let mut digits = percent_decode(body);
    digits.retain(|b| !b.is_ascii_whitespace());
    let encoding: &Encoding = if digits.len().is_multiple_of(4) { &BASE64 } else { &BASE64_NOPAD };
    if digits.len() / 4 * 3 > bytes_max.saturating_add(3) {
        return Err(Refused::TooLarge);
    }
    encoding.decode(&digits).map_err(|_| Refused::Malformed)
}

fn percent_decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((&byte, rest)) = bytes.split_first() {
        let escaped = (byte == b'%').then(|| hex_pair(rest)).flatten();
        decoded.push(escaped.unwrap_or(byte));
        bytes = if escaped.is_some() { &rest[2..] } else { rest };
    }
    decoded
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, expect: Result<(&str, &[u8]), Refused>) {
        let expect =
            expect.map(|(media_type, bytes)| DataUri { media_type: media_type.to_owned(), bytes: bytes.to_vec() });
        assert_eq!(decode(uri, 8), expect, "{uri:?}");
    }

    #[test]
    fn data_uris_decode() {
        check("data:,a%20b", Ok(("text/plain", b"a b")));
        check("data:,a%2", Ok(("text/plain", b"a%2")));
        check("data:image/PNG;base64,AAEC", Ok(("image/png", &[0, 1, 2])));
        check("DATA:image/gif;charset=x; base64 ,AAE=", Ok(("image/gif", &[0, 1])));
        check("data:image/gif;base64,AAE", Ok(("image/gif", &[0, 1])));
        check("data:image/gif;base64,A A%45C", Ok(("image/gif", &[0, 1, 2])));
        check("data:image/svg+xml,<a/>#x", Ok(("image/svg+xml", b"<a/>")));
        check("data:;base64,", Ok(("text/plain", b"")));
        check(&format!("data:image/{},x", "y".repeat(1_000)), Ok(("text/plain", b"x")));
    }

    #[test]
    fn broken_and_large_ones_are_refused() {
        check("http://x/,", Err(Refused::Malformed));
        check("data:image/png", Err(Refused::Malformed));
        check("data:image/png;base64,A", Err(Refused::Malformed));
        check("data:image/png;base64,@@@@", Err(Refused::Malformed));
        check("data:,123456789", Err(Refused::TooLarge));
        check("data:;base64,AAAAAAAAAAAAAAAA", Err(Refused::TooLarge));
        check("data:;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", Err(Refused::TooLarge));
    }
}
