//! Where a worker takes part in queries: it starts a child process for each, and passes on what that says.
//!
//! ```text
//!  POST   /v1/queries          Start ──▶ Started    starts the process
//!  POST   /v1/queries/ID/run   Run ──▶ Ended        answers when the process has ended
//!  DELETE /v1/queries/ID                            ends the process
//! ```
//!
//! Who asked and does not wait for the answer any more has it ended too.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Json, Router};
use dataset::schema::Table;
use dataset::{Layout, covered_bytes};
use query_wire::{PartResult, Run, Start, Started};
use serde::Serialize;
use shared_archive::SharedArchive;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::part::{Job, State as CrawlState, elsewhere};
use super::{ANSWER_BYTES_MAX, QUERY_SECONDS_MAX, QueryError};
use crate::access::Guard;
use crate::port::serve;
use console::message::message;

/// Queries that a worker takes part in at once.
const QUERIES_MAX: usize = 4;
/// Bytes of a request.
const REQUEST_BYTES_MAX: usize = 8 << 20;
/// The longest that a process may take to say where it listens.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// The longest that a process may take to end after it said how.
const END_TIME_MAX: Duration = Duration::from_secs(5);

/// Brings the files of a segment of a worker that is gone (`NAME.warc.gz`) into a dataset, where a file has to appear whole or not
/// at all. It is asked for one segment at a time.
pub type Fetch = dyn Fn(&str, &Layout) -> anyhow::Result<()> + Send + Sync;

/// Brings them from the archive on shared storage.
#[must_use]
pub fn fetch_from(archive: Arc<SharedArchive>) -> Arc<Fetch> {
    Arc::new(move |segment, layout| {
        for table in Table::ALL {
            let name = Layout::at("dataset").file(table, segment).display().to_string();
            if !archive.get(&name, &layout.file(table, segment))? {
                bail!("{}: there is no {name}", archive.url());
            }
        }
        Ok(())
    })
}

/// What a worker needs to take part.
pub struct Endpoint {
    /// The program whose `query-part` is started.
    pub program: PathBuf,
    /// The worker's directory. What lies in its dataset are the segments that this worker wrote, and no others.
    pub root: PathBuf,
    /// The address that its processes listen at, each at a free port.
    pub listen: IpAddr,
    /// The host by which the processes of other workers reach that address.
    pub host: String,
    /// The access rules.
    pub guard: Guard,
    /// Brings segments of workers that are gone into the directory's `elsewhere/`.
    pub fetch: Arc<Fetch>,
    /// The state of the crawl, which has the URLs visited without success. Without it, only the datasets have them.
    pub state: Option<CrawlState>,
}

impl Endpoint {
    /// Answers at a port, for ever.
    pub async fn serve(self, listener: TcpListener) {
        let guard = self.guard.clone();
        serve(listener, self.router(), guard).await;
    }

    fn router(self) -> Router {
        let running = Arc::new(Running {
            endpoint: self,
            free: Arc::new(Semaphore::new(QUERIES_MAX)),
            queries: Mutex::default(),
            fetching: Mutex::default(),
        });
        Router::new()
            .route("/v1/queries", post(start))
            .route("/v1/queries/{id}/run", post(run))
            .route("/v1/queries/{id}", delete(cancel))
            .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
            .with_state(running)
    }
}

/// The queries of a worker.
struct Running {
    endpoint: Endpoint,
    free: Arc<Semaphore>,
    queries: Mutex<HashMap<String, Entry>>,
    /// Held by who fetches segments, so that none is fetched twice.
    fetching: Mutex<()>,
}

/// A query.
struct Entry {
    /// Until a client waits for its answer.
    process: Option<Process>,
    is_cancelled: Arc<Notify>,
}

impl Running {
    fn queries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        // A thread that panicked while it held the map left nothing half done in it.
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process that takes part; it is killed when this is dropped.
struct Process {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    _permit: OwnedSemaphorePermit,
}

impl Process {
    fn start(endpoint: &Endpoint, permit: OwnedSemaphorePermit) -> anyhow::Result<Self> {
        let mut child = Command::new(&endpoint.program)
            .arg("query-part")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", endpoint.program.display()))?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).context("internal error: no pipes")?;
        Ok(Process { child, stdin, stdout: BufReader::new(stdout), _permit: permit })
    }

    async fn tell(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let line = serde_json::to_string(line)? + "\n";
        Ok(self.stdin.write_all(line.as_bytes()).await?)
    }

    async fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        (&mut self.stdout).take(ANSWER_BYTES_MAX).read_line(&mut line).await?;
        match line.ends_with('\n') {
            true => Ok(line),
            false if line.is_empty() => bail!("its process was lost"),
            false => bail!("the answer has more than {ANSWER_BYTES_MAX} bytes: use a smaller limit"),
        }
    }
}

/// An error as an answer.
struct Failure(StatusCode, anyhow::Error);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, message(format_args!("{:#}", self.1)) + "\n").into_response()
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure(StatusCode::INTERNAL_SERVER_ERROR, error)
    }
}

async fn start(
    State(running): State<Arc<Running>>,
    Json(start): Json<Start>,
) -> Result<Json<Result<Started, QueryError>>, Failure> {
    start.secret().map_err(|wrong| Failure(StatusCode::BAD_REQUEST, anyhow::Error::msg(wrong)))?;
    // Those whose process gave up waiting.
    running
        .queries()
        .retain(|_, entry| entry.process.as_mut().is_none_or(|process| matches!(process.child.try_wait(), Ok(None))));
    let permit = running.free.clone().try_acquire_owned();
    let permit = permit.map_err(|_| {
        let busy = anyhow!("it takes part in {QUERIES_MAX} queries already: try again later");
        Failure(StatusCode::SERVICE_UNAVAILABLE, busy)
    })?;
    fetch_missing(running.clone(), start.segments.clone()).await?;
    let id = start.id.clone();
    let mut process = Process::start(&running.endpoint, permit)?;
    let Endpoint { root, listen, host, state, .. } = &running.endpoint;
    let (root, host, state) = (root.clone(), host.clone(), state.clone());
    process.tell(&Job { root, listen: *listen, host, start, state }).await?;
    let line = timeout(START_TIME_MAX, process.line()).await.context("its process did not start")??;
    let Ok(started) = serde_json::from_str::<Started>(&line) else {
        let ended: PartResult = serde_json::from_str(&line).context("unexpected output of its process")?;
        return Ok(Json(Err(ended.err().context("its process ended at once")?)));
    };
    let entry = Entry { process: Some(process), is_cancelled: Arc::default() };
    if running.queries().insert(id, entry).is_some() {
        return Err(anyhow!("it takes part in this query already").into());
    }
    Ok(Json(Ok(started)))
}

/// Brings what a query reads of workers that are gone into the directory.
async fn fetch_missing(running: Arc<Running>, segments: Vec<String>) -> anyhow::Result<()> {
    let fetch_all = move || {
        let _fetching = running.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        let Endpoint { root, fetch, .. } = &running.endpoint;
        let layout = elsewhere(root);
        for segment in segments {
            if covered_bytes(&layout, &segment)?.is_none() {
                fetch(&segment, &layout).with_context(|| format!("segment {segment} of a worker that is gone"))?;
            }
        }
        anyhow::Ok(())
    };
    tokio::task::spawn_blocking(fetch_all).await.context("internal error: fetching a segment")?
}

async fn run(
    State(running): State<Arc<Running>>,
    Path(id): Path<String>,
    Json(run): Json<Run>,
) -> Result<Json<PartResult>, Failure> {
    let taken =
        running.queries().get_mut(&id).and_then(|entry| Some((entry.process.take()?, entry.is_cancelled.clone())));
    let unknown = || Failure(StatusCode::NOT_FOUND, anyhow!("it has no such query that waits to be run"));
    let (mut process, is_cancelled) = taken.ok_or_else(unknown)?;
    let _forgotten = Forgotten { running: &running, id: &id };
    let ended = async {
        process.tell(&run).await?;
        let line = timeout(Duration::from_secs(QUERY_SECONDS_MAX), process.line()).await;
        let line = line.context("its process took too long")??;
        serde_json::from_str(&line).context("unexpected output of its process")
    };
    let ended: PartResult = tokio::select! {
        ended = ended => ended?,
        () = is_cancelled.notified() => return Err(anyhow!("the query was cancelled").into()),
    };
    // It has nothing to do any more; one that does not end is killed.
    let _ = timeout(END_TIME_MAX, process.child.wait()).await;
    Ok(Json(ended))
}

/// Removes a query, however it ends.
struct Forgotten<'a> {
    running: &'a Running,
    id: &'a str,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        self.running.queries().remove(self.id);
    }
}

async fn cancel(State(running): State<Arc<Running>>, Path(id): Path<String>) -> Json<()> {
    if let Some(entry) = running.queries().remove(&id) {
        entry.is_cancelled.notify_one();
    }
    Json(())
}
