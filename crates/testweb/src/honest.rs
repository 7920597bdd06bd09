//! A site whose URLs look like those of traps, and whose pages all have something to say: a crawler must find them all.

use crate::{Reply, Request};

/// The host of the site.
pub const HOST: &str = "honest.test";

/// A part of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its first page.
    pub entry: &'static str,
    /// The beginning of its pages' URLs.
    pub prefix: &'static str,
    /// How many pages it has.
    pub pages: usize,
    /// What its URLs look like.
    pub note: &'static str,
}

/// All of them.
pub const SECTIONS: &[Section] = &[
    section(
        "/cms?view=list&id=0&start=0",
        "/cms?",
        ARTICLES + ARTICLES / A_LIST,
        "articles by three parameters, as a shop's facets",
    ),
    section(
        "/shop?view=list&category=0&start=0",
        "/shop?",
        GOODS + GOODS / A_LIST,
        "goods that differ in number and price alone, by three parameters",
    ),
    section("/news/", "/news/", 1 + DAYS, "a newspaper with a page for each day, as a calendar"),
    section("/documents/", "/documents/", 1 + DOCUMENTS, "documents by ids that look like those of sessions"),
    section("/comic/0", "/comic/", COMICS, "images one after the other without any text, as an endless chain"),
];

const ARTICLES: usize = 1_500;
/// Goods of the shop.
const GOODS: usize = 2_000;
/// Articles or goods in a list.
const A_LIST: usize = 50;
/// Days of the newspaper: five years of twelve months with 28 days.
const DAYS: usize = 5 * 12 * 28;
const DOCUMENTS: usize = 120;
const COMICS: usize = 6_000;

/// Words of a text, as many as a short article has.
const TEXT_WORDS: u64 = 60;
const WORDS: [&str; 16] = [
    "acorn", "basil", "clover", "daisy", "elder", "fennel", "garlic", "hazel", "iris", "juniper", "kale", "lotus",
    "mint", "nettle", "olive", "poppy",
];
/// What all pages have in common.
const FRAME: &str =
    "<nav>Home News Articles Documents Comics About us Contact Imprint Privacy Search the whole site</nav>";

const fn section(entry: &'static str, prefix: &'static str, pages: usize, note: &'static str) -> Section {
    Section { entry, prefix, pages, note }
}

/// The site.
#[must_use]
pub fn site() -> impl crate::Site {
    crate::from_fn(reply)
}

fn reply(request: &Request) -> Reply {
    let path = request.path();
    let page = match path {
        "/" => Some(list(SECTIONS.iter().map(|section| section.entry.replace('&', "&amp;")))),
        "/robots.txt" => return Reply::text("User-agent: *\nDisallow:\n"),
        "/cms" => cms(request),
        "/shop" => shop(request),
        "/news/" => Some(list((0..DAYS).step_by(28).map(day_of))),
        "/documents/" => Some(list((0..DOCUMENTS).map(|n| format!("/documents/show?key={:016x}", mixed(n as u64))))),
        "/documents/show" => Some(text(&request.target, &[])),
        _ if path.starts_with("/news/") => news(path),
        _ => path.strip_prefix("/comic/").and_then(|n| comic(n.parse().ok()?)),
    };
    match page {
        Some(page) => Reply::html(page),
        None => Reply::error(404, &request.target),
    }
}

/// Lists of articles, each with the next, and the articles.
fn cms(request: &Request) -> Option<String> {
    let (view, start) = (request.parameter("view")?, request.parameter("start")?.parse::<usize>().ok()?);
    if view == "article" {
        return Some(text(&request.target, &[]));
    }
    let link = |view: &str, id: usize, start: usize| format!("/cms?view={view}&amp;id={id}&amp;start={start}");
    let next = (start + A_LIST < ARTICLES).then(|| link("list", 0, start + A_LIST));
    Some(list((start..start + A_LIST).map(|id| link("article", id, 0)).chain(next)))
}

/// Lists of goods, each with the next, and the goods.
fn shop(request: &Request) -> Option<String> {
    let number = |name| request.parameter(name)?.parse::<usize>().ok();
    if let Some(id) = number("id") {
        return Some(format!("<!doctype html><title>Shop</title>{FRAME}<p>Number {id}<p>Price {}.90\n", id * 7 % 500));
    }
    let start = number("start")?;
    let goods = (start..start + A_LIST).map(|id| format!("/shop?view=goods&amp;category={}&amp;id={id}", id % 7));
    let next = start + A_LIST;
    Some(list(goods.chain((next < GOODS).then(|| format!("/shop?view=list&amp;category=0&amp;start={next}")))))
}

/// The page of a day, with the day after.
fn news(path: &str) -> Option<String> {
    let day = (0..DAYS).find(|day| day_of(*day) == path)?;
    let next = (day + 1 < DAYS).then(|| day_of(day + 1));
    Some(text(path, next.as_slice()))
}

fn day_of(day: usize) -> String {
    format!("/news/{}/{:02}/{:02}/", 2015 + day / 336, day / 28 % 12 + 1, day % 28 + 1)
}

fn comic(n: usize) -> Option<String> {
    let link = |to: usize| format!("<a href=/comic/{to}><img src=/arrow.png></a>");
    let next = if n + 1 < COMICS { link(n + 1) } else { String::new() };
    (n < COMICS).then(|| {
        format!("<!doctype html><title>Comic</title><img src=/strips/{n}.png>{}{next}\n", link(n.saturating_sub(1)))
    })
}

fn list(links: impl Iterator<Item = String>) -> String {
    let items: String = links.map(|link| format!("<li><a href=\"{link}\">{link}</a>\n")).collect();
    format!("<!doctype html><title>Honest</title>{FRAME}<ul>\n{items}</ul>\n")
}

/// A page with a text of its own, which follows from its URL.
fn text(target: &str, links: &[String]) -> String {
    let own = target.bytes().fold(0, |hash: u64, byte| mixed(hash ^ u64::from(byte)));
    let words: String = (0..TEXT_WORDS).map(|n| mixed(own ^ n)).map(word).collect();
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">Next</a>\n")).collect();
    format!("<!doctype html><title>Honest</title>{FRAME}<p>{words}\n{links}")
}

fn word(number: u64) -> String {
    format!("{}{} ", WORDS[number as usize % WORDS.len()], number >> 32 & 0xff)
}

/// Spreads every bit over all (SplitMix64).
fn mixed(hash: u64) -> u64 {
    let hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
