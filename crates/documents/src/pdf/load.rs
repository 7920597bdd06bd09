//! The objects of a PDF (ISO 32000-1 §7.5). Where its table of places or the length of a stream is wrong, they are searched for.

use std::collections::BTreeMap;

use memchr::memmem;
use pdf_extract::xref::XrefEntry;
use pdf_extract::{Document, Object, ObjectId};

/// The greatest number of an object (ISO 32000-1, annex C).
const NUMBER_MAX: u32 = 8_388_607;
/// How far a trailer goes, in bytes.
const TRAILER_BYTES_MAX: usize = 64 << 10;
/// Where a file must end, in bytes from the last.
const END_BYTES: usize = 1 << 10;

/// A document, and whether its file is whole.
pub(super) fn load(bytes: &[u8]) -> Result<(Document, bool), String> {
    let loaded = Document::load_mem(bytes).map_err(|error| error.to_string());
    match loaded {
        Ok(mut document) if document.page_iter().next().is_some() || document.is_encrypted() => {
            let lost = lost(&document);
            let found = if lost.is_empty() { None } else { searched(bytes) };
            if let Some(mut found) = found {
                let again = lost.into_iter().filter_map(|id| Some((id, found.objects.remove(&id)?)));
                document.objects.extend(again);
            }
            Ok((document, true))
        }
        loaded => {
            let end = &bytes[bytes.len().saturating_sub(END_BYTES)..];
            let found = searched(bytes).map(|document| (document, memmem::find(end, b"%%EOF").is_some()));
            found.map_or_else(|| loaded.map(|document| (document, false)), Ok)
        }
    }
}

/// Objects that are not where the table says, and streams without their data: a wrong length leaves the dictionary.
fn lost(document: &Document) -> Vec<ObjectId> {
    if document.is_encrypted() {
        return Vec::new();
    }
    let named = document.reference_table.entries.iter().filter_map(|(number, entry)| match entry {
        XrefEntry::Normal { generation, .. } => Some((*number, *generation)),
        _ => None,
    });
    let is_lost = |id: &ObjectId| match document.objects.get(id) {
        None => true,
        Some(Object::Dictionary(dictionary)) => dictionary.has(b"Length"),
        Some(_) => false,
    };
    named.filter(is_lost).collect()
}

/// The document by what its bytes look like. `None` if it has no pages, or is encrypted.
fn searched(bytes: &[u8]) -> Option<Document> {
    let mut bytes = bytes[memmem::find(bytes, b"%PDF-")?..].to_vec();
    let places = places(&mut bytes);
    let size = places.last_key_value()?.0 + 1;
    let end = bytes.len();
    let mut table = String::from("\nxref\n");
    for (number, (generation, place)) in &places {
        table.push_str(&format!("{number} 1\n{place:010} {generation:05} n \n"));
    }
    let trailers = [trailer(&bytes), Some(format!("trailer<</Size {size}>>").into_bytes())];
    trailers.into_iter().flatten().find_map(|trailer| {
        bytes.truncate(end);
        bytes.extend_from_slice(table.as_bytes());
        bytes.extend_from_slice(&trailer);
        bytes.extend_from_slice(format!("\nstartxref\n{}\n%%EOF\n", end + 1).as_bytes());
        let mut document = Document::load_mem(&bytes).ok()?;
        complete(&mut document, &bytes[..end]);
        (!document.is_encrypted() && document.page_iter().next().is_some()).then_some(document)
    })
}

/// Where each object begins: the last one of each number counts. Lengths of streams that do not lead to their ends are made unreadable.
fn places(bytes: &mut [u8]) -> BTreeMap<u32, (u16, usize)> {
    let (mut places, mut at) = (BTreeMap::new(), 0);
    while let Some(found) = memmem::find(&bytes[at..], b"obj") {
        let body = at + found + b"obj".len();
        if let Some((number, generation, place)) = header(&bytes[..at + found]) {
            places.insert(number, (generation, place));
        }
        let next = memmem::find(&bytes[body..], b"obj").map_or(bytes.len(), |next| body + next);
        // In a text, the word is no keyword: that stands behind a dictionary.
        let is_keyword = |at: &usize| bytes[body..body + at].trim_ascii_end().ends_with(b">>");
        at = match memmem::find_iter(&bytes[body..next], b"stream").find(is_keyword) {
            Some(stream) => past_stream(bytes, body, body + stream),
            None => body,
        };
    }
    places
}

/// Number, generation and place of an object, of the bytes before its `obj`.
fn header(before: &[u8]) -> Option<(u32, u16, usize)> {
    let (rest, generation) = last_number(before)?;
    let (rest, number) = last_number(rest)?;
    let number = u32::try_from(number).ok().filter(|number| *number <= NUMBER_MAX)?;
    Some((number, u16::try_from(generation).ok()?, rest.len()))
}

/// The number at the end, with white space behind it; and what is before it.
fn last_number(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let trimmed = bytes.trim_ascii_end();
    let digits = trimmed.iter().rev().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, digits) = trimmed.split_at(trimmed.len() - digits);
    Some((rest, std::str::from_utf8(digits).ok()?.parse().ok()?))
}

/// Where a stream ends whose dictionary and keyword begin here.
fn past_stream(bytes: &mut [u8], dictionary: usize, keyword: usize) -> usize {
    let data = keyword + b"stream".len();
    let data = data
        + [&b"\r\n"[..], b"\n", b"\r"].iter().find(|end| bytes[data..].starts_with(end)).map_or(0, |end| end.len());
    // `/Length1` is another entry.
    let length = memmem::find_iter(&bytes[dictionary..keyword], b"/Length")
        .map(|at| dictionary + at + b"/Length".len())
        .find(|at| !bytes[*at].is_ascii_alphanumeric());
    let Some(length) = length else { return end_of_stream(bytes, data) };
    let number = bytes[length..keyword].trim_ascii_start();
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_direct = !number[digits..].trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
    let end = std::str::from_utf8(&number[..digits]).ok().and_then(|digits| digits.parse::<usize>().ok());
    let end = end.filter(|_| is_direct).and_then(|length| data.checked_add(length));
    match end {
        Some(end) if bytes.get(end..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"endstream")) => end,
        _ => {
            bytes[length - 1] = b'_';
            end_of_stream(bytes, data)
        }
    }
}

/// Where the data of a stream ends by its keyword.
fn end_of_stream(bytes: &[u8], data: usize) -> usize {
    memmem::find(&bytes[data..], b"endstream").map_or(bytes.len(), |end| data + end)
}

/// The last trailer, without the places of older tables.
fn trailer(bytes: &[u8]) -> Option<Vec<u8>> {
    let trailer = &bytes[memmem::rfind(bytes, b"trailer")?..];
    let end = memmem::find(trailer, b"startxref").unwrap_or(trailer.len()).min(TRAILER_BYTES_MAX);
    let mut trailer = trailer[..end].to_vec();
    for name in [&b"/Prev"[..], b"/XRefStm"] {
        while let Some(at) = memmem::find(&trailer, name) {
            trailer[at + 1] = b'_';
        }
    }
    Some(trailer)
}

/// Finds the data of streams without a length, and the root where no trailer names it.
fn complete(document: &mut Document, bytes: &[u8]) {
    for object in document.objects.values_mut() {
        if let Object::Stream(stream) = object
            && stream.content.is_empty()
            && let Some(begin) = stream.start_position.filter(|begin| *begin <= bytes.len())
        {
            let data = &bytes[begin..end_of_stream(bytes, begin)];
            let data = data.strip_suffix(b"\n").unwrap_or(data);
            stream.set_content(data.strip_suffix(b"\r").unwrap_or(data).to_vec());
        }
    }
    if document.trailer.has(b"Root") {
        return;
    }
    let mut root = None;
    for (id, object) in &document.objects {
        match object {
            Object::Stream(table) if table.dict.has_type(b"XRef") => {
                for name in ["Info", "Encrypt"] {
                    if let Ok(value) = table.dict.get(name.as_bytes()) {
                        document.trailer.set(name, value.clone());
                    }
                }
            }
            Object::Dictionary(dictionary) if dictionary.has_type(b"Catalog") => root = Some(*id),
            _ => {}
        }
    }
    if let Some(root) = root {
        document.trailer.set("Root", root);
    }
}
