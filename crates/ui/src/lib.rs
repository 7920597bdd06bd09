//! A crawl in the browser: its state while it runs, its sites and URLs, the story of each, search, the report, and changes.
//!
//! ```text
//!  browser ──▶ router ──▶ one module a screen ──▶ ask, report, crawl::made ──▶ the directory, or the crawl that runs in it
//!          ──▶ cluster::router ──▶ one module a screen ──▶ service::client ──▶ the server of a crawl by several workers
//! ```
//!
//! Each request reads the crawl as of its last commit ([`crawl::standing`]), so a crawl can begin, end and go on meanwhile. Besides that,
//! the samples of [`live`] are kept, and answers that read much ([`kept`]). All pages work without scripts; the script only keeps numbers up to date.
//!
//! Invariants: no text from the web becomes markup, since templates escape every value; nothing is loaded from elsewhere and no inline
//! script runs, by [`frame::POLICY`]; only a page of this program can send a form ([`origin`]).

mod answers;
mod assets;
mod awaited;
mod base;
mod board;
mod change_forms;
mod changes_page;
pub mod cluster;
pub mod commands;
mod compressed;
mod crawls;
mod disk;
mod effects;
mod failure;
mod files;
mod filter;
mod frame;
mod graph_page;
mod guarded;
mod history;
mod in_order;
mod kept;
mod links;
mod live;
mod origin;
mod overview;
mod page;
mod query;
mod report_page;
mod rows;
mod search;
mod sites;
mod sites_by_state;
mod sites_sorted;
mod standing_status;
mod steer;
mod story;
mod timeline;
mod urls;
mod verbatim;
mod views;
mod wording;

use std::path::PathBuf;
use std::sync::Arc;

use ask::urls::Listed;
use axum::middleware::from_fn;
use axum::routing::{Router, get, post};
use crawl::opened::{Opened, has_ended};
use crawl::standing::Standing;
use model::SiteRecord;
use report::Statistics;
use service::access::Guard;
use service::changes::{Changes, UnderWay};
use service::here::Interface;
use service::port::http;
use service::sortings::Sortings;
use tokio::sync::Semaphore;
use tonic::Status;

use crate::answers::Answers;
use crate::awaited::Turn;
use crate::disk::LastDisk;
use crate::effects::Effects;
use crate::failure::{Failure, refusal};
use crate::filter::Filter;
use crate::graph_page::Pictures;
use crate::kept::Kept;
use crate::live::Live;
use crate::overview::Latest;
use crate::sites_by_state::Troubled;
use crate::standing_status::StandingStatus;

pub use crate::change_forms::changes;

/// Questions that read much at a time; others wait for their turn.
const LARGE_QUESTIONS_MAX: usize = 2;
/// Pictures of the graph, and parts of files and of sorted tables, at a time. They keep no question waiting.
const WHOLE_MAX: usize = 1;
/// Reports at a time. They take longest, and keep nothing else waiting.
const REPORTS_MAX: usize = 1;
/// Files that are downloaded at a time. Each holds a thread until its reader has it.
const FILES_MAX: usize = 8;

/// What the screens share.
#[derive(Clone)]
struct Ui {
    crawl: Arc<Standing>,
    live: Arc<Live>,
    statistics: Arc<Kept<Statistics>>,
    /// Held while a report is counted for a page.
    counting: Turn,
    troubled: Arc<Kept<Troubled>>,
    status: Arc<StandingStatus>,
    disk: Arc<LastDisk>,
    /// The pages that a crawl at rest visited last.
    latest: Arc<Kept<Latest>>,
    effects: Arc<Effects>,
    /// What came of the last forms.
    answers: Arc<Answers<steer::Answer>>,
    changes: Changes,
    pictures: Arc<Pictures>,
    sorted_urls: Arc<Sortings<Filter, Listed, Opened>>,
    sorted_sites: Arc<Sortings<sites_sorted::Asked, SiteRecord, Opened>>,
    large: Arc<Semaphore>,
    whole: Arc<Semaphore>,
    reports: Arc<Semaphore>,
    files: Arc<Semaphore>,
}

/// The turns of each kind. All crawls have the same: they share a machine.
const TURNS: [usize; 4] = [LARGE_QUESTIONS_MAX, WHOLE_MAX, REPORTS_MAX, FILES_MAX];

/// The interface to the crawl in a directory, or to the crawls in several, which makes these changes. It must be served where only its user can
/// ask.
pub fn router(roots: Vec<PathBuf>, changes: &Changes) -> Router {
    let turns = TURNS.map(|max| Arc::new(Semaphore::new(max)));
    let mut crawls: Vec<Ui> = roots.into_iter().map(|root| Ui::new(root, &turns, changes)).collect();
    crawls.iter().for_each(|crawl| crawl.status.read_beforehand(&crawl.crawl));
    match crawls.len() {
        // Outermost, for refusals too.
        2.. => guarded::guarded(crawls::router(crawls)).layer(from_fn(frame::with_all_crawls)),
        _ => guarded::guarded(crawls.pop().map(screens).unwrap_or_default()),
    }
}

/// Screens as they are served, to those whom a guard lets in if there is one. What is refused is so by a page.
#[must_use]
pub fn interface(router: Router, guard: Option<Guard>) -> Interface {
    let refusal = |status: &Status| refusal(http(status), status.message());
    Interface { router, refusal, open: &assets::OF_ALL_PAGES, guard }
}

/// The screens of a crawl.
fn screens(ui: Ui) -> Router {
    Router::new()
        .route("/", get(overview::show))
        .route("/sites", get(sites::show))
        .route("/urls", get(urls::show))
        .route("/urls/views", post(views::save))
        .route("/urls/views/delete", post(views::delete))
        .route("/urls.csv", get(urls::csv))
        .route("/urls.jsonl", get(urls::jsonl))
        .route("/urls.parquet", get(urls::parquet))
        .route("/url", get(story::show))
        .route("/url/row", get(page::row))
        .route("/url/record", get(page::record))
        .route("/url/picture", get(page::picture))
        .route("/url/copies", get(page::copies))
        .route("/changes", get(changes_page::show))
        .route("/search", get(search::show))
        .route("/graph", get(graph_page::show))
        .route("/graph.json", get(graph_page::data))
        .route("/graph/rank", get(graph_page::rank))
        .route("/graph/path", get(graph_page::way))
        .route("/graph/overlap", get(graph_page::between))
        .route("/graph.js", get(assets::graph_script))
        .route("/report", get(report_page::show))
        .route("/report.html", get(report_page::file))
        .route("/report.csv", get(report_page::csv))
        .route("/steer", get(steer::show).post(steer::change))
        .route("/steer/answer", get(steer::answer))
        .route("/steer/undo", get(steer::undo).post(steer::take_back))
        .route("/history.json", get(history::data))
        .route("/events", get(live::events))
        .route("/ui.css", get(assets::style))
        .route("/ui.js", get(assets::script))
        .route("/icon.svg", get(assets::icon))
        .with_state(ui)
}

/// Runs what blocks on a thread for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Failure::from),
        Err(error) => Err(Failure::Failed(format!("internal error: {error}"))),
    }
}

/// Answers a question, once more if the crawl that answered it has ended meanwhile: it rests now.
fn answered<T>(crawl: &Standing, question: impl Fn(&Standing) -> anyhow::Result<T>) -> anyhow::Result<T> {
    match question(crawl) {
        Err(error) if has_ended(&error) => question(crawl),
        answer => answer,
    }
}

impl Ui {
    /// With the turns of [`TURNS`].
    fn new(root: PathBuf, [large, whole, reports, files]: &[Arc<Semaphore>; 4], changes: &Changes) -> Self {
        Ui {
            live: Arc::new(Live::new(root.clone())),
            crawl: Arc::new(Standing::new(root)),
            statistics: Arc::default(),
            counting: Arc::default(),
            troubled: Arc::default(),
            status: Arc::default(),
            disk: Arc::default(),
            latest: Arc::default(),
            effects: Arc::default(),
            answers: Arc::default(),
            changes: changes.clone(),
            pictures: Arc::default(),
            sorted_urls: Arc::new(Sortings::new(whole.clone())),
            sorted_sites: Arc::new(Sortings::new(whole.clone())),
            large: large.clone(),
            whole: whole.clone(),
            reports: reports.clone(),
            files: files.clone(),
        }
    }

    /// The same for a question that reads much, when it has its turn among `turns`.
    async fn large<T: Send + 'static>(
        &self,
        turns: &Arc<Semaphore>,
        question: impl Fn(&Standing) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = turns.clone().acquire_owned().await;
        let crawl = self.crawl.clone();
        blocking(move || {
            let _turn = turn;
            answered(&crawl, question)
        })
        .await
    }

    /// The same for a small question.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&Standing) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let crawl = self.crawl.clone();
        blocking(move || answered(&crawl, question)).await
    }

    /// Changes the crawl. It is done to its end: neither a reader who leaves nor the end of the process cuts it. It is under way until what
    /// this gives is dropped: with its answer.
    async fn change<T: Send + 'static>(
        &self,
        change: impl Fn(&Standing) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<(T, UnderWay), Failure> {
        let Some(under_way) = self.changes.begin().await else {
            return Err(Failure::Unready("the interface ends: nothing was done".to_owned()));
        };
        let status = self.status.clone();
        self.ask(move |crawl| {
            let made = change(crawl);
            // A part of a change that failed may be made.
            status.forget();
            Ok((made?, under_way.clone()))
        })
        .await
    }
}
