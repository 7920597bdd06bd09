//! robots.txt, and pages that it allows and forbids.

use super::html;
use crate::Pages;

/// The rules. By RFC 9309 the longest match decides; where the first match decides, `/private/open/` is forbidden
/// and `/docs/drafts/` allowed.
const RULES: &str = "\
# The advanced sandbox
User-agent: some-other-bot
Disallow: /

User-agent: *
Disallow: /private/
Allow: /private/open/
Allow: /docs/
Disallow: /docs/drafts/
Disallow: /cgi-bin/*
Disallow: /*.bak$
";
const SITEMAPS: &str = "
Sitemap: http://advanced.test/sitemap-index.xml
Sitemap: http://advanced.test/sitemap-list.txt
";

pub(super) fn add(pages: Pages, crawl_delay_s: f32) -> Pages {
    let delay = if crawl_delay_s > 0.0 { format!("Crawl-delay: {crawl_delay_s}\n") } else { String::new() };
    let leaves = [
        "/private/secret.html",
        "/private/open/page.html",
        "/docs/guide.html",
        "/docs/drafts/new.html",
        "/cgi-bin/run",
        "/reports/old.bak",
        "/reports/old.bak.html",
    ];
    let pages = pages
        .text("/robots.txt", format!("{RULES}{delay}{SITEMAPS}"))
        .html("/robots/", html::list("What robots.txt allows", &leaves))
        .html("/private/by-redirect.html", html::leaf("/private/by-redirect.html"))
        .html("/private/from-sitemap.html", html::leaf("/private/from-sitemap.html"));
    leaves.iter().fold(pages, |pages, leaf| pages.html(*leaf, html::leaf(leaf)))
}
