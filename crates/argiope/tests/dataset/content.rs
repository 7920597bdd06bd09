//! What the columns say of a page.

use std::path::Path;

use dataset::schema::Table;
use dataset::{Column, Layout};

use crate::webs::{PIXEL, crawl_every_outcome};
use testkit::crawled::Crawled;
use testkit::tables::{Row, pages, rows};
use testweb::{Pages, Web};

fn check(row: &Row, expect: &[(&str, Option<&str>)]) {
    for (column, value) in expect {
        assert_eq!(row.get(*column).map(String::as_str), *value, "{column} of {}", row["url"]);
    }
}

#[test]
fn a_page_tells_what_it_is_and_what_its_server_says() {
    let crawled = crawl_every_outcome(&[]);
    let pages = pages(crawled.dir());
    let root = &pages["http://small.test/"];
    check(
        root,
        &[
            ("kind", Some("html")),
            ("declared_kind", Some("html")),
            ("sniffed_kind", Some("html")),
            ("extension_kind", None),
            ("language", Some("en")),
            ("encoding", Some("UTF-8")),
            ("title", Some("Root")),
            ("server", Some("test")),
            ("etag", Some("\"1\"")),
            ("x_robots_tag", Some("noindex")),
            ("meta_robots", Some("noarchive")),
            ("images", Some("4")),
            ("via", Some("seed")),
        ],
    );
    assert!(root["text"].starts_with("Words of the root. first again"), "{}", root["text"]);
    assert!(root.contains_key("simhash"));
    check(&pages["http://small.test/file.bin"], &[("kind", Some("other")), ("text", None), ("links", None)]);
    check(&pages["http://small.test/b"], &[("redirect_to", Some("http://small.test/target")), ("status", Some("302"))]);
    check(&pages["http://small.test/cut"], &[("truncated", Some("disconnect"))]);
}

#[test]
fn what_a_page_says_for_machines_is_columns_and_rows() {
    let product = "<title>Lamp</title><meta name=description content='A lamp.'><meta property=og:image content=lamp.png>\
        <script type='application/ld+json'>{\"@type\": \"Product\", \"name\": \"Lamp\",}</script>\
        <h1>Lamp</h1><p itemscope itemtype='https://schema.org/Offer'><b itemprop=price>5</b>";
    let shop = || Web::new().site("shop.test", Pages::new().html("/", "<a href=/lamp>lamp</a>").html("/lamp", product));
    let crawled = Crawled::of(shop(), "http://shop.test/", &[]);
    check(
        &pages(crawled.dir())["http://shop.test/lamp"],
        &[
            ("description", Some("A lamp.")),
            ("h1", Some("Lamp")),
            ("h1_count", Some("1")),
            ("og_image", Some("http://shop.test/lamp.png")),
            ("schema_types", Some("Offer, Product")),
            ("generator", None),
        ],
    );
    let said = rows(crawled.dir(), Table::Structured);
    let said: Vec<[&str; 3]> = said
        .iter()
        .map(|row| ["format", "type", "json"].map(|column| row.get(column).map_or("", String::as_str)))
        .collect();
    let offer = r#"{"@context":"https://schema.org","@type":"Offer","price":"5"}"#;
    for expect in [["json-ld", "Product", r#"{"@type":"Product","name":"Lamp"}"#], ["microdata", "Offer", offer]] {
        assert!(said.contains(&expect), "{said:?}");
    }
    let without = Crawled::of(shop(), "http://shop.test/", &["--no-structured"]);
    assert_eq!(rows(without.dir(), Table::Structured), [] as [Row; 0]);
    check(&pages(without.dir())["http://shop.test/lamp"], &[("h1", Some("Lamp")), ("schema_types", None)]);
    let without = Crawled::of(shop(), "http://shop.test/", &["--no-structured", "--no-main-text"]);
    check(&pages(without.dir())["http://shop.test/lamp"], &[("h1", None), ("h1_count", None), ("title", Some("Lamp"))]);
}

#[test]
fn a_page_with_more_than_its_tree_holds_says_so() {
    let large = || Web::new().site("large.test", Pages::new().html("/", "<p>x".repeat(140_000)));
    let truncated = |args: &[&str]| {
        let crawled = Crawled::of(large(), "http://large.test/", args);
        pages(crawled.dir())["http://large.test/"].get("truncated").cloned()
    };
    assert_eq!(truncated(&["--no-structured"]).as_deref(), Some("tree"));
    assert_eq!(truncated(&["--no-structured", "--no-main-text"]), None);
}

#[test]
fn a_duplicate_has_links_and_the_text_of_its_original() {
    let crawled = crawl_every_outcome(&[]);
    let pages = pages(crawled.dir());
    let of_original =
        [("text", Some("to the copy the same words on both")), ("language", Some("sl")), ("links", Some("1"))];
    let twins = [&pages["http://small.test/a"], &pages["http://small.test/copy"]];
    let (original, copy) = if twins[0]["outcome"] == "html" { (twins[0], twins[1]) } else { (twins[1], twins[0]) };
    check(original, &of_original);
    check(
        copy,
        &[
            ("outcome", Some("duplicate")),
            ("duplicate_of", Some(&original["url"])),
            ("text", None),
            ("links", Some("1")),
        ],
    );
}

#[test]
fn anchor_texts_are_kept_by_source_and_target() {
    let crawled = crawl_every_outcome(&[]);
    let links = rows(crawled.dir(), Table::Links);
    let mut to_a: Vec<(&str, &str, Option<&str>)> = links
        .iter()
        .filter(|link| link["target"] == "http://small.test/a")
        .map(|link| {
            (&link["source"][..], link.get("text").map_or("", String::as_str), link.get("rel").map(String::as_str))
        })
        .collect();
    to_a.sort_unstable();
    assert_eq!(
        to_a,
        [
            ("http://small.test/", "first again", Some("nofollow sponsored")),
            ("http://small.test/", "link to /a", None),
            ("http://small.test/cut", "cut", None),
            ("http://small.test/target", "to a", None),
            ("http://small.test/target", "to a", None),
        ]
    );
    let redirects: Vec<&Row> = links.iter().filter(|link| link["kind"] == "redirect").collect();
    assert_eq!(redirects.len(), 1);
    assert_eq!(
        (&redirects[0]["source"][..], &redirects[0]["target"][..]),
        ("http://small.test/b", "http://small.test/target")
    );
}

#[test]
fn images_have_their_attributes_and_those_in_the_page_their_bytes() {
    let crawled = crawl_every_outcome(&[]);
    let images = rows(crawled.dir(), Table::Images);
    let image =
        |url: &str| images.iter().find(|image| image.get("url").is_some_and(|found| found == url)).expect("an image");
    let one = image("http://small.test/one.png");
    assert_eq!((&one["alt"][..], &one["width"][..], &one["height"][..]), ("First image", "10", "20"));
    assert_eq!(image("http://cdn.test/three.png")["from_srcset"], "true");
    let dot = images.iter().find(|image| !image.contains_key("url")).expect("an image in the page");
    assert_eq!((&dot["declared_type"][..], &dot["sniffed_kind"][..], &dot["alt"][..]), ("image/png", "png", "dot"));
    let bytes = data_encoding::BASE64.decode(PIXEL.as_bytes()).expect("base64");
    let layout = Layout::at(Path::new(crawled.dir()).join("dataset"));
    let mut stored = Vec::new();
    for batch in layout.batches(Table::Images, &["data"]).expect("a dataset") {
        let batch = batch.expect("a batch");
        stored.extend((0..batch.num_rows()).filter_map(|row| batch.bytes("data", row).map(<[u8]>::to_vec)));
    }
    assert_eq!(stored, [bytes]);
}

#[test]
fn a_shorter_way_found_later_is_in_the_rows() {
    let crawled = Crawled::of(crate::webs::two_ways(), "http://far.test/", &["--scope", "any", "--depth", "5"]);
    let pages = pages(crawled.dir());
    check(&pages["http://goal.test/"], &[("depth", Some("2")), ("found_on", Some("http://slow.test/"))]);
    check(&pages["http://goal.test/next"], &[("depth", Some("3"))]);
}
