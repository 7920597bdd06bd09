//! Sitemaps and feeds: well-formed, sloppy, broken and hostile ones.

use extract::sitemap::{Kind, Limits, Sitemap, parse, parse_at};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write;

fn read(document: &str) -> Sitemap {
    parse(document.as_bytes(), &Limits::default())
}

/// The entries as `loc` or `loc|lastmod`.
fn entries(sitemap: &Sitemap) -> Vec<String> {
    let described = sitemap.entries.iter().map(|entry| match &entry.lastmod {
        Some(lastmod) => format!("{}|{lastmod}", entry.loc),
        None => entry.loc.clone(),
    });
    described.collect()
}

fn check(document: &str, kind: Kind, expect: &[&str]) {
    let sitemap = read(document);
    assert_eq!(sitemap.kind, kind, "{document}");
    assert_eq!(entries(&sitemap), expect, "{document}");
}

#[expect(clippy::unwrap_used, reason = "writing to a vector cannot fail")]
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn sitemaps_of_the_protocol_are_read() {
    check(
        "<?xml version='1.0' encoding='UTF-8'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n\
         <url><loc>\n http://x/a?b=1&amp;c=2 </loc><lastmod>2026-01-02</lastmod><priority>1</priority></url>\n\
         <url><lastmod>2026</lastmod><loc>http://x/&#x61;&#98;</loc></url></urlset>",
        Kind::UrlSet,
        &["http://x/a?b=1&c=2|2026-01-02", "http://x/ab|2026"],
    );
    check(
        "<sitemapindex><sitemap><loc>http://x/1.xml.gz</loc></sitemap></sitemapindex>",
        Kind::Index,
        &["http://x/1.xml.gz"],
    );
}

#[test]
fn prefixes_case_cdata_and_comments_do_not_matter() {
    check(
        "<sm:URLSET xmlns:sm='x'><sm:Url><sm:LOC><![CDATA[ http://x/a&b ]]></sm:LOC></sm:Url></sm:URLSET>",
        Kind::UrlSet,
        &["http://x/a&b"],
    );
    check("<urlset><url><loc>http://x/<!-- no -->a</loc></url></urlset>", Kind::UrlSet, &["http://x/a"]);
    check("\u{feff} \n<urlset><url><loc>http://x/\n a</loc></url></urlset>", Kind::UrlSet, &["http://x/ a"]);
}

#[test]
fn only_the_entry_itself_counts() {
    check(
        "<urlset><url><loc>http://x/a</loc><image:image><image:loc>http://x/no.png</image:loc></image:image>\
         <video:video><video:publication_date>no</video:publication_date></video:video></url></urlset>",
        Kind::UrlSet,
        &["http://x/a"],
    );
    check("<urlset><loc>http://x/no</loc></urlset>", Kind::UrlSet, &[]);
    check("<urlset><url><loc>http://x/a</loc><loc>http://x/no</loc></url></urlset>", Kind::UrlSet, &["http://x/a"]);
}

#[test]
fn feeds_are_read() {
    check(
        "<rss version='2.0'><channel><link>http://x/no</link><atom:link href='http://x/no' rel='self'/>\
         <item><title>t</title><link>http://x/a</link><pubDate>Mon</pubDate><source><link>no</link></source></item>\
         <item><guid>no</guid></item></channel></rss>",
        Kind::Rss,
        &["http://x/a|Mon"],
    );
    check("<rdf:RDF><item><link>http://x/a</link><dc:date>d</dc:date></item></rdf:RDF>", Kind::Rss, &["http://x/a|d"]);
    check(
        "<feed><link href='http://x/no'/><entry><link rel='self' href='http://x/no'/>\
         <link href='http://x/a?b&amp;c' rel='alternate'/><link href='http://x/no'/><updated>u</updated>\
         <source><link href='http://x/no'/></source></entry><entry><link href='/b'></link></entry></feed>",
        Kind::Atom,
        &["http://x/a?b&c|u", "/b"],
    );
}

#[test]
fn text_sitemaps_have_one_url_a_line() {
    check("http://x/a\r\n\r\n  HTTPS://x/b  \n", Kind::Text, &["http://x/a", "HTTPS://x/b"]);
    let sitemap = read("http://x/a\nUser-agent: *\nx\n");
    assert_eq!((sitemap.entries.len(), sitemap.flaws.without_url), (1, 2));
    check("\u{feff}http://x/a", Kind::Text, &["http://x/a"]);
}

#[test]
fn lines_of_text_sitemaps_end_in_any_way() {
    for end in ["\n", "\r\n", "\r", "\r\r", "\n\r"] {
        let document = ["http://x/a", "http://x/b", "", " http://x/c "].join(end);
        check(&document, Kind::Text, &["http://x/a", "http://x/b", "http://x/c"]);
    }
}

#[test]
fn a_guid_is_the_url_of_an_item_without_link() {
    let check = |items: &str, expect: &[&str]| {
        check(&format!("<rss version='2.0'><channel><link>http://x/</link>{items}</channel></rss>"), Kind::Rss, expect);
    };
    check(
        "<item><guid isPermaLink='true'>http://x/a?b&amp;c</guid><pubDate>2026</pubDate></item>",
        &["http://x/a?b&c|2026"],
    );
    check(
        "<item><guid>http://x/a</guid></item><item><guid>\n http://x/b\n</guid></item>",
        &["http://x/a", "http://x/b"],
    );
    // The link is the page's own, wherever it stands.
    check("<item><guid>http://x/a</guid><link>http://x/b</link></item>", &["http://x/b"]);
    check("<item><link/><guid>http://x/a</guid></item>", &["http://x/a"]);
    check("<item><link>http://x/a</link></item><item><guid>http://x/b</guid>", &["http://x/a"]);
    // Identifiers are none, and nothing of one item is another's.
    check(
        "<item><guid isPermaLink='false'>http://x/a</guid></item><item><link>http://x/b</link></item>",
        &["http://x/b"],
    );
    check("<item><guid isPermaLink=' False '>http://x/a</guid><title>t</title></item>", &[]);
    check("<item><guid>tag:x,2026:a</guid></item><item><guid>4711</guid></item>", &[]);
    check("<item><guid>http://x/a</guid><item><link>http://x/b</link></item>", &["http://x/a", "http://x/b"]);
    check("<item><media:group><guid>http://x/a</guid></media:group></item>", &[]);
    let atom = read("<feed><entry><guid>http://x/a</guid></entry></feed>");
    assert_eq!((atom.kind, entries(&atom)), (Kind::Atom, vec![]));
}

#[test]
fn links_of_atom_feeds_are_relative_to_their_base() {
    let read = |document: &str, url: Option<&str>| {
        let sitemap = parse_at(document.as_bytes(), url, &Limits::default());
        entries(&sitemap)
    };
    let feed = "http://x/feeds/atom.xml";
    for (document, expect) in [
        ("<feed xml:base='http://y/b/'><entry><link href='a'/></entry></feed>", "http://y/b/a"),
        ("<feed xml:base='http://y/b/'><entry><link href='//z/a'/></entry></feed>", "http://z/a"),
        ("<feed xml:base='http://y/b/'><entry><link href='http://z/a'/></entry></feed>", "http://z/a"),
        ("<feed xml:base='http://y/b/'><entry xml:base='c/'><link href='a'/></entry></feed>", "http://y/b/c/a"),
        ("<feed><entry><link xml:base='http://y/?a&amp;b' href='?c'/></entry></feed>", "http://y/?c"),
        // To the URL of the feed.
        ("<feed xml:base='/b/'><entry><link href='a'/></entry></feed>", "http://x/b/a"),
        ("<feed xml:base='../c/'><entry><link href='a'/></entry></feed>", "http://x/c/a"),
        // Its scope is the element.
        ("<feed><title xml:base='http://y/'>t</title><entry><link href='a'/></entry></feed>", "a"),
        ("<feed><author xml:base='http://y/'/><entry><link href='a'/></entry></feed>", "a"),
        // One that is none counts for nothing.
        ("<feed xml:base='http://y/'><entry xml:base='http://[/'><link href='a'/></entry></feed>", "http://y/a"),
        // Only feeds of Atom have it.
        ("<rss xml:base='http://y/'><channel><item><link>a</link></item></channel></rss>", "a"),
    ] {
        assert_eq!(read(document, Some(feed)), [expect], "{document}");
    }
    let relative = "<feed xml:base='/b/'><entry><link href='a'/></entry></feed>";
    assert_eq!(read(relative, None), ["a"], "where the feed is, is not known");
    let (long, many) = ("b".repeat(9_000), "<entry><link href='a'/></entry>".repeat(3));
    assert_eq!(read(&format!("<feed xml:base='http://y/{long}/'>{many}</feed>"), Some(feed)), ["a"; 3]);
    let two = "<feed><entry xml:base='http://y/'><link href='a'/></entry><entry><link href='b'/></entry></feed>";
    assert_eq!(read(two, None), ["http://y/a", "b"]);
}

#[test]
fn other_documents_are_none() {
    for document in
        ["", " ", "x", "<", "<x/>", "<!doctype html><html><url><loc>http://x/no</loc></url></html>", "{}", "<html>"]
    {
        check(document, Kind::Unknown, &[]);
    }
}

#[test]
fn broken_xml_gives_what_came_before() {
    let sitemap = read("<urlset><url><loc>http://x/a</loc></url><url><loc>http://x/cu");
    assert_eq!(entries(&sitemap), ["http://x/a"]);
    let sitemap = read("<urlset><url><loc>http://x/a</loc></url><url><loc>http://x/b</loc></url><url <!x");
    assert_eq!(entries(&sitemap), ["http://x/a", "http://x/b"]);
    assert!(sitemap.flaws.broken_xml_at.is_some());
    check("<urlset><url><loc>http://x/a</loc>", Kind::UrlSet, &["http://x/a"]);
}

#[test]
fn sloppy_xml_is_understood() {
    check(
        "<urlset><url><loc>http://x/a</url><url><loc>http://x/b</loc></url>",
        Kind::UrlSet,
        &["http://x/a", "http://x/b"],
    );
    check(
        "<urlset><url><loc>http://x/a</loc><url><loc>http://x/b</loc></url>",
        Kind::UrlSet,
        &["http://x/a", "http://x/b"],
    );
    check("<urlset></x><url></y><loc>http://x/a?b&c=1&d</loc></url></urlset>", Kind::UrlSet, &["http://x/a?b&c=1&d"]);
    check("<url><loc>http://x/a</loc></url>", Kind::UrlSet, &["http://x/a"]);
    check("<urlset><url><loc>http://x/a</LOC></url></URLSET>", Kind::UrlSet, &["http://x/a"]);
}

#[test]
fn empty_and_long_urls_are_counted() {
    let long = "x".repeat(9_000);
    let sitemap = read(&format!("<urlset><url><loc> </loc></url><url/><url><loc>http://{long}</loc></url></urlset>"));
    assert_eq!((sitemap.entries.len(), sitemap.flaws.without_url, sitemap.flaws.too_long), (0, 2, 1));
}

#[test]
fn a_url_with_a_reference_that_xml_does_not_know_is_none() {
    let none = [
        "&a9;x",
        "x&nbsp;y",
        "&#0;z",
        "&#xD800;q",
        "&#1;",
        "&#xFFFE;",
        "&#x110000;",
        "&#99999999999;",
        "&#;",
        "a&copy;b",
    ];
    let some = [
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("?a=1&b=2;c", "?a=1&b=2;c"),
        ("?a=1&amp;b", "?a=1&b"),
        ("&#x10FFFF;", "\u{10ffff}"),
        ("&#65;", "A"),
    ];
    for (begin, end, before, behind) in [
        ("<urlset>", "</urlset>", "<url><loc>http://x/", "</loc></url>"),
        ("<sitemapindex>", "</sitemapindex>", "<sitemap><loc>http://x/", "</loc></sitemap>"),
        ("<rss>", "</rss>", "<item><link>http://x/", "</link></item>"),
        ("<rss>", "</rss>", "<item><guid>http://x/", "</guid></item>"),
        ("<feed>", "</feed>", "<entry><link href='http://x/", "'/></entry>"),
    ] {
        let all = none.iter().copied().chain(some.map(|(written, _)| written));
        let items: String = all.map(|loc| format!("{before}{loc}{behind}")).collect();
        let sitemap = read(&format!("{begin}{items}{end}"));
        let expect: Vec<String> = some.iter().map(|(_, url)| format!("http://x/{url}")).collect();
        assert_eq!(entries(&sitemap), expect, "{before}");
        assert_eq!(sitemap.flaws.without_url as usize, none.len(), "{before}");
    }
    // What the document is relative to is no URL of an item, and a `guid` is one.
    let relative = read("<feed xml:base='http://x/'><entry><link href='&nbsp;'/></entry></feed>");
    assert_eq!((relative.entries.len(), relative.flaws.without_url), (0, 1));
    let named = read("<rss><item><link>http://x/&nbsp;</link><guid>http://x/7</guid></item></rss>");
    assert_eq!(entries(&named), ["http://x/7"]);
    // The last item counts too where the document ends in it, and a date is not half read.
    let cut = read("<urlset><url><loc>http://x/&nbsp;</loc>");
    assert_eq!((cut.entries.len(), cut.flaws.without_url), (0, 1));
    let dated = read("<urlset><url><loc>http://x/</loc><lastmod>2026&nbsp;</lastmod></url></urlset>");
    assert_eq!((dated.entries[0].loc.as_str(), dated.entries[0].lastmod.as_deref()), ("http://x/", None));
}

#[test]
fn what_cannot_be_a_url_is_none() {
    let locs = ["&a9;", "TODO", "www.x.test/a", "page.html"];
    let urls: String = locs.iter().map(|loc| format!("<url><loc>{loc}</loc></url>")).collect();
    let sitemap = read(&format!("<urlset>{urls}<url><loc>/a</loc></url><url><loc>HTTPS://x/b</loc></url></urlset>"));
    assert_eq!(entries(&sitemap), ["/a", "HTTPS://x/b"]);
    assert_eq!(sitemap.flaws.without_url, 4);
    let index = read("<sitemapindex><sitemap><loc>&a9;</loc></sitemap></sitemapindex>");
    assert_eq!((index.entries.len(), index.flaws.without_url), (0, 1));
}

#[test]
fn padding_of_any_amount_is_no_part_of_a_url() {
    let padding = "<![CDATA[ \n]]>&#32;".repeat(Limits::default().url_bytes_max);
    check(&format!("<urlset><url><loc>{padding}http://x/a </loc></url></urlset>"), Kind::UrlSet, &["http://x/a"]);
}

/// Found by fuzzing: the second piece was dropped.
#[test]
fn a_url_with_a_long_gap_is_too_long_and_never_cut() {
    let gap = " ".repeat(Limits::default().url_bytes_max);
    let sitemap = read(&format!("<urlset><url><loc>http://x/a{gap}&amp;b</loc></url></urlset>"));
    assert_eq!((sitemap.entries.len(), sitemap.flaws.too_long), (0, 1));
}

#[test]
fn a_wrongly_declared_encoding_is_tolerated() {
    check(
        "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://x/č</loc></url></urlset>",
        Kind::UrlSet,
        &["http://x/č"],
    );
    let document = "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://x/č</loc></url></urlset>";
    let mut utf_16 = b"\xff\xfe".to_vec();
    utf_16.extend(document.encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(entries(&parse(&utf_16, &Limits::default())), ["http://x/č"]);
    let latin = b"<?xml version='1.0' encoding='iso-8859-2'?><urlset><url><loc>http://x/\xe8</loc></url></urlset>";
    assert_eq!(entries(&parse(latin, &Limits::default())), ["http://x/č"]);
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'><!ENTITY c SYSTEM 'file:///etc/passwd'>]>\
                <urlset><url><loc>http://x/&b;&c;</loc></url></urlset>";
    let sitemap = read(bomb);
    assert_eq!((sitemap.entries.len(), sitemap.flaws.without_url), (0, 1));
}

#[test]
fn gzip_is_known_by_its_first_bytes() {
    let sitemap = parse(&gzip(b"<urlset><url><loc>http://x/a</loc></url></urlset>"), &Limits::default());
    assert_eq!((sitemap.kind, entries(&sitemap)), (Kind::UrlSet, vec!["http://x/a".to_owned()]));
    assert_eq!(entries(&parse(&gzip(b"http://x/a\n"), &Limits::default())), ["http://x/a"]);
}

#[test]
fn broken_gzip_gives_what_could_be_read() {
    let whole = gzip(&b"http://x/a\n".repeat(1000));
    let cut = parse(&whole[..whole.len() - 9], &Limits::default());
    assert!(cut.flaws.broken_gzip && !cut.entries.is_empty());
    let with_garbage = parse(&[whole.as_slice(), b"garbage"].concat(), &Limits::default());
    assert_eq!(with_garbage.entries.len(), 1000);
    assert!(parse(b"\x1f\x8b", &Limits::default()).entries.is_empty());
}

#[test]
fn gzip_bombs_are_cut_by_ratio_and_by_size() {
    let bomb = gzip(&vec![b' '; 20 << 20]);
    let limits = Limits { ratio_max: 20, ..Limits::default() };
    assert!(parse(&bomb, &limits).truncated.bytes);
    let limits = Limits { decoded_bytes_max: 1 << 20, ratio_max: 10_000, ..Limits::default() };
    assert!(parse(&bomb, &limits).truncated.bytes);
    let limits = Limits { decoded_bytes_max: 11, ..Limits::default() };
    let plain = parse(b"http://x/a\nhttp://x/b\n", &limits);
    assert_eq!((plain.truncated.bytes, plain.entries.len()), (true, 1));
}

#[test]
fn entries_past_the_limit_are_dropped_and_told() {
    let limits = Limits { entries_max: 2, ..Limits::default() };
    for document in ["http://x/a\n".repeat(3), "<url><loc>http://x/a</loc></url>".repeat(3)] {
        let sitemap = parse(document.as_bytes(), &limits);
        assert_eq!((sitemap.entries.len(), sitemap.truncated.entries), (2, true));
    }
}

#[test]
fn deep_and_endless_documents_are_linear() {
    const REPEATS: usize = 100_000;
    for piece in [
        "<url>",
        "<x>",
        "<loc>",
        "<url><loc>",
        "<x></y>",
        "&amp;",
        "&x",
        "<![CDATA[",
        "<![CDATA[ ]]>",
        "&#32;",
        "<!--",
        "<!DOCTYPE x [",
        "<item><link>",
        "</url>",
        "<a b='",
    ] {
        read(&("<urlset><url><loc>".to_owned() + &piece.repeat(REPEATS)));
    }
    let (down, up) = ("<x>".repeat(REPEATS), "</x>".repeat(REPEATS));
    let sitemap = read(&format!("<urlset>{down}{up}<url><loc>http://x/a</loc></url>"));
    assert_eq!(entries(&sitemap), ["http://x/a"]);
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let gzip = [b"\x1f\x8b\x08".as_slice(), &bytes].concat();
        for bytes in [bytes, gzip] {
            prop_assert!(parse(&bytes, &Limits::default()).entries.len() <= 300);
        }
    }

    #[test]
    fn any_markup_is_read(document in "<urlset>(</?(url|loc|lastmod|x|entry|link)( href='x?')?/?>|&[a-z#]{0,3};?|.{0,3}){0,20}") {
        prop_assert!(read(&document).entries.len() <= 20);
    }
}
