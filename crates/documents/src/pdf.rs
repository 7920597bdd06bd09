//! PDF (ISO 32000-1): its pages one after the other.

mod fonts;
mod load;
mod streams;

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{
    Dictionary, Document, MediaBox, Object, ObjectId, OutputDev, OutputError, Stream, Transform, output_doc_page,
};

use crate::print::{Glyph, Print};
use crate::{TEXT_BYTES_MAX, Text, Unread, words};

/// Reads all pages. A page that cannot be read is left out.
pub(crate) fn read(bytes: &[u8]) -> Result<Text, Unread> {
    let (mut document, is_whole) = load::load(bytes).map_err(Unread::Damaged)?;
    if document.is_encrypted() {
        // Many may be read by everybody: their password is empty.
        document.decrypt("").map_err(|_| Unread::Damaged("it needs a password".to_owned()))?;
    }
    let mut text = Text { title: info(&document, b"Title"), author: info(&document, b"Author"), ..Text::default() };
    fonts::mend(&mut document);
    streams::mend(&mut document);
    let pages = document.get_pages();
    text.is_cut = !is_whole || declared_pages(&document).is_some_and(|declared| declared > pages.len());
    // The content of each page in turn, as the library reads it.
    let content = document.new_object_id();
    for (number, page) in pages {
        let (bytes, is_whole) = streams::content_of(&document, page);
        document.set_object(content, Stream::new(Dictionary::new(), bytes));
        let own = contents(&mut document, page, Some(Object::Reference(content)));
        let mut print = Print::default();
        let is_read = catch_unwind(AssertUnwindSafe(|| output_doc_page(&document, &mut print, number)));
        text.is_cut |= !is_whole || !matches!(is_read, Ok(Ok(())));
        contents(&mut document, page, own);
        text.begin_page();
        words::add_print(&mut text.text, &print.into_text());
        words::add_print(&mut text.text, "\n\n");
        if text.text.len() > TEXT_BYTES_MAX {
            text.is_cut = true;
            break;
        }
    }
    text.text.truncate(text.text.trim_end().len());
    Ok(text)
}

/// Sets what a page shows, and returns what it showed before.
fn contents(document: &mut Document, page: ObjectId, contents: Option<Object>) -> Option<Object> {
    let page = document.get_object_mut(page).and_then(Object::as_dict_mut).ok()?;
    let before = page.remove(b"Contents");
    if let Some(contents) = contents {
        page.set("Contents", contents);
    }
    before
}

/// How many pages the root of their tree says that there are (ISO 32000-1 §7.7.3.2). A broken tree shows fewer.
fn declared_pages(document: &Document) -> Option<usize> {
    let (_, pages) = document.dereference(document.catalog().ok()?.get(b"Pages").ok()?).ok()?;
    let (_, count) = document.dereference(pages.as_dict().ok()?.get(b"Count").ok()?).ok()?;
    usize::try_from(count.as_i64().ok()?).ok()
}

impl OutputDev for Print {
    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        _spacing: f64,
        font_size: f64,
        char: &str,
    ) -> Result<(), OutputError> {
        // The lengths of a unit forwards and upwards, and the direction of a line. A negative size of the font goes backwards.
        let (across, up) = (place.m11.hypot(place.m12) * font_size.abs(), place.m21.hypot(place.m22) * font_size.abs());
        let angle = if font_size < 0.0 { (-place.m12).atan2(-place.m11) } else { place.m12.atan2(place.m11) };
        let (x, y) = (place.m31, place.m32);
        let (x, y) = (x * angle.cos() + y * angle.sin(), y * angle.cos() - x * angle.sin());
        self.add(Glyph { text: char, x, y, width: width * across, across, up, angle });
        Ok(())
    }

    fn begin_page(&mut self, _: u32, _: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

/// A field of the information dictionary (ISO 32000-1 §14.3.3).
fn info(document: &Document, key: &[u8]) -> Option<String> {
    let (_, info) = document.dereference(document.trailer.get(b"Info").ok()?).ok()?;
    let info: &Dictionary = info.as_dict().ok()?;
    let (_, value) = document.dereference(info.get(key).ok()?).ok()?;
    match value {
        Object::String(bytes, _) => Some(text_string(bytes)),
        _ => None,
    }
}

/// A text string: UTF-16, UTF-8, or PDFDocEncoding, of which the part that is Latin 1 is read (ISO 32000-1 §7.9.2.2).
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => {
            let units: Vec<u16> = rest.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(&units)
        }
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        bytes => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_strings() {
        assert_eq!(text_string(b"plain"), "plain");
        assert_eq!(text_string(b"caf\xe9"), "café");
        assert_eq!(text_string(b"\xfe\xff\x00a\x20\xac"), "a€");
        assert_eq!(text_string(b"\xef\xbb\xbf\xe2\x82\xac"), "€");
    }
}
