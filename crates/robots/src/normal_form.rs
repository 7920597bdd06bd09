//! The one spelling in which the path of a URL and the pattern of a rule are compared.
//!
//! RFC 9309 §2.2.2 wants both sides percent-encoded alike before they are compared. Its text taken
//! literally would encode every `/` of a path; its table shows what is meant. So, on both sides:
//!
//! - an escaped octet that is unreserved is decoded (`%62` is `b`);
//! - an octet outside ASCII, and one that may not stand in a URL, is encoded (`ツ` is `%E3%83%84`);
//! - a reserved character that delimits nothing equals its escape (`:` and `%3A`), and so do
//!   `/` and `?` once the query has begun; the decoded spelling is the normal one;
//! - a delimiter differs from its escape: `/` and `?` in the path, and `& + ; = #` anywhere;
//! - hexadecimal digits are upper-case, and a `%` that begins no escape is `%25`.
//!
//! Normal forms are printable ASCII; this leaves control characters free to mark wildcards.

use std::borrow::Cow;

/// A path and query in the form to be matched.
pub(crate) struct NormalPath<'a> {
    /// `/` and `?` of the query decoded, as the RFC's table wants.
    decoded: Cow<'a, [u8]>,
    /// The same with these two as they were written, where that differs: a pattern such as
    /// `*u=%2Fa` does not tell whether its `%2F` is of the path or of the query.
    as_written: Option<Vec<u8>>,
}

impl<'a> NormalPath<'a> {
    pub(crate) fn new(path_and_query: &'a str) -> Self {
        let octets = path_and_query.as_bytes();
        if octets.first() == Some(&b'/') && octets.iter().all(|octet| is_normal(*octet)) {
            return Self { decoded: Cow::Borrowed(octets), as_written: None };
        }
        let mut decoded = Vec::with_capacity(octets.len() + 1);
        let mut form = NormalForm::new(&mut decoded);
        if octets.first() != Some(&b'/') {
            form.push(b'/');
        }
        let mut rest = octets;
        while let Some(after) = form.push_next(rest) {
            rest = after;
        }
        let delimiters = form.query_delimiters_decoded;
        let as_written = (!delimiters.is_empty()).then(|| with_escapes_again(&decoded, &delimiters));
        Self { decoded: Cow::Owned(decoded), as_written }
    }

    /// Every spelling that a rule may match: one, or two.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&*self.decoded).chain(self.as_written.as_deref())
    }
}

/// The text with the octets at these places escaped.
fn with_escapes_again(text: &[u8], places: &[usize]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len() + 2 * places.len());
    let mut rest = 0;
    for place in places {
        escaped.extend_from_slice(&text[rest..*place]);
        escaped.extend_from_slice(&escape_of(text[*place]));
        rest = place + 1;
    }
    escaped.extend_from_slice(&text[rest..]);
    escaped
}

/// A text in normal form while it is written.
pub(crate) struct NormalForm<'t> {
    pub(crate) text: &'t mut Vec<u8>,
    in_query: bool,
    /// Where in `text` there is a delimiter of the query that was decoded.
    query_delimiters_decoded: Vec<usize>,
}

impl<'t> NormalForm<'t> {
    /// What is written is put behind `text`.
    pub(crate) fn new(text: &'t mut Vec<u8>) -> Self {
        Self { text, in_query: false, query_delimiters_decoded: Vec::new() }
    }

    /// Takes the next octet or escape from `input` and returns what follows, or `None` at the end.
    pub(crate) fn push_next<'a>(&mut self, input: &'a [u8]) -> Option<&'a [u8]> {
        let (&octet, rest) = input.split_first()?;
        if octet == b'%'
            && let [high, low, rest @ ..] = rest
            && let (Some(high), Some(low)) = (hex_value(*high), hex_value(*low))
        {
            self.push_escaped(high << 4 | low);
            return Some(rest);
        }
        self.push(octet);
        Some(rest)
    }

    fn push(&mut self, octet: u8) {
        self.in_query |= octet == b'?';
        if is_normal(octet) {
            self.text.push(octet);
        } else {
            self.encode(octet);
        }
    }

    fn push_escaped(&mut self, octet: u8) {
        let is_delimiter = b"/?".contains(&octet) && self.in_query;
        if is_delimiter {
            self.query_delimiters_decoded.push(self.text.len());
        }
        if is_delimiter || is_unreserved(octet) || b":@!'(),[]*$".contains(&octet) {
            self.text.push(octet);
        } else {
            self.encode(octet);
        }
    }

    fn encode(&mut self, octet: u8) {
        self.text.extend_from_slice(&escape_of(octet));
    }
}

fn escape_of(octet: u8) -> [u8; 3] {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', HEX[usize::from(octet >> 4)], HEX[usize::from(octet & 15)]]
}

/// The octet whose escape a normal form begins with, if that octet is not in normal form as it stands.
pub(crate) fn escaped_for_need(normal: &[u8]) -> Option<u8> {
    match normal {
        [b'%', high, low, ..] => Some(hex_value(*high)? << 4 | hex_value(*low)?).filter(|octet| !is_normal(*octet)),
        _ => None,
    }
}

/// RFC 3986 §2.3.
const fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// Whether an octet, as it stands, is in normal form: unreserved or reserved (RFC 3986 §2.2), but
/// for `#`, which cannot stand in a path or query.
fn is_normal(octet: u8) -> bool {
    const NORMAL: [bool; 256] = {
        let mut normal = [false; 256];
        let mut octet = 0;
        while octet < normal.len() {
            normal[octet] = is_unreserved(octet as u8);
            octet += 1;
        }
        let reserved = b":/?[]@!$&'()*+,;=";
        let mut at = 0;
        while at < reserved.len() {
            normal[reserved[at] as usize] = true;
            at += 1;
        }
        normal
    };
    NORMAL[usize::from(octet)]
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, decoded: &str) {
        assert_eq!(String::from_utf8_lossy(&NormalPath::new(path).decoded), decoded, "{path:?}");
        assert_eq!(
            *NormalPath::new(decoded).decoded,
            *decoded.as_bytes(),
            "the normal form of a normal form is itself"
        );
    }

    #[test]
    fn one_spelling_for_equal_paths() {
        check("/foo/bar?baz=quz", "/foo/bar?baz=quz");
        check("/foo/bar/ツ", "/foo/bar/%E3%83%84");
        check("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84");
        check("/foo/bar/%62%61%7A", "/foo/bar/baz");
        check("/%7Euser/%41%2d%2E%5f", "/~user/A-._");
        check("/a b\"<>\\^`{|}", "/a%20b%22%3C%3E%5C%5E%60%7B%7C%7D");
        check("/a%20b", "/a%20b");
        check("/%00\u{1}\u{2}", "/%00%01%02");
        check("/%3A%40%5B%5D%2C%2A%24", "/:@[],*$");
        check("/a#b", "/a%23b");
    }

    #[test]
    fn delimiters_keep_their_meaning() {
        check("/a%2fb%3fc", "/a%2Fb%3Fc");
        check("/a?u=https%3A%2F%2Fb.example%2F%3Fq", "/a?u=https://b.example/?q");
        check("/a?b=c%26d%3De%2Bf%3Bg%23", "/a?b=c%26d%3De%2Bf%3Bg%23");
    }

    #[test]
    fn a_stray_percent_sign_is_data() {
        check("/100%", "/100%25");
        check("/%4", "/%254");
        check("/%zz", "/%25zz");
        check("/%%341", "/%2541");
    }

    #[test]
    fn a_path_begins_with_a_slash() {
        check("", "/");
        check("?a", "/?a");
        check("a", "/a");
    }
}
