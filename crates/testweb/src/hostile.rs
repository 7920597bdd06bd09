//! A site that does its worst: one path for each way of hurting a crawler. Every stream ends when the client goes
//! away or the server is stopped.

mod bodies;
mod bomb;
mod large;
mod protocol;
mod robots;
mod rules;
mod sitemaps;

pub use crate::authority::{BROKEN_HOST, EXPIRED_HOST, UNTRUSTED_HOST, WRONG_NAME_HOST};

use std::fmt::Write as _;

use crate::{Reply, Request, Web, from_fn};

/// The host of the site.
pub const HOST: &str = "hostile.test";
/// A host whose robots.txt has no end. It begins by forbidding `/private/`.
pub const ENDLESS_ROBOTS_HOST: &str = "endless-robots.test";
/// Hosts with as many rules as are read: `wildcards` with 35,641 that begin with one, `none` without any, all others with 525 kB of
/// their own.
pub const RULES_HOSTS: &str = "*.rules.test";
/// Hosts with one document each, of 10 MB; at `/chunked` of unknown length.
pub const LARGE_HOSTS: &str = "*.large.test";
/// A host whose robots.txt names [`SITEMAPS`].
pub const SITEMAP_BOMB_HOST: &str = "sitemap-bomb.test";

/// What waits at each path of [`HOST`]; `/` links to all.
pub const PATHS: &[(&str, &str)] = &[
    ("/gzip-bomb", "10 MB of gzip that decode to 10 GB of HTML"),
    ("/endless-body", "HTML without end"),
    ("/deep", "a million open elements inside each other"),
    ("/many-links", "a page with 10,000 links"),
    ("/long-url", "a link with a URL of 1 MB, before an ordinary one"),
    ("/invalid-utf8", "bytes that are not UTF-8 in a page that says it is"),
    ("/unknown-charset", "a charset that nobody knows"),
    ("/bad-gzip", "Content-Encoding: gzip, and no gzip"),
    ("/short-gzip", "gzip that breaks off in the middle"),
    ("/unknown-coding", "a Content-Encoding that nobody knows"),
    ("/loop/a", "a redirect to /loop/b, which redirects back"),
    ("/r/1", "a redirect to /r/2, and so on without end"),
    ("/endless-headers", "header lines without end"),
    ("/slow-headers", "a header byte each second, without end"),
    ("/huge-cookie", "a Set-Cookie of 1 MB"),
    ("/drip", "a body of which a byte comes each second"),
    ("/length-too-long", "a Content-Length of more bytes than come before the connection is closed"),
    ("/length-too-short", "a Content-Length of fewer bytes than come"),
    ("/two-lengths", "two Content-Length headers that differ"),
    ("/reset", "a connection reset in the middle of the body"),
    ("/reset-at-once", "a connection reset before the reply"),
    ("/chunked-garbage", "chunks whose sizes are no numbers"),
    ("/chunk-too-large", "a chunk size of 2^64 - 1"),
    ("/chunked-cut", "a chunked body closed before its last chunk"),
    ("/bad-status-line", "a status line that is none"),
    ("/bad-header", "a header line without a colon"),
    ("/no-head", "HTML without any head, as in HTTP/0.9"),
    ("/close", "the connection closed without a reply"),
    ("/silent", "no reply, and the connection stays open"),
    ("/informational", "103 replies without end"),
];

/// The sitemaps of [`SITEMAP_BOMB_HOST`].
pub const SITEMAPS: &[(&str, &str)] = &[
    ("/index.xml", "an index of 100,000 sitemaps with one page each"),
    ("/entries.xml", "a sitemap with 1,000,000 pages"),
    ("/bomb.xml.gz", "a compressed sitemap of 10 GB that lists one page again and again"),
    ("/nested/1.xml", "an index of an index of an index, without end"),
];

/// The web with all hostile sites added.
pub fn sites(web: Web) -> Web {
    web.site(HOST, from_fn(reply))
        .site(ENDLESS_ROBOTS_HOST, from_fn(robots::reply))
        .site(RULES_HOSTS, from_fn(rules::reply))
        .site(LARGE_HOSTS, from_fn(large::reply))
        .site(SITEMAP_BOMB_HOST, from_fn(sitemaps::reply))
        .site("*.tls.test", from_fn(|_| Reply::html("<!doctype html><title>Behind a bad certificate</title>")))
}

fn reply(request: &Request) -> Reply {
    let path = request.path();
    match path {
        "/" => Reply::html(index()),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow:\n"),
        _ => {
            bodies::reply(path).or_else(|| protocol::reply(path)).unwrap_or_else(|| Reply::error(404, &request.target))
        }
    }
}

fn index() -> String {
    let mut html = String::from("<!doctype html>\n<title>The hostile sandbox</title>\n<ul>\n");
    for (path, note) in PATHS {
        // Writing to a string cannot fail.
        let _ = writeln!(html, "<li><a href=\"{path}\">{note}</a>");
    }
    html + "</ul>\n"
}
