//! The declaration in a document's first bytes (HTML Standard, "prescan a byte stream to determine its
//! encoding").

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Declarations further in are not looked for.
const PRESCAN_BYTES_MAX: usize = 1024;

/// The encoding that a `meta` element or an XML declaration names.
pub(super) fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES_MAX)];
    if let Some(utf_16) = utf_16_xml(head) {
        return Some(utf_16);
    }
    in_markup(head).or_else(|| in_xml_declaration(head))
}

/// The encoding that `@charset` names, which must be written in exactly this way and be the first of a style sheet.
pub(super) fn at_charset(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES_MAX)];
    let rest = head.strip_prefix(b"@charset \"")?;
    let end = position(rest, |b| b == b'"');
    rest[end..].starts_with(b"\";").then(|| label(&rest[..end]))?
}

/// `<?x` in UTF-16 without a byte order mark.
fn utf_16_xml(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn in_markup(head: &[u8]) -> Option<&'static Encoding> {
    let mut rest = head;
    while let Some(at) = rest.iter().position(|&b| b == b'<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            // The end may share its dashes with the beginning: `<!-->`.
            rest = after(&rest[2..], b"-->").unwrap_or(&comment[comment.len()..]);
        } else if starts_with_meta(rest) {
            let (encoding, after) = meta(&rest[6..]);
            if encoding.is_some() {
                return encoding;
            }
            rest = after;
        } else if is_tag(rest) {
            let name_end = position(rest, |b| is_space(b) || b == b'>');
            rest = &rest[name_end..];
            while let Some((_, after)) = attribute(rest) {
                rest = after;
            }
        } else if matches!(rest, [_, b'!' | b'/' | b'?', ..]) {
            rest = &rest[position(rest, |b| b == b'>')..];
        } else {
            rest = &rest[1..];
        }
    }
    None
}

fn starts_with_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|&b| is_space(b) || b == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    matches!(rest, [_, b'/', letter, ..] | [_, letter, ..] if letter.is_ascii_alphabetic())
}

/// Reads one `meta` element after its name.
fn meta(mut rest: &[u8]) -> (Option<&'static Encoding>, &[u8]) {
    let (mut is_pragma, mut from_content, mut from_charset) = (false, None, None);
    let mut seen: Vec<Vec<u8>> = Vec::new();
    while let Some((Attribute { name, value }, after)) = attribute(rest) {
        rest = after;
        if seen.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => is_pragma = value == b"content-type",
            b"content" => {
                from_content = from_content.or_else(|| charset_parameter(&value).and_then(label));
            }
            b"charset" => from_charset = label(&value),
            _ => {}
        }
        seen.push(name);
    }
    (from_charset.or(from_content.filter(|_| is_pragma)), rest)
}

/// A label in a declaration. It was readable as ASCII, so it cannot be UTF-16.
fn label(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label_no_replacement(label)?;
    Some(if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == encoding_rs::X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

struct Attribute {
    name: Vec<u8>,
    value: Vec<u8>,
}

/// Reads the next attribute, in lower case, and what follows it ("get an attribute"); `None` at the
/// end of the tag.
fn attribute(rest: &[u8]) -> Option<(Attribute, &[u8])> {
    let rest = &rest[position(rest, |b| !is_space(b) && b != b'/')..];
    if matches!(rest.first()?, b'>') {
        return None;
    }
    // A `=` in the first place belongs to the name.
    let ends = |b: u8| is_space(b) || matches!(b, b'/' | b'>' | b'=');
    let name_end = 1 + position(&rest[1..], ends);
    let name = rest[..name_end].to_ascii_lowercase();
    let after_name = &rest[name_end..];
    let spaced = &after_name[position(after_name, |b| !is_space(b))..];
    let Some(rest) = spaced.strip_prefix(b"=") else {
        let value = Vec::new();
        return Some((Attribute { name, value }, spaced));
    };
    let rest = &rest[position(rest, |b| !is_space(b))..];
    let (value, rest) = match rest.first()? {
        &quote @ (b'"' | b'\'') => {
            let end = rest[1..].iter().position(|&b| b == quote)? + 1;
            (&rest[1..end], &rest[end + 1..])
        }
        _ => rest.split_at(position(rest, |b| is_space(b) || b == b'>')),
    };
    let value = value.to_ascii_lowercase();
    Some((Attribute { name, value }, rest))
}

/// The value of `charset=` ("extracting a character encoding from a meta element"). It serves the
/// `Content-Type` header as well: it takes all that RFC 9110 allows and the usual mistakes.
pub(super) fn charset_parameter(value: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"charset";
    let mut rest = value;
    loop {
        let at = rest.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
        rest = rest[at + NAME.len()..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            rest = value.trim_ascii_start();
            break;
        }
    }
    if let [quote @ (b'"' | b'\''), quoted @ ..] = rest {
        let end = quoted.iter().position(|b| b == quote)?;
        return Some(&quoted[..end]);
    }
    Some(&rest[..position(rest, |b| is_space(b) || matches!(b, b';' | b','))])
}

/// `<?xml … encoding="…"?>` ("get an XML encoding").
fn in_xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..declaration.iter().position(|&b| b == b'>')?];
    let rest = after(declaration, b"encoding")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = rest.split_first().filter(|(q, _)| matches!(q, b'"' | b'\''))?;
    label(&rest[..rest.iter().position(|b| b == quote)?])
}

fn after<'b>(bytes: &'b [u8], needle: &[u8]) -> Option<&'b [u8]> {
    let at = bytes.windows(needle.len()).position(|w| w == needle)?;
    Some(&bytes[at + needle.len()..])
}

fn position(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| wanted(b)).unwrap_or(bytes.len())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}
