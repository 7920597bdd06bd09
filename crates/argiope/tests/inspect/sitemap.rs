//! `inspect sitemap`.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

use super::run::Dir;

const SITEMAP: &[u8] = b"<?xml version='1.0'?>
<urlset>
  <url><loc>http://a.test/?a=1&amp;b=2</loc><lastmod>2026-11-21</lastmod></url>
  <url><loc>/relative#top</loc></url>
  <url><lastmod>2026</lastmod></url>
  <url><loc>ftp://a.test/</loc><lastmod>\xc2\x9b31m</lastmod></url>
</urlset>";

fn dir() -> Dir {
    Dir::new(&[("sitemap.xml", SITEMAP)])
}

#[test]
fn text_lists_the_entries() {
    dir().check(
        &["sitemap", "sitemap.xml", "--url", "http://a.test/maps/sitemap.xml"],
        "\
url          http://a.test/maps/sitemap.xml
kind         urlset
flaws        1 without URL
entries      3
  http://a.test/?a=1&b=2  2026-11-21
  http://a.test/relative
  \"ftp://a.test/\": the scheme is ftp, not http or https  \\u{9b}31m
",
    );
}

#[test]
fn json_is_one_object() {
    dir().check(
        &["sitemap", "sitemap.xml", "--json"],
        concat!(
            r#"{"inspect":"sitemap","url":null,"kind":"urlset","entries":["#,
            r#"{"href":"http://a.test/?a=1&b=2","url":"http://a.test/?a=1&b=2","reason":null,"lastmod":"2026-11-21"},"#,
            r##"{"href":"/relative#top","url":null,"reason":"not a URL: relative URL without a base","lastmod":null},"##,
            r#"{"href":"ftp://a.test/","url":null,"reason":"the scheme is ftp, not http or https","lastmod":"\u009b31m"}],"#,
            r#""truncated":[],"flaws":{"broken_xml_at":null,"broken_gzip":false,"without_url":1,"too_long":0}}"#,
            "\n"
        ),
    );
}

/// Runs on a sitemap from standard input and expects this text.
fn check(sitemap: &[u8], expect: &str) {
    Dir::new(&[]).check_with(&["sitemap", "-"], sitemap, expect);
}

#[test]
fn every_form_has_its_name() {
    check(b"http://a.test/\n", "kind         text\nentries      1\n  http://a.test/\n");
    check(
        b"<sitemapindex><sitemap><loc>http://a.test/1.xml</loc></sitemap></sitemapindex>",
        "kind         index\nentries      1\n  http://a.test/1.xml\n",
    );
    check(
        b"<rss><channel><item><link>http://a.test/</link></item></channel></rss>",
        "kind         rss\nentries      1\n  http://a.test/\n",
    );
    check(
        b"<feed><entry><link href='http://a.test/'/></entry></feed>",
        "kind         atom\nentries      1\n  http://a.test/\n",
    );
    check(b"<html>", "kind         unknown\nentries      0\n");
}

#[test]
fn compressed_and_cut_off_it_is_read_as_far_as_it_goes() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(b"http://a.test/\n").unwrap();
    let mut gzip = gzip.finish().unwrap();
    check(&gzip, "kind         text\nentries      1\n  http://a.test/\n");
    gzip.truncate(gzip.len() - 4);
    check(&gzip, "kind         text\nflaws        broken gzip\nentries      1\n  http://a.test/\n");
}

#[test]
fn broken_xml_is_shown_with_its_place() {
    check(
        b"<urlset><url><loc>http://a.test/</loc></url><url <!x",
        "kind         urlset\nflaws        broken XML at byte 44\nentries      1\n  http://a.test/\n",
    );
}
