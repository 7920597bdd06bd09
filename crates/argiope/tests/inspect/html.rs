//! `inspect html`.

use super::run::Dir;

const PAGE: &[u8] = b"<!doctype html>
<html lang=sl>
<meta charset=windows-1250>
<title>Evil \x1b]0;root\x07 title</title>
<base href=/b/>
<link rel=canonical href=c>
<meta name=robots content='noindex, nofollow'>
<meta http-equiv=refresh content='5; url=next.html'>
<a href=one rel='nofollow ugc'>One  link</a>
<a href=mailto:x@y>m</a><a href=javascript:x()>j</a><a href=ftp://x/>f</a>
<span onclick=\"location.href='/click'\">Click</span>
<a href='?q=\x8a'>\x9a</a>
<a href='http://[x'>bad</a>
<img src=a.png alt='An image' width=3 height=4 srcset='b.png 2x'>
<img src='data:image/gif;base64,AAEC' width=1>
<img src=ftp://x/y>
";

fn dir() -> Dir {
    Dir::new(&[("page.html", PAGE)])
}

#[test]
fn text_shows_what_is_taken_from_the_page() {
    dir().check(
        &["html", "page.html", "--url", "http://a.test/x/"],
        "\
url          http://a.test/x/
kind         html
encoding     windows-1250 (meta)
title        Evil \\u{1b}]0;root\\u{7} title
lang         sl
base         http://a.test/b/
canonical    http://a.test/b/c
refresh      after 5 s: http://a.test/b/next.html
meta robots  noindex, nofollow
ignored      mailto 1, javascript 1, other schemes 1
text         25 bytes
links        6
  canonical  http://a.test/b/c
  refresh    http://a.test/b/next.html
  anchor     http://a.test/b/one  \"One link\"  [nofollow ugc]
  onclick    http://a.test/click
  anchor     http://a.test/b/?q=%8A  \"\u{161}\"
  anchor     \"http://[x\": not a URL: invalid IPv6 address  \"bad\"
images       3
  src        http://a.test/b/a.png  \"An image\"  3x4
  srcset     http://a.test/b/b.png  \"An image\"  3x4
  data       3 bytes of image/gif  1x?
",
    );
}

#[test]
fn json_is_one_object() {
    dir().check(
        &["--json", "html", "page.html", "--url", "http://a.test/x/", "--content-type", "text/html; charset=iso-8859-2"],
        concat!(
            r#"{"inspect":"html","url":"http://a.test/x/","kind":"html","encoding":"ISO-8859-2","encoding_source":"header","#,
            r#""title":"Evil \u001b]0;root\u0007 title","lang":"sl","#,
            r#""base":{"href":"/b/","url":"http://a.test/b/","reason":null},"base_url":"http://a.test/b/","#,
            r#""canonical":{"href":"c","url":"http://a.test/b/c","reason":null},"#,
            r#""refresh":{"delay_s":5,"target":{"href":"next.html","url":"http://a.test/b/next.html","reason":null}},"#,
            r#""meta_robots":["noindex","nofollow"],"links":["#,
            r#"{"kind":"canonical","href":"c","url":"http://a.test/b/c","reason":null,"text":"","rel":[]},"#,
            r#"{"kind":"refresh","href":"next.html","url":"http://a.test/b/next.html","reason":null,"text":"","rel":[]},"#,
            r#"{"kind":"anchor","href":"one","url":"http://a.test/b/one","reason":null,"text":"One link","rel":["nofollow","ugc"]},"#,
            r#"{"kind":"onclick","href":"/click","url":"http://a.test/click","reason":null,"text":"","rel":[]},"#,
            r#"{"kind":"anchor","href":"?q=\u008a","url":"http://a.test/b/?q=%8A","reason":null,"text":"\u009a","rel":[]},"#,
            r#"{"kind":"anchor","href":"http://[x","url":null,"reason":"not a URL: invalid IPv6 address","text":"bad","rel":[]}],"#,
            r#""images":["#,
            r#"{"from":"src","href":"a.png","url":"http://a.test/b/a.png","reason":null,"alt":"An image","width":3,"height":4},"#,
            r#"{"from":"srcset","href":"b.png","url":"http://a.test/b/b.png","reason":null,"alt":"An image","width":3,"height":4},"#,
            r#"{"from":"src","media_type":"image/gif","bytes":3,"alt":"","width":1,"height":null}],"#,
            r#""ignored":{"mailto":1,"javascript":1,"tel":0,"data":0,"other":1,"too_long":0},"text_bytes":25,"truncated":[]}"#,
            "\n"
        ),
    );
}

/// Runs on a page from standard input and expects this line in the text.
fn check(page: &[u8], args: &[&str], line: &str) {
    let args = [&["html", "-", "--url", "http://www.a.test/"], args].concat();
    let run = Dir::new(&[]).run_with(&args, page);
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(stdout.lines().any(|found| found == line), "{line}\n{stdout}");
}

#[test]
fn the_encoding_and_what_decided_it_are_shown() {
    check(b"\xef\xbb\xbfx", &["--content-type", "text/html; charset=latin1"], "encoding     UTF-8 (bom)");
    check(b"x", &["--content-type", "text/html; charset=latin1"], "encoding     windows-1252 (header)");
    check(b"x", &[], "encoding     UTF-8 (default)");
    check("žaba žvrgoli".as_bytes(), &[], "encoding     UTF-8 (detected)");
}

#[test]
fn what_is_no_html_says_so() {
    check(
        b"%PDF-1.4",
        &["--content-type", "application/pdf"],
        "kind         pdf: in a crawl no links are taken from it",
    );
}

#[test]
fn limits_that_cut_something_off_are_named() {
    let mut page = (0..=100_000).map(|number| format!("<a href={number}></a>")).collect::<String>().into_bytes();
    check(&page, &[], "truncated    links");
    page = vec![b' '; 10_000_001];
    check(&page, &[], "truncated    length");
}

#[test]
fn the_rules_of_the_canonical_form_hold_for_links() {
    check(b"<a href=/x?utm_source=y></a>", &["--strip-www", "--strip-tracking"], "  anchor     http://a.test/x");
}
