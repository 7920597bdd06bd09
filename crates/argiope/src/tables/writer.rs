//! Writes the dataset while the crawl runs, on a thread of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use dataset::{Layout, Rows, SegmentTables};
use engine::{Observer, Recorded, Visited};
use stages::{Stage, time};
use store::{Relaxed, Store};
use weburl::UrlKey;

use super::live::Live;
use super::settle::Unsettled;
use super::written;

/// Commits waiting to be written. What one may hold is bounded by the bytes in flight.
const ORDERS_WAITING_MAX: usize = 2;

/// The thread that writes.
pub struct Writer {
    orders: SyncSender<Order>,
    thread: JoinHandle<anyhow::Result<()>>,
    live: Option<Live>,
}

/// What the thread is to do.
enum Order {
    /// Write rows.
    Write(Commit),
    /// Complete the files, and say so.
    Publish(SyncSender<()>),
}

/// What matters of a commit.
struct Commit {
    visited: Vec<Visited>,
    /// URLs that turned out to be nearer to a seed: their rows, if they have any, say something else.
    relaxed: Vec<UrlKey>,
}

impl Writer {
    /// Begins to write the dataset of the crawl in `root`. The files reach as far as the archive already
    /// ([`super::Deriver::derive_segments`]).
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(root: &Path, layout: Layout, store: Arc<dyn Store>) -> anyhow::Result<Self> {
        let (orders, inbox) = sync_channel(ORDERS_WAITING_MAX);
        let thread = std::thread::Builder::new().name("dataset".to_owned());
        let thread = thread.spawn(move || write(&layout, store.as_ref(), &inbox))?;
        let asked = orders.clone();
        let publish = move || {
            let (done, is_done) = sync_channel(1);
            let ended = || anyhow!("the crawl is ending");
            asked.send(Order::Publish(done)).map_err(|_| ended())?;
            is_done.recv().map_err(|_| ended())
        };
        Ok(Writer { orders, thread, live: Live::listen(root, publish) })
    }

    /// What is to observe the recorder.
    #[must_use]
    pub fn observer(&self) -> Observer {
        let orders = self.orders.clone();
        Box::new(move |Recorded { visited, committed, .. }: Recorded<'_>| {
            // A URL that waits gets its row when it is visited.
            let was_visited =
                |relaxed: &&Relaxed| relaxed.queued.as_ref().is_none_or(|queued| queued.visited.is_some());
            let relaxed = committed.relaxed.iter().filter(was_visited).map(|relaxed| relaxed.key);
            let relaxed = relaxed.chain(committed.outrun.iter().copied()).collect();
            // The thread ends early only when it failed: `finish` has its error.
            let order = Order::Write(Commit { visited, relaxed });
            orders.send(order).map_err(|_| "the dataset could not be written".into())
        })
    }

    /// Ends the files. The observer must be gone.
    ///
    /// # Errors
    /// They could not be written.
    pub fn finish(self) -> anyhow::Result<()> {
        drop(self.live);
        drop(self.orders);
        self.thread.join().map_err(|_| anyhow!("internal error: the dataset thread panicked"))?.context("dataset")
    }
}

fn write(layout: &Layout, store: &dyn Store, inbox: &Receiver<Order>) -> anyhow::Result<()> {
    let mut unsettled = Unsettled::begin(layout)?;
    let mut rows = Rows::new(store, false)?;
    let mut current: Option<Current> = None;
    while let Ok(order) = inbox.recv() {
        let Commit { visited, relaxed } = match order {
            Order::Write(commit) => commit,
            Order::Publish(done) => {
                current.iter_mut().try_for_each(Current::publish)?;
                // Who asked may have gone.
                let _ = done.send(());
                continue;
            }
        };
        unsettled.add_stale(relaxed);
        for visited in visited {
            let Some(location) = visited.visit.location else { continue };
            let segment = match &mut current {
                Some(segment) if segment.serial == location.segment => segment,
                current => {
                    current.take().map_or(Ok(()), |ended| ended.finish(layout, store))?;
                    current.insert(Current::new(store, location.segment)?)
                }
            };
            segment.end = location.offset + location.length;
            let tables = segment.tables(layout)?;
            time(Stage::Dataset, || anyhow::Ok(tables.push(written(&mut rows, visited)?)?))?;
        }
    }
    current.map_or(Ok(()), |ended| ended.finish(layout, store))?;
    unsettled.settle(store)
}

/// The segment that is being written.
struct Current {
    serial: u32,
    name: String,
    /// Its files; `None` while they are complete, since nothing came after they were published.
    tables: Option<SegmentTables>,
    /// Where its last record that has a row ends, in bytes.
    end: u64,
}

impl Current {
    fn new(store: &dyn Store, serial: u32) -> anyhow::Result<Self> {
        let segment = store.segments()?.into_iter().find(|segment| segment.serial == serial);
        let name = segment.ok_or_else(|| anyhow!("the state does not know segment {serial} of the archive"))?.name;
        Ok(Current { serial, name, tables: None, end: 0 })
    }

    /// The files to write to, behind what they have already.
    fn tables(&mut self, layout: &Layout) -> anyhow::Result<&mut SegmentTables> {
        let tables = match self.tables.take() {
            Some(tables) => tables,
            None => SegmentTables::begin(layout, &self.name)?,
        };
        Ok(self.tables.insert(tables))
    }

    fn publish(&mut self) -> anyhow::Result<()> {
        Ok(self.tables.take().map_or(Ok(()), |tables| tables.finish(self.end))?)
    }

    /// Completes the files of a segment to which nothing is added any more.
    fn finish(mut self, layout: &Layout, store: &dyn Store) -> anyhow::Result<()> {
        self.tables(layout)?;
        let segment = store.segments()?.into_iter().find(|segment| segment.serial == self.serial);
        self.end = segment.map_or(self.end, |segment| segment.length);
        self.publish()
    }
}
