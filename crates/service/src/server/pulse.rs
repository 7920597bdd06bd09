//! Whether the database answers. A question to a silent one is given up, so clients get an error in time.
//!
//! A question may take as long as it takes: to count all URLs of a large crawl takes minutes. So not the question has a limit. The database
//! is asked every second for nothing at all, and where it has not answered that for [`SILENCE_MAX`], all questions are given up.

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
            tokio::spawn(feel(self.control.clone(), stopped));
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

async fn feel(control: Arc<Control>, stopped: watch::Sender<bool>) {
    let mut last = Instant::now();
    loop {
        let asked = control.clone();
        let mut beating = tokio::task::spawn_blocking(move || asked.beat());
        let beaten = match timeout_at(last + SILENCE_MAX, &mut beating).await {
            Ok(beaten) => beaten,
            Err(_) => {
                stopped.send_replace(true);
                store_postgres::is_silent(SILENCE_MAX.as_secs());
                beating.await
            }
        };
        if matches!(beaten, Ok(Ok(()))) {
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
