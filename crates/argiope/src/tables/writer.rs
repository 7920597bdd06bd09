//! Writes the dataset while the crawl runs, on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use dataset::{Layout, Rows, SegmentTables};
use engine::{Observer, Recorded, Visited};
use store::{Relaxed, Store};
use weburl::UrlKey;

use super::settle::Unsettled;
use super::written;

/// Commits waiting to be written. What one may hold is bounded by the bytes in flight.
const COMMITS_WAITING_MAX: usize = 2;

/// The thread that writes.
pub struct Writer {
    commits: SyncSender<Commit>,
    thread: JoinHandle<anyhow::Result<()>>,
}

/// What matters of a commit.
struct Commit {
    visited: Vec<Visited>,
    /// URLs that turned out to be nearer to a seed: their rows, if they have any, say something else.
    relaxed: Vec<UrlKey>,
}

impl Writer {
    /// Begins to write. The files reach as far as the archive already ([`super::derive_segments`]).
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(layout: Layout, store: Arc<dyn Store>) -> anyhow::Result<Self> {
        let (commits, inbox) = sync_channel(COMMITS_WAITING_MAX);
        let thread = std::thread::Builder::new().name("dataset".to_owned());
        let thread = thread.spawn(move || write(&layout, store.as_ref(), &inbox))?;
        Ok(Writer { commits, thread })
    }

    /// What is to observe the recorder.
    #[must_use]
    pub fn observer(&self) -> Observer {
        let commits = self.commits.clone();
        Box::new(move |Recorded { visited, committed, .. }: Recorded<'_>| {
            // A URL that waits gets its row when it is visited.
            let was_visited =
                |relaxed: &&Relaxed| relaxed.queued.as_ref().is_none_or(|queued| queued.visited.is_some());
            let relaxed = committed.relaxed.iter().filter(was_visited).map(|relaxed| relaxed.key);
            let relaxed = relaxed.chain(committed.outrun.iter().copied()).collect();
            // The thread ends early only when it failed: `finish` has its error.
            commits.send(Commit { visited, relaxed }).map_err(|_| "the dataset could not be written".into())
        })
    }

    /// Ends the files. The observer must be gone.
    ///
    /// # Errors
    /// They could not be written.
    pub fn finish(self) -> anyhow::Result<()> {
        drop(self.commits);
        self.thread.join().map_err(|_| anyhow!("internal error: the dataset thread panicked"))?.context("dataset")
    }
}

fn write(layout: &Layout, store: &dyn Store, inbox: &Receiver<Commit>) -> anyhow::Result<()> {
    let mut unsettled = Unsettled::begin(layout)?;
    let mut rows = Rows::new(store, false)?;
    let mut current: Option<(u32, SegmentTables)> = None;
    while let Ok(Commit { visited, relaxed }) = inbox.recv() {
        unsettled.add_stale(relaxed);
        for visited in visited {
            let Some(location) = visited.visit.location else { continue };
            let tables = match &mut current {
                Some((serial, tables)) if *serial == location.segment => tables,
                current => {
                    if let Some((serial, tables)) = current.take() {
                        tables.finish(length_of(store, serial)?)?;
                    }
                    let name = name_of(store, location.segment)?;
                    &mut current.insert((location.segment, SegmentTables::begin(layout, &name)?)).1
                }
            };
            tables.push(written(&mut rows, visited)?)?;
        }
    }
    if let Some((serial, tables)) = current {
        tables.finish(length_of(store, serial)?)?;
    }
    unsettled.settle(store)
}

fn name_of(store: &dyn Store, serial: u32) -> anyhow::Result<String> {
    let segment = store.segments()?.into_iter().find(|segment| segment.serial == serial);
    Ok(segment.ok_or_else(|| anyhow!("the state does not know segment {serial} of the archive"))?.name)
}

fn length_of(store: &dyn Store, serial: u32) -> anyhow::Result<u64> {
    let segment = store.segments()?.into_iter().find(|segment| segment.serial == serial);
    Ok(segment.map_or(0, |segment| segment.length))
}
