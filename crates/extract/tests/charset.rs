//! Which encoding is chosen, and by what: the order and the prescan of the HTML Standard.

use extract::Limits;
use extract::charset::{EncodingSource, decide};
use extract::html::extract;

fn check(bytes: &[u8], content_type: Option<&str>, name: &str, source: EncodingSource) {
    let charset = decide(bytes, content_type);
    let shown = String::from_utf8_lossy(bytes);
    assert_eq!((charset.encoding.name(), charset.source), (name, source), "{shown} {content_type:?}");
}

#[test]
fn a_byte_order_mark_wins() {
    use EncodingSource::Bom;
    check(b"\xef\xbb\xbfx", Some("text/html; charset=latin2"), "UTF-8", Bom);
    check(b"\xff\xfex\0", Some("text/html; charset=utf-8"), "UTF-16LE", Bom);
    check(b"\xfe\xff\0x", None, "UTF-16BE", Bom);
}

#[test]
fn the_header_comes_next() {
    use EncodingSource::{Default, Header, Meta};
    let meta = b"<meta charset=windows-1250>";
    for (content_type, name, source) in [
        ("text/html; charset=utf-8", "UTF-8", Header),
        ("text/html;charset=\"UTF-8\"", "UTF-8", Header),
        ("text/html; Charset = 'iso-8859-2' ; x=y", "ISO-8859-2", Header),
        ("text/html; charset=latin1", "windows-1252", Header),
        ("text/html; charset=utf-16le", "UTF-16LE", Header),
        ("text/html; charset=bogus", "windows-1250", Meta),
        ("text/html; charset=", "windows-1250", Meta),
        ("text/html", "windows-1250", Meta),
        ("", "windows-1250", Meta),
    ] {
        check(meta, Some(content_type), name, source);
    }
    check(b"x", Some("text/html; charset=bogus"), "UTF-8", Default);
}

#[test]
fn declarations_are_found_in_the_first_bytes() {
    for (html, name) in [
        ("<meta charset=iso-8859-2>", "ISO-8859-2"),
        ("<META CHARSET='Windows-1250' >", "windows-1250"),
        ("<meta/charset=\"iso-8859-2\"/>", "ISO-8859-2"),
        ("<meta http-equiv=Content-Type content='text/html; charset=iso-8859-2'>", "ISO-8859-2"),
        ("<meta content='text/html; charset=\"iso-8859-2\"' http-equiv=content-type>", "ISO-8859-2"),
        ("<!doctype html><!-- <meta charset=koi8-r> --><meta charset=iso-8859-2>", "ISO-8859-2"),
        ("<!--><meta charset=iso-8859-2>", "ISO-8859-2"),
        ("<p title='<meta charset=koi8-r>'><meta charset=iso-8859-2>", "ISO-8859-2"),
        ("</p x='<meta charset=koi8-r>'><meta charset=iso-8859-2>", "ISO-8859-2"),
        ("<meta charset=bogus><meta charset=iso-8859-2>", "ISO-8859-2"),
        ("<meta charset=iso-8859-2 charset=koi8-r>", "ISO-8859-2"),
        ("<meta charset=utf-16>", "UTF-8"),
        ("<meta charset=x-user-defined>", "windows-1252"),
        ("<?xml version='1.0' encoding='iso-8859-2'?><html>", "ISO-8859-2"),
        ("<?xml version='1.0' encoding='koi8-r'?><meta charset=iso-8859-2>", "ISO-8859-2"),
    ] {
        check(html.as_bytes(), None, name, EncodingSource::Meta);
    }
    check(b"<\0?\0x\0m\0l\0", None, "UTF-16LE", EncodingSource::Meta);
    check(b"\0<\0?\0x\0m\0l", None, "UTF-16BE", EncodingSource::Meta);
}

#[test]
fn what_is_no_declaration_is_ignored() {
    for html in [
        "<meta content='text/html; charset=koi8-r'>",
        "<meta http-equiv=refresh content='charset=koi8-r'>",
        "<!-- <meta charset=koi8-r>",
        "<metax charset=koi8-r>",
        "<meta charset=koi8-r",
        "<meta charset='koi8-r>",
        "<meta",
        "<",
        "",
    ] {
        let is_meta = decide(html.as_bytes(), None).source == EncodingSource::Meta;
        // An attribute at the very end is complete enough for a declaration.
        assert_eq!(is_meta, html == "<meta charset=koi8-r", "{html}");
    }
    let late = " ".repeat(1024) + "<meta charset=koi8-r>";
    check(late.as_bytes(), None, "UTF-8", EncodingSource::Default);
}

#[test]
fn otherwise_the_content_is_asked() {
    use EncodingSource::Detected;
    check("Ž kot žaba: čšž".as_bytes(), None, "UTF-8", Detected);
    let (slovene, _, _) = encoding_rs::WINDOWS_1250
        .encode("Žaba je šla čez cesto, žal je padla v močvirje. Številne živali živijo v gozdu.");
    check(&slovene, None, "windows-1250", Detected);
    let (japanese, _, _) = encoding_rs::ISO_2022_JP.encode("日本語の文書です。これは試験です。");
    check(&japanese, None, "ISO-2022-JP", Detected);
    let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の文書です。これは試験です。");
    check(&japanese, None, "Shift_JIS", Detected);
}

#[test]
fn a_character_cut_off_at_the_end_does_not_mislead() {
    let cut = &"Ž kot žaba: čšž".as_bytes()[..19];
    assert!(std::str::from_utf8(cut).is_err());
    check(cut, None, "UTF-8", EncodingSource::Detected);
}

#[test]
fn style_sheets_say_it_in_their_own_way() {
    for (css, content_type, expect) in [
        (&b"a{}"[..], None, "UTF-8"),
        (b"\xe8", Some("text/css"), "UTF-8"),
        (b"@charset \"windows-1251\"; a{}", None, "windows-1251"),
        (b"@charset \"windows-1251\"; a{}", Some("text/css; charset=koi8-r"), "KOI8-R"),
        (b"\xef\xbb\xbf@charset \"koi8-r\";", Some("text/css; charset=koi8-r"), "UTF-8"),
        (b"\xff\xfea\0", Some("text/css"), "UTF-16LE"),
        (b"a\0", Some("text/css; charset=utf-16le"), "UTF-16LE"),
        // What can be read so is not in UTF-16.
        (b"@charset \"utf-16\"; a{}", None, "UTF-8"),
        (b"@charset 'koi8-r'; a{}", None, "UTF-8"),
        (b" @charset \"koi8-r\"; a{}", None, "UTF-8"),
        (b"@charset \"koi8-r\" ; a{}", None, "UTF-8"),
        (b"@charset \"koi8-r", None, "UTF-8"),
        (b"@charset \"x\";", None, "UTF-8"),
    ] {
        let encoding = extract::charset::of_style_sheet(css, content_type);
        assert_eq!(encoding.name(), expect, "{:?} {content_type:?}", String::from_utf8_lossy(css));
    }
}

#[test]
fn pages_are_decoded_whatever_their_encoding() {
    let html = "<meta charset=x><title>č</title><a href='/č'>日本 č</a>";
    let utf_16: Vec<u8> = html.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let with_bom = [b"\xff\xfe".as_slice(), &utf_16].concat();
    for (bytes, content_type) in
        [(html.as_bytes().to_vec(), None), (utf_16, Some("text/html; charset=utf-16le")), (with_bom, None)]
    {
        let page = extract(&bytes, content_type, &Limits::default());
        assert_eq!(page.title.as_deref(), Some("č"));
        assert_eq!((page.links[0].href.as_str(), page.links[0].text.as_str()), ("/č", "日本 č"));
    }
    let (jp, _, _) = encoding_rs::ISO_2022_JP.encode("<a href='/x'>日本語</a>");
    let page = extract(&jp, Some("text/html; charset=iso-2022-jp"), &Limits::default());
    assert_eq!(page.links[0].text, "日本語");
}
