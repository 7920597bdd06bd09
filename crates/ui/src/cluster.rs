//! The crawl of a server in the browser: its state while workers crawl, the workers and what they own, URLs, questions to all workers, the
//! report, and changes.
//!
//! Each screen asks what `argiope client` asks. A screen says what the API does not answer. The server's token stays in the
//! client: no page has it, and no page asks the server itself.

mod begun;
mod changes;
mod effect;
mod graph;
mod kept;
mod overview;
mod page;
mod report;
mod search;
mod server;
mod steering;
mod story;
mod times;
mod told;
mod urls;
mod watching;
mod workers;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::routing::{Router, get, post};
use service::client::Client;

use crate::{assets, frame, guarded};

use self::server::Server;

/// The pages of the navigation.
const PAGES: frame::Pages = &[
    ("/", "Overview"),
    ("/workers", "Workers"),
    ("/sites", "Sites"),
    ("/urls", "URLs"),
    ("/url", "Explain"),
    ("/changes", "Changes"),
    ("/freshness", "Freshness"),
    ("/search", "Search"),
    ("/graph", "Graph"),
    ("/report", "Report"),
    ("/steer", "Steer"),
];

/// The interface to the crawl of a server, which is called so. It must be served where only its user can ask.
pub fn router(client: Client, name: &str) -> Router {
    let screens = Router::new()
        .route("/", get(overview::show))
        .route("/workers", get(workers::show))
        .route("/workers/drain", get(workers::before_drain).post(workers::drain))
        .route("/sites", get(workers::sites))
        .route("/urls", get(urls::show))
        .route("/urls.csv", get(urls::csv))
        .route("/urls.jsonl", get(urls::jsonl))
        .route("/urls.parquet", get(urls::parquet))
        .route("/url", get(story::show))
        .route("/url/row", get(page::row))
        .route("/url/record", get(page::record))
        .route("/url/picture", get(page::picture))
        .route("/url/copies", get(page::copies))
        .route("/changes", get(changes::show))
        .route("/freshness", get(changes::freshness))
        .route("/search", get(search::show))
        .route("/graph", get(graph::show))
        .route("/graph.json", get(graph::data))
        .route("/graph/rank", get(graph::rank))
        .route("/graph/path", get(graph::way))
        .route("/graph/overlap", get(graph::between))
        .route("/graph.js", get(assets::graph_script))
        .route("/report", get(report::show))
        .route("/report.html", get(report::file))
        .route("/report.csv", get(report::csv))
        .route("/steer", get(steering::show).post(steering::change))
        .route("/steer/answer", get(steering::answer))
        .route("/steer/undo", get(steering::undo).post(steering::take_back))
        .route("/steer/crawl", post(begun::crawl))
        .route("/steer/round", post(begun::round))
        .route("/steer/watch", post(begun::watch))
        .route("/history.json", get(overview::history))
        .route("/events", get(overview::events))
        .route("/ui.css", get(assets::style))
        .route("/ui.js", get(assets::script))
        .route("/icon.svg", get(assets::icon))
        .with_state(Server::new(client, name));
    guarded::guarded(screens).layer(from_fn(|request: Request, next: Next| frame::with_pages(PAGES, request, next)))
}
