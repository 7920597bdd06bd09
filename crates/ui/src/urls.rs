//! The URLs of a crawl by site, state and pattern: as a table in pages, and as files.

use std::collections::BTreeMap;
use std::str::FromStr;

use ask::links::{Linking, linking_pages};
use ask::sites;
use ask::urls::{FAILED, Listed, Page, Selection, State as UrlState};
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use crawl::standing::Standing;
use dataset::Layout;
use maud::{Markup, html};
use model::{Outcome, Timestamp};
use printable::{Printable, counted, write_csv_line, write_json_line};
use serde::Serialize;
use settings::site_name::SiteName;
use settings::units::human_bytes;
use settings::usage;
use store::CrawlView;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use weburl::{CanonicalUrl, Pattern, UrlKey};

use crate::base::to;
use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::{FILES_MAX, Ui, blocking, frame, links};

/// URLs on a page.
const URLS_ON_PAGE: usize = 100;
/// URLs of a file that are read from the state at once.
const URLS_AT_ONCE: usize = 1_000;
/// Pieces of a file that wait for a slow reader.
const PIECES_MAX: usize = 4;

/// Pages shown that link to a URL.
const LINKING_PAGES_SHOWN: usize = 3;
/// The column, besides the site, by which the table can be sorted.
const BY_STATE: &str = "state";
/// The fields of a filter that are numbers, with their labels.
const NUMBERS: [(&str, &str); 2] = [("status", "Status"), ("depth", "Depth")];

/// What is chosen, as it was given.
#[derive(Clone, Debug, Default)]
struct Filter {
    site: String,
    state: String,
    pattern: String,
    status: String,
    depth: String,
    /// Not empty: the pages that link to each URL are shown.
    linked: String,
    /// Not empty: URLs are chosen as the report counts them.
    reported: String,
    /// The column by which they are sorted; by site and key if it is empty.
    sort: String,
}

/// The pages that link to the URLs of a page, if they were asked for and there is a dataset.
type LinkedFrom = Option<BTreeMap<UrlKey, Linking>>;

impl Filter {
    fn of(fields: &Fields) -> Self {
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

    /// # Errors
    /// A part of it cannot be used.
    fn selection(&self) -> anyhow::Result<Selection> {
        let mut selection =
            Selection { only_counted: true, as_reported: !self.reported.is_empty(), ..Selection::default() };
        if !["", BY_STATE].contains(&self.sort.as_str()) {
            return Err(usage(format!(
                "`{}`: the table is sorted by site or by state; other columns have no index",
                self.sort
            )));
        }
        if !self.site.is_empty() {
            selection.sites = self.site.parse::<SiteName>().map_err(usage)?.keys().collect();
        }
        if !self.state.is_empty() {
            selection.states = UrlState::named(&self.state).map_err(usage)?;
        }
        if !self.pattern.is_empty() {
            let pattern = Pattern::new(&self.pattern).map_err(|error| usage(format!("the pattern: {error}")))?;
            selection.patterns = vec![pattern];
        }
        selection.status = number("status", &self.status)?;
        selection.depth = number("depth", &self.depth)?;
        Ok(selection)
    }

    /// # Errors
    /// The crawl does not know the site, or cannot be read.
    fn check_site(&self, view: &dyn CrawlView, selection: &Selection) -> anyhow::Result<()> {
        if self.site.is_empty() {
            return Ok(());
        }
        let unknown = sites::unknown(view, &self.site, selection.sites.iter().copied())?;
        unknown.map_or(Ok(()), |unknown| Err(usage(unknown.to_string())))
    }

    /// A page of the table.
    fn page(&self, view: &dyn CrawlView, selection: &Selection, after: Option<UrlKey>) -> anyhow::Result<Page> {
        self.check_site(view, selection)?;
        if self.sort.is_empty() {
            return Ok(selection.page(view, after, URLS_ON_PAGE)?);
        }
        let page = selection.page_by_state(view, after, URLS_ON_PAGE)?;
        page.ok_or_else(|| {
            usage("the state of this crawl has no index by state: an earlier version made it, or it is in a database")
        })
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

/// Answers with a page of the table.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let filter = Filter::of(&fields);
    let selection = filter.selection()?;
    let after = CanonicalUrl::from_canonical(fields.get("after")).map(|url| url.key());
    let asked = filter.clone();
    let (page, linked_from) = if filter.linked.is_empty() {
        let read = move |crawl: &Standing| asked.page(crawl.now()?.view(), &selection, after);
        (ui.ask(read).await?, None)
    } else {
        ui.large(&ui.large, move |crawl| with_links(crawl, &asked, &selection, after)).await?
    };
    let seen: usize = fields.get("seen").parse().unwrap_or_default();
    let seen = seen.saturating_add(page.looked_at);
    Ok(frame::page("URLs", "/urls", &table(&filter, &page, seen, linked_from.as_ref())))
}

/// A page of the table, and the pages that link to its URLs.
fn with_links(
    crawl: &Standing,
    filter: &Filter,
    selection: &Selection,
    after: Option<UrlKey>,
) -> anyhow::Result<(Page, LinkedFrom)> {
    let opened = crawl.with_dataset()?;
    let page = filter.page(opened.view(), selection, after)?;
    let layout = Layout::at(opened.dir.dataset());
    if !layout.exists() {
        return Ok((page, None));
    }
    let targets = page.urls.iter().map(|listed| listed.url.key()).collect();
    let linked_from = linking_pages(&layout, targets, LINKING_PAGES_SHOWN)?;
    Ok((page, Some(linked_from)))
}

fn form(filter: &Filter) -> Markup {
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
            label { "Order" select name="sort" {
                option value="" { "by site" }
                option value=(BY_STATE) selected[filter.sort == BY_STATE] { "by state" }
            } }
            label.tick {
                input type="checkbox" name="linked" value="yes" checked[!filter.linked.is_empty()];
                "pages that link to them"
            }
            label.tick {
                input type="checkbox" name="reported" value="yes" checked[!filter.reported.is_empty()];
                "as the report counts"
            }
            button { "Filter" }
        }
        p.actions {
            "All of them as " a href=(filter.link("/urls.csv", "")) download { "CSV" }
            " or " a href=(filter.link("/urls.jsonl", "")) download { "JSON lines" } ". "
            "Other columns have no index to sort by: sort the file."
        }
    }
}

/// A page of the table; `seen` URLs were looked at for it, those of the pages before included that had none.
fn table(filter: &Filter, page: &Page, seen: usize, linked_from: Option<&BTreeMap<UrlKey, Linking>>) -> Markup {
    let Page { urls, next, .. } = page;
    // A page that is not full ends where one answer has looked at enough.
    let more = next.as_ref().map(|next| (next.as_str(), urls.len() < URLS_ON_PAGE));
    html! {
        (form(filter))
        div.scroll role="region" aria-label="URLs" tabindex="0" {
            table {
                thead { tr {
                    th { "URL" } th { "State" } th.number { "Status" } th { "Type" } th.number { "Size" } th.number { "Depth" }
                    th { "Visited" } th { "Title or reason" }
                    @if linked_from.is_some() { th { "Linked from" } }
                } }
                tbody { @for listed in urls { (row(listed, linked_from)) } }
            }
        }
        @if urls.is_empty() && next.is_none() { p role="status" { "No URL." } }
        @if !filter.linked.is_empty() && linked_from.is_none() { p { "The crawl has no dataset, so its links are not known." } }
        @match more {
            // The script follows this link until the page is full.
            Some((next, true)) => {
                p #look-on {
                    span role="status" { (counted(seen as u64, "URL")) " looked at so far. " }
                    a rel="next" href=(with_seen(filter.link("/urls", next), seen)) { "Look on" }
                }
            }
            Some((next, false)) => { p #look-on { a rel="next" href=(filter.link("/urls", next)) { "Next page" } } }
            None => {}
        }
    }
}

/// A link behind which the count of URLs goes on.
fn with_seen(link: String, seen: usize) -> String {
    format!("{link}&seen={seen}")
}

fn row(listed: &Listed, linked_from: Option<&BTreeMap<UrlKey, Linking>>) -> Markup {
    let Listed { url, depth, state, visit } = listed;
    let visit = visit.as_ref();
    let status = visit.filter(|visit| visit.status > 0).map(|visit| visit.status.to_string());
    let said = visit.map(|visit| visit.title.as_deref().unwrap_or(visit.reason.as_str())).unwrap_or_default();
    let content_type = visit.and_then(|visit| visit.content_type.as_deref()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim_end();
    html! {
        tr {
            td { (links::story(url.as_str())) }
            td { (state.as_str()) }
            td.number { (status.unwrap_or_default()) }
            td { (Printable(essence)) }
            td.number { (visit.map(|visit| human_bytes(visit.length)).unwrap_or_default()) }
            td.number { (depth) }
            td.date { (visit.map(|visit| second(visit.at)).unwrap_or_default()) }
            td { (Printable(said)) }
            @if let Some(linked_from) = linked_from { td { @if let Some(linking) = linked_from.get(&url.key()) { (pages(linking)) } } }
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
    date.split('.').next().unwrap_or(&date).replace('T', " ")
}

/// A line of a file.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    state: &'static str,
    status: Option<u16>,
    content_type: Option<&'a str>,
    length: Option<u64>,
    depth: u32,
    visited: Option<String>,
    title: Option<&'a str>,
    reason: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(Listed { url, depth, state, visit }: &'a Listed) -> Self {
        let visit = visit.as_ref();
        Line {
            url: url.as_str(),
            state: state.as_str(),
            status: visit.map(|visit| visit.status).filter(|status| *status > 0),
            content_type: visit.and_then(|visit| visit.content_type.as_deref()),
            length: visit.map(|visit| visit.length),
            depth: *depth,
            visited: visit.map(|visit| visit.at.to_rfc3339()),
            title: visit.and_then(|visit| visit.title.as_deref()),
            reason: visit.map(|visit| visit.reason.as_str()).filter(|reason| !reason.is_empty()),
        }
    }
}

/// Answers with all chosen URLs as JSON lines.
pub(crate) async fn jsonl(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let write = |listed: &Listed, out: &mut Vec<u8>| {
        // Writing to a vector cannot fail, and a line has a form in JSON.
        let _ = write_json_line(out, &Line::of(listed));
    };
    file(ui, query, "application/x-ndjson", "", write).await
}

/// Answers with all chosen URLs as CSV (RFC 4180).
pub(crate) async fn csv(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let head = "url,state,status,content_type,length,depth,visited,title,reason\r\n";
    file(ui, query, "text/csv; charset=utf-8", head, write_csv).await
}

fn write_csv(listed: &Listed, out: &mut Vec<u8>) {
    let Line { url, state, status, content_type, length, depth, visited, title, reason } = Line::of(listed);
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let cells = [
        url.into(),
        state.into(),
        number(status.map(u64::from)).into(),
        content_type.unwrap_or_default().into(),
        number(length).into(),
        depth.to_string().into(),
        visited.unwrap_or_default().into(),
        title.unwrap_or_default().into(),
        reason.unwrap_or_default().into(),
    ];
    // Writing to a vector cannot fail.
    let _ = write_csv_line(out, cells);
}

/// Streams all chosen URLs. A part is read when it has its turn, so a slow reader keeps nobody waiting. If the crawl can no longer be read, the
/// file ends early, and its transfer is broken off.
async fn file(
    ui: Ui,
    query: Option<String>,
    content_type: &'static str,
    head: &'static str,
    write: fn(&Listed, &mut Vec<u8>),
) -> Result<Response, Failure> {
    let filter = Filter::of(&Fields::parse(&query.unwrap_or_default()));
    let selection = filter.selection()?;
    let Ok(place) = ui.files.clone().try_acquire_owned() else {
        return Err(Failure::Unready(format!("{FILES_MAX} files are being downloaded: try again when one is done")));
    };
    let (sender, pieces) = mpsc::channel::<anyhow::Result<Bytes>>(PIECES_MAX);
    let (crawl, chosen) = (ui.crawl.clone(), selection.clone());
    let open = move || {
        let opened = crawl.now()?;
        filter.check_site(opened.view(), &chosen)?;
        Ok(opened)
    };
    let opened = blocking(open).await?;
    let (runtime, turns) = (Handle::current(), ui.whole.clone());
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut piece = head.as_bytes().to_vec();
        let mut after = None;
        loop {
            let turn = runtime.block_on(turns.acquire());
            let page = match selection.page(opened.view(), after, URLS_AT_ONCE) {
                Ok(page) => page,
                Err(error) => return drop(sender.blocking_send(Err(error.into()))),
            };
            drop(turn);
            page.urls.iter().for_each(|listed| write(listed, &mut piece));
            after = page.next.map(|url| url.key());
            // A reader that has gone wants no more.
            if sender.blocking_send(Ok(std::mem::take(&mut piece).into())).is_err() || after.is_none() {
                return;
            }
        }
    });
    Ok(([(header::CONTENT_TYPE, content_type)], Body::from_stream(ReceiverStream::new(pieces))).into_response())
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
        let next = CanonicalUrl::from_canonical("http://a.test/9");
        let page = |next| table(&Filter::default(), &Page { next, ..Page::default() }, 40_000, None).into_string();
        let looked = page(next);
        assert!(looked.contains("40000 URLs looked at so far"), "{looked}");
        assert!(looked.contains("href=\"/urls?after=http%3A%2F%2Fa.test%2F9&amp;seen=40000\">Look on</a>"), "{looked}");
        let whole = page(None);
        assert!(whole.contains("No URL.") && !whole.contains("look-on"), "{whole}");
    }

    #[test]
    fn a_column_without_an_index_is_refused() {
        let error =
            Filter { sort: "size".to_owned(), ..Filter::default() }.selection().expect_err("no index").to_string();
        assert!(error.contains("sorted by site or by state; other columns have no index"), "{error}");
    }

    #[test]
    fn numbers_are_numbers() {
        for (status, depth, why) in
            [("4o4", "", "the status: `4o4`"), ("70000", "", "the status"), ("", "-1", "the depth")]
        {
            let [status, depth] = [status, depth].map(str::to_owned);
            let error = Filter { status, depth, ..Filter::default() }.selection().expect_err(why).to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_chosen_is_named() {
        let long = "*".repeat(100_000);
        for (site, state, pattern, why) in [
            ("a.test/x", "", "", "`a.test/x` is no site"),
            ("", "fetched", "", "`fetched` is no state"),
            ("", "", long.as_str(), "the pattern"),
        ] {
            let [site, state, pattern] = [site, state, pattern].map(str::to_owned);
            let error = Filter { site, state, pattern, ..Filter::default() }.selection().expect_err(why).to_string();
            assert!(error.starts_with(why) && error.len() < 1_000, "{error}");
        }
    }
}
