//! A member's part of a query, as a process: `argiope query-part`.
//!
//! ```text
//!  stdin   what to compute (Job)         stdout  where it listens (Started)
//!  stdin   all members (Run)             stdout  how it ended
//! ```
//!
//! Everything is one line of JSON. It ends when standard input does, so that it never outlives the worker that started it, and
//! after its time is over.

use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom, Write};
use std::net::{IpAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, bail};
use database::Address;
use dataset::schema::Table;
use dataset::{Layout, Superseded, has_superseded, write_superseded};
use graph::{Crew, Visits};
use query_wire::{PartResult, Piece, Query, Run, Start, Started};
use serde::{Deserialize, Serialize};
use store_postgres::cluster::Visited;

use super::answers::PartOfQuery;
use super::peers::Peers;
use super::{QUERY_SECONDS_MAX, QueryError, why};
use crawl::CrawlDir;
use crawl::live;

/// Where the tables of segments of workers that are gone lie, below a worker's directory.
const ELSEWHERE: &str = "elsewhere";
/// Bytes of a line that is read.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// The longest wait for the list of members, and then until all are connected.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(60);

/// What a process is to compute.
#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    /// The worker's directory.
    pub(super) root: PathBuf,
    /// The address to listen at, and how others reach it.
    pub(super) listen: IpAddr,
    pub(super) host: String,
    pub(super) start: Start,
    /// Where the state is.
    pub(super) state: Option<State>,
}

/// The database with the state of a crawl, and the schema in it. The password is found as everywhere (`PGPASSWORD`, `~/.pgpass`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// The database, a URL.
    pub store: String,
    /// The schema.
    pub schema: String,
}

/// The dataset of segments of workers that are gone, in a worker's directory.
pub(super) fn elsewhere(root: &Path) -> Layout {
    Layout::at(root.join(ELSEWHERE))
}

/// Runs the process.
pub fn run() -> ExitCode {
    // A dataflow that lost a member panics, on whichever of its threads.
    std::panic::set_hook(Box::new(|info| {
        let what = info.payload_as_str().unwrap_or("internal error").lines().next().unwrap_or_default().to_owned();
        end(&Err(QueryError::Lost(format!("the computation was broken off: {what}"))));
    }));
    end(&compute().map_err(why))
}

/// Says how it ended, and ends.
fn end(ended: &PartResult) -> ! {
    // Who does not listen any more does not need it.
    let _ = say(ended);
    std::process::exit(i32::from(ended.is_err()));
}

fn say(line: &impl Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(serde_json::to_string(line)?.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

fn compute() -> anyhow::Result<Option<serde_json::Value>> {
    let lines = lines()?;
    let job = lines.recv().context("there is no job on standard input")?;
    let Job { root, listen, host, start, state } = serde_json::from_str(&job).context("the job on standard input")?;
    let secret = start.secret().map_err(anyhow::Error::msg)?;
    let Start { index, members, query, segments, .. } = start;
    let _in_time = Deadline::after(Duration::from_secs(QUERY_SECONDS_MAX), "the query took too long");

    let listener = TcpListener::bind((listen, 0)).with_context(|| format!("cannot listen at {listen}"))?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    say(&Started { address: format!("{host}:{}", listener.local_addr()?.port()), threads })?;
    let connected = Deadline::after(CONNECT_TIME_MAX, "the members of the query were not connected in time");
    let run = lines.recv().context("there is no list of members on standard input")?;
    let Run { addresses, threads } = serde_json::from_str(&run).context("the list of members on standard input")?;
    if addresses.len() != members {
        bail!("a list of {} members, not of {members}", addresses.len());
    }
    let (peers, sockets) = Peers::connect(&listener, secret, index, &addresses)?;
    drop((listener, connected));

    if let Query::Piece { segment, offset, bytes } = &query {
        return Ok(Some(serde_json::to_value(piece(&root, segment, *offset, *bytes)?)?));
    }
    // All do so at about the same time: the answer is as of now.
    live::publish(&root)?;
    let elsewhere = elsewhere(&root).only(segments.iter().map(String::as_str));
    let dir = CrawlDir::at(&root);
    let layouts = vec![Layout::at(dir.dataset()), elsewhere];
    if let Some(state) = &state {
        supersede(&layouts, &visited(state)?)?;
    }
    let visits = if query.is_of_graph() { visits(&dir, state.as_ref(), (index, members))? } else { Visits::default() };
    PartOfQuery { layouts, visits, peers }.answer(&query, Crew::among(sockets, threads))
}

/// Bytes of a segment that this worker writes; none if it does not have the segment, or not any more: what is sealed is elsewhere.
fn piece(root: &Path, segment: &str, offset: u64, bytes: u64) -> anyhow::Result<Piece> {
    let path = CrawlDir::at(root).archive().join(segment);
    let mut file = match fresh::open_to_read(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Piece::of(None)),
        Err(error) => return Err(error).with_context(|| segment.to_owned()),
    };
    let mut read = Vec::new();
    file.seek(SeekFrom::Start(offset)).and_then(|_| file.take(bytes).read_to_end(&mut read))?;
    Ok(Piece::of(Some(&read)))
}

/// What this member knows of the visited pages besides the datasets. Each member reads a share of what all need once.
fn visits(dir: &CrawlDir, state: Option<&State>, share: (usize, usize)) -> anyhow::Result<Visits> {
    let bottom = dir.options()?.depth;
    let Some(state) = state else { return Ok(Visits { bottom, ..Visits::default() }) };
    let visited = visited(state)?;
    let followed = visited.followed()?.into_iter().collect();
    Ok(Visits { bottom, followed, in_vain: visited.in_vain(share)? })
}

fn visited(State { store, schema }: &State) -> anyhow::Result<Visited> {
    Ok(Visited::open(&Address::parse(store)?, &schema.parse()?)?)
}

/// Says which rows of these datasets count no more, since their URL was visited again.
fn supersede(layouts: &[Layout], visited: &Visited) -> anyhow::Result<()> {
    let mut superseded = Superseded::new();
    visited.superseded(&mut |segment, key| {
        superseded.entry(segment.to_owned()).or_default().insert(key);
    })?;
    for layout in layouts {
        let here = superseded.iter().filter(|(segment, _)| layout.file(Table::Pages, segment).exists());
        let here: Superseded = here.map(|(segment, keys)| (segment.clone(), keys.clone())).collect();
        // A list that is there may have a URL whose row was taken back, and which has another since.
        if !here.is_empty() || has_superseded(layout) {
            write_superseded(layout, &here)?;
        }
    }
    Ok(())
}

/// The lines of standard input. When it ends, so does the process.
fn lines() -> anyhow::Result<Receiver<String>> {
    let (lines, read) = sync_channel(1);
    let follow = move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = String::new();
            let is_read = (&mut input).take(LINE_BYTES_MAX).read_line(&mut line).is_ok();
            if !is_read || !line.ends_with('\n') || lines.send(line).is_err() {
                end(&Err(QueryError::Failed("the worker has gone".to_owned())));
            }
        }
    };
    std::thread::Builder::new().name("stdin".to_owned()).spawn(follow)?;
    Ok(read)
}

/// Ends the process when its time is over, unless it was dropped before.
struct Deadline {
    _alive: SyncSender<()>,
}

impl Deadline {
    fn after(time: Duration, what: &'static str) -> Self {
        let (alive, is_over) = sync_channel::<()>(0);
        std::thread::spawn(move || {
            if is_over.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                end(&Err(QueryError::Failed(format!("{what}: {}", humantime::format_duration(time)))));
            }
        });
        Deadline { _alive: alive }
    }
}
