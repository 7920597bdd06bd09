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
    trap("/traps/calendar", 1_000, "a page for each month, back and forth without end"),
    trap("/traps/maze/", 25, "directories a and b that contain each other"),
    trap("/traps/session", 50, "the same page, whose link has another session id each time"),
    trap("/traps/facets", 1_000, "filters of a shop, and pages of results without end"),
    trap("/traps/append/", 25, "a relative link that makes the path longer each time"),
];
/// The first page of each.
const ENTRIES: [&str; 5] = [
    "/traps/calendar?month=2026-11",
    "/traps/maze/",
    "/traps/session?sid=8f14e45fceea167a",
    "/traps/facets?color=black&amp;size=1&amp;page=1",
    "/traps/append/",
];
const COLORS: [&str; 4] = ["black", "yellow", "silver", "white"];
const SIZES: u32 = 4;

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

/// A session id that follows from the last one (FNV-1a).
fn next_session(sid: &str) -> String {
    let hash = sid
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
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
