//! Streams of a PDF as they show text: decoded, and with few operators (ISO 32000-1 §7.4, §9.4.3).

use std::io::Read as _;

use flate2::read::DeflateDecoder;
use pdf_extract::content::{Content, Operation};
use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};

/// Filters of one stream. More are never of use.
const FILTERS_MAX: usize = 8;
/// A deflated stream when it is decoded, in bytes. What is beyond is left out.
const STREAM_BYTES_MAX: u64 = 64 << 20;

/// What a page shows, of all its streams; and whether that is all of it.
pub(super) fn content_of(document: &Document, page: ObjectId) -> (Vec<u8>, bool) {
    let streams = document.get_page_contents(page);
    // A stream that the parser cannot read is its dictionary only.
    let named = document.get_dictionary(page).and_then(|page| page.get_deref(b"Contents", document));
    let mut is_whole = !matches!(named, Ok(Object::Dictionary(_)));
    let mut content = Vec::new();
    for id in streams {
        match document.get_object(id).and_then(Object::as_stream) {
            Ok(stream) => {
                let (bytes, is_all) = decoded(document, stream);
                content.extend_from_slice(&bytes);
                content.push(b'\n');
                is_whole &= is_all;
            }
            Err(_) => is_whole = false,
        }
    }
    (shown(content), is_whole)
}

/// Readies the streams that pages refer to by `Do`. Forms that the library would misread are decoded; images have no text.
pub(super) fn mend(document: &mut Document) {
    let is_of = |object: &Object, subtype: &[u8]| {
        let found = object.as_stream().and_then(|stream| stream.dict.get(b"Subtype")).and_then(Object::as_name);
        found.is_ok_and(|found| found == subtype)
    };
    for image in document.objects.values_mut().filter(|object| is_of(object, b"Image")) {
        *image = Object::Stream(Stream::new(Dictionary::new(), Vec::new()));
    }
    let forms = document.objects.iter().filter(|(_, object)| is_of(object, b"Form"));
    let mended: Vec<(ObjectId, Vec<u8>)> = forms
        .filter_map(|(id, form)| {
            let form = form.as_stream().ok()?;
            let (content, _) = decoded(document, form);
            let is_mended = has_quote_operator(&content) || !is_plain(form);
            is_mended.then(|| (*id, shown(content)))
        })
        .collect();
    for (id, content) in mended {
        if let Ok(form) = document.get_object_mut(id).and_then(Object::as_stream_mut) {
            form.set_plain_content(content);
        }
    }
}

/// Whether the library decodes a stream itself.
fn is_plain(stream: &Stream) -> bool {
    !stream.dict.has(b"Filter") || stream.filters().is_ok_and(|filters| filters == [b"FlateDecode"])
}

/// What a stream decodes to, and whether that is all of it.
fn decoded(document: &Document, stream: &Stream) -> (Vec<u8>, bool) {
    let filters = several(document, &stream.dict, [b"Filter", b"F"]);
    let params = several(document, &stream.dict, [b"DecodeParms", b"DP"]);
    if filters.len() > FILTERS_MAX {
        return (Vec::new(), false);
    }
    let (mut bytes, mut is_whole) = (stream.content.clone(), true);
    for (at, filter) in filters.iter().enumerate() {
        let params = params.get(at).and_then(|params| params.as_dict().ok());
        let Some((output, is_all)) = filter.as_name().ok().and_then(|name| filtered(name, params, &bytes)) else {
            return (Vec::new(), false);
        };
        (bytes, is_whole) = (output, is_whole && is_all);
    }
    (bytes, is_whole)
}

/// A value or an array of values, without references.
fn several<'d>(document: &'d Document, dictionary: &'d Dictionary, names: [&[u8]; 2]) -> Vec<&'d Object> {
    let value = names.iter().find_map(|name| dictionary.get_deref(name, document).ok());
    match value {
        None | Some(Object::Null) => Vec::new(),
        Some(Object::Array(values)) => {
            values.iter().map(|value| document.dereference(value).map_or(&Object::Null, |(_, value)| value)).collect()
        }
        Some(value) => vec![value],
    }
}

/// What a filter makes of bytes, and whether that is all of it. `None` if it has no text, or is unknown.
fn filtered(name: &[u8], params: Option<&Dictionary>, bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    match name {
        b"FlateDecode" | b"Fl" if params.is_none_or(|params| !params.has(b"Predictor")) => Some(inflated(bytes)),
        b"FlateDecode" | b"Fl" => by_library("FlateDecode", params, bytes),
        b"LZWDecode" | b"LZW" => by_library("LZWDecode", params, bytes),
        b"ASCII85Decode" | b"A85" => by_library("ASCII85Decode", params, bytes),
        b"ASCIIHexDecode" | b"AHx" => Some((of_hex(bytes), true)),
        b"RunLengthDecode" | b"RL" => Some(of_runs(bytes)),
        // A document that is decrypted already.
        b"Crypt" => Some((bytes.to_vec(), true)),
        _ => None,
    }
}

fn by_library(name: &str, params: Option<&Dictionary>, bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut dictionary = Dictionary::new();
    dictionary.set("Filter", Object::Name(name.into()));
    if let Some(params) = params {
        dictionary.set("DecodeParms", Object::Dictionary(params.clone()));
    }
    let output = Stream::new(dictionary, bytes.to_vec()).decompressed_content().ok()?;
    Some((output, true))
}

/// Deflated bytes in the format of zlib. Its checksum is often cut off, and so left out here.
fn inflated(bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut output = Vec::new();
    let Some(deflated) = bytes.get(2..) else { return (output, bytes.is_empty()) };
    let read = DeflateDecoder::new(deflated).take(STREAM_BYTES_MAX).read_to_end(&mut output);
    let is_whole = read.is_ok_and(|length| (length as u64) < STREAM_BYTES_MAX);
    (output, is_whole)
}

/// Two digits a byte, with white space between them, up to `>`.
fn of_hex(bytes: &[u8]) -> Vec<u8> {
    let digits = bytes.iter().take_while(|byte| **byte != b'>').filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u8> = digits.filter_map(|digit| u8::try_from(digit).ok()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or_default()).collect()
}

/// A length below 128 and one byte more than it says, or a greater length and a byte that repeats; up to 128.
fn of_runs(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut output = Vec::new();
    while let [length, rest @ ..] = bytes {
        let length = usize::from(*length);
        let taken = if length < 128 { length + 1 } else { 1 };
        match rest.get(..taken) {
            _ if length == 128 => return (output, true),
            None => return (output, false),
            Some(literal) if length < 128 => output.extend_from_slice(literal),
            Some(byte) => output.extend(std::iter::repeat_n(byte[0], 257 - length)),
        }
        bytes = &rest[taken..];
    }
    (output, true)
}

/// A content in which `Tj` and `TJ` alone show text: the library knows no other operators.
fn shown(content: Vec<u8>) -> Vec<u8> {
    let read = has_quote_operator(&content).then(|| Content::decode(&content).ok()).flatten();
    let Some(Content { operations }) = read else { return content };
    // Inline images have no text, and the library cannot write them.
    let operations = operations.into_iter().filter(|operation| operation.operator != "BI");
    Content { operations: operations.flat_map(in_steps).collect::<Vec<_>>() }.encode().unwrap_or(content)
}

/// `'` is a new line and a text; `"` gives the spaces between words and between letters before.
fn in_steps(mut operation: Operation) -> Vec<Operation> {
    let text = match (&*operation.operator, operation.operands.len()) {
        ("'", 1) | ("\"", 3) => operation.operands.pop(),
        _ => return vec![operation],
    };
    let spaces = ["Tw", "Tc"].into_iter().zip(operation.operands);
    let mut steps: Vec<Operation> = spaces.map(|(name, space)| Operation::new(name, vec![space])).collect();
    steps.push(Operation::new("T*", Vec::new()));
    steps.push(Operation::new("Tj", text.into_iter().collect()));
    steps
}

/// Whether a content seems to have such an operator. A text that looks like one costs time only.
fn has_quote_operator(content: &[u8]) -> bool {
    let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == 0;
    (1..content.len()).any(|at| {
        matches!(content[at], b'\'' | b'"')
            && (is_space(content[at - 1]) || matches!(content[at - 1], b')' | b'>'))
            && content.get(at + 1).is_none_or(|next| is_space(*next) || b"/[(<%".contains(next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_new_lines_and_texts() {
        for (content, expect) in [
            ("(a) Tj (b) '", "(a) Tj\nT*\n(b) Tj"),
            ("1 2 (c)\"", "1 Tw\n2 Tc\nT*\n(c) Tj"),
            ("(it ' s) Tj", "(it ' s) Tj"),
            ("(don't) Tj", "(don't) Tj"),
        ] {
            let found = shown(content.as_bytes().to_vec());
            assert_eq!(String::from_utf8_lossy(&found).trim_end(), expect, "{content}");
        }
    }

    #[test]
    fn filters() {
        for (name, bytes, expect) in [
            ("ASCIIHexDecode", &b"68 6\n9>zz"[..], Some((&b"hi"[..], true))),
            ("AHx", b"687>", Some((b"hp", true))),
            ("RunLengthDecode", b"\x01ab\xfec\x80rest", Some((b"abccc", true))),
            ("RunLengthDecode", b"\x05ab", Some((b"", false))),
            ("FlateDecode", b"\x78\x9c\x03\x00", Some((b"", true))),
            ("FlateDecode", b"\x78\x9cabc", Some((b"", false))),
            ("FlateDecode", b"", Some((b"", true))),
            ("DCTDecode", b"abcde", None),
        ] {
            let found = filtered(name.as_bytes(), None, bytes);
            let found = found.as_ref().map(|(output, is_whole)| (&**output, *is_whole));
            assert_eq!(found, expect, "{name} {bytes:?}");
        }
    }
}
