//! Several crawls side by side: a row for each, which leads to its screens.

use std::sync::Arc;

use ask::status::Status;
use axum::extract::State;
use axum::response::Html;
use axum::routing::{Router, get};
use crawl::outlook::waits_in_words;
use engine::clock::Clock;
use maud::{Markup, html};
use printable::Printable;
use settings::units::human_bytes;

use crate::failure::Failure;
use crate::guarded::missing;
use crate::standing_status::Stand;
use crate::{Ui, assets, base, frame};

/// The crawls, in the order in which they were named.
type Crawls = Arc<[Ui]>;

/// The page of all crawls, and the screens of each below its number.
pub(crate) fn router(crawls: Vec<Ui>) -> Router {
    let mut router = Router::new();
    for (number, crawl) in (1..).zip(&crawls) {
        let path = format!("/{number}");
        // With the navigation of the crawl.
        let screens = crate::screens(crawl.clone()).fallback(missing).method_not_allowed_fallback(missing);
        router = router.nest(&path, base::below(&path, screens));
    }
    let assets = Router::new()
        .route("/ui.css", get(assets::style))
        .route("/ui.js", get(assets::script))
        .route("/icon.svg", get(assets::icon));
    let all = Router::new().route("/", get(show)).with_state(Crawls::from(crawls));
    router.merge(assets).merge(all)
}

/// Answers with a row for each crawl.
async fn show(State(crawls): State<Crawls>) -> Html<String> {
    let asked: Vec<_> = crawls.iter().cloned().map(|crawl| tokio::spawn(async move { status(&crawl).await })).collect();
    let mut rows = Vec::new();
    for ((number, crawl), status) in (1..).zip(crawls.iter()).zip(asked) {
        let status = status.await.unwrap_or_else(|error| Err(Failure::Failed(format!("internal error: {error}"))));
        rows.push(row(number, &crawl.crawl.root().display().to_string(), &status));
    }
    let body = html! {
        // The script reads this part again now and then.
        div #crawls .scroll role="region" aria-label="Crawls" tabindex="0" {
            table {
                thead { tr {
                    th { "Crawl" } th { "State" } th.number { "Pages" } th.number { "Waiting" } th.number { "Known" }
                    th.number { "Sites" } th.number { "In trouble" } th.number { "Payload" }
                } }
                tbody { @for row in &rows { (row) } }
            }
        }
    };
    frame::of_all("Crawls", &body)
}

async fn status(ui: &Ui) -> Result<Arc<Stand>, Failure> {
    let status = ui.status.clone();
    ui.ask(move |crawl| status.of(crawl)).await
}

fn row(number: usize, directory: &str, stand: &Result<Arc<Stand>, Failure>) -> Markup {
    let name = html! { td { a.url href=(format!("/{number}")) { (Printable(directory)) } } };
    match stand {
        Err(failure) => html! { tr { (name) td colspan="7" { (Printable(failure.text())) } } },
        Ok(stand) => {
            let (status, summary) = (&stand.status, &stand.status.summary);
            html! {
                tr {
                    (name)
                    td { (state(status)) }
                    td.number { (summary.fetched) }
                    td.number { (summary.frontier) }
                    td.number { (summary.urls) }
                    td.number { (summary.sites) }
                    td.number { (summary.in_trouble.as_ref().map_or(0, |trouble| trouble.sites)) }
                    td.number { (human_bytes(summary.bytes)) }
                }
            }
        }
    }
}

/// How a crawl stands, in words.
fn state(status: &Status) -> String {
    let is_running = status.summary.end == "running";
    let waits =
        status.waits.as_ref().and_then(|waits| waits_in_words(waits, Clock::start().date())).unwrap_or_default();
    match status.summary.end.as_str() {
        _ if status.paused => "paused".to_owned(),
        _ if is_running && !waits.is_empty() => format!("running; it waits for: {waits}"),
        "running" => "running".to_owned(),
        "finished" => "finished".to_owned(),
        _ => "not running, and work is left".to_owned(),
    }
}
