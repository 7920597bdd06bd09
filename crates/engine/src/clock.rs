//! The one place where a clock is read.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use model::Timestamp;

/// Wall-clock time that never goes back while the process lives: read once, then counted on by a monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Timestamp,
    since: Instant,
}

impl Clock {
    /// A clock that starts at the system's time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { start: Timestamp::default() + since_epoch, since: Instant::now() }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.start + self.since.elapsed()
    }
}
