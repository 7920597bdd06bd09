//! What small pages say, format by format.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use extract::html::dom::Document;
use serde_json::{Value, json};
use structured::{Item, Limits, Metadata, Structured, metadata, read};
use url::Url;

fn said(source: &str) -> Structured {
    let url = Url::parse("https://example.com/dir/page").expect("a URL");
    read(&Document::parse(source), Some(&url), &Limits::default())
}

/// The items of a format: kind, path, JSON.
fn check(source: &str, format: &str, expect: &[(&str, &str, Value)]) {
    let items: Vec<Item> = said(source).items.into_iter().filter(|item| item.format.as_str() == format).collect();
    let found: Vec<(&str, &str, Value)> = items
        .iter()
        .map(|item| {
            let json = serde_json::from_str(&item.json).expect("JSON");
            (item.kind.as_deref().unwrap_or(""), item.path.as_deref().unwrap_or(""), json)
        })
        .collect();
    assert_eq!(found, expect, "{source}");
}

#[test]
fn json_ld_gives_each_node_of_lists_and_graphs() {
    check(
        r#"<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"a"}</script>
        <body><script type="Application/LD+JSON; charset=utf-8">[{"@type":"A"},{"@context":"c","@graph":[{"@type":["schema:B","http://schema.org/C"]}]}]</script>"#,
        "json-ld",
        &[
            (
                "Product",
                "/html/head/script#$",
                json!({"@context": "https://schema.org", "@type": "Product", "name": "a"}),
            ),
            ("A", "/html/body/script#$[0]", json!({"@type": "A"})),
            ("B, C", "/html/body/script#$[1]['@graph'][0]", json!({"@type": ["schema:B", "http://schema.org/C"]})),
        ],
    );
    let slash = "<script type='application/ld+json'>{\"@type\":\"https://schema.org/Product/\"}</script>";
    assert_eq!(said(slash).metadata.schema_types.as_deref(), Some("Product"));
    let broken = said(
        "<script type='application/ld+json'>{'@type': 'A',}</script><script type='application/ld+json'>no</script>",
    );
    assert_eq!(broken.items[0].repaired.as_deref(), Some("comma, quote"));
    assert_eq!((broken.items.len(), broken.metadata.schema_types.as_deref()), (1, Some("A")));
}

#[test]
fn microdata_gives_items_with_all_kinds_of_values() {
    check(
        r#"<base href=/other/><div itemscope itemtype="https://schema.org/Product" itemid=' #x '>
          <h1 itemprop=name>A <b>b</b><br>c</h1><img itemprop=image src=i.png><a itemprop="url sameAs" href="?q">x</a>
          <meta itemprop=sku content=7><time itemprop=released datetime=2020-01-01>then</time><time itemprop=seen>now</time>
          <span itemprop=color content=red>rot</span><input itemprop=query-input name=q required>
          <div itemprop=offers itemscope itemtype="http://schema.org/Offer"><b itemprop=price>1.50</b></div>
          <div itemprop=offers itemscope><b itemprop="http://schema.org/price">2</b></div>
        </div>"#,
        "microdata",
        &[(
            "Product",
            "/html/body/div",
            json!({
                "@context": "https://schema.org", "@type": "Product", "@id": "#x", "name": "A b c",
                "image": "https://example.com/other/i.png",
                "url": "https://example.com/other/?q", "sameAs": "https://example.com/other/?q",
                "sku": "7", "released": "2020-01-01", "seen": "now", "color": "red",
                "query-input": {"valueRequired": true, "valueName": "q"},
                "offers": [{"@type": "Offer", "price": "1.50"}, {"price": "2"}],
            }),
        )],
    );
    check(
        "<p itemscope itemref='r none'>x</p><p id=r itemprop=a>1<i itemprop=b>2</i></p><p itemscope itemtype='urn:t'>y</p>",
        "microdata",
        &[
            ("", "/html/body/p[1]", json!({"a": "12", "b": "2"})),
            ("urn:t", "/html/body/p[3]", json!({"@type": "urn:t", "@value": "y"})),
        ],
    );
    check(
        "<p itemscope itemref='i i j'><i id=i itemprop=n>1</i></p><p id=j><i itemprop=m>2</i></p>",
        "microdata",
        &[("", "/html/body/p[1]", json!({"n": "1", "m": "2"}))],
    );
    check(
        "<p itemscope id=a itemref=b><p itemscope itemprop=x id=b itemref=a>",
        "microdata",
        &[("", "/html/body/p[1]", json!({"x": {"@value": ""}}))],
    );
}

#[test]
fn rdfa_lite_gives_things_with_their_vocabulary() {
    check(
        r#"<body vocab="http://schema.org/" prefix="ex: http://example.org/">
          <div typeof=Product resource='#p'><b property=name>A</b><a property="url ex:page" href=/u>x</a>
            <div property=offers typeof=Offer><i property=price content=3>3 EUR</i></div><i property=color>red</i></div>
          <p property=about>the page</p>"#,
        "rdfa",
        &[
            (
                "Product",
                "/html/body/div",
                json!({
                    "@context": "https://schema.org", "@type": "Product", "@id": "https://example.com/dir/page#p", "name": "A",
                    "url": "https://example.com/u", "http://example.org/page": "https://example.com/u",
                    "offers": {"@type": "Offer", "price": "3"}, "color": "red",
                }),
            ),
            ("", "", json!({"@id": "https://example.com/dir/page", "about": "the page"})),
        ],
    );
    check(
        "<body vocab='http://schema.org/'><p about=/x property=desc>2 <i property=more>3</i></p>\
         <p about=/y property=author typeof=Person><i property=name>N</i></p>",
        "rdfa",
        &[
            ("", "/html/body/p[1]", json!({"@id": "https://example.com/x", "desc": "2 3", "more": "3"})),
            (
                "",
                "/html/body/p[2]",
                json!({"@id": "https://example.com/y", "author": {"@type": "Person", "name": "N"}}),
            ),
        ],
    );
    check("<p property=name>no vocabulary</p><p typeof=A>x", "rdfa", &[]);
    check(
        "<p xmlns:d='urn:d:' property='d:x dc:title og:title'>y",
        "rdfa",
        &[(
            "",
            "",
            json!({"@id": "https://example.com/dir/page", "urn:d:x": "y", "http://purl.org/dc/terms/title": "y"}),
        )],
    );
}

#[test]
fn metadata_is_columns_and_items() {
    let source = r#"<meta name=Description content=" d "><meta name=description content=e><meta property=og:title content=T>
      <meta property=og:image content=/i.png><meta property=og:image content=/j.png><meta name=twitter:card content=summary>
      <meta name=generator content=G><link rel="alternate" hreflang=de href=/de><link rel=alternate hreflang=x-default href=/>
      <link rel=alternate type="application/rss+xml" title=News href=/feed><h2>s</h2><h1></h1><h1>One <i>h</i></h1>
      <a rel="nofollow license" href=/cc>x</a>"#;
    let metadata = said(source).metadata;
    let columns = [
        (metadata.description, "d"),
        (metadata.og_title, "T"),
        (metadata.og_image, "https://example.com/i.png"),
        (metadata.twitter_card, "summary"),
        (metadata.generator, "G"),
        (metadata.hreflang, "de, x-default"),
        (metadata.feed, "https://example.com/feed"),
        (metadata.license, "https://example.com/cc"),
        (metadata.h1, "One h"),
    ];
    for (value, expect) in columns {
        assert_eq!(value.as_deref(), Some(expect));
    }
    assert_eq!((metadata.h1_count, metadata.keywords), (2, None));
    check(source, "opengraph", &[("", "", json!({"og:title": "T", "og:image": ["/i.png", "/j.png"]}))]);
    check(source, "twitter", &[("summary", "", json!({"twitter:card": "summary"}))]);
    check(source, "meta", &[("", "", json!({"description": [" d ", "e"], "generator": "G"}))]);
    let headings = json!([{"level": 2, "text": "s"}, {"level": 1, "text": ""}, {"level": 1, "text": "One h"}]);
    check(source, "headings", &[("", "", headings)]);
    let feed = json!([{"type": "application/rss+xml", "title": "News", "href": "https://example.com/feed"}]);
    check(source, "feeds", &[("", "", feed)]);
}

#[test]
fn a_page_without_anything_says_nothing() {
    assert_eq!(said("<p>x</p>"), Structured::default());
    assert_eq!(said(""), Structured::default());
}

#[test]
fn what_is_beyond_the_limits_is_left_out_and_said() {
    let limits = Limits { items_max: 2, ..Limits::default() };
    let found = read(&Document::parse(&"<p itemscope>x</p>".repeat(3)), None, &limits);
    assert_eq!((found.items.len(), found.is_cut), (2, true));
    // Each item takes the whole page by reference, again and again.
    let nasty = format!(
        "<div id=a>{}</div>{}",
        "<i itemprop=x>y</i>".repeat(2_000),
        "<p itemscope itemref='a a a a'>".repeat(2_000)
    );
    assert!(said(&nasty).is_cut);
}

#[test]
fn nasty_pages_end() {
    let nasty = [
        "<p itemscope itemprop=a>".repeat(20_000),
        "<div itemscope itemprop=a>".repeat(20_000),
        "<div vocab=x typeof=y property='a b c d'>".repeat(5_000),
        "<div prefix='a: b c: d'>".repeat(20_000),
        "<h1><div>".repeat(20_000),
        format!("<script type=application/ld+json>{}", "[".repeat(200_000)),
        format!("<script type=application/ld+json>{}", "{\"@graph\":[".repeat(20_000)),
    ];
    for source in nasty {
        assert!(said(&source).items.len() <= Limits::default().items_max);
    }
}

#[test]
fn the_imprint_comes_from_where_it_is() {
    let check = |source: &str, expect: [Option<&str>; 6]| {
        let document = Document::parse(source);
        let Metadata { title, author, published, modified, site_name, language, .. } = metadata(&document, None);
        let said = [title, author, published, modified, site_name, language];
        assert_eq!(said.each_ref().map(Option::as_deref), expect, "{source}");
    };
    let things = r#"<html lang=en><title>x</title><meta property="og:site_name" content="The Web"><meta property="og:title" content="Spiders | The Web">
        <script type="application/ld+json">{"@graph":[{"@type":"NewsArticle","author":[{"name":"A. Weaver"},{"name":"B. Spinner"}],
        "datePublished":"2026-01-02T03:04:05Z","dateModified":"2026-02-03",}]}</script>"#;
    let of_things = [
        Some("Spiders"),
        Some("A. Weaver; B. Spinner"),
        Some("2026-01-02T03:04:05Z"),
        Some("2026-02-03"),
        Some("The Web"),
        Some("en"),
    ];
    check(things, of_things);
    let metas = "<title>a title</title><meta property=article:author content=https://x.test/me><meta name=byl content='By A.  Weaver'>
        <meta name=date content=yesterday><meta name=dc.date content=2026-01-02><meta http-equiv=content-language content=de>";
    check(metas, [Some("a title"), Some("A. Weaver"), Some("2026-01-02"), None, None, Some("de")]);
    let marks = "<h1>Of  <b>webs</b></h1><p itemprop=author><i>by</i> <b itemprop=name>A. Weaver</b>
        <a rel='author nofollow'>B. Spinner</a><time datetime=2026-01-02>then</time><i itemprop=dateModified content=2026-02-03>";
    check(marks, [Some("Of webs"), Some("A. Weaver"), Some("2026-01-02"), Some("2026-02-03"), None, None]);
}
