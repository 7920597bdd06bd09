//! The table of URLs, of a directory and of a server: its filter, its rows, and the way to its next page.

use std::borrow::Cow;

use api::Url;
use ask::links::Linking;
use ask::order::{Column, Order};
use ask::urls::{FAILED, Listed};
use maud::{Markup, html};
use model::{Limit, Outcome, Timestamp};
use printable::{Printable, counted};
use service::sortings::SoFar;
use settings::units::human_bytes;

use crate::base::to;
use crate::filter::{Filter, Next};
use crate::in_order::{busy, looking};
use crate::links;

/// URLs on a page.
pub(crate) const URLS_ON_PAGE: usize = 100;
/// The files of a table: the path of each, and its name.
const FILES: [(&str, &str); 3] = [("/urls.csv", "CSV"), ("/urls.jsonl", "JSON lines"), ("/urls.parquet", "Parquet")];
/// The columns of the table: the name of each, and whether it has numbers.
const COLUMNS: [(Column, &str, bool); 8] = [
    (Column::Url, "URL", false),
    (Column::State, "State", false),
    (Column::Status, "Status", true),
    (Column::Type, "Type", false),
    (Column::Size, "Size", true),
    (Column::Depth, "Depth", true),
    (Column::Visited, "Visited", false),
    (Column::Title, "Title or reason", false),
];
/// The fields of a filter that are numbers, with their labels.
const NUMBERS: [(&str, &str); 2] = [("status", "Status"), ("depth", "Depth")];
/// Those that are sizes, and those that are times.
const SIZES: [(&str, &str); 2] = [("size_min", "Bytes, at least"), ("size_max", "Bytes, at most")];
const DATES: [(&str, &str); 2] = [("since", "Visited since"), ("until", "Visited until")];

/// A URL in the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) url: String,
    pub(crate) state: Cow<'static, str>,
    pub(crate) status: Option<u16>,
    pub(crate) content_type: Option<String>,
    pub(crate) length: Option<u64>,
    pub(crate) depth: u32,
    pub(crate) visited: Option<Timestamp>,
    pub(crate) title: Option<String>,
    pub(crate) reason: Option<String>,
    /// The pages that link to it, where they were asked for.
    pub(crate) linking: Option<Linking>,
}

impl From<Listed> for Row {
    fn from(listed: Listed) -> Self {
        let text = |text: Option<&str>| text.map(str::to_owned);
        Row {
            url: listed.url.as_str().to_owned(),
            state: listed.state.as_str().into(),
            status: listed.status(),
            content_type: text(listed.content_type()),
            length: listed.length(),
            depth: listed.depth,
            visited: listed.visited(),
            title: text(listed.title()),
            reason: text(listed.reason()),
            linking: None,
        }
    }
}

impl From<Url> for Row {
    fn from(Url { url, state, status, reason, depth, fetched_at, content_type, length, title }: Url) -> Self {
        let is_visited = fetched_at > 0.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0, and a cast saturates")]
        let visited = is_visited.then(|| Timestamp((fetched_at * 1e6).round() as u64));
        Row {
            url,
            state: state.into(),
            status: u16::try_from(status).ok().filter(|status| *status > 0),
            content_type: given(content_type),
            length: is_visited.then_some(length),
            depth,
            visited,
            title: given(title),
            reason: given(reason),
            linking: None,
        }
    }
}

fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// A page of the table.
pub(crate) struct Page {
    pub(crate) rows: Vec<Row>,
    pub(crate) next: Next,
    /// The URLs that were looked at for it, those of the pages before included that had none; `None` if that is not told.
    pub(crate) seen: Option<usize>,
    pub(crate) linking: IsLinked,
    /// What came of the order that was asked for.
    pub(crate) order: InOrder,
}

/// Whether the rows have the pages that link to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum IsLinked {
    /// Nobody asked for them.
    #[default]
    Unasked,
    /// They have.
    Told,
    /// They have not, for this reason.
    Untold(String),
}

/// What came of an order of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InOrder {
    /// The rows are in the order of sites or of states, in which the state has them.
    #[default]
    AsTheyAre,
    /// All URLs of the filter were sorted.
    Sorted {
        /// The first row is behind so many.
        behind: usize,
        /// So many of them can be seen, the first ones.
        kept: u64,
        of: u64,
    },
    /// The rows are looked for.
    Looking {
        so_far: SoFar,
        /// The first row will be behind so many.
        behind: usize,
    },
    /// As many tables as may be are looked for.
    Busy,
}

fn form(filter: &Filter) -> Markup {
    let states = std::iter::once("waiting").chain([FAILED]).chain(Outcome::ALL.iter().map(|outcome| outcome.as_str()));
    let of_files = filter.in_order(String::new());
    html! {
        form.filter action=(to("/urls")) {
            label { "Site" input type="text" name="site" value=(filter.site) placeholder="example.org"; }
            @for (at, chosen) in with_one_more(&filter.states) {
                label { (either("State", at)) select name="state" {
                    option value="" { @if at == 0 { "any" } @else { "none" } }
                    @for state in states.clone() { option value=(state) selected[state == chosen] { (state) } }
                } }
            }
            @for (at, pattern) in with_one_more(&filter.patterns) {
                label { (either("Pattern", at)) input type="text" name="match" value=(pattern) placeholder="*/docs/*"; }
            }
            @for ((name, label), value) in NUMBERS.iter().zip([&filter.status, &filter.depth]) {
                label { (label) input.short type="text" inputmode="numeric" name=(name) value=(value); }
            }
            label { "Type" input type="text" name="type" value=(filter.content_type) placeholder="text/html"; }
            label { "Title or reason has" input type="text" name="title" value=(filter.title); }
            @for ((name, label), value) in SIZES.iter().zip(&filter.bytes) {
                label { (label) input.short type="text" inputmode="numeric" name=(name) value=(value); }
            }
            @for ((name, label), value) in DATES.iter().zip(&filter.visited) {
                label { (label) input.short type="text" name=(name) value=(value) placeholder="7d"; }
            }
            label { "Key" input type="text" name="key" value=(filter.key) placeholder="SHA-1 or url_key, or its beginning" spellcheck="false"; }
            label { "Order" select name="sort" {
                option value="" { "by site" }
                @for (order, name) in orders() { option value=(order) selected[filter.sort == order] { (name) } }
            } }
            label { "Limit reached" select name="reached" {
                option value="" { "any or none" }
                @for limit in Limit::ALL.iter().map(|limit| limit.as_str()) { option value=(limit) selected[filter.reached == limit] { (limit) } }
            } }
            @for (name, value, label) in [
                ("seeds", &filter.seeds, "of sites with a seed"),
                ("linked", &filter.linked, "pages that link to them"),
                ("reported", &filter.reported, "as the report counts"),
            ] {
                label.tick { input type="checkbox" name=(name) value="yes" checked[!value.is_empty()]; (label) }
            }
            button { "Filter" }
        }
        p.actions {
            "All of them as "
            @for (at, (path, name)) in FILES.iter().enumerate() {
                @if at > 0 { @if at + 1 == FILES.len() { " or " } @else { ", " } }
                a href=(of_files.link(path, &Next::None)) download { (name) }
            }
            ". A file is in the order of sites"
            @if !filter.linked.is_empty() { ", and has no pages that link to them: " code { "argiope links" } " has those of a URL" }
            "."
        }
    }
}

/// What a field has, and an empty one for one more.
fn with_one_more(values: &[String]) -> impl Iterator<Item = (usize, &str)> {
    values.iter().map(String::as_str).chain([""]).enumerate()
}

/// The name of a field that may be given several times.
fn either(name: &str, at: usize) -> String {
    if at == 0 { name.to_owned() } else { format!("or {}", name.to_lowercase()) }
}

/// The orders of the table by a column, each as a field of a request has it, and in words.
fn orders() -> impl Iterator<Item = (String, String)> {
    let both = |by: Column| [false, true].map(|is_descending| Order { by, is_descending });
    Column::ALL.into_iter().flat_map(both).map(|order| {
        let column = if order.by == Column::Url { "URL" } else { order.by.as_str() };
        (order.to_string(), format!("by {column}{}", if order.is_descending { ", descending" } else { "" }))
    })
}

/// The head of a column, which sorts by it; the other way round if the table is sorted by it already.
fn head(filter: &Filter, (by, name, is_number): (Column, &str, bool)) -> Markup {
    let order: Option<Order> = filter.sort.parse().ok();
    let order = order.filter(|order| order.by == by);
    let is_ascending = order.is_some_and(|order| !order.is_descending);
    let sorted = order.map(|order| if order.is_descending { "descending" } else { "ascending" });
    let link = filter.in_order(Order { by, is_descending: is_ascending }.to_string()).link("/urls", &Next::None);
    html! {
        th class=[is_number.then_some("number")] aria-sort=[sorted] { a href=(link) { (name) } }
    }
}

/// What came of the order that was asked for, in words.
fn order_told(filter: &Filter, page: &Page) -> Markup {
    let by_site = filter.in_order(String::new()).link("/urls", &Next::None);
    let column = filter.sort.trim_start_matches('-');
    html! {
        @match page.order {
            InOrder::AsTheyAre => {}
            InOrder::Sorted { behind, kept, of } => {
                p.count role="status" {
                    (counted(of, "URL")) " by " (column)
                    @if !page.rows.is_empty() && (page.rows.len() as u64) < of { ", " (behind + 1) " to " (behind + page.rows.len()) }
                    ". " a href=(by_site) { "By site" }
                }
                @if kept < of {
                    p.note { "The first " (kept) " can be seen. Narrow the filter for others, or sort the file." }
                }
            }
            InOrder::Looking { so_far, behind } => (looking(so_far, "URL", &filter.link("/urls", &Next::Behind(behind)))),
            InOrder::Busy => (busy()),
        }
    }
}

/// A page of the table.
pub(crate) fn table(filter: &Filter, page: &Page) -> Markup {
    let Page { rows, next, seen, linking, .. } = page;
    let has_links = *linking == IsLinked::Told;
    // A page that is not full ends where one answer has looked at enough.
    let is_full = rows.len() >= URLS_ON_PAGE;
    html! {
        (form(filter))
        (order_told(filter, page))
        div.scroll role="region" aria-label="URLs" tabindex="0" {
            table {
                thead { tr {
                    @for column in COLUMNS { (head(filter, column)) }
                    @if has_links { th { "Linked from" } }
                } }
                tbody { @for row in rows { (line(row, has_links)) } }
            }
        }
        @let is_there = !matches!(page.order, InOrder::Looking { .. } | InOrder::Busy);
        @if rows.is_empty() && is_there && *next == Next::None { p role="status" { "No URL." } }
        @if let IsLinked::Untold(why) = linking { p { "The links to these URLs are not known: " (Printable(why)) "." } }
        @match next {
            Next::None => {}
            Next::After(_) if !is_full => {
                // The script follows this link until the page is full.
                p #look-on {
                    @match seen {
                        Some(seen) => {
                            span role="status" { (counted(*seen as u64, "URL")) " looked at so far. " }
                            a rel="next" href=(with_seen(filter.link("/urls", next), *seen)) { "Look on" }
                        }
                        None => {
                            span role="status" { "The server has looked at a part of its URLs. " }
                            a rel="next" href=(filter.link("/urls", next)) { "Look on" }
                        }
                    }
                }
            }
            Next::After(_) | Next::Behind(_) => { p #look-on { a rel="next" href=(filter.link("/urls", next)) { "Next page" } } }
        }
    }
}

/// A link behind which the count of URLs goes on.
fn with_seen(link: String, seen: usize) -> String {
    format!("{link}&seen={seen}")
}

fn line(row: &Row, has_links: bool) -> Markup {
    let content_type = row.content_type.as_deref().unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim_end();
    let said = row.title.as_deref().or(row.reason.as_deref()).unwrap_or_default();
    html! {
        tr {
            td { (links::story(&row.url)) }
            td { (row.state) }
            td.number { (row.status.map(|status| status.to_string()).unwrap_or_default()) }
            td.type { (Printable(essence)) }
            td.number { (row.length.map(human_bytes).unwrap_or_default()) }
            td.number { (row.depth) }
            td.date { (row.visited.map(second).unwrap_or_default()) }
            td { (Printable(said)) }
            @if has_links { td { @if let Some(linking) = &row.linking { (pages(linking)) } } }
        }
    }
}

/// The pages that link to a URL.
fn pages(Linking { links, pages }: &Linking) -> Markup {
    html! {
        @for page in pages { div { (links::story(page)) } }
        @if *links > pages.len() as u64 { div.count { (counted(*links, "link")) " in all" } }
    }
}

/// A date to the second, as people read it.
pub(crate) fn second(at: Timestamp) -> String {
    let date = at.to_rfc3339();
    date.split('.').next().unwrap_or(&date).trim_end_matches('Z').replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_shown_to_the_second() {
        assert_eq!(second(Timestamp(1_795_680_796_841_000)), "2026-11-26 08:13:16");
    }

    #[test]
    fn the_head_of_a_column_says_how_the_table_is_sorted_and_leads_to_the_other_order() {
        let head_of = |sort: &str| {
            let filter = Filter { sort: sort.to_owned(), states: vec!["html".to_owned()], ..Filter::default() };
            head(&filter, (Column::Size, "Size", true)).into_string()
        };
        for (sort, aria, next) in [
            ("", "", "size"),
            ("depth", "", "size"),
            ("size", " aria-sort=\"ascending\"", "-size"),
            ("-size", " aria-sort=\"descending\"", "size"),
        ] {
            let link = format!("<a href=\"/urls?state=html&amp;sort={next}\">Size</a>");
            let expect = format!("<th class=\"number\"{aria}>{link}</th>");
            assert_eq!(head_of(sort), expect, "{sort}");
        }
    }

    #[test]
    fn a_filter_has_room_for_one_state_and_one_pattern_more() {
        let query = "state=html&state=waiting&match=*%2Fa%2F*";
        let filter = Filter::of(&crate::query::Fields::parse(query));
        assert_eq!(filter.link("/urls", &Next::None), format!("/urls?{query}"));
        let form = form(&filter).into_string();
        assert_eq!((form.matches("name=\"state\"").count(), form.matches("name=\"match\"").count()), (3, 2));
        for chosen in [
            "<option value=\"html\" selected>",
            "<option value=\"waiting\" selected>",
            "name=\"match\" value=\"*/a/*\"",
        ] {
            assert!(form.contains(chosen), "{chosen}: {form}");
        }
        assert!(form.contains("<label>or state<select") && form.contains("<label>or pattern<input"), "{form}");
    }

    #[test]
    fn a_table_says_how_far_it_is_sorted() {
        let filter = Filter { sort: "-size".to_owned(), ..Filter::default() };
        let shown = |rows: usize, order: InOrder| {
            let page = Page {
                rows: vec![Row::default(); rows],
                next: Next::None,
                seen: None,
                linking: IsLinked::Unasked,
                order,
            };
            table(&filter, &page).into_string()
        };
        let so_far = SoFar { looked_at: 40_000, found: 7 };
        let looking = shown(0, InOrder::Looking { so_far, behind: 100 });
        assert!(looking.contains("40000 URLs looked at so far, 7 of them chosen."), "{looking}");
        assert!(looking.contains("data-reread=\"/urls?sort=-size&amp;behind=100\""), "{looking}");
        let busy = shown(0, InOrder::Busy);
        assert!(!looking.contains("No URL.") && !busy.contains("No URL."), "{busy}");
        let all = shown(2, InOrder::Sorted { behind: 0, kept: 2, of: 2 });
        assert!(all.contains("2 URLs by size. ") && !all.contains("can be seen"), "{all}");
        let first = shown(100, InOrder::Sorted { behind: 200, kept: 10_000, of: 40_000 });
        assert!(
            first.contains("40000 URLs by size, 201 to 300. ") && first.contains("The first 10000 can be seen."),
            "{first}"
        );
        assert!(shown(0, InOrder::Sorted { behind: 0, kept: 0, of: 0 }).contains("No URL."));
    }

    #[test]
    fn a_page_that_is_not_full_says_how_many_urls_were_looked_at() {
        let page = |next: &str| {
            let page = Page {
                rows: Vec::new(),
                next: Next::after(Some(next.to_owned())),
                seen: Some(40_000),
                linking: IsLinked::Unasked,
                order: InOrder::AsTheyAre,
            };
            table(&Filter::default(), &page).into_string()
        };
        let looked = page("http://a.test/9");
        assert!(looked.contains("40000 URLs looked at so far"), "{looked}");
        assert!(looked.contains("href=\"/urls?after=http%3A%2F%2Fa.test%2F9&amp;seen=40000\">Look on</a>"), "{looked}");
        let whole = page("");
        assert!(whole.contains("No URL.") && !whole.contains("look-on"), "{whole}");
    }
}
