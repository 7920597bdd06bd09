//! robots.txt files with as many rules as are read, and a site without any to compare with.

use std::fmt::Write as _;

use crate::{Reply, Request};

/// The host whose rules begin with a wildcard.
pub(super) const WILDCARDS: &str = "wildcards";
/// The same pages without rules.
pub(super) const NONE: &str = "none";

/// Rules with a wildcard, of 14 bytes each: as many as fit into what is read.
const RULES: usize = 35_641;
/// The letters of those rules.
const LETTERS: [u8; 33] = *b"abcdefghijklmnopqrstuvwxyz0123456";
/// What URLs here are made of, so that none of the rules matches.
const DIGITS: [u8; 3] = *b"789";
/// The length of a large file of rules without wildcards.
const LARGE_BYTES: usize = 525_000;
/// Bytes of a path, so that a URL is about as long as is crawled.
const PATH_BYTES: usize = 2_000;
/// Links of a page.
const LINKS: u64 = 5;

/// The reply of a site.
pub(super) fn reply(request: &Request) -> Reply {
    let name = request.host.split('.').next().unwrap_or_default();
    match (request.path(), name) {
        ("/robots.txt", WILDCARDS) => Reply::text(wildcards()),
        ("/robots.txt", NONE) => Reply::text("User-agent: *\nDisallow:\n"),
        ("/robots.txt", _) => Reply::text(large(name)),
        (path, WILDCARDS | NONE) => Reply::html(page(path)),
        ("/", _) => Reply::html("<!doctype html><title>Many rules</title><a href=/open>open</a>"),
        (_, _) => Reply::html("<!doctype html><title>Open</title>"),
    }
}

/// Different rules of three letters behind a wildcard.
fn wildcards() -> String {
    let letter = |n: usize| char::from(LETTERS[n % LETTERS.len()]);
    let rule = |n: usize| {
        format!("Disallow:*{}{}{}\n", letter(n / LETTERS.len() / LETTERS.len()), letter(n / LETTERS.len()), letter(n))
    };
    "User-agent:*\n".chars().chain((0..RULES).flat_map(|n| rule(n).into_bytes()).map(char::from)).collect()
}

/// Rules that no other host has.
fn large(name: &str) -> String {
    let mut text = String::from("User-agent: *\n");
    let mut n = name.bytes().fold(1, |hash: u64, byte| hash.wrapping_mul(131).wrapping_add(byte.into()));
    while text.len() < LARGE_BYTES {
        n = mixed(n);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Disallow: /private/{n:x}/");
    }
    text
}

/// A page with links to ever new ones.
fn page(path: &str) -> String {
    let own = path.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(131).wrapping_add(byte.into()));
    let links = (0..LINKS).map(|n| {
        let mut number = mixed(own ^ n);
        let digits = (0..PATH_BYTES).map(|_| {
            number = mixed(number);
            char::from(DIGITS[number as usize % DIGITS.len()])
        });
        format!("<a href=/{}>{n}</a>\n", digits.collect::<String>())
    });
    format!("<!doctype html><title>Rules</title>\n{}", links.collect::<String>())
}

/// Spreads every bit over all (SplitMix64).
fn mixed(hash: u64) -> u64 {
    let hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
