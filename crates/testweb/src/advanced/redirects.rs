//! Redirects (RFC 9110 section 15.4): every status, every form of Location, chains, loops and dead ends.

use super::html;
use crate::{Pages, Reply};

/// Path below `/redirects/`, status, Location.
const REDIRECTS: [(&str, u16, &str); 21] = [
    ("301", 301, "/redirects/target-301.html"),
    ("302", 302, "/redirects/target-302.html"),
    ("303", 303, "/redirects/target-303.html"),
    ("307", 307, "/redirects/target-307.html"),
    ("308", 308, "/redirects/target-308.html"),
    ("relative", 302, "target-relative.html"),
    ("dots", 301, ".././redirects/target-dots.html"),
    ("absolute", 301, "http://advanced.test/redirects/target-absolute.html"),
    ("no-scheme", 302, "//advanced.test/redirects/target-no-scheme.html"),
    ("fragment", 302, "/redirects/target-fragment.html#below"),
    ("query", 302, "?where=query"),
    ("other-host", 302, "http://other.test/landing.html"),
    ("loop-a", 302, "/redirects/loop-b"),
    ("loop-b", 302, "/redirects/loop-a"),
    ("self", 301, "/redirects/self"),
    ("chain-1", 301, "/redirects/chain-2"),
    ("chain-2", 302, "/redirects/chain-3"),
    ("chain-3", 307, "/redirects/target-chain.html"),
    ("to-disallowed", 302, "/private/by-redirect.html"),
    ("to-mailto", 302, "mailto:spider@advanced.test"),
    ("to-missing", 302, "/redirects/missing.html"),
];
/// What is redirected to and is there.
const TARGETS: [&str; 11] =
    ["301", "302", "303", "307", "308", "relative", "dots", "absolute", "no-scheme", "fragment", "chain"];
/// Redirects in a row below `/redirects/long/`, from 1 on: more than a crawler should follow.
const LONG_CHAIN: u32 = 15;

pub(super) fn add(pages: Pages) -> Pages {
    let mut links: Vec<String> = REDIRECTS.iter().map(|(path, ..)| format!("/redirects/{path}")).collect();
    // These are found only by following.
    links.retain(|link| !["/redirects/loop-b", "/redirects/chain-2", "/redirects/chain-3"].contains(&link.as_str()));
    links.extend(["/redirects/no-location", "/redirects/long/1"].map(str::to_owned));

    let pages = pages
        .html("/redirects/", html::list("Redirects", &links))
        .reply("/redirects/no-location", Reply::new(302))
        .html("/redirects/query?where=query", html::leaf("/redirects/query?where=query"));
    let pages = REDIRECTS.iter().fold(pages, |pages, (path, status, location)| {
        pages.reply(format!("/redirects/{path}"), Reply::redirect(*status, *location))
    });
    let pages = TARGETS.iter().fold(pages, |pages, target| {
        let path = format!("/redirects/target-{target}.html");
        let leaf = html::leaf(&path);
        pages.html(path, leaf)
    });
    (1..=LONG_CHAIN)
        .fold(pages, |pages, hop| {
            let next = format!("/redirects/long/{}", hop + 1);
            pages.reply(format!("/redirects/long/{hop}"), Reply::redirect(302, next))
        })
        .html(format!("/redirects/long/{}", LONG_CHAIN + 1), html::leaf("the end of the long chain"))
}
