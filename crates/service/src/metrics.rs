//! What a running crawl tells a monitoring system: counters as text, in the exposition format of Prometheus (0.0.4).

mod measured;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use ask::freshness::Freshness;
use axum::http::header;
use axum::routing::{Router, get};
use console::progress::Show;
use engine::Progress;
use tokio::runtime::Handle;

use crate::access::Guard;
use crate::port::{self, serve};
use measured::text;
use settings::usage;

pub use measured::{Counted, Metric, Tally, of_cluster, of_freshness, of_process, of_progress, of_totals, of_worker};

/// The content type of the format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How a crawl is watched while it runs.
pub struct Watched {
    /// How progress is shown.
    pub show: Show,
    /// The endpoint for a monitoring system.
    pub metrics: Option<Metrics>,
}

/// The port that serves them, and the progress of a crawl.
#[derive(Clone)]
pub struct Metrics {
    listener: Arc<TcpListener>,
    guard: Guard,
    noted: Arc<Mutex<Noted>>,
}

/// What a crawl says of itself.
#[derive(Clone, Default)]
struct Noted {
    now: Option<Progress>,
    freshness: Option<Freshness>,
}

impl Metrics {
    /// Listens at the address that `--metrics` gives, `ADDR:PORT` or `NAME:PORT`, and says on standard error where that is.
    ///
    /// # Errors
    /// The address is unavailable.
    pub fn listen(given: &str) -> anyhow::Result<Self> {
        let address = port::resolve("--metrics", given)?;
        let listener = TcpListener::bind(address).map_err(|error| usage(format!("--metrics {address}: {error}")))?;
        listener.set_nonblocking(true)?;
        console::say!("metrics at http://{}/metrics", listener.local_addr()?);
        Ok(Metrics { listener: Arc::new(listener), guard: Guard::open().called(given), noted: Arc::default() })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until the runtime ends: with the metrics of the process, of the progress noted last, and those that `more` measures, which
    /// may take its time.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn serve(
        &self,
        runtime: &Handle,
        more: impl Fn() -> Vec<Metric> + Clone + Send + Sync + 'static,
    ) -> anyhow::Result<()> {
        let _guard = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(self.listener.try_clone()?).context("--metrics")?;
        let noted = self.noted.clone();
        let measure = move || {
            let Noted { now, freshness } = noted.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let progress = now.as_ref().map(of_progress).unwrap_or_default();
            let freshness = freshness.as_ref().map(of_freshness).unwrap_or_default();
            [of_process(), progress, freshness, more()].concat()
        };
        let text = move || async move {
            // If measuring panicked, the metrics are missing, which a monitoring system notices.
            let metrics = tokio::task::spawn_blocking(measure).await.unwrap_or_default();
            ([(header::CONTENT_TYPE, CONTENT_TYPE)], text(&metrics))
        };
        // The answer has numbers only, no URL and no name, so the port needs no token. The guard keeps out pages whose own name leads here.
        runtime.spawn(serve(listener, Router::new().route("/metrics", get(text)), self.guard.clone()));
        Ok(())
    }

    /// Where the crawl stands from now on.
    pub fn note(&self, now: Progress) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).now = Some(now);
    }

    /// How fresh its pages are from now on.
    pub fn note_freshness(&self, freshness: Option<Freshness>) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).freshness = freshness;
    }
}
