//! Fonts of a PDF, in the forms that the library reads (ISO 32000-1 §9.6, §9.7).

use memchr::memmem;
use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};

/// Widths that lists may take the place of ranges with, in all fonts. Each takes some hundred bytes.
const WIDTHS_MAX: usize = 1 << 19;
/// The greatest number of a glyph in a font.
const GLYPH_MAX: i64 = 0xffff;

/// Rewrites what the library misreads.
pub(super) fn mend(document: &mut Document) {
    let (mut left, mut shared) = (WIDTHS_MAX, Vec::new());
    for object in document.objects.values_mut() {
        each_dictionary(object, &mut |font| {
            let subtype = font.get(b"Subtype").and_then(Object::as_name).unwrap_or_default();
            if !subtype.starts_with(b"CIDFont") {
                return;
            }
            if let Ok(Object::Real(width)) = font.get(b"DW") {
                font.set("DW", width.round() as i64);
            }
            match font.get_mut(b"W") {
                Ok(Object::Array(widths)) => list_widths(widths, &mut left),
                Ok(Object::Reference(widths)) => shared.push(*widths),
                _ => {}
            }
        });
    }
    for id in shared {
        if let Ok(widths) = document.get_object_mut(id).and_then(Object::as_array_mut) {
            list_widths(widths, &mut left);
        }
    }
    let named: Vec<(ObjectId, Vec<u8>)> = document
        .objects
        .iter()
        .filter_map(|(id, font)| Some((*id, map_of_names(document, font.as_dict().ok()?)?)))
        .collect();
    for (id, map) in named {
        let map = document.add_object(Stream::new(Dictionary::new(), map));
        if let Ok(font) = document.get_object_mut(id).and_then(Object::as_dict_mut) {
            font.set("ToUnicode", map);
        }
    }
}

/// Calls this for a dictionary and those inside it. The parser limits their depth.
fn each_dictionary(object: &mut Object, call: &mut impl FnMut(&mut Dictionary)) {
    match object {
        Object::Dictionary(dictionary) => {
            call(dictionary);
            dictionary.iter_mut().for_each(|(_, value)| each_dictionary(value, call));
        }
        Object::Array(values) => values.iter_mut().for_each(|value| each_dictionary(value, call)),
        _ => {}
    }
}

/// The widths of glyphs are `first [width width …]` or `first last width`. The library misreads the second form, so the first one takes its
/// place.
fn list_widths(widths: &mut Vec<Object>, left: &mut usize) {
    let mut listed = Vec::new();
    let mut rest = &widths[..];
    loop {
        rest = match rest {
            [Object::Integer(first), Object::Integer(last), width, rest @ ..] => {
                let count = (*last).min(GLYPH_MAX).checked_sub(*first).and_then(|steps| usize::try_from(steps).ok());
                let count = count.map_or(0, |steps| steps + 1);
                if (0..=GLYPH_MAX).contains(first) && count <= *left {
                    *left -= count;
                    listed.extend([Object::Integer(*first), vec![width.clone(); count].into()]);
                }
                rest
            }
            [first, list, rest @ ..] => {
                listed.extend([first.clone(), list.clone()]);
                rest
            }
            _ => break,
        };
    }
    *widths = listed;
}

/// What glyphs mean that have their characters as names, such as `uni00E5`, as a map from codes to characters.
fn map_of_names(document: &Document, font: &Dictionary) -> Option<Vec<u8>> {
    // Of fonts with this name the library takes no characters for names that it does not know, and panics.
    let name = font.get_deref(b"BaseFont", document).and_then(Object::as_name).unwrap_or_default();
    if font.has(b"ToUnicode") || memmem::find(name, b"FontAwesome").is_some() {
        return None;
    }
    let encoding = font.get_deref(b"Encoding", document).ok()?.as_dict().ok()?;
    let differences = encoding.get_deref(b"Differences", document).ok()?.as_array().ok()?;
    let (mut code, mut lines, mut count) = (0, String::new(), 0);
    for difference in differences {
        match difference {
            Object::Integer(next) => code = *next,
            Object::Name(name) => {
                if let (Ok(code), Some(text)) = (u8::try_from(code), characters_of(name)) {
                    let units: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
                    lines.push_str(&format!("<{code:02X}> <{units}>\n"));
                    count += 1;
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    let map = format!(
        "begincmap\n1 begincodespacerange\n<00> <FF>\nendcodespacerange\n{count} beginbfchar\n{lines}endbfchar\nendcmap\n"
    );
    (count > 0).then(|| map.into_bytes())
}

/// The characters in the name of a glyph (Adobe Glyph List Specification, section 2). Names of words are the library's.
fn characters_of(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    name.split('.').next()?.split('_').map(component).collect()
}

fn component(name: &str) -> Option<String> {
    let of_hex = |hex: &str| {
        let is_hex = hex.bytes().all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte));
        u32::from_str_radix(hex, 16).ok().filter(|_| is_hex).and_then(char::from_u32)
    };
    match (name.strip_prefix("uni"), name.strip_prefix('u')) {
        (Some(hex), _) if !hex.is_empty() && hex.is_ascii() && hex.len().is_multiple_of(4) => {
            (0..hex.len()).step_by(4).map(|at| of_hex(&hex[at..at + 4])).collect()
        }
        (_, Some(hex)) if (4..=6).contains(&hex.len()) => of_hex(hex).map(String::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_glyphs() {
        for (name, text) in [
            ("uni00E5", Some("å")),
            ("uni00660069", Some("fi")),
            ("u1F600", Some("😀")),
            ("uni0066_uni0069.alt", Some("fi")),
            ("uni00e5", None),
            ("uniD800", None),
            ("universal", None),
            ("union", None),
            ("Zcaron", None),
            ("", None),
        ] {
            assert_eq!(characters_of(name.as_bytes()).as_deref(), text, "{name}");
        }
    }

    #[test]
    fn ranges_of_widths_are_lists() {
        let numbers = |numbers: &[i64]| numbers.iter().copied().map(Object::Integer).collect::<Vec<_>>();
        let listed = |widths: Vec<Object>| {
            let mut widths = widths;
            list_widths(&mut widths, &mut 10);
            widths
        };
        let list = [Object::Integer(1), Object::Array(numbers(&[5, 6]))];
        let range = [Object::Integer(7), Object::Array(numbers(&[9, 9, 9]))];
        assert_eq!(listed([&list[..], &numbers(&[7, 9, 9])].concat()), [&list[..], &range].concat());
        assert_eq!(listed([&list[..], &range].concat()), [&list[..], &range].concat());
        // Beyond the limit, or no range.
        for range in [[0, 4_294_967_295, 500], [9, 7, 500], [-5, 3, 500]] {
            let found = listed(numbers(&range));
            assert!(
                found.len() <= 2
                    && found.iter().all(|width| width.as_array().is_ok_and(Vec::is_empty) || width.as_i64().is_ok()),
                "{found:?}"
            );
        }
    }
}
