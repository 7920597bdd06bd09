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
    decoded: Cow<'a, str>,
    /// The same with these two as they were written, where that differs: a pattern such as
    /// `*u=%2Fa` does not tell whether its `%2F` is of the path or of the query.
    as_written: Option<String>,
}

impl<'a> NormalPath<'a> {
    pub(crate) fn new(path_and_query: &'a str) -> Self {
        if path_and_query.starts_with('/') && path_and_query.bytes().all(is_normal) {
            return Self { decoded: Cow::Borrowed(path_and_query), as_written: None };
        }
        let decoded = normalised(path_and_query, true);
        let as_written = Some(normalised(path_and_query, false)).filter(|other| *other != decoded);
        Self { decoded: Cow::Owned(decoded), as_written }
    }

    /// Whether any spelling of the path satisfies `matches`.
    pub(crate) fn any(&self, matches: impl Fn(&[u8]) -> bool) -> bool {
        matches(self.decoded.as_bytes()) || self.as_written.as_ref().is_some_and(|path| matches(path.as_bytes()))
    }
}

fn normalised(path_and_query: &str, decode_query_delimiters: bool) -> String {
    let mut form = NormalForm::with_capacity(path_and_query.len() + 1);
    form.decode_query_delimiters = decode_query_delimiters;
    if !path_and_query.starts_with('/') {
        form.push(b'/');
    }
    let mut rest = path_and_query.as_bytes();
    while let Some(after) = form.push_next(rest) {
        rest = after;
    }
    form.text
}

/// A text in normal form while it is written.
pub(crate) struct NormalForm {
    pub(crate) text: String,
    in_query: bool,
    decode_query_delimiters: bool,
}

impl NormalForm {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), in_query: false, decode_query_delimiters: true }
    }

    /// Takes the next octet or escape from `input` and returns what follows, or `None` at the end.
    pub(crate) fn push_next<'a>(&mut self, input: &'a [u8]) -> Option<&'a [u8]> {
        if let [b'%', high, low, rest @ ..] = input
            && let (Some(high), Some(low)) = (hex_value(*high), hex_value(*low))
        {
            self.push_escaped(high << 4 | low);
            return Some(rest);
        }
        let (&octet, rest) = input.split_first()?;
        self.push(octet);
        Some(rest)
    }

    fn push(&mut self, octet: u8) {
        self.in_query |= octet == b'?';
        if is_normal(octet) {
            self.text.push(char::from(octet));
        } else {
            self.encode(octet);
        }
    }

    fn push_escaped(&mut self, octet: u8) {
        let decode = is_unreserved(octet)
            || b":@!'(),[]*$".contains(&octet)
            || (b"/?".contains(&octet) && self.in_query && self.decode_query_delimiters);
        if decode {
            self.text.push(char::from(octet));
        } else {
            self.encode(octet);
        }
    }

    fn encode(&mut self, octet: u8) {
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        self.text.push('%');
        self.text.push(char::from(HEX[usize::from(octet >> 4)]));
        self.text.push(char::from(HEX[usize::from(octet & 15)]));
    }
}

/// RFC 3986 §2.3.
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~".contains(&octet)
}

/// Whether an octet, as it stands, is in normal form: unreserved or reserved (RFC 3986 §2.2), but
/// for `#`, which cannot stand in a path or query.
fn is_normal(octet: u8) -> bool {
    is_unreserved(octet) || b":/?[]@!$&'()*+,;=".contains(&octet)
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
        assert_eq!(NormalPath::new(path).decoded, decoded, "{path:?}");
        assert_eq!(NormalPath::new(decoded).decoded, decoded, "the normal form of a normal form is itself");
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
