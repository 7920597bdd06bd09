//! Answers that cost a server much, asked for once for all who look.

use std::sync::Arc;
use std::time::Duration;

use engine::clock::Clock;
use model::Timestamp;
use tokio::sync::Mutex;

use crate::failure::Failure;

/// An answer holds this many times as long as it took. So viewers take a small part of the server's time.
const HOLDS_TIMES: u32 = 10;

/// The last answer to one question.
pub(super) struct Kept<T> {
    last: Mutex<Option<Known<T>>>,
    /// How long an answer holds, at least.
    holds_min: Duration,
    clock: Clock,
}

struct Known<T> {
    answer: Arc<T>,
    until: Timestamp,
}

impl<T> Kept<T> {
    pub(super) fn holding(holds_min: Duration) -> Self {
        Kept { last: Mutex::default(), holds_min, clock: Clock::start() }
    }

    /// The answer to `question`, which is asked if the last answer does not hold any more. Others wait meanwhile, and get the same.
    pub(super) async fn answer(&self, question: impl Future<Output = Result<T, Failure>>) -> Result<Arc<T>, Failure> {
        let mut last = self.last.lock().await;
        let began = self.clock.now();
        if let Some(known) = &*last
            && began < known.until
        {
            return Ok(known.answer.clone());
        }
        let answer = Arc::new(question.await?);
        let ended = self.clock.now();
        let holds_for = self.holds_min.max(ended.since(began) * HOLDS_TIMES);
        *last = Some(Known { answer: answer.clone(), until: ended + holds_for });
        Ok(answer)
    }

    /// How long the last answer still holds.
    pub(super) async fn holds_for(&self) -> Duration {
        let last = self.last.lock().await;
        last.as_ref().map(|known| known.until.since(self.clock.now())).unwrap_or_default()
    }

    /// The next answer is a new one.
    pub(super) async fn forget(&self) {
        self.last.lock().await.take();
    }
}
