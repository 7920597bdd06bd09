//! Whether the database answers. A question to a silent one is given up, so clients get an error in time.
//!
//! A question may take as long as it takes: to count all URLs of a large crawl takes minutes. So not the question has a limit. The database
//! is asked every second for nothing at all, and where it has not answered that for [`SILENCE_MAX`], all questions are given up.
//! So nobody waits longer than for this time and [`BEAT_EVERY`].

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use store_postgres::cluster::Control;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

/// The longest that the database may not answer. A restart takes less, as a rule.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(12);
/// How often it is asked.
const BEAT_EVERY: Duration = Duration::from_secs(1);

/// The database's pulse. It is felt from the first question on, or before.
pub(super) struct Pulse {
    control: Arc<Control>,
    has_stopped: OnceLock<watch::Receiver<bool>>,
}

impl Pulse {
    pub(super) fn of(control: Arc<Control>) -> Self {
        Pulse { control, has_stopped: OnceLock::new() }
    }

    fn has_stopped(&self) -> watch::Receiver<bool> {
        let begin = || {
            let (stopped, has_stopped) = watch::channel(false);
            let control = self.control.clone();
            let beat = move || {
                let asked = control.clone();
                let beating = tokio::task::spawn_blocking(move || asked.beat());
                async move { matches!(beating.await, Ok(Ok(()))) }
            };
            tokio::spawn(feel(beat, stopped));
            has_stopped
        };
        self.has_stopped.get_or_init(begin).clone()
    }

    /// Begins to feel it.
    pub(super) fn feel(&self) {
        self.has_stopped();
    }

    /// Whether it has stopped.
    pub(super) fn is_lost(&self) -> bool {
        *self.has_stopped().borrow()
    }

    /// Resolves when it has stopped.
    pub(super) async fn lost(&self) {
        if self.has_stopped().wait_for(|has_stopped| *has_stopped).await.is_err() {
            // It is felt as long as there is a runtime.
            std::future::pending::<()>().await;
        }
    }
}

/// Feels it for ever: whether `beat` was answered, and how long it was not.
async fn feel<B: Future<Output = bool>>(beat: impl Fn() -> B, stopped: watch::Sender<bool>) {
    let mut last = Instant::now();
    loop {
        let mut beating = pin!(beat());
        let is_beaten = match timeout_at(last + SILENCE_MAX, &mut beating).await {
            Ok(is_beaten) => is_beaten,
            Err(_) => {
                stopped.send_replace(true);
                store_postgres::is_silent(SILENCE_MAX.as_secs());
                beating.await
            }
        };
        if is_beaten {
            last = Instant::now();
            if stopped.send_replace(false) {
                store_postgres::answers();
            }
        } else if last.elapsed() >= SILENCE_MAX {
            stopped.send_replace(true);
        }
        sleep(BEAT_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    /// What clients were promised: an answer within this time, whatever the database does.
    const TOLD_WITHIN: Duration = Duration::from_secs(15);

    /// What a database does from a moment on.
    #[derive(Clone, Copy, Debug)]
    enum Away {
        /// It says nothing.
        Silent,
        /// It refuses at once.
        Refuses,
        /// It refuses after a while, in which it may have answered.
        Hesitates(Duration),
    }

    /// How long after the moment the pulse has stopped.
    async fn stopped_after(moment: Duration, away: Away) -> Duration {
        let dies_at = Instant::now() + moment;
        let beat = move || async move {
            match away {
                _ if Instant::now() < dies_at => true,
                Away::Silent => pending().await,
                Away::Refuses => false,
                Away::Hesitates(time) => {
                    sleep(time).await;
                    false
                }
            }
        };
        let (stopped, mut has_stopped) = watch::channel(false);
        let feeling = tokio::spawn(feel(beat, stopped));
        has_stopped.wait_for(|has_stopped| *has_stopped).await.expect("it is felt");
        feeling.abort();
        dies_at.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn questions_are_given_up_in_time_however_the_database_goes_away() {
        const { assert!(SILENCE_MAX.as_secs() + BEAT_EVERY.as_secs() < TOLD_WITHIN.as_secs()) };
        let hesitates = [1_100, 5_000, 11_500].map(|millis| Away::Hesitates(Duration::from_millis(millis)));
        for away in [Away::Silent, Away::Refuses].into_iter().chain(hesitates) {
            for moment in (0..40).map(|tenths| Duration::from_millis(tenths * 130)) {
                let after = stopped_after(moment, away).await;
                assert!(after <= SILENCE_MAX + BEAT_EVERY, "{away:?} after {moment:?}: {after:?}");
                assert!(after + BEAT_EVERY >= SILENCE_MAX, "a restart is no reason: {away:?}: {after:?}");
            }
        }
    }
}
