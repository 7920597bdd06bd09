//! Replies that break HTTP/1.1 (RFC 9112), or keep to it with bad intent.

use std::iter;
use std::time::Duration;

use bytes::Bytes;

use crate::{Reply, Step};

const DRIP: Duration = Duration::from_secs(1);
const COOKIE_BYTES: usize = 1 << 20;
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
const PAGE: &str = "<!doctype html><title>Broken</title><a href=\"/after-broken\">x</a>\n";

/// The reply at that path, if it is one of these.
pub(super) fn reply(path: &str) -> Option<Reply> {
    Some(match path {
        "/endless-headers" => Reply::raw(|| {
            iter::once(Step::send(HEAD))
                .chain((0_u64..).map(|line| Step::send(format!("X-Line-{line}: and one more\r\n"))))
        }),
        "/slow-headers" => {
            Reply::raw(|| iter::once(Step::send(format!("{HEAD}X-Slow: "))).chain(drip(iter::repeat(b'x'))))
        }
        "/drip" => Reply::raw(|| {
            let page = PAGE.bytes().chain(iter::repeat(b' '));
            iter::once(Step::send(format!("{HEAD}Content-Length: 1000000\r\n\r\n"))).chain(drip(page))
        }),
        "/reset" => raw([Step::send(format!("{HEAD}Content-Length: 1000\r\n\r\n{PAGE}")), pause(), Step::Reset]),
        "/reset-at-once" => raw([Step::Reset]),
        "/close" => raw([]),
        "/silent" => raw([Step::Hang]),
        "/informational" => Reply::raw(|| {
            let early = Bytes::from_static(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
            iter::repeat(Step::Send(early))
        }),
        _ => return malformed(path).map(|message| raw([Step::Send(message.into())])),
    })
}

/// A whole message that is sent at once, after which the connection is closed.
fn malformed(path: &str) -> Option<String> {
    let bytes = PAGE.len();
    Some(match path {
        "/huge-cookie" => {
            let cookie = "x".repeat(COOKIE_BYTES);
            format!("{HEAD}Set-Cookie: id={cookie}\r\nContent-Length: {bytes}\r\n\r\n{PAGE}")
        }
        "/length-too-long" => format!("{HEAD}Content-Length: {}\r\n\r\n{PAGE}", bytes * 2),
        "/length-too-short" => format!("{HEAD}Content-Length: {}\r\n\r\n{PAGE}", bytes - 1),
        "/two-lengths" => format!("{HEAD}Content-Length: {bytes}\r\nContent-Length: 7\r\n\r\n{PAGE}"),
        "/chunked-garbage" => {
            format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\nspider\r\n{PAGE}")
        }
        "/chunk-too-large" => format!("{HEAD}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{PAGE}"),
        "/chunked-cut" => format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{bytes:x}\r\n{PAGE}\r\n"),
        "/bad-status-line" => format!("SPIDER/8 OK two hundred\r\n\r\n{PAGE}"),
        "/bad-header" => format!("{HEAD}this line has no colon\r\nContent-Length: {bytes}\r\n\r\n{PAGE}"),
        "/no-head" => PAGE.to_owned(),
        _ => return None,
    })
}

fn raw<const N: usize>(steps: [Step; N]) -> Reply {
    Reply::raw(move || steps.clone().into_iter())
}

/// Time for the client to read what was sent, before a reset may destroy it.
fn pause() -> Step {
    Step::Wait(Duration::from_millis(100))
}

/// One byte at a time, with a wait before each.
fn drip(bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = Step> {
    bytes.flat_map(|byte| [Step::Wait(DRIP), Step::send(vec![byte])])
}
