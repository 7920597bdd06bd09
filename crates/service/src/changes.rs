//! The changes of crawls that a process makes for others. It does not end while one is under way.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{Extensions, Response};
use console::stopping::Signals;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Changes at a time. Others wait for their turn.
const CHANGES_MAX: u32 = 1_000;
/// How long the system has to send the answers about the changes that were waited for.
const SENT_WITHIN: Duration = Duration::from_millis(100);

/// The changes that a process makes of crawls. It waits for those under way before it ends: one that is cut would leave a crawl half changed.
#[derive(Clone)]
pub struct Changes(Arc<Semaphore>);

/// A change that is under way, until all that hold this are done.
#[derive(Clone)]
pub struct UnderWay {
    _permit: Arc<OwnedSemaphorePermit>,
}

impl Default for Changes {
    fn default() -> Self {
        Changes(Arc::new(Semaphore::new(CHANGES_MAX as usize)))
    }
}

impl Changes {
    /// A change; `None` after [`Changes::end`].
    pub async fn begin(&self) -> Option<UnderWay> {
        let permit = self.0.clone().acquire_owned().await.ok()?;
        Some(UnderWay { _permit: Arc::new(permit) })
    }

    /// Waits for the changes under way, or for a signal. No other begins then. It says that it waits.
    pub async fn end(&self, signals: &mut Signals) {
        let mut all = self.0.try_acquire_many(CHANGES_MAX).ok();
        if all.is_none() {
            console::say!(
                "a change of the crawl is under way: this ends after it. Another signal, such as Ctrl-C, ends it now, the change half made"
            );
            tokio::select! {
                permits = self.0.acquire_many(CHANGES_MAX) => all = permits.ok(),
                _ = signals.next() => {}
            }
            if all.is_some() {
                tokio::time::sleep(SENT_WITHIN).await;
            }
        }
        self.0.close();
        drop(all);
    }
}

impl UnderWay {
    /// The change is under way until this answer about it is written. The port sees to that.
    #[must_use]
    pub fn until_written<B>(self, mut answer: Response<B>) -> Response<B> {
        answer.extensions_mut().insert(self);
        answer
    }

    /// The change that an answer is about.
    pub(crate) fn of(answer: &mut Extensions) -> Option<Self> {
        answer.remove()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_change_under_way_is_waited_for_and_no_other_begins() {
        let changes = Changes::default();
        let mut signals = Signals::new().expect("signals");
        let change = changes.begin().await.expect("it may begin");
        let answer = change.clone().until_written(Response::new(()));
        let waited = timeout(Duration::from_millis(50), changes.end(&mut signals)).await;
        assert!(waited.is_err(), "it is under way");
        drop(change);
        let waited = timeout(Duration::from_millis(50), changes.end(&mut signals)).await;
        assert!(waited.is_err(), "its answer is not written");
        drop(answer);
        changes.end(&mut signals).await;
        assert!(changes.begin().await.is_none());
    }
}
