//! The stream of a crawl: one JSON object a line for each outcome that is committed, exactly once.
//!
//! ```text
//!  recorder ──▶ lines ──▶ outbox (DIR/stream, durable before the commit) ──▶ sender ──▶ a file, standard output, a socket
//! ```
//!
//! A line is in the outbox before its commit, and is sent after it. If a process was killed in between, the next opening of the state
//! resolves the doubtful lines ([`settle`]): the outbox names the visit that shows whether the commit came.
//!
//! The directory remembers where its lines went, and may come from somebody else, with lines and a target of their choice. So what it
//! remembers is compared, and never opened: each run names its target itself ([`StreamTo::of_run`]).

mod lines;
mod outbox;
mod sender;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use anyhow::{anyhow, bail};
use engine::{Recorded, Sink, SinkError, Visited};
use settings::usage;
use store::{Batch, CrawlView, Store};
use tokio::sync::watch;

use crate::Notice;
use lines::Lines;
use outbox::{Outbox, Shared};
use sender::{Output, To};

pub use outbox::settle;

/// Default for the bytes of lines that may wait for their reader.
pub const BUFFER_BYTES_MAX: u64 = 64 << 20;

/// The settings of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamTo {
    /// Where it goes.
    pub target: Target,
    /// The fields of a line beyond the row of a URL.
    pub fields: BTreeSet<Field>,
    /// Bytes of lines that may wait for their reader. Beyond it the crawl waits.
    pub buffer_bytes_max: u64,
}

/// Where a stream goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, which is created or continued.
    File(PathBuf),
    /// Standard output.
    Stdout,
    /// A UNIX socket at which a reader listens.
    Unix(PathBuf),
}

/// The further fields that a line may have beyond the row of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The visible text of a page.
    Text,
    /// The main text of a page, its kind, and what it tells of itself.
    MainText,
    /// The links of a page.
    Links,
    /// The header fields that the dataset keeps.
    Headers,
}

impl FromStr for Target {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match (text, text.strip_prefix("unix:")) {
            ("" | "unix:", _) => Err(usage("--stream: give FILE, - or unix:PATH")),
            ("-", _) => Ok(Target::Stdout),
            (_, Some(path)) => Ok(Target::Unix(std::path::absolute(path)?)),
            (path, None) => Ok(Target::File(std::path::absolute(path)?)),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::File(path) => path.display().fmt(f),
            Target::Stdout => f.write_str("-"),
            Target::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Field {
    const ALL: [(&'static str, Field); 4] =
        [("headers", Field::Headers), ("links", Field::Links), ("main-text", Field::MainText), ("text", Field::Text)];
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Field::ALL.iter().find(|(_, field)| field == self).map(|(name, _)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

impl FromStr for Field {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let found = Field::ALL.iter().find(|(name, _)| *name == text);
        let names: Vec<&str> = Field::ALL.iter().map(|(name, _)| *name).collect();
        found
            .map(|(_, field)| *field)
            .ok_or_else(|| usage(format!("--stream-fields: {text} is none of {}", names.join(", "))))
    }
}

impl StreamTo {
    /// A stream to this target, with the default buffer and without more fields.
    #[must_use]
    pub fn new(target: Target) -> Self {
        StreamTo { target, fields: BTreeSet::new(), buffer_bytes_max: BUFFER_BYTES_MAX }
    }

    /// The stream of a run. It has the fields of the run before, if none are asked for; `dir` is [`CrawlDir::stream`](crate::CrawlDir::stream).
    ///
    /// # Errors
    /// The crawl has a stream, and the run does not name its target; there is none that the fields or the buffer are about; or what the
    /// directory remembers cannot be read.
    pub fn of_run(dir: &Path, asked: Asked) -> anyhow::Result<Option<Self>> {
        let Some(target) = asked.target else {
            refuse_unnamed(dir)?;
            if !asked.fields.is_empty() || asked.buffer.is_some() {
                bail!(usage("--stream-fields and --stream-buffer are about a stream: give --stream"));
            }
            return Ok(None);
        };
        let fields = match outbox::last(dir)? {
            Some((_, fields)) if asked.fields.is_empty() => {
                fields.iter().map(|field| field.parse()).collect::<anyhow::Result<_>>()?
            }
            _ => asked.fields.into_iter().collect(),
        };
        Ok(Some(StreamTo { target, fields, buffer_bytes_max: asked.buffer.unwrap_or(BUFFER_BYTES_MAX) }))
    }

    /// Makes sure that the stream of a crawl can go on so; `dir` is [`CrawlDir::stream`](crate::CrawlDir::stream). Nothing is written.
    pub(crate) fn check(&self, dir: &Path, view: &dyn CrawlView) -> anyhow::Result<()> {
        outbox::check(dir, view, &self.target)
    }

    /// Ends the stream of a crawl; `dir` is [`CrawlDir::stream`](crate::CrawlDir::stream). Unread lines are lost.
    ///
    /// # Errors
    /// Its remains cannot be removed.
    pub fn forget(dir: &Path) -> std::io::Result<()> {
        match std::fs::remove_dir_all(dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// Refuses a run that neither names the target of the crawl's stream nor ends the stream: lines would be lost, or go where only the directory
/// wants them. `dir` is [`CrawlDir::stream`](crate::CrawlDir::stream).
pub(crate) fn refuse_unnamed(dir: &Path) -> anyhow::Result<()> {
    let Some((target, _)) = outbox::last(dir)? else { return Ok(()) };
    bail!(usage(format!(
        "the stream of this crawl went to `{target}`, and only the directory says so: name where it goes on with --stream, or end it with \
         --no-stream, by which lines that were not sent are lost"
    )))
}

/// What a run says of its stream.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Where its lines go.
    pub target: Option<Target>,
    /// More fields of its lines.
    pub fields: Vec<Field>,
    /// Bytes of lines that may wait.
    pub buffer: Option<u64>,
}

/// A target that is open, for a run that may still be refused.
pub(crate) struct OpenTarget {
    to: To,
    made: MadeFile,
}

/// A file that was made for a stream. Unless the run begins, it is removed again, if it is empty.
struct MadeFile(Option<PathBuf>);

impl OpenTarget {
    /// Opens the target of a stream; `dir` is [`CrawlDir::stream`](crate::CrawlDir::stream), which may be missing.
    ///
    /// # Errors
    /// It cannot be used; or it is a file that is not of this stream.
    pub(crate) fn of(dir: &Path, stream: &StreamTo) -> anyhow::Result<Self> {
        let target = &stream.target;
        outbox::refuse_taken(target, outbox::last(dir)?.as_ref().map(|(last, _)| last.as_str()))?;
        let (to, made) = To::open(target, dir.parent().unwrap_or(dir))?;
        Ok(OpenTarget { to, made: MadeFile(made) })
    }
}

impl Drop for MadeFile {
    fn drop(&mut self) {
        let Some(path) = self.0.as_ref().filter(|path| path.metadata().is_ok_and(|found| found.len() == 0)) else {
            return;
        };
        // An empty file is in nobody's way.
        let _ = std::fs::remove_file(path);
    }
}

/// A stream while its session lives. Dropping it ends the sending thread; the next session sends the rest.
pub(crate) struct Stream {
    shared: Arc<Shared>,
    target: Target,
    thread: Option<JoinHandle<()>>,
}

/// Shows whether a stream holds the crawl up. It keeps no file of the stream open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Weak<Shared>);

impl Gauge {
    /// True while a commit waits for the reader of the stream.
    pub(crate) fn is_full(&self) -> bool {
        self.0.upgrade().is_some_and(|shared| shared.holds_commit())
    }
}

/// What has the lines of a commit written.
struct StreamSink {
    lines: Lines,
    outbox: Outbox,
}

impl Stream {
    /// Opens the stream of a crawl, and continues where it ended. `stopping` requests the end of the run; the stream sets it when the reader of standard
    /// output has left.
    pub(crate) fn open(
        dir: &Path,
        store: Arc<dyn Store>,
        (to, target): (StreamTo, OpenTarget),
        stopping: watch::Sender<bool>,
    ) -> anyhow::Result<(Box<dyn Sink>, Self)> {
        let view: &dyn CrawlView = store.as_ref();
        let outbox = Outbox::open(dir, view, &to, stopping)?;
        let OpenTarget { to: target, mut made } = target;
        made.0 = None;
        let output = Output::new(target, &outbox)?;
        let StreamTo { target, fields, .. } = to;
        let shared = outbox.shared();
        let sending = shared.clone();
        let thread =
            std::thread::Builder::new().name("stream".to_owned()).spawn(move || sender::send(output, &sending))?;
        let sink = StreamSink { lines: Lines::new(store, fields), outbox };
        Ok((Box::new(sink), Stream { shared, target, thread: Some(thread) }))
    }

    /// Whether it holds the crawl up.
    pub(crate) fn gauge(&self) -> Gauge {
        Gauge(Arc::downgrade(&self.shared))
    }

    /// Sends the remaining lines, as far as the reader takes them. The sink must be gone.
    pub(crate) fn finish(mut self) -> anyhow::Result<Vec<Notice>> {
        self.shared.end();
        self.join()?;
        let (left, is_gone) = self.shared.left()?;
        let target = self.target.to_string();
        Ok((left > 0 || is_gone).then_some(Notice::StreamLeft { bytes: left, target, is_gone }).into_iter().collect())
    }

    fn join(&mut self) -> anyhow::Result<()> {
        let joined = self.thread.take().map_or(Ok(()), JoinHandle::join);
        joined.map_err(|_| anyhow!("internal error: the stream's thread panicked"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.abort();
        // A panic there has been told of on standard error.
        let _ = self.join();
    }
}

impl Sink for StreamSink {
    fn recording(&mut self, batch: &Batch, visited: &[Visited]) -> Result<(), SinkError> {
        let (bytes, count, witness) = self.lines.of(batch, visited, self.outbox.lines())?;
        match witness {
            Some(witness) => Ok(self.outbox.append(&bytes, count, witness)?),
            None => Ok(()),
        }
    }

    fn recorded(&mut self, _recorded: &Recorded<'_>) -> Result<(), SinkError> {
        Ok(self.outbox.confirm()?)
    }
}
