//! Replies that keep to HTTP, and whose content is the attack.

use std::fmt::Write as _;
use std::iter;
use std::sync::LazyLock;

use bytes::Bytes;

use super::bomb::Bomb;
use crate::Reply;

/// What the gzip bomb decodes to: a page with a link, then that much of nothing, so often.
const BOMB_BLOCK_BYTES: usize = 10_000_000;
const BOMB_BLOCKS: usize = 1_000;
const BOMB_START: &[u8] = b"<!doctype html><title>A bomb</title><a href=\"/inside-bomb\">inside</a>\n";
/// A piece of the endless body.
const PIECE_BYTES: usize = 16 * 1024;
const DEEP: usize = 1_000_000;
const MANY_LINKS: usize = 10_000;
const LONG_URL_BYTES: usize = 1 << 20;

static BOMB: LazyLock<Bomb> = LazyLock::new(|| Bomb::new(BOMB_START, &vec![b' '; BOMB_BLOCK_BYTES], BOMB_BLOCKS));

/// The reply at that path, if it is one of these.
pub(super) fn reply(path: &str) -> Option<Reply> {
    Some(match path {
        "/gzip-bomb" => Reply::html("").header("Content-Encoding", "gzip").stream(|| BOMB.pieces()),
        "/endless-body" => Reply::html("").stream(endless),
        "/deep" => Reply::html(format!("<!doctype html><title>Deep</title>{}", "<div>".repeat(DEEP))),
        "/many-links" => Reply::html(many_links()),
        "/long-url" => Reply::html(long_url()),
        "/invalid-utf8" => Reply::html(
            b"<!doctype html><title>\xff\xfe \xc3\x28 \xf0\x9f</title><a href=\"/after-invalid\xc0\xaf\">x</a>"
                .to_vec(),
        ),
        "/unknown-charset" => Reply::new(200)
            .header("Content-Type", "text/html; charset=klingon")
            .body("<!doctype html><title>Qapla'</title><a href=\"/after-unknown\">x</a>"),
        "/bad-gzip" => Reply::html("this is no gzip").header("Content-Encoding", "gzip"),
        "/short-gzip" => {
            let start = BOMB.pieces().next().unwrap_or_default();
            Reply::html(start).header("Content-Encoding", "gzip")
        }
        "/unknown-coding" => Reply::html("uggc").header("Content-Encoding", "rot13"),
        "/loop/a" => Reply::redirect(302, "/loop/b"),
        "/loop/b" => Reply::redirect(302, "/loop/a"),
        _ => return hop(path).or_else(|| leaf(path)),
    })
}

/// The endless chain of redirects.
fn hop(path: &str) -> Option<Reply> {
    let hop: u64 = path.strip_prefix("/r/")?.parse().ok()?;
    Some(Reply::redirect(302, format!("/r/{}", hop.checked_add(1)?)))
}

/// What the hostile pages link to.
fn leaf(path: &str) -> Option<Reply> {
    let known = path.starts_with("/many/") || path.starts_with("/after-") || path == "/inside-bomb";
    known.then(|| Reply::html(format!("<!doctype html><title>A leaf</title><p>{path}")))
}

fn endless() -> impl Iterator<Item = Bytes> {
    let piece = Bytes::from(b"<p>on and on\n".repeat(PIECE_BYTES / 13));
    iter::once(Bytes::from_static(b"<!doctype html><title>Endless</title>")).chain(iter::repeat(piece))
}

fn many_links() -> String {
    let mut html = String::from("<!doctype html><title>Many links</title>\n");
    for link in 0..MANY_LINKS {
        // Writing to a string cannot fail.
        let _ = writeln!(html, "<a href=\"/many/{link}\">{link}</a>");
    }
    html
}

fn long_url() -> String {
    let long = "x".repeat(LONG_URL_BYTES);
    format!(
        "<!doctype html><title>A long link</title><a href=\"/{long}\">long</a> <a href=\"/after-long-url\">short</a>"
    )
}
