//! Sitemaps far past the 50,000 entries and 50 MB that sitemaps.org allows.

use std::fmt::Write as _;
use std::iter;
use std::sync::LazyLock;

use bytes::Bytes;

use super::bomb::Bomb;
use super::{SITEMAP_BOMB_HOST, SITEMAPS};
use crate::{Reply, Request};

const INDEX_SITEMAPS: usize = 100_000;
const ENTRIES: usize = 1_000_000;
/// Entries written into one piece.
const PIECE_ENTRIES: usize = 1_000;
/// The bomb: about 10 MB a block, a thousand blocks.
const BOMB_BLOCK_ENTRIES: usize = 170_000;
const BOMB_BLOCKS: usize = 1_000;
const URLSET: &str = "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
const INDEX: &str = "<?xml version=\"1.0\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

static BOMB: LazyLock<Bomb> = LazyLock::new(|| {
    let entry = format!("<url><loc>http://{SITEMAP_BOMB_HOST}/again.html</loc></url>\n");
    Bomb::new(URLSET.as_bytes(), entry.repeat(BOMB_BLOCK_ENTRIES).as_bytes(), BOMB_BLOCKS)
});

/// The reply of the site.
pub(super) fn reply(request: &Request) -> Reply {
    let path = request.path();
    match path {
        "/" => Reply::html("<!doctype html><title>A site with too many sitemaps</title>"),
        "/robots.txt" => Reply::text(robots()),
        "/index.xml" => xml().stream(|| list(INDEX, INDEX_SITEMAPS, sitemap, "</sitemapindex>\n")),
        "/entries.xml" => xml().stream(|| list(URLSET, ENTRIES, entry, "</urlset>\n")),
        "/bomb.xml.gz" => Reply::new(200).header("Content-Type", "application/gzip").stream(|| BOMB.pieces()),
        _ if path.ends_with(".html") => Reply::html(format!("<!doctype html><title>{path}</title>")),
        _ => nested(path).or_else(|| child(path)).unwrap_or_else(|| Reply::error(404, &request.target)),
    }
}

fn xml() -> Reply {
    Reply::new(200).header("Content-Type", "application/xml")
}

fn robots() -> String {
    let sitemaps: String =
        SITEMAPS.iter().map(|(path, _)| format!("Sitemap: http://{SITEMAP_BOMB_HOST}{path}\n")).collect();
    format!("User-agent: *\nDisallow:\n{sitemaps}")
}

/// An index that holds the next one.
fn nested(path: &str) -> Option<Reply> {
    let level: u64 = path.strip_prefix("/nested/")?.strip_suffix(".xml")?.parse().ok()?;
    let next = format!("http://{SITEMAP_BOMB_HOST}/nested/{}.xml", level.checked_add(1)?);
    Some(xml().body(format!("{INDEX}<sitemap><loc>{next}</loc></sitemap>\n</sitemapindex>\n")))
}

/// A sitemap of the large index, with one page.
fn child(path: &str) -> Option<Reply> {
    let number: usize = path.strip_prefix("/child/")?.strip_suffix(".xml")?.parse().ok()?;
    Some(xml().body(format!("{URLSET}{}</urlset>\n", entry(number))))
}

fn sitemap(number: usize) -> String {
    format!("<sitemap><loc>http://{SITEMAP_BOMB_HOST}/child/{number}.xml</loc></sitemap>\n")
}

fn entry(number: usize) -> String {
    format!("<url><loc>http://{SITEMAP_BOMB_HOST}/page/{number}.html</loc></url>\n")
}

/// A list of so many items between its start and end, in pieces.
fn list(
    start: &'static str,
    items: usize,
    item: fn(usize) -> String,
    end: &'static str,
) -> impl Iterator<Item = Bytes> {
    let piece = move |first: usize| {
        let mut piece = String::new();
        for number in first..items.min(first + PIECE_ENTRIES) {
            // Writing to a string cannot fail.
            let _ = piece.write_str(&item(number));
        }
        Bytes::from(piece)
    };
    iter::once(Bytes::from_static(start.as_bytes()))
        .chain((0..items).step_by(PIECE_ENTRIES).map(piece))
        .chain(iter::once(Bytes::from_static(end.as_bytes())))
}
