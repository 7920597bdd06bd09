//! Traps: pages without end, computed from their URLs.

use super::html;
use crate::{Pages, Reply, Request};

/// A part of the site that has no end, or more than a crawler should take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The beginning of its targets. They are not in [`super::EXPECTED`].
    pub prefix: &'static str,
    /// How many of its URLs a crawler with default settings may fetch at most; at least one it must.
    pub fetched_max: usize,
    /// What makes it a trap.
    pub note: &'static str,
}

/// All of them.
pub const TRAPS: &[Trap] = &[
    trap("/redirects/long/", 16, "fifteen redirects in a row, then a page: past the limit of redirects"),
    trap("/traps/calendar", 1_001, "a page for each month, back and forth without end"),
    trap("/traps/maze/", 25, "directories a and b that contain each other"),
    trap("/traps/session", 51, "the same page, whose link has another session id each time"),
    trap("/traps/facets", 1_080, "filters of a shop, and pages of results without end"),
    trap("/traps/append/", 25, "a relative link that makes the path longer each time"),
    trap("/traps/random/", 8_000, "links to ever new pages, each with its own text: nothing in their URLs tells"),
    trap("/traps/nest/", 10_000, "directories in directories without end, each with its own text"),
    trap(
        "/traps/diary/",
        8_000,
        "a page for each day, back and forth without end, of which no URL tells that it is one",
    ),
];
/// The first page of each.
const ENTRIES: [&str; 8] = [
    "/traps/calendar?month=2026-11",
    "/traps/maze/",
    "/traps/session?sid=8f14e45fceea167a",
    "/traps/facets?color=black&amp;size=1&amp;page=1",
    "/traps/append/",
    "/traps/random/",
    "/traps/nest/",
    "/traps/diary/",
];
const COLORS: [&str; 4] = ["black", "yellow", "silver", "white"];
const SIZES: u32 = 4;
/// Pages that each page of endless random links leads to.
const RANDOM_LINKS: u64 = 5;
/// Directories in each directory.
const NESTED_LINKS: usize = 3;
/// Days from which the diary goes back and forth.
const DIARIES: u32 = 16;
const DIARY_DAY: u32 = 500_000;
const DAYS_BETWEEN: u32 = 20_000;
/// Hours of a day in it.
const HOURS: usize = 12;
const WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty", "knoll", "lagoon",
    "marsh", "notch", "oasis", "prairie",
];
/// Words of a text that is made up.
const TEXT_WORDS: u64 = 60;

pub(super) fn add(pages: Pages) -> Pages {
    pages.html("/traps/", html::list("Traps", &ENTRIES))
}

/// The page of a trap, if it is one.
pub(super) fn reply(request: &Request) -> Option<Reply> {
    let path = request.path().strip_prefix("/traps/")?;
    let links = match path {
        "calendar" => calendar(request.parameter("month")?)?,
        "session" => vec![format!("session?sid={}", next_session(request.parameter("sid")?))],
        "facets" => facets(request)?,
        _ if path.starts_with("random/") => return Some(random(&request.target)),
        _ if path.starts_with("nest/") && path.ends_with('/') => return Some(nest(&request.target)),
        "diary/" => (0..DIARIES).map(|n| format!("day-{}", DIARY_DAY + n * DAYS_BETWEEN)).collect(),
        _ if path.starts_with("diary/day-") => return diary(path.strip_prefix("diary/day-")?.parse().ok()?),
        _ if path.starts_with("append/") => vec!["more/".to_owned()],
        _ if path.starts_with("maze/") => vec![if path.ends_with("a/") { "b/" } else { "a/" }.to_owned()],
        _ => return None,
    };
    Some(Reply::html(html::list(&request.target.replace('&', "&amp;"), &links)))
}

const fn trap(prefix: &'static str, fetched_max: usize, note: &'static str) -> Trap {
    Trap { prefix, fetched_max, note }
}

/// The months before and after `YYYY-MM`.
fn calendar(month: &str) -> Option<Vec<String>> {
    let (year, month) = month.split_once('-')?;
    let months = year.parse::<u32>().ok()?.checked_mul(12)?.checked_add(month.parse::<u32>().ok()?.checked_sub(1)?)?;
    let link = |months: u32| format!("calendar?month={:04}-{:02}", months / 12, months % 12 + 1);
    Some(vec![link(months.checked_sub(1)?), link(months.checked_add(1)?)])
}

/// A session id that follows from the last one.
fn next_session(sid: &str) -> String {
    format!("{:016x}", hash(sid, 0))
}

/// A number that follows from a text (FNV-1a) and another one.
fn hash(text: &str, n: u64) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    n.to_be_bytes().into_iter().take_while(|_| n > 0).chain(text.bytes()).fold(0xcbf2_9ce4_8422_2325, step)
}

/// Links to pages that no other page knows of.
fn random(target: &str) -> Reply {
    let links: Vec<String> = (1..=RANDOM_LINKS).map(|n| format!("{:x}.html", hash(target, n))).collect();
    Reply::html(html::list_and_text(target, &links, &made_up(target)))
}

/// Links to directories in this one.
fn nest(target: &str) -> Reply {
    let first = place(hash(target, 1));
    let links: Vec<String> = (0..NESTED_LINKS).map(|n| format!("{}/", WORDS[(first + 5 * n) % WORDS.len()])).collect();
    Reply::html(html::list_and_text(target, &links, &made_up(target)))
}

/// The days before and after. Nearly all of it says the same each day.
fn diary(day: u32) -> Option<Reply> {
    let links = [day.checked_sub(1)?, day.checked_add(1)?].map(|day| format!("day-{day}"));
    let hours: String = (0..HOURS).map(|hour| format!("<p>{hour}:00 {}", made_up(WORDS[hour]))).collect();
    Some(Reply::html(html::list_and_text("A day", &links, &hours)))
}

/// A text that follows from another one.
fn made_up(of: &str) -> String {
    let words = (1..=TEXT_WORDS).map(|n| format!("{}{} ", WORDS[place(hash(of, n))], hash(of, n) % 100));
    words.collect()
}

/// Which of the words a number stands for.
fn place(number: u64) -> usize {
    (number >> 32) as usize % WORDS.len()
}

/// Every other color and size on the first page, and the next page.
fn facets(request: &Request) -> Option<Vec<String>> {
    let (color, size) = (request.parameter("color")?, request.parameter("size")?);
    let page: u32 = request.parameter("page")?.parse().ok()?;
    let link = |color: &str, size: &str, page: u32| format!("facets?color={color}&amp;size={size}&amp;page={page}");
    let mut links: Vec<String> = COLORS.iter().map(|color| link(color, size, 1)).collect();
    links.extend((1..=SIZES).map(|size| link(color, &size.to_string(), 1)));
    links.push(link(color, size, page.checked_add(1)?));
    Some(links)
}
