//! What happens in a run, for programs that watch it: a bounded stream that never slows the crawl.

use std::sync::{Arc, Weak};

use engine::{Recorded, Sink, SinkError};
use model::Visit;
use store::Store;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use weburl::CanonicalUrl;

/// Events that wait for a slow reader, at most. Then it misses the oldest.
pub(crate) const WAITING_MAX: usize = 4_096;

/// Something that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A URL has an outcome, and it is committed.
    Ended {
        /// The URL.
        url: CanonicalUrl,
        /// Its visit, or the rule that settled it without one.
        visit: Arc<Visit>,
    },
    /// The reader was too slow for this many events.
    Missed(u64),
}

/// The events of a run from the moment on in which they were asked for.
#[derive(Debug)]
pub struct Events(pub(crate) Receiver<Event>);

impl Events {
    /// The next event; `None` after the end of the session.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(Event::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }
}

/// Sends the events. Without a reader it does nothing.
pub(crate) struct EventSink {
    pub(crate) events: Sender<Event>,
    pub(crate) store: Weak<dyn Store>,
}

impl Sink for EventSink {
    fn recorded(&mut self, recorded: &Recorded<'_>) -> Result<(), SinkError> {
        if self.events.receiver_count() == 0 {
            return Ok(());
        }
        let Some(store) = self.store.upgrade() else { return Ok(()) };
        // The last reader may have gone.
        let send = |url: CanonicalUrl, visit: &Visit| {
            drop(self.events.send(Event::Ended { url, visit: Arc::new(visit.clone()) }));
        };
        for visit in &recorded.batch.visits {
            if let Some(entry) = store.get(visit.key)? {
                send(entry.candidate.url, visit);
            }
        }
        recorded.batch.settled.iter().for_each(|(candidate, visit)| send(candidate.url.clone(), visit));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, Timestamp};
    use store::{Batch, Committed, MemoryStore};

    use super::*;

    #[tokio::test]
    async fn a_slow_reader_learns_how_many_it_missed() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let events = Sender::new(4);
        let mut reader = Events(events.subscribe());
        let mut sink = EventSink { events, store: Arc::downgrade(&store) };
        let url = |n: u32| CanonicalUrl::from_canonical(&format!("http://a.test/{n}")).expect("a URL");
        let settled = |n| {
            let visit = Visit::without_fetch(url(n).key(), Outcome::Excluded, "a rule".to_owned(), Timestamp(1));
            (Candidate::seed(url(n)), visit)
        };
        let batch = Batch { settled: (0..10).map(settled).collect(), ..Batch::default() };
        let committed = Committed::default();
        let recorded = Recorded { batch: &batch, committed: &committed, visited: Vec::new(), sealed: Vec::new() };
        sink.recorded(&recorded).expect("sent");
        drop(sink);
        assert!(matches!(reader.next().await, Some(Event::Missed(6))));
        for n in 6..10 {
            let Some(Event::Ended { url: ended, .. }) = reader.next().await else { panic!("{n} is kept") };
            assert_eq!(ended, url(n));
        }
        assert!(reader.next().await.is_none());
    }
}
