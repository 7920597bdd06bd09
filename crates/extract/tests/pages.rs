//! Hard pages, made by hand: what a browser without scripts would see, and nothing else.

use extract::html::extract;
use extract::{HtmlPage, ImageSource, Limits, LinkKind, Refresh};

fn page(html: &str) -> HtmlPage {
    extract(html.as_bytes(), Some("text/html; charset=utf-8"), &Limits::default())
}

/// The links as `href|text` (an anchor) or `kind:href|text`.
fn links(html: &str) -> Vec<String> {
    let described = page(html).links.into_iter().map(|link| match link.kind {
        LinkKind::Anchor => format!("{}|{}", link.href, link.text),
        kind => format!("{}:{}|{}", kind.as_str(), link.href, link.text),
    });
    described.collect()
}

fn check(html: &str, expect: &[&str]) {
    assert_eq!(links(html), expect, "{html}");
}

fn check_text(html: &str, expect: &str) {
    assert_eq!(page(html).text, expect, "{html}");
}

#[test]
fn attributes_are_read_however_they_are_written() {
    check("<a href=\"/a\">x</a>", &["/a|x"]);
    check("<a href='/a'>x</a>", &["/a|x"]);
    check("<a href=/a>x</a>", &["/a|x"]);
    check("<a href=/a/>x</a>", &["/a/|x"]);
    check("<A HREF=/a>x</A>", &["/a|x"]);
    check("<a\n\thref\r\n=\x0c'/a'\n>x</a>", &["/a|x"]);
    check("<a title='>' href=/a>x</a>", &["/a|x"]);
    check("<a title=\"href=/no\" href=/a>x</a>", &["/a|x"]);
    check("<a href=/a href=/no>x</a>", &["/a|x"]);
    check("<a data-href=/no>x</a>", &[]);
    check("<a/href=/a>x</a>", &["/a|x"]);
    check("<a href=\"/a\"class=x>x</a>", &["/a|x"]);
    check("<a href=/a\"b>x</a>", &["/a\"b|x"]);
    check("<a href='/a' <b>x</a>", &["/a|x"]);
    check("<a href=\"/a>x</a>", &[]);
    check("<a href=/a", &[]);
    check("<a href=/a\0b>x</a>", &["/a\u{fffd}b|x"]);
}

#[test]
fn an_empty_href_is_a_link_and_a_missing_one_is_none() {
    check("<a href=''>x</a>", &["|x"]);
    check("<a href>x</a>", &["|x"]);
    check("<a name=x>x</a>", &[]);
    check("<a href='#top'>x</a>", &["#top|x"]);
}

#[test]
fn white_space_in_an_href_goes_as_in_the_url_parser() {
    check("<a href=' \n/a\t'>x</a>", &["/a|x"]);
    check("<a href='/a\n  /b'>x</a>", &["/a  /b|x"]);
    check("<a href='/a b'>x</a>", &["/a b|x"]);
}

#[test]
fn entities_follow_the_attribute_rules() {
    check("<a href='?a=1&amp;b=2'>x</a>", &["?a=1&b=2|x"]);
    check("<a href='?a=1&copy=1'>x</a>", &["?a=1&copy=1|x"]);
    check("<a href='?a&copy;'>x</a>", &["?a\u{a9}|x"]);
    check("<a href='?a&copy'>x</a>", &["?a\u{a9}|x"]);
    check("<a href='?a&amp'>x</a>", &["?a&|x"]);
    check("<a href='/&#x61;&#98;&#x63'>x</a>", &["/abc|x"]);
    check("<a href='?&notanentity;&para=1'>x</a>", &["?&notanentity;&para=1|x"]);
    check("<a href='j&#97;vascript:x'>x</a>", &[]);
    check("<a href=/a>a &amp b &lt;c&gt; &copyx</a>", &["/a|a & b <c> \u{a9}x"]);
}

#[test]
fn what_is_no_markup_has_no_links() {
    check("<!-- <a href=/no>x</a> --><a href=/a>x</a>", &["/a|x"]);
    check("<!-- > <a href=/no> --!><a href=/a>x</a>", &["/a|x"]);
    check("<!--><a href=/a>x</a>", &["/a|x"]);
    check("<!-- <a href=/no>x</a>", &[]);
    check("<script>'<a href=/no>'</script><a href=/a>x</a>", &["/a|x"]);
    check("<script><!-- <script></script> <a href=/no> --></script>", &[]);
    check("<script>'</scr'+'ipt><a href=/no>'</script>", &[]);
    check("<style>a:after{content:'<a href=/no>'}</style>", &[]);
    check("<textarea><a href=/no></textarea><a href=/a>x</a>", &["/a|x"]);
    check("<title><a href=/no></title>", &[]);
    check("<iframe><a href=/no></iframe>", &[]);
    check("<noembed><a href=/no></noembed><noframes><a href=/no></noframes>", &[]);
    check("<xmp><a href=/no></xmp>", &[]);
    check("<plaintext><a href=/no></plaintext>", &[]);
    check("<![CDATA[ <a href=/a>x</a> ]]>", &[]);
    check("<?php echo '<a href=/no>' ?>", &[]);
    check("</a href=/no>< a href=/no>", &[]);
    check("<template><a href=/no></template><a href=/a>x</a>", &["/a|x"]);
    check("<template><template></template><a href=/no></template>", &[]);
}

#[test]
fn noscript_has_links_but_no_text() {
    let html = "a<noscript><a href=/a>x</a><img src=/i><!-- </noscript>b";
    let page = page(html);
    assert_eq!(links(html), ["/a|x"]);
    assert_eq!(page.images.len(), 1);
    assert_eq!(page.text, "ab");
    check("<noscript><template></noscript><a href=/a>x</a>", &["/a|x"]);
}

#[test]
fn svg_and_mathml_have_their_own_rules() {
    check("<svg><a href=/a><text>x</text></a></svg>", &["/a|x"]);
    check("<svg><a xlink:href=/a>x</a></svg>", &["/a|x"]);
    check("<svg><a href=/a xlink:href=/no>x</a></svg>", &["/a|x"]);
    check("<a xlink:href=/no>x</a>", &[]);
    check("<svg><![CDATA[<a href=/no>]]></svg>", &[]);
    check("<svg><title><a href=/a>x</a></title></svg>", &["/a|x"]);
    check("<svg><style><a href=/a>x</a></style></svg>", &["/a|"]);
    check("<svg/><script>'<a href=/no>'</script>", &[]);
    check("<div><svg></div><script>'<a href=/no>'</script>", &[]);
    check("<svg><p><script>'<a href=/no>'</script>", &[]);
    // What ends an inner SVG leaves its title open, in which `</svg>` ends the outer one.
    check("<svg><title><svg><img></svg></title><template><a href=/no></template>", &[]);
    check("<svg><title><b></svg></b></title><style><a href=/a>x</a></style></svg>", &["/a|"]);
    check("<svg><title><![CDATA[</title>]]><b></b></title><style><a href=/a>", &["/a|"]);
    check("<svg><desc><p>1<p>2</p></desc><style><a href=/a>", &["/a|"]);
    check("<svg><foreignObject><style><a href=/no></style><a href=/a>x</a>", &["/a|x"]);
    check("<math><mi><title><a href=/no></title></mi></math>", &[]);
    // The two elements of MathML that are none of HTML where `mi` lets HTML in.
    check("<math><mi><mglyph><style><a href=/a></style></mglyph><style><a href=/no></style>", &["/a|"]);
    check("<math><mi><malignmark/><malignmark><title><a href=/a>", &["/a|"]);
    // Whatever the encoding, SVG in `annotation-xml` is SVG.
    check("<math><annotation-xml><svg><desc><style><a href=/no></style><a href=/a>", &["/a|"]);
}

#[test]
fn anchor_text_is_what_is_inside() {
    check("<a href=/a><b>x</b> <i>y\n z</i></a> w", &["/a|x y z"]);
    check("<a href=/a>x<!-- no -->y</a>", &["/a|xy"]);
    check("<a href=/a>x<script>no</script>y</a>", &["/a|xy"]);
    check("<a href=/a><div>x</div><div>y</div></a>", &["/a|x y"]);
    check("<a href=/a>x<br>y</a>", &["/a|x y"]);
    check("<a href=/a><img alt='a b'><img alt=c></a>", &["/a|a b c"]);
    check("<a href=/a><img alt=no>x</a>", &["/a|x"]);
    check("<a href=/a></a>", &["/a|"]);
    check("<a href=/a>\0x</a>", &["/a|x"]);
}

#[test]
fn an_anchor_ends_at_the_next_one() {
    check("<a href=/a>x<a href=/b>y</a>z</a>", &["/a|x", "/b|y"]);
    check("<a href=/a>x<a name=b>y</a>", &["/a|x"]);
    check("<a href=/a>x", &["/a|x"]);
    check("<p><a href=/a>x</p><p>y</a>z", &["/a|x y"]);
    check("<table><td><a href=/a>x<td>y</table>", &["/a|x"]);
    check("<a href=/a>x<a href=mailto:b>y</a>", &["/a|x"]);
}

#[test]
fn links_repeat_in_document_order() {
    check("<a href=/b>1</a><a href=/a>2</a><a href=/b>3</a>", &["/b|1", "/a|2", "/b|3"]);
}

#[test]
fn other_elements_link_too() {
    check("<map><area href=/a alt=x></map>", &["area:/a|x"]);
    check("<frameset><frame src=/a title=x></frameset>", &["frame:/a|x"]);
    check("<iframe src=/a></iframe><iframe src=about:blank></iframe><iframe>", &["iframe:/a|"]);
    check("<link rel=canonical href=/a>", &["canonical:/a|"]);
    check("<link rel='x NEXT' href=/a><link rel=prev href=/b>", &["next:/a|", "prev:/b|"]);
    check("<link rel=alternate title=x href=/a>", &["alternate:/a|x"]);
    check("<link rel='alternate stylesheet' href=/no><link rel=icon href=/no>", &[]);
    check("<meta http-equiv=Refresh content='5; url=/a'>", &["refresh:/a|"]);
    check("<tr onclick=\"location.href='/a'\">", &["onclick:/a|"]);
    check("<p onclick='location=&quot;/a?b&amp;c&quot;'>", &["onclick:/a?b&c|"]);
    check("<a href='#' onclick=\"window.location='/a';return false\">x</a>", &["#|x", "onclick:/a|"]);
}

#[test]
fn links_that_are_none_are_counted() {
    let page = page(
        "<a href=mailto:a@b>1</a><a href=JavaScript:void(0)>2</a><a href='tel:1'>3</a>\
         <a href=data:,x>4</a><a href=ftp://x/>5</a><area href=mailto:c>",
    );
    assert!(page.links.is_empty());
    let i = page.ignored;
    let counts = (i.mailto, i.javascript, i.tel, i.data, i.other, i.too_long);
    assert_eq!(counts, (2, 1, 1, 1, 1, 0));
}

#[test]
fn rel_is_recorded() {
    let page = page("<a href=/a rel='UGC nofollow'>x</a><a href=/b rel=sponsored>x</a><a href=/c>x</a>");
    let rels: Vec<_> = page.links.iter().map(|l| (l.rel.nofollow, l.rel.ugc, l.rel.sponsored)).collect();
    assert_eq!(rels, [(true, true, false), (false, false, true), (false, false, false)]);
}

#[test]
fn the_first_base_with_an_href_counts_wherever_it_is() {
    for (html, expect) in [
        ("<a href=a>x</a><base href=' /b/ '>", Some("/b/")),
        ("<base target=x><base href=/b/><base href=/c/>", Some("/b/")),
        ("<base href=''><base href=/c/>", Some("")),
        ("<template><base href=/no></template>", None),
        ("<noscript><base href=/no></noscript><svg><base href=/no></svg>", None),
    ] {
        assert_eq!(page(html).base_href.as_deref(), expect, "{html}");
    }
}

#[test]
fn metadata_is_read() {
    let page = page(
        "<!doctype html><html lang=sl><title>\n A &amp; B </title><title>C</title>\
         <link rel=canonical href=' /a '><link rel=canonical href=/b>\
         <meta name=ROBOTS content=noindex><meta name=argiope content=nofollow><meta name=googlebot content=nosnippet>\
         <meta http-equiv=refresh content='0;/r'><meta http-equiv=refresh content='9;/s'>",
    );
    assert_eq!(page.title.as_deref(), Some("A & B"));
    assert_eq!(page.lang.as_deref(), Some("sl"));
    assert_eq!(page.canonical.as_deref(), Some("/a"));
    let robots = page.meta_robots;
    assert_eq!((robots.noindex, robots.nofollow, robots.nosnippet), (true, true, false));
    let url = Some("/r".to_owned());
    assert_eq!(page.refresh, Some(Refresh { delay_s: 0, url }));
}

#[test]
fn a_refresh_for_those_without_scripts_is_a_link_only() {
    let page = page("<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>");
    assert_eq!(page.refresh, None);
    assert_eq!(page.links[0].href, "/nojs");
}

#[test]
fn what_is_left_to_scripts_is_seen() {
    let check = |html: &str, is_active, has_empty_root| {
        let expect = extract::Scripting { is_active, has_empty_root };
        assert_eq!(page(html).scripting, expect, "{html}");
    };
    check("<p>text", false, false);
    check("<script src=/app.js></script>", true, false);
    check("<SCRIPT TYPE=' text/JavaScript '></script>", true, false);
    check("<script type=application/ld+json>{}</script>", false, false);
    check("<script type=module></script>", true, false);
    check("<p onclick='go()'>x", true, false);
    check("<iframe srcdoc='x'></iframe>", true, false);
    check("<template><div id=app></div><script></script></template>", false, false);
    check("<side-bar></side-bar><svg><font-face></font-face></svg>", false, false);
    check("<svg><font-face></font-face></svg>", false, false);
    check("<a href='javascript:go()'>x</a>", false, false);
    check("<noscript><script></script><div id=app></div></noscript>", false, false);
    for root in ["<div id=root></div>", "<DIV class=x id=\"__next\"> <!-- --> \n</DIV>", "<main id=app></main>"] {
        check(root, false, true);
    }
    check("<app-root></app-root>", false, true);
    for other in ["<div id=root>text</div>", "<div id=root><p></div>", "<div id=other></div>", "<p id=root></p>"] {
        check(other, false, false);
    }
}

#[test]
fn svg_titles_are_not_the_page_title() {
    assert_eq!(page("<svg><title>a</title></svg><title>b</title>").title.as_deref(), Some("b"));
}

#[test]
fn text_is_what_is_shown() {
    check_text("", "");
    check_text("plain", "plain");
    check_text("<title>t</title><p>a</p><p>b</p>c", "a b c");
    check_text("<b>a</b>b <i> c</i>", "ab c");
    check_text("<td>a</td><td>b</td>", "a b");
    check_text("a<script>no</script><style>no</style><template>no</template>b", "ab");
    check_text("<svg><style>no</style><text>a</text></svg>", "a");
    check_text("<svg><script/><text>a</text></svg>", "a");
    check_text("<textarea>a</textarea><xmp><b></xmp>", "a <b>");
    check_text("a&nbsp;&nbsp;b&amp;lt;", "a b&lt;");
    check_text("<plaintext>a</plaintext>", "a</plaintext>");
    check_text("a<!-- no -->b\0c", "abc");
    check_text("<option>a<option>b", "a b");
}

fn images(html: &str) -> Vec<String> {
    let described = page(html).images.into_iter().map(|image| match image.source {
        ImageSource::Url(url) => format!("{url}|{}|{}", image.alt, u8::from(image.from_srcset)),
        ImageSource::Data { media_type, bytes } => format!("{media_type}:{bytes:?}"),
    });
    described.collect()
}

#[test]
fn images_come_from_src_and_srcset() {
    for (html, expect) in [
        ("<img src=/a alt=' x  y '>", &["/a|x y|0"][..]),
        ("<img src=''><img alt=x><img data-src=/no>", &[]),
        ("<img src=/a srcset='/b 1x, /c 2x'>", &["/a||0", "/b||1", "/c||1"]),
        ("<picture><source srcset='/a, /b 2x'><img src=/c></picture>", &["/a||1", "/b||1", "/c||0"]),
        ("<video><source src=/no></video>", &[]),
        ("<image src=/a>", &["/a||0"]),
        ("<img src='data:image/gif;base64,AAE='>", &["image/gif:[0, 1]"]),
        ("<img src='data:broken'><img src='blob:x'>", &[]),
        ("<template><img src=/no></template><script><img src=/no></script>", &[]),
    ] {
        assert_eq!(images(html), expect, "{html}");
    }
}

#[test]
fn image_sizes_are_pixels() {
    for (html, expect) in [
        ("<img src=a width=10 height=' 20px'>", (Some(10), Some(20))),
        ("<img src=a width=50% height=x>", (None, None)),
        ("<img src=a width=1.5 height=99999999999>", (Some(1), None)),
    ] {
        let image = page(html).images.remove(0);
        assert_eq!((image.width, image.height), expect, "{html}");
    }
}
