//! A fetch from its task to its event: the fetch itself, the look into what came, and a browser where one is to show it.

use std::sync::Arc;

use fetch::Fetcher;
use model::{FetchTask, Purpose};
use tokio::sync::{Semaphore, mpsc};

use crate::{Browsing, Event, Fetch, Settings, look_into};

/// Bodies from this size on are looked into beside the network threads, of which there may be one: it would do nothing else for the
/// better part of a millisecond. For small ones the way there and back costs more than it gains.
const BESIDE_BYTES_MIN: usize = 64 * 1024;

/// What all fetches share.
pub(super) struct Fetching {
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) browsing: Option<Arc<Browsing>>,
    /// A permit for each core: more large bodies are not looked into at once.
    pub(super) beside: Arc<Semaphore>,
    pub(super) settings: Arc<Settings>,
    pub(super) events: mpsc::Sender<Event>,
}

/// Fetches, looks into the answer, and tells of both. Most of these wait for a page, and there are hundreds of them: what only some
/// of them do is boxed.
pub(super) async fn fetch(task: FetchTask, shared: Arc<Fetching>) {
    let purpose = task.purpose;
    if let Some(browsing) = &shared.browsing {
        browsing.count(&task);
    }
    let looking = look(shared.fetcher.fetch(task).await, purpose, &shared);
    let Some(fetch) = looking.await.map(Box::new) else { return };
    // The receiver is gone only when the crawl has ended.
    let _ = shared.events.send(Event::Fetched(fetch)).await;
}

/// Looks into an answer, and again if it is a page that is to be shown in a browser.
async fn look(outcome: model::FetchOutcome, purpose: Purpose, shared: &Fetching) -> Option<Fetch> {
    let mut fetch = look_beside(outcome, purpose, shared).await?;
    if let Some(browsing) = &shared.browsing
        && let Some(showing) = browsing.judge(&fetch.outcome, purpose, &fetch.content)
    {
        // Boxed: see `fetch`.
        Box::pin(browsing.show(&mut fetch.outcome, &showing)).await;
        fetch = look_beside(fetch.outcome, purpose, shared).await?;
        browsing.learn(&fetch.outcome, &showing, &fetch.content);
    }
    if let (model::Fetched::Response(response), false) = (&mut fetch.outcome.fetched, purpose == Purpose::Robots) {
        response.body = bytes::Bytes::new();
    }
    Some(fetch)
}

/// Looks into an answer; into a large one on a thread of its own, so that the network goes on.
async fn look_beside(outcome: model::FetchOutcome, purpose: Purpose, shared: &Fetching) -> Option<Fetch> {
    let body_bytes = match &outcome.fetched {
        model::Fetched::Response(response) => response.body.len(),
        model::Fetched::Failed(_) => 0,
    };
    let settings = shared.settings.clone();
    let look = move || {
        let content = look_into(&outcome, purpose, &settings);
        Fetch { outcome, content }
    };
    if body_bytes < BESIDE_BYTES_MIN {
        return Some(look());
    }
    // It is never closed.
    let _permit = shared.beside.acquire().await.ok()?;
    tokio::task::spawn_blocking(look).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_under_way_takes_little_memory() {
        fn future_bytes<A, B, F: Future>(_: impl Fn(A, B) -> F) -> usize {
            size_of::<F>()
        }
        // With what the runtime adds these are 2,560 bytes, a size that jemalloc has.
        assert!(future_bytes(fetch) <= 2_360, "{} bytes", future_bytes(fetch));
    }
}
