//! The table of URLs, of a directory and of a server: its filter, its rows, and the way to its next page.

use std::borrow::Cow;
use std::str::FromStr;

use api::Url;
use ask::links::Linking;
use ask::urls::{FAILED, Listed};
use maud::{Markup, html};
use model::{Outcome, Timestamp};
use printable::{Printable, counted};
use settings::units::human_bytes;
use settings::usage;

use crate::base::to;
use crate::links;
use crate::query::{Fields, with_fields};

/// URLs on a page.
pub(crate) const URLS_ON_PAGE: usize = 100;
/// The column, besides the site, by which the table can be sorted.
pub(crate) const BY_STATE: &str = "state";
/// The files of a table: the path of each, and its name.
const FILES: [(&str, &str); 3] = [("/urls.csv", "CSV"), ("/urls.jsonl", "JSON lines"), ("/urls.parquet", "Parquet")];
/// The fields of a filter that are numbers, with their labels.
const NUMBERS: [(&str, &str); 2] = [("status", "Status"), ("depth", "Depth")];

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
    fn from(Listed { url, depth, state, visit }: Listed) -> Self {
        let row = Row { url: url.as_str().to_owned(), state: state.as_str().into(), depth, ..Row::default() };
        let Some(visit) = visit else { return row };
        let (was_asked_for, has_answer) = (visit.was_asked_for(), visit.status > 0);
        Row {
            status: has_answer.then_some(visit.status),
            content_type: visit.content_type,
            length: has_answer.then_some(visit.length),
            visited: was_asked_for.then_some(visit.at),
            title: visit.title,
            reason: given(visit.reason),
            ..row
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

/// What is chosen, as it was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) site: String,
    pub(crate) state: String,
    pub(crate) pattern: String,
    pub(crate) status: String,
    pub(crate) depth: String,
    /// Not empty: the pages that link to each URL are shown.
    pub(crate) linked: String,
    /// Not empty: URLs are chosen as the report counts them.
    pub(crate) reported: String,
    /// The column by which they are sorted; by site and key if it is empty.
    pub(crate) sort: String,
}

impl Filter {
    pub(crate) fn of(fields: &Fields) -> Self {
        let get = |name| fields.get(name).to_owned();
        Filter {
            site: get("site"),
            state: get("state"),
            pattern: get("match"),
            status: get("status"),
            depth: get("depth"),
            linked: get("linked"),
            reported: get("reported"),
            sort: get("sort"),
        }
    }

    /// The status that is chosen.
    ///
    /// # Errors
    /// It is no number.
    pub(crate) fn status(&self) -> anyhow::Result<Option<u16>> {
        number("status", &self.status)
    }

    /// The depth that is chosen.
    ///
    /// # Errors
    /// It is no number.
    pub(crate) fn depth(&self) -> anyhow::Result<Option<u32>> {
        number("depth", &self.depth)
    }

    fn link(&self, path: &str, after: &str) -> String {
        let Filter { site, state, pattern, status, depth, linked, reported, sort } = self;
        with_fields(
            path,
            &[
                ("site", site),
                ("state", state),
                ("match", pattern),
                ("status", status),
                ("depth", depth),
                ("linked", linked),
                ("reported", reported),
                ("sort", sort),
                ("after", after),
            ],
        )
    }
}

/// # Errors
/// It is neither empty nor a number.
fn number<T: FromStr>(name: &str, text: &str) -> anyhow::Result<Option<T>> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| usage(format!("the {name}: `{text}` is no such number")))
}

/// What can be asked of the table besides the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// The order, and the pages that link to each URL.
    OfDirectory,
    /// Neither: a server has URLs in the order of their sites, and its workers know the links.
    OfServer,
}

/// A page of the table.
pub(crate) struct Page {
    pub(crate) rows: Vec<Row>,
    /// The URL after which the next page begins; empty after the last page.
    pub(crate) next: String,
    /// The URLs that were looked at for it, those of the pages before included that had none; `None` if that is not told.
    pub(crate) seen: Option<usize>,
    /// The rows have the pages that link to them.
    pub(crate) has_links: bool,
}

fn form(filter: &Filter, asks: Asks) -> Markup {
    let states = std::iter::once("waiting").chain([FAILED]).chain(Outcome::ALL.iter().map(|outcome| outcome.as_str()));
    html! {
        form.filter action=(to("/urls")) {
            label { "Site" input type="text" name="site" value=(filter.site) placeholder="example.org"; }
            label { "State" select name="state" {
                option value="" { "any" }
                @for state in states { option value=(state) selected[state == filter.state] { (state) } }
            } }
            label { "Pattern" input type="text" name="match" value=(filter.pattern) placeholder="*/docs/*"; }
            @for ((name, label), value) in NUMBERS.iter().zip([&filter.status, &filter.depth]) {
                label { (label) input.short type="text" inputmode="numeric" name=(name) value=(value); }
            }
            @if asks == Asks::OfDirectory {
                label { "Order" select name="sort" {
                    option value="" { "by site" }
                    option value=(BY_STATE) selected[filter.sort == BY_STATE] { "by state" }
                } }
                label.tick {
                    input type="checkbox" name="linked" value="yes" checked[!filter.linked.is_empty()];
                    "pages that link to them"
                }
            }
            label.tick {
                input type="checkbox" name="reported" value="yes" checked[!filter.reported.is_empty()];
                "as the report counts"
            }
            button { "Filter" }
        }
        p.actions {
            "All of them as "
            @for (at, (path, name)) in FILES.iter().enumerate() {
                @if at > 0 { @if at + 1 == FILES.len() { " or " } @else { ", " } }
                a href=(filter.link(path, "")) download { (name) }
            }
            ". Other columns have no index to sort by: sort the file."
        }
    }
}

/// A page of the table.
pub(crate) fn table(filter: &Filter, asks: Asks, page: &Page) -> Markup {
    let Page { rows, next, seen, has_links } = page;
    // A page that is not full ends where one answer has looked at enough.
    let is_full = rows.len() >= URLS_ON_PAGE;
    html! {
        (form(filter, asks))
        div.scroll role="region" aria-label="URLs" tabindex="0" {
            table {
                thead { tr {
                    th { "URL" } th { "State" } th.number { "Status" } th { "Type" } th.number { "Size" } th.number { "Depth" }
                    th { "Visited" } th { "Title or reason" }
                    @if *has_links { th { "Linked from" } }
                } }
                tbody { @for row in rows { (line(row, *has_links)) } }
            }
        }
        @if rows.is_empty() && next.is_empty() { p role="status" { "No URL." } }
        @if asks == Asks::OfDirectory && !filter.linked.is_empty() && !has_links { p { "The crawl has no dataset, so its links are not known." } }
        @match next.as_str() {
            "" => {}
            next if is_full => { p #look-on { a rel="next" href=(filter.link("/urls", next)) { "Next page" } } }
            // The script follows this link until the page is full.
            next => {
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
            td { (Printable(essence)) }
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
fn second(at: Timestamp) -> String {
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
    fn a_page_that_is_not_full_says_how_many_urls_were_looked_at() {
        let page = |next: &str| {
            let page = Page { rows: Vec::new(), next: next.to_owned(), seen: Some(40_000), has_links: false };
            table(&Filter::default(), Asks::OfDirectory, &page).into_string()
        };
        let looked = page("http://a.test/9");
        assert!(looked.contains("40000 URLs looked at so far"), "{looked}");
        assert!(looked.contains("href=\"/urls?after=http%3A%2F%2Fa.test%2F9&amp;seen=40000\">Look on</a>"), "{looked}");
        let whole = page("");
        assert!(whole.contains("No URL.") && !whole.contains("look-on"), "{whole}");
    }

    #[test]
    fn numbers_are_numbers() {
        for (status, depth, why) in
            [("4o4", "", "the status: `4o4`"), ("70000", "", "the status"), ("", "-1", "the depth")]
        {
            let [status, depth] = [status, depth].map(str::to_owned);
            let filter = Filter { status, depth, ..Filter::default() };
            let error = filter.status().map(drop).and(filter.depth().map(drop)).expect_err(why).to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
