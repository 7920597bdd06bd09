//! Writes the dataset while the crawl runs, on a thread of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use archive::Sealed;
use dataset::{Layout, Rows, RowsOfVisit, SegmentTables, covered_bytes, leave_out};
use engine::{Recorded, Sink, SinkError, Visited};
use stages::{Stage, time};
use store::{Relaxed, Segment, Store};
use weburl::UrlKey;

use super::derive::Derived;
use super::settle::{Rewritten, Standing, Unsettled, supersede};
use super::written;
use crate::held::Held;

/// Commits waiting to be written. What one may hold is bounded by the bytes in flight.
const ORDERS_WAITING_MAX: usize = 2;

/// The thread that writes.
pub struct Writer {
    orders: SyncSender<Order>,
    thread: JoinHandle<anyhow::Result<()>>,
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
    /// The segments that grew: those of the visits among them.
    segments: Vec<Segment>,
    sealed: Vec<Sealed>,
}

impl Writer {
    /// Begins to write the dataset of a crawl. The files reach as far as the archive already, for which this was derived
    /// ([`super::Deriver::derive_segments`]). Nothing is written any more once the crawl's directories are not those `held`.
    ///
    /// # Errors
    /// The state or the dataset cannot be read, or no thread can be started.
    pub fn start(layout: Layout, store: Arc<dyn Store>, held: Held, derived: Derived) -> anyhow::Result<Self> {
        // The crawl commits as soon as this returns.
        let standing = Standing::of(&layout, store.as_ref())?;
        Self::spawn(move |inbox| {
            let mut unsettled = Unsettled::begin(&layout, standing)?.with_derived(derived.segments > 0);
            write(&layout, store.as_ref(), &held, inbox, &mut |changes| unsettled.add(changes), &mut |_| ())?;
            held.check()?;
            unsettled.settle(store.as_ref())
        })
    }

    /// Begins to write the dataset of a worker's own segments. It calls `on_sealed` for each sealed segment once its files are complete, on a
    /// thread that others wait for. What needs the whole crawl is computed at its end.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start_shared(
        layout: Layout,
        store: Arc<dyn Store>,
        held: Held,
        mut on_sealed: impl FnMut(Sealed) + Send + 'static,
    ) -> anyhow::Result<Self> {
        Self::spawn(move |inbox| write(&layout, store.as_ref(), &held, inbox, &mut |_| (), &mut on_sealed))
    }

    fn spawn(write: impl FnOnce(&Receiver<Order>) -> anyhow::Result<()> + Send + 'static) -> anyhow::Result<Self> {
        let (orders, inbox) = sync_channel(ORDERS_WAITING_MAX);
        let thread = std::thread::Builder::new().name("dataset".to_owned()).spawn(move || write(&inbox))?;
        Ok(Writer { orders, thread })
    }

    /// What completes the files with all that was committed. It must be gone before [`Writer::finish`].
    #[must_use]
    pub fn publisher(&self) -> Box<dyn Fn() -> anyhow::Result<()> + Send + Sync> {
        let orders = self.orders.clone();
        Box::new(move || {
            let (done, is_done) = sync_channel(1);
            let ended = || anyhow!("the crawl is ending");
            orders.send(Order::Publish(done)).map_err(|_| ended())?;
            is_done.recv().map_err(|_| ended())
        })
    }

    /// The sink that has commits written.
    #[must_use]
    pub fn sink(&self) -> Box<dyn Sink> {
        let orders = self.orders.clone();
        Box::new(move |Recorded { batch, committed, visited, sealed }: &Recorded<'_>| {
            // A URL that waits gets its row when it is visited.
            let was_visited =
                |relaxed: &&Relaxed| relaxed.queued.as_ref().is_none_or(|queued| queued.visited.is_some());
            let relaxed = committed.relaxed.iter().filter(was_visited).map(|relaxed| relaxed.key);
            let relaxed = relaxed.chain(committed.outrun.iter().copied()).collect();
            // The thread ends early only when it failed: `finish` has its error.
            let (visited, sealed) = (visited.clone(), sealed.clone());
            let order = Order::Write(Commit { visited, relaxed, segments: batch.segments.clone(), sealed });
            orders.send(order).map_err(|_| SinkError::from("the dataset could not be written"))
        })
    }

    /// Ends the files. The sink and the publisher must be gone.
    ///
    /// # Errors
    /// They could not be written.
    pub fn finish(self) -> anyhow::Result<()> {
        drop(self.orders);
        self.thread.join().map_err(|_| anyhow!("internal error: the dataset thread panicked"))?.context("dataset")
    }
}

/// Writes until the last sender of orders is gone. `on_changes` receives rows that may need a correction or be superseded, `on_sealed` the segments
/// whose files are complete.
fn write(
    layout: &Layout,
    store: &dyn Store,
    held: &Held,
    inbox: &Receiver<Order>,
    on_changes: &mut dyn FnMut(Rewritten<'_>),
    on_sealed: &mut dyn FnMut(Sealed),
) -> anyhow::Result<()> {
    let mut rows = Rows::new(store, false)?;
    let mut current: Option<Current> = None;
    while let Ok(order) = inbox.recv() {
        held.check()?;
        let Commit { visited, relaxed, segments, sealed } = match order {
            Order::Write(commit) => commit,
            Order::Publish(done) => {
                current.iter_mut().try_for_each(|open| open.publish(layout, store))?;
                supersede(layout, store)?;
                // Who asked may have gone.
                let _ = done.send(());
                continue;
            }
        };
        let again = visited.iter().map(|visited| &visited.visit).filter(|visit| visit.past.visits > 0);
        on_changes(Rewritten { relaxed, again: again.collect() });
        let mut visited = visited.into_iter().peekable();
        let mut sealed = sealed.into_iter().peekable();
        // In the order in which they were written: the one that goes on is the last.
        for segment in segments {
            rows.name(&segment);
            let serial = segment.serial;
            let mut open = match current.take() {
                Some(open) if open.segment.serial == serial => Current { segment, ..open },
                _ => Current::new(layout, segment)?,
            };
            let is_here = |visited: &Visited| visited.visit.location.is_none_or(|location| location.segment == serial);
            while let Some(visited) = visited.next_if(is_here) {
                let Some(location) = visited.visit.location else { continue };
                let tables = open.tables(layout)?;
                let of_visit = time(Stage::Dataset, || {
                    let written = written(&mut rows, visited)?;
                    let of_visit = RowsOfVisit::of(&written);
                    tables.push(written)?;
                    anyhow::Ok(of_visit)
                })?;
                if let Some(visits) = &mut open.visits {
                    visits.push((location.offset, of_visit));
                }
            }
            match sealed.next_if(|sealed| sealed.segment.serial == serial) {
                Some(sealed) => {
                    open.publish(layout, store)?;
                    on_sealed(sealed);
                }
                None => current = Some(open),
            }
        }
    }
    held.check()?;
    current.map_or(Ok(()), |mut open| open.publish(layout, store))
}

/// The segment that is being written.
struct Current {
    segment: Segment,
    /// Its files; `None` while they are complete, since nothing came after they were published.
    tables: Option<SegmentTables>,
    /// How far the complete files reach, in bytes; `None` where something has come since.
    published: Option<u64>,
    /// The visits that have rows, in order: the offset of the record, and how many rows there are. `None` where an earlier process wrote some.
    visits: Option<Vec<(u64, RowsOfVisit)>>,
}

impl Current {
    fn new(layout: &Layout, segment: Segment) -> anyhow::Result<Self> {
        let visits = covered_bytes(layout, &segment.name)?.is_none().then(Vec::new);
        Ok(Current { segment, tables: None, published: None, visits })
    }

    /// The files to write to, behind what they have already.
    fn tables(&mut self, layout: &Layout) -> anyhow::Result<&mut SegmentTables> {
        let tables = match self.tables.take() {
            Some(tables) => tables,
            None => SegmentTables::begin(layout, &self.segment.name)?,
        };
        self.published = None;
        Ok(self.tables.insert(tables))
    }

    /// Completes the files, so that they reach as far as the segment, without the rows of visits that were taken back.
    fn publish(&mut self, layout: &Layout, store: &dyn Store) -> anyhow::Result<()> {
        let end = self.segment.length;
        if self.published != Some(end) {
            self.tables(layout)?;
            if let Some(tables) = self.tables.take() {
                tables.finish(end)?;
            }
            self.published = Some(end);
        }
        self.leave_out(layout, store)
    }

    /// Leaves the rows of visits out of the complete files that were taken back since they were written. What an earlier process wrote is derived
    /// again.
    fn leave_out(&mut self, layout: &Layout, store: &dyn Store) -> anyhow::Result<()> {
        let Some(visits) = &mut self.visits else { return Ok(()) };
        let taken_back: BTreeSet<u64> =
            store.taken_back()?.remove(&self.segment.serial).unwrap_or_default().into_iter().collect();
        if !visits.iter().any(|(offset, _)| taken_back.contains(offset)) {
            return Ok(());
        }
        let stays = |(offset, rows): &(u64, RowsOfVisit)| (rows.clone(), !taken_back.contains(offset));
        leave_out(layout, &self.segment.name, &visits.iter().map(stays).collect::<Vec<_>>())?;
        visits.retain(|(offset, _)| !taken_back.contains(offset));
        Ok(())
    }
}
