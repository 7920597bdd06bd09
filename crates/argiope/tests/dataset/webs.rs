//! Webs that have something of everything.

use std::iter::once;
use std::time::Duration;

use testweb::{Faults, Pages, Reply, Step, Web};

use testkit::crawled::Crawled;

/// A page that two URLs share.
const TWICE: &str = "<html lang=sl><title>Twice</title><a href=/copy>to the copy</a><p>the same words on both";

/// A PNG of one pixel, as a data: URI.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// One site from which every outcome follows, but for those that need a browser.
pub fn every_outcome() -> Web {
    let links = [
        "/a",
        "/b",
        "/gone",
        "/private/x",
        "/file.bin",
        "/cut",
        "/silent",
        "/reset",
        "/huge-head",
        "/x/x/x/x/x",
        "http://other.test/",
        "https://small.test/",
        "http://nobody.invalid/",
        "http://dead.test/",
        "http://dead.test/1",
        "http://dead.test/2",
        "http://dead.test/3",
        "mailto:somebody@small.test",
    ];
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">link to {link}</a>\n")).collect();
    let images = format!(
        "<img src=/one.png alt='First image' width=10 height=20><img src='data:image/png;base64,{PIXEL}' alt=dot>\
         <img srcset='/two.png 1x, http://cdn.test/three.png 2x'>"
    );
    let root = format!(
        "<html lang=en><head><title>Root</title><link rel=canonical href=/><meta name=robots content=noarchive></head>\
         <body><p>Words of the root.</p><a href=/a rel='nofollow sponsored'>first again</a>{links}{images}"
    );
    let site = Pages::new()
        .text("/robots.txt", "User-agent: *\nDisallow: /private/\n")
        .reply(
            "/",
            Reply::html(root).header("Server", "test").header("ETag", "\"1\"").header("X-Robots-Tag", "noindex"),
        )
        .html("/a", TWICE)
        .html("/copy", TWICE)
        .reply("/b", Reply::redirect(302, "/target"))
        .html("/target", "<title>Target</title><a href=/a>to a</a><a href=/a>to a</a>")
        .reply("/file.bin", Reply::new(200).header("Content-Type", "application/octet-stream").body(&b"\0\x01\x02"[..]))
        .reply("/silent", Reply::html("never in time").delay(Duration::from_secs(60)))
        .reply("/reset", Reply::raw(|| once(Step::send("HTTP/1.1 200"))))
        .reply("/huge-head", Reply::html("x").header("X-Long", "y".repeat(20_000)))
        .html("/one.png", "not even an image")
        .reply(
            "/cut",
            Reply::raw(|| {
                once(Step::send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<a href=/a>cut",
                ))
            }),
        );
    let dead = Faults::new(Pages::new().html("/", "never seen")).stall("/").stall("/1").stall("/2").stall("/3");
    Web::new().site("small.test", site).site("dead.test", dead)
}

/// A crawl of [`every_outcome`], with the sites that do not exist led nowhere.
pub fn crawl_every_outcome(arguments: &[&str]) -> Crawled {
    let impatient = [
        "--scope",
        "any",
        "--first-byte-timeout",
        "500ms",
        "--total-timeout",
        "1s",
        "--dns-timeout",
        "2s",
        "--max-attempts",
        "2",
        "--max-backoff",
        "5ms",
        "--max-header-bytes",
        "10KB",
        "--exclude",
        "http://other.test/*",
        "--max-failures-in-a-row",
        "3",
        "--give-up-after",
        "0",
        "--sitemaps=false",
    ];
    Crawled::of_hosts(
        every_outcome(),
        "http://small.test/",
        &["small.test", "dead.test"],
        &[&impatient[..], arguments].concat(),
    )
}

/// Sites on which the long way to a page is found before the short one: the page on the short way comes late.
pub fn two_ways() -> Web {
    let html = |body: &str| Pages::new().html("/", body.to_owned());
    let slow =
        Pages::new().reply("/", Reply::html("<a href=http://goal.test/>goal</a>").delay(Duration::from_millis(700)));
    Web::new()
        .site("far.test", html("<a href=http://one.test/>one</a><a href=http://slow.test/>slow</a>"))
        .site("one.test", html("<a href=http://two.test/>two</a>"))
        .site("two.test", html("<a href=http://goal.test/>goal</a>"))
        .site("slow.test", slow)
        .site("goal.test", html("<a href=/next>next</a>").html("/next", "the end"))
}
