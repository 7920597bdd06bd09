//! A robots.txt without end: RFC 9309 section 2.5 lets a crawler stop after 500 KiB, and what came before holds.

use std::iter;

use bytes::Bytes;

use crate::{Reply, Request};

const PIECE_BYTES: usize = 16 * 1024;

/// The reply of the site.
pub(super) fn reply(request: &Request) -> Reply {
    let page = |links: &str| Reply::html(format!("<!doctype html><title>{}</title>{links}", request.path()));
    match request.path() {
        "/robots.txt" => Reply::text("").stream(endless),
        "/" => page("<a href=\"/private/page.html\">forbidden</a> <a href=\"/open.html\">allowed</a>"),
        "/private/page.html" | "/open.html" => page(""),
        _ => Reply::error(404, &request.target),
    }
}

fn endless() -> impl Iterator<Item = Bytes> {
    let piece = Bytes::from(b"# and so on\n".repeat(PIECE_BYTES / 12));
    iter::once(Bytes::from_static(b"User-agent: *\nDisallow: /private/\n")).chain(iter::repeat(piece))
}
