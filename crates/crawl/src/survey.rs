//! What a status counts in the state of a running crawl. Many records are read for it, and a status may be asked for every second: so the
//! process that crawls keeps the last survey for the next question.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::clock::Clock;
use model::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A survey holds this many times as long as the processor time of the process that asked for it. The process that crawls takes about as much:
/// so surveys cost it a hundredth of one processor.
const HOLDS_TIMES: u32 = 100;

/// A survey also holds this many times as long as it took: a database may have made it, or the machine is busy.
const HOLDS_TIMES_OF_WAIT: u32 = 10;

/// The longest that a survey holds.
const HOLDS_MAX: Duration = Duration::from_secs(300);

/// The longest survey that is kept, in bytes.
const KEPT_BYTES_MAX: usize = 512 * 1_024;

/// A survey of the state of a running crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSurvey {
    /// When it was made.
    pub at: Timestamp,
    /// What it found, as JSON.
    pub found: String,
}

/// What a survey costs, from its begin on the thread that makes it.
pub struct Effort {
    clock: Clock,
    began: Timestamp,
    processor: Duration,
}

impl Effort {
    /// It begins now.
    #[must_use]
    pub fn begin() -> Self {
        let clock = Clock::start();
        Effort { clock, began: clock.now(), processor: processor_time() }
    }

    /// How long a survey holds that ends now.
    pub(crate) fn holds(&self) -> Duration {
        holds(processor_time().saturating_sub(self.processor), self.clock.now().since(self.began))
    }
}

/// How long a survey holds that took so much of the processor, and so long.
fn holds(processor: Duration, took: Duration) -> Duration {
    let holds = processor.saturating_mul(HOLDS_TIMES).max(took.saturating_mul(HOLDS_TIMES_OF_WAIT));
    holds.min(HOLDS_MAX)
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

/// The last survey, as long as it holds, and no change of the crawl was made since.
#[derive(Clone, Debug)]
pub(crate) struct Surveys {
    clock: Clock,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Changes that the run has made.
    changes: u64,
    last: Option<(Timestamp, KeptSurvey)>,
}

impl Default for Surveys {
    fn default() -> Self {
        Surveys { clock: Clock::start(), kept: Arc::default() }
    }
}

impl Surveys {
    /// The last one, if it still holds.
    pub(crate) fn last(&self) -> Option<KeptSurvey> {
        let now = self.clock.now();
        self.kept().last.as_ref().filter(|(until, _)| now < *until).map(|(_, survey)| survey.clone())
    }

    /// Keeps what a survey found for so long, in a state that had so many changes. One that is too long, or of the time before a change, is not kept.
    pub(crate) fn keep(&self, found: String, holds: Duration, changes: u64) {
        let mut kept = self.kept();
        if found.len() <= KEPT_BYTES_MAX && kept.changes == changes {
            let until = self.clock.now() + holds.min(HOLDS_MAX);
            kept.last = Some((until, KeptSurvey { at: self.clock.date(), found }));
        }
    }

    /// Changes that the run has made.
    pub(crate) fn changes(&self) -> u64 {
        self.kept().changes
    }

    /// A change was made, which the next survey has.
    pub(crate) fn changed(&self) {
        let mut kept = self.kept();
        (kept.changes, kept.last) = (kept.changes + 1, None);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_survey_holds_as_long_as_it_was_dear() {
        for (processor, took, expect) in
            [(0, 0, 0), (20, 20, 2_000), (20, 100, 2_000), (20, 1_000, 10_000), (9_000, 9_000, 300_000)]
        {
            assert_eq!(holds(MS * processor, MS * took), MS * expect, "{processor} {took}");
        }
    }

    #[test]
    fn the_last_survey_is_kept_while_it_holds() {
        let surveys = Surveys::default();
        assert_eq!(surveys.last(), None);
        surveys.keep("[1]".to_owned(), HOLDS_MAX, 0);
        assert_eq!(surveys.last().map(|survey| survey.found), Some("[1]".to_owned()));
        surveys.keep("[2]".to_owned(), Duration::ZERO, 0);
        assert_eq!(surveys.last(), None);
        surveys.keep("x".repeat(KEPT_BYTES_MAX + 1), HOLDS_MAX, 0);
        assert_eq!(surveys.last(), None);
    }

    #[test]
    fn no_survey_of_the_time_before_a_change_is_kept() {
        let surveys = Surveys::default();
        let before = surveys.changes();
        surveys.keep("[1]".to_owned(), HOLDS_MAX, before);
        surveys.changed();
        assert_eq!(surveys.last(), None);
        surveys.keep("[1]".to_owned(), HOLDS_MAX, before);
        assert_eq!(surveys.last(), None, "it began before the change, and ended later");
        surveys.keep("[2]".to_owned(), HOLDS_MAX, surveys.changes());
        assert_eq!(surveys.last().map(|survey| survey.found), Some("[2]".to_owned()));
    }
}
