//! The URLs of a crawl by site, state and pattern: as a table in pages, and as files.

use ask::links::linking_pages;
use ask::sites;
use ask::urls::{Selection, State as UrlState};
use axum::extract::{RawQuery, State};
use axum::response::{Html, Response};
use crawl::standing::Standing;
use dataset::Layout;
use settings::plan;
use settings::site_name::SiteName;
use settings::usage;
use store::CrawlView;
use tokio::runtime::Handle;
use weburl::{CanonicalUrl, Pattern, UrlKey};

use crate::failure::Failure;
use crate::files::{File, Format};
use crate::query::Fields;
use crate::rows::{Asks, BY_STATE, Filter, Page, Row, URLS_ON_PAGE, table};
use crate::{FILES_MAX, Ui, blocking, frame};

/// URLs of a file that are read from the state at once.
const URLS_AT_ONCE: usize = 1_000;
/// Pages shown that link to a URL.
const LINKING_PAGES_SHOWN: usize = 3;

impl Filter {
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
            // The refusal of one that is too long does not repeat it.
            Pattern::new(&self.pattern).map_err(|error| usage(format!("the pattern: {error}")))?;
            selection.patterns = vec![plan::pattern("patterns", &self.pattern)?];
        }
        selection.status = self.status()?;
        selection.depth = self.depth()?;
        Ok(selection)
    }

    /// # Errors
    /// The crawl does not know the site, or cannot be read.
    fn check_site(&self, view: &dyn CrawlView, selection: &Selection) -> anyhow::Result<()> {
        if self.site.is_empty() {
            return Ok(());
        }
        let unknown = sites::unknown(view, &self.site, selection.sites.iter().copied())?;
        unknown.map_or(Ok(()), |unknown| Err(unknown.into()))
    }

    /// A page of the table.
    fn page(
        &self,
        view: &dyn CrawlView,
        selection: &Selection,
        after: Option<UrlKey>,
    ) -> anyhow::Result<ask::urls::Page> {
        self.check_site(view, selection)?;
        if self.sort.is_empty() {
            return Ok(selection.page(view, after, URLS_ON_PAGE)?);
        }
        let page = selection.page_by_state(view, after, URLS_ON_PAGE)?;
        page.ok_or_else(|| {
            usage("the state of this crawl has no index by state: an earlier version made it, or it is in a database")
        })
    }
}

/// Answers with a page of the table.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let filter = Filter::of(&fields);
    let selection = filter.selection()?;
    let after = CanonicalUrl::from_canonical(fields.get("after")).map(|url| url.key());
    let seen: usize = fields.get("seen").parse().unwrap_or_default();
    let asked = filter.clone();
    let page = if filter.linked.is_empty() {
        ui.ask(move |crawl: &Standing| Ok(listed(asked.page(crawl.now()?.view(), &selection, after)?, seen))).await?
    } else {
        ui.large(&ui.large, move |crawl| with_links(crawl, &asked, &selection, after, seen)).await?
    };
    Ok(frame::page("URLs", "/urls", &table(&filter, Asks::OfDirectory, &page)))
}

fn listed(ask::urls::Page { urls, next, looked_at }: ask::urls::Page, seen: usize) -> Page {
    Page {
        rows: urls.into_iter().map(Row::from).collect(),
        next: next.map(|next| next.as_str().to_owned()).unwrap_or_default(),
        seen: Some(seen.saturating_add(looked_at)),
        has_links: false,
    }
}

/// A page of the table, and the pages that link to its URLs, if there is a dataset.
fn with_links(
    crawl: &Standing,
    filter: &Filter,
    selection: &Selection,
    after: Option<UrlKey>,
    seen: usize,
) -> anyhow::Result<Page> {
    let opened = crawl.with_dataset()?;
    let found = filter.page(opened.view(), selection, after)?;
    let keys: Vec<UrlKey> = found.urls.iter().map(|listed| listed.url.key()).collect();
    let mut page = listed(found, seen);
    let layout = Layout::at(opened.dir.dataset());
    if layout.exists() {
        let mut linked_from = linking_pages(&layout, keys.iter().copied().collect(), LINKING_PAGES_SHOWN)?;
        for (row, key) in page.rows.iter_mut().zip(keys) {
            row.linking = linked_from.remove(&key);
        }
        page.has_links = true;
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

/// Streams all chosen URLs. A part is read when it has its turn, so a slow reader keeps nobody waiting. If the crawl can no longer be read, the
/// file ends early, and its transfer is broken off.
async fn file(ui: Ui, query: Option<String>, format: Format) -> Result<Response, Failure> {
    let filter = Filter::of(&Fields::parse(&query.unwrap_or_default()));
    let selection = filter.selection()?;
    let Ok(place) = ui.files.clone().try_acquire_owned() else { return Err(too_many_files()) };
    let (crawl, chosen) = (ui.crawl.clone(), selection.clone());
    let open = move || {
        let opened = crawl.now()?;
        filter.check_site(opened.view(), &chosen)?;
        Ok(opened)
    };
    let opened = blocking(open).await?;
    let (mut file, answer) = File::begin(format)?;
    let (runtime, turns) = (Handle::current(), ui.whole.clone());
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut after = None;
        loop {
            let turn = runtime.block_on(turns.acquire());
            let page = match selection.page(opened.view(), after, URLS_AT_ONCE) {
                Ok(page) => page,
                Err(error) => return file.fail_blocking(error.into()),
            };
            drop(turn);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_without_an_index_is_refused() {
        let error =
            Filter { sort: "size".to_owned(), ..Filter::default() }.selection().expect_err("no index").to_string();
        assert!(error.contains("sorted by site or by state; other columns have no index"), "{error}");
    }

    #[test]
    fn what_cannot_be_chosen_is_named() {
        let long = "*".repeat(100_000);
        for (site, state, pattern, why) in [
            ("a.test/x", "", "", "`a.test/x` is no site"),
            ("", "fetched", "", "`fetched` is no state"),
            ("", "", long.as_str(), "the pattern"),
            ("", "", "/x/", "--patterns `/x/` matches no URL"),
        ] {
            let [site, state, pattern] = [site, state, pattern].map(str::to_owned);
            let error = Filter { site, state, pattern, ..Filter::default() }.selection().expect_err(why).to_string();
            assert!(error.starts_with(why) && error.len() < 1_000, "{error}");
        }
    }
}
