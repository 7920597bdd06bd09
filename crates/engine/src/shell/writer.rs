//! The writer thread: what it is asked to do, and how it commits and answers.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use archive::Seal;
use model::Timestamp;
use store::{Queued, StoreError};
use tokio::sync::{mpsc, oneshot};
use weburl::{CanonicalUrl, SiteKey};

use crate::clock::Clock;
use crate::event::FRESH_AT_ONCE_MAX;
use crate::{Event, Record, RecordError, Recorder};

use super::Work;

/// Records in one commit.
const COMMIT_RECORDS_MAX: usize = 512;

/// URLs found in one commit, but for those of its last record.
const COMMIT_FOUND_MAX: usize = 1 << 14;

/// Sites requested at once.
const SITES_FOUND_MAX: usize = 4_096;

/// A small batch waits until the last commit was so long ago, unless the crawl waits for it: a record that comes alone is committed
/// at once, and what comes in between together.
const COMMIT_EVERY: Duration = Duration::from_millis(20);

/// What the writer thread is asked to do, in this order.
pub(super) enum Order {
    Record(Box<Record>),
    Read(Read),
    Seal(Seal),
    Work(Work),
    /// Say that everything before is committed.
    Confirm(oneshot::Sender<()>),
}

impl Order {
    /// The receiver of the report, if the order wants one.
    pub(super) fn into_confirm(self) -> Option<oneshot::Sender<()>> {
        match self {
            Order::Confirm(done) => Some(done),
            Order::Record(_) | Order::Read(_) | Order::Seal(_) | Order::Work(_) => None,
        }
    }
}

/// What is to be read from the store.
pub(super) enum Read {
    Queue { site: SiteKey, with_record: bool, after: Option<model::Position>, max: usize },
    Sites { after: Option<SiteKey> },
    Robots { url: CanonicalUrl },
    Rules { site: SiteKey },
}

/// What ends the writer thread.
pub(super) type WriterEnd = Result<Recorder, RecordError>;

/// The writer thread: commits records in batches, and answers reads behind the commit of every record ordered before
/// them. Reads wait for the batch to fill or for the orders to pause, so that many of them cost one commit.
pub(super) fn write(
    mut recorder: Recorder,
    mut orders: mpsc::Receiver<Order>,
    events: &mpsc::Sender<Event>,
    awaited: &Awaited,
    clock: Clock,
) -> WriterEnd {
    let mut batch = Waiting::default();
    let mut reads: Vec<Read> = Vec::new();
    let mut committed_at = Timestamp::default();
    while let Some(order) = orders.blocking_recv() {
        let mut next = Some(order);
        let mut waited = false;
        loop {
            match next.take().map_or_else(|| orders.try_recv().ok(), Some) {
                Some(Order::Record(record)) => {
                    batch.push(*record);
                    if batch.is_full() {
                        commit(&mut recorder, &mut batch, events)?;
                        answer(&recorder, &mut reads, events)?;
                    }
                }
                Some(Order::Read(read)) => reads.push(read),
                Some(Order::Seal(seal)) => {
                    commit(&mut recorder, &mut batch, events)?;
                    recorder.seal(seal)?;
                }
                Some(Order::Work(Work(work))) => {
                    commit(&mut recorder, &mut batch, events)?;
                    for told in work(&mut recorder)? {
                        send(events, told.into());
                    }
                }
                Some(Order::Confirm(done)) => {
                    commit(&mut recorder, &mut batch, events)?;
                    // Nobody may wait for it any more.
                    let _ = done.send(());
                }
                None if !waited && !batch.records.is_empty() => {
                    waited = true;
                    awaited.wait((committed_at + COMMIT_EVERY).since(clock.now()));
                }
                None => break,
            }
        }
        if !batch.records.is_empty() {
            commit(&mut recorder, &mut batch, events)?;
            committed_at = clock.now();
        }
        answer(&recorder, &mut reads, events)?;
    }
    Ok(recorder)
}

/// Whether the crawl waits for the writer: nothing is fetched, and nothing will be due before it has answered.
#[derive(Default)]
pub(super) struct Awaited {
    is_awaited: Mutex<bool>,
    changed: Condvar,
}

impl Awaited {
    pub(super) fn set(&self, is_awaited: bool) {
        let before = std::mem::replace(&mut *self.lock(), is_awaited);
        if is_awaited && !before {
            self.changed.notify_one();
        }
    }

    /// Waits until it is so, but not longer than this.
    fn wait(&self, time_max: Duration) {
        // What it is then does not matter.
        let _ = self.changed.wait_timeout_while(self.lock(), time_max, |is_awaited| !*is_awaited);
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records that wait for their commit. The room for them stays for the next ones.
#[derive(Default)]
struct Waiting {
    records: Vec<Record>,
    /// URLs found in them.
    found: usize,
}

impl Waiting {
    fn push(&mut self, record: Record) {
        self.found += record.found_count();
        self.records.push(record);
    }

    fn is_full(&self) -> bool {
        self.records.len() >= COMMIT_RECORDS_MAX || self.found >= COMMIT_FOUND_MAX
    }
}

fn commit(recorder: &mut Recorder, batch: &mut Waiting, events: &mpsc::Sender<Event>) -> Result<(), RecordError> {
    if batch.records.is_empty() {
        return Ok(());
    }
    batch.found = 0;
    let (ends, committed) = recorder.commit(batch.records.drain(..))?;
    for event in Event::committed(ends, committed, FRESH_AT_ONCE_MAX) {
        send(events, event);
    }
    Ok(())
}

fn answer(recorder: &Recorder, reads: &mut Vec<Read>, events: &mpsc::Sender<Event>) -> Result<(), StoreError> {
    for read in reads.drain(..) {
        match read {
            Read::Queue { site, with_record, after, max } => {
                send(events, load(recorder, site, with_record, after, max)?);
            }
            Read::Sites { after } => {
                let sites = recorder.store().sites_with_pending(after, SITES_FOUND_MAX)?;
                let all = sites.len() < SITES_FOUND_MAX;
                send(events, Event::SitesFound { sites, all });
            }
            Read::Rules { site } => {
                let record = recorder.store().site(site)?.map(Box::new);
                send(events, Event::RulesFound { site, record });
            }
            Read::Robots { url } => {
                let record = recorder.store().site(url.key().site)?.map(Box::new);
                send(events, Event::RobotsRead { url: url.key(), record });
            }
        }
    }
    Ok(())
}

fn load(
    recorder: &Recorder,
    site: SiteKey,
    with_record: bool,
    after: Option<model::Position>,
    max: usize,
) -> Result<Event, StoreError> {
    let record = if with_record { recorder.store().site(site)?.map(Box::new) } else { None };
    let queue: Vec<Queued> = recorder.store().pending(site, after, max)?;
    let all = queue.len() < max;
    Ok(Event::Loaded { site, record, queue, all })
}

fn send(events: &mpsc::Sender<Event>, event: Event) {
    // The receiver is gone only when the crawl has ended.
    let _ = events.blocking_send(event);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test may take: who is not woken is noticed.
    const EVER: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn who_is_awaited_waits_no_longer() {
        let awaited = Awaited::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| awaited.wait(EVER));
            awaited.set(false);
            awaited.set(true);
            waiting.join().expect("no panic");
        });
        // It still is.
        awaited.wait(EVER);
        awaited.set(false);
        awaited.wait(Duration::ZERO);
    }
}
