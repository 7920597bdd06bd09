//! Sitemaps and feeds: the pages that they list, and what they say of changes.

use extract::{robots_tag, sitemap};
use model::{Announcer, Limit, Response, essence};
use weburl::CanonicalUrl;

use super::{Content, Finding};
use crate::Settings;
use crate::announced::announcement;
use crate::references::Resolver;

/// How feeds are declared.
const FEED_TYPES: [&str; 4] = ["application/rss+xml", "application/atom+xml", "application/xml", "text/xml"];

/// What a document that was fetched as a page says of others if it is a feed.
pub(super) fn look_into_feed(
    url: &CanonicalUrl,
    response: &Response,
    settings: &Settings,
    content: &mut Content,
) -> Option<Finding> {
    let declared = essence(response.headers.get("content-type").unwrap_or_default());
    if !FEED_TYPES.iter().any(|feed| declared.eq_ignore_ascii_case(feed)) {
        return None;
    }
    let mut read = Content::default();
    let (kind, finding) = read_list(url, response, settings, settings.limits.links_per_page_max, &mut read);
    let (sitemap::Kind::Rss | sitemap::Kind::Atom, Finding::Sitemap { pages, announced, .. }) = (kind, finding) else {
        return None;
    };
    content.limits = content.limits.union(read.limits);
    content.rejected += read.rejected;
    let header = robots_tag::x_robots_tag(response.headers.all("x-robots-tag"), &settings.product_token);
    let announced = announced.into_iter().filter(|said| said.by == Announcer::Feed).collect();
    Some(Finding::Feed { pages, nofollow: header.nofollow && !settings.ignore_nofollow, announced })
}

/// What a sitemap lists.
pub(super) fn look_into_sitemap(
    url: &CanonicalUrl,
    response: &Response,
    settings: &Settings,
    content: &mut Content,
) -> Finding {
    read_list(url, response, settings, settings.limits.sitemap_entries_max, content).1
}

fn read_list(
    url: &CanonicalUrl,
    response: &Response,
    settings: &Settings,
    entries_max: usize,
    content: &mut Content,
) -> (sitemap::Kind, Finding) {
    let limits = sitemap::Limits {
        entries_max,
        decoded_bytes_max: usize::try_from(settings.limits.sitemap_bytes_max).unwrap_or(usize::MAX),
        url_bytes_max: settings.canonical.url_bytes_max,
        ..sitemap::Limits::default()
    };
    let sitemap = sitemap::parse_at(&response.body, Some(&url.to_string()), &limits);
    let mut resolver = Resolver::new(url.clone(), "UTF-8", &settings.canonical, sitemap.entries.len());
    let (site, mut announced) = (url.key().site, Vec::new());
    for entry in &sitemap.entries {
        let page = resolver.place(&entry.loc).and_then(|place| resolver.urls.get(place));
        announced.extend(page.and_then(|page| announcement(site, sitemap.kind, entry, page)));
    }
    content.rejected = resolver.rejected;
    let cut = [
        (sitemap.truncated.entries, Limit::SitemapEntries),
        (sitemap.truncated.bytes, Limit::SitemapBytes),
        (sitemap.flaws.too_long > 0 || resolver.has_too_long, Limit::Href),
    ];
    content.limits = cut.into_iter().filter_map(|(is_cut, limit)| is_cut.then_some(limit)).collect();
    let (pages, sitemaps) = match sitemap.kind {
        sitemap::Kind::Index => (Vec::new(), resolver.urls),
        _ => (resolver.urls, Vec::new()),
    };
    (sitemap.kind, Finding::Sitemap { pages, sitemaps, announced })
}
