//! Sitemaps (sitemaps.org protocol 0.9) and feeds, listing pages that no page links to.

use super::encodings::gzip;
use super::html;
use crate::{Pages, Reply};

const INDEX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://advanced.test/sitemap-pages.xml</loc><lastmod>2026-11-21</lastmod></sitemap>
<sitemap><loc>http://advanced.test/sitemap-more.xml.gz</loc></sitemap>
<sitemap><loc>http://advanced.test/sitemap-feed.rss</loc></sitemap>
<sitemap><loc>http://advanced.test/sitemap-feed.atom</loc></sitemap>
<sitemap><loc>http://advanced.test/sitemap-missing.xml</loc></sitemap>
</sitemapindex>
"#;
const PAGES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://advanced.test/from-sitemap/xml.html</loc><priority>0.5</priority></url>
<url><loc>
  http://advanced.test/from-sitemap/entity.html?a=1&amp;b=2
</loc></url>
<url><loc>http://advanced.test/private/from-sitemap.html</loc></url>
<url><loc>http://other.test/from-sitemap.html</loc></url>
<url><loc>http://advanced.test/</loc></url>
</urlset>
"#;
const MORE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://advanced.test/from-sitemap/gz.html</loc></url>
</urlset>
"#;
const LIST: &str = "http://advanced.test/from-sitemap/txt.html\r\nhttp://advanced.test/\r\n";
const RSS: &str = r#"<?xml version="1.0"?>
<rss version="2.0"><channel><title>News</title><link>http://advanced.test/</link><description>News</description>
<item><title>One</title><link>http://advanced.test/from-sitemap/rss.html</link></item>
</channel></rss>
"#;
const ATOM: &str = r#"<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>urn:news</id><updated>2026-11-21T00:00:00Z</updated>
<entry><title>One</title><id>urn:one</id><updated>2026-11-21T00:00:00Z</updated>
<link rel="alternate" href="http://advanced.test/from-sitemap/atom.html"/></entry>
</feed>
"#;
const LEAVES: [&str; 6] = ["xml.html", "entity.html?a=1&b=2", "gz.html", "txt.html", "rss.html", "atom.html"];

pub(super) fn add(pages: Pages) -> Pages {
    let typed = |content_type: &'static str, body: &'static str| {
        Reply::new(200).header("Content-Type", content_type).body(body)
    };
    let more = Reply::new(200).header("Content-Type", "application/gzip").body(gzip(MORE.as_bytes()));
    let pages = pages
        .reply("/sitemap-index.xml", typed("application/xml", INDEX))
        .reply("/sitemap-pages.xml", typed("text/xml", PAGES))
        .reply("/sitemap-more.xml.gz", more)
        .reply("/sitemap-feed.rss", typed("application/rss+xml", RSS))
        .reply("/sitemap-feed.atom", typed("application/atom+xml", ATOM))
        .text("/sitemap-list.txt", LIST);
    LEAVES.iter().fold(pages, |pages, leaf| {
        let target = format!("/from-sitemap/{leaf}");
        let page = html::leaf(&target);
        pages.html(target, page)
    })
}
