//! The URLs of a crawl by site, state and pattern: as a table in pages, and as files.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use ask::links::linking_pages;
use ask::order::{Column, Order, Sorting};
use ask::urls::{Listed, NO_SEED, Selection};
use axum::extract::{RawQuery, State};
use axum::response::{Html, Response};
use crawl::opened::Opened;
use crawl::standing::Standing;
use dataset::Layout;
use maud::html;
use service::sortings::{SORTED_MAX, Sortings, Stage};
use settings::usage;
use store::CrawlView;
use tokio::runtime::Handle;
use weburl::{CanonicalUrl, UrlKey};

use crate::failure::Failure;
use crate::files::{File, Format};
use crate::filter::{Filter, Next};
use crate::query::Fields;
use crate::rows::{InOrder, IsLinked, Page, Row, URLS_ON_PAGE, table};
use crate::{FILES_MAX, Ui, answered, blocking, frame, views};

/// URLs of a file that are read from the state at once.
const URLS_AT_ONCE: usize = 1_000;
/// How long the reader of a file may take for a piece, while the state stays open for the next part.
const READ_WITHIN: Duration = Duration::from_secs(1);
/// Pages shown that link to a URL.
pub(crate) const LINKING_PAGES_SHOWN: usize = 3;

impl Filter {
    /// What is chosen of a crawl.
    ///
    /// # Errors
    /// It cannot be used with this crawl, or the crawl cannot be read.
    pub(crate) fn of_crawl(&self, view: &dyn CrawlView) -> anyhow::Result<Selection> {
        let selection = self.selection()?;
        self.check_site(view, &selection)?;
        if self.seeds.is_empty() {
            return Ok(selection);
        }
        selection.of_seed_sites(view)?.ok_or_else(|| usage(NO_SEED))
    }

    /// A page of the table, without links.
    fn page(&self, sorted: &Sorted, opened: &Arc<Opened>, from: &Begin) -> anyhow::Result<Found> {
        let view = opened.view();
        let selection = self.of_crawl(view)?;
        let Begin { after, behind, .. } = *from;
        let Some(order) = self.order()? else {
            return Ok(Found::as_it_is(selection.page(view, after, URLS_ON_PAGE)?, from));
        };
        // The state has an index by state, unless an earlier version made it, or it is in a database.
        let has_index = order == Order { by: Column::State, is_descending: false };
        if has_index && let Some(page) = selection.page_by_state(view, after, URLS_ON_PAGE)? {
            return Ok(Found::as_it_is(page, from));
        }
        // The links of its rows do not belong to the table.
        let question = Filter { linked: String::new(), ..self.clone() };
        let stage = sorted.of(opened, &question, behind > 0, || Sorting::new(selection, order, SORTED_MAX))?;
        Ok(Found::sorted(stage, behind))
    }
}

/// The tables in an order.
type Sorted = Sortings<Filter, Listed, Opened>;

/// Where a page begins.
struct Begin {
    after: Option<UrlKey>,
    /// So many URLs of those that are sorted are before it.
    behind: usize,
    /// The URLs that were looked at for pages before it that had none.
    seen: usize,
}

impl Begin {
    fn of(fields: &Fields) -> Self {
        Begin {
            after: CanonicalUrl::from_canonical(fields.get("after")).map(|url| url.key()),
            behind: fields.get("behind").parse().unwrap_or_default(),
            seen: fields.get("seen").parse().unwrap_or_default(),
        }
    }
}

/// What a page has.
struct Found {
    urls: Vec<Listed>,
    next: Next,
    seen: Option<usize>,
    order: InOrder,
}

impl Found {
    /// In the order in which the state has the URLs.
    fn as_it_is(ask::urls::Page { urls, next, looked_at }: ask::urls::Page, from: &Begin) -> Self {
        let next = Next::after(next.map(|next| next.as_str().to_owned()));
        Found { urls, next, seen: Some(from.seen.saturating_add(looked_at)), order: InOrder::AsTheyAre }
    }

    /// As far as it is sorted.
    fn sorted(stage: Stage<Listed>, behind: usize) -> Self {
        let nothing = |order| Found { urls: Vec::new(), next: Next::None, seen: None, order };
        let first = match stage {
            Stage::Sorted(first) => first,
            Stage::Looking(so_far) => return nothing(InOrder::Looking { so_far, behind }),
            Stage::Busy => return nothing(InOrder::Busy),
        };
        let urls: Vec<Listed> = first.rows.iter().skip(behind).take(URLS_ON_PAGE).cloned().collect();
        let kept = first.rows.len() as u64;
        let next = Next::behind(behind, urls.len(), kept);
        let order = InOrder::Sorted { behind, kept, of: first.of };
        Found { urls, next, seen: None, order }
    }

    fn into_page(self) -> Page {
        let Found { urls, next, seen, order } = self;
        Page { rows: urls.into_iter().map(Row::from).collect(), next, seen, linking: IsLinked::Unasked, order }
    }
}

/// Answers with a page of the table.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let filter = Filter::of(&fields);
    let from = Begin::of(&fields);
    let (asked, sorted) = (filter.clone(), ui.sorted_urls.clone());
    let page = if filter.linked.is_empty() {
        ui.ask(move |crawl: &Standing| Ok(asked.page(&sorted, &crawl.now()?, &from)?.into_page())).await?
    } else {
        ui.large(&ui.large, move |crawl| with_links(crawl, &asked, &sorted, &from)).await?
    };
    let saved = ui.ask(views::all).await?;
    let body = html! { (views::list(&saved, &filter)) (table(&filter, &page)) };
    Ok(frame::page("URLs", "/urls", &body))
}

/// A page of the table, and the pages that link to its URLs, if there is a dataset.
fn with_links(crawl: &Standing, filter: &Filter, sorted: &Sorted, from: &Begin) -> anyhow::Result<Page> {
    let opened = crawl.with_dataset()?;
    let found = filter.page(sorted, &opened, from)?;
    let keys: Vec<UrlKey> = found.urls.iter().map(|listed| listed.url.key()).collect();
    let mut page = found.into_page();
    let layout = Layout::at(opened.dir.dataset());
    page.linking = IsLinked::Untold("the crawl has no dataset".to_owned());
    if layout.exists() {
        let mut linked_from = linking_pages(&layout, keys.iter().copied().collect(), LINKING_PAGES_SHOWN)?;
        for (row, key) in page.rows.iter_mut().zip(keys) {
            row.linking = linked_from.remove(&key);
        }
        page.linking = IsLinked::Told;
    }
    Ok(page)
}

/// Answers with all chosen URLs as CSV.
pub(crate) async fn csv(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    file(ui, query, Format::Csv).await
}

/// Answers with all chosen URLs as JSON lines.
pub(crate) async fn jsonl(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    file(ui, query, Format::Jsonl).await
}

/// Answers with all chosen URLs as Parquet.
pub(crate) async fn parquet(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    file(ui, query, Format::Parquet).await
}

/// Streams all chosen URLs. A part is read when it has its turn, so a slow reader keeps nobody waiting, and has no state open. The parts that it
/// reads later are of the commit that is the last one then. If the crawl can no longer be read, the file ends early, and its transfer is broken off.
async fn file(ui: Ui, query: Option<String>, format: Format) -> Result<Response, Failure> {
    let filter = Filter::of(&Fields::parse(&query.unwrap_or_default()));
    // What cannot be read is refused, whether or not there is a place.
    filter.selection()?;
    let Ok(place) = ui.files.clone().try_acquire_owned() else { return Err(too_many_files()) };
    let crawl = ui.crawl.clone();
    let open = move || {
        let opened = crawl.now()?;
        let selection = filter.of_crawl(opened.view())?;
        Ok((opened, selection))
    };
    let (opened, selection) = blocking(open).await?;
    let (mut file, answer) = File::begin(format)?;
    let (runtime, turns, crawl) = (Handle::current(), ui.whole.clone(), ui.crawl.clone());
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let (kept, mut after) = (Cell::new(Some(opened)), None);
        loop {
            let turn = runtime.block_on(turns.acquire());
            let read = |crawl: &Standing| {
                let opened = kept.take().map_or_else(|| crawl.now(), Ok)?;
                let page = selection.page(opened.view(), after, URLS_AT_ONCE)?;
                Ok((opened, page))
            };
            let (opened, page) = match answered(&crawl, read) {
                Ok(read) => read,
                Err(error) => return file.fail_blocking(error),
            };
            drop(turn);
            kept.set(Some(opened).filter(|_| runtime.block_on(file.is_read_within(READ_WITHIN))));
            after = page.next.map(|url| url.key());
            let rows: Vec<Row> = page.urls.into_iter().map(Row::from).collect();
            if !file.send_blocking(&rows, after.is_none()) || after.is_none() {
                return;
            }
        }
    });
    Ok(answer)
}

/// Why another file has to wait.
pub(crate) fn too_many_files() -> Failure {
    Failure::Unready(format!("{FILES_MAX} files are being downloaded: try again when one is done"))
}
