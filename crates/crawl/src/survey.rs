//! What a status counts in the state of a running crawl. Many records are read for it, and a status may be asked for every second: so the
//! process that crawls keeps the last survey for the next question.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::clock::Clock;
use model::Timestamp;
use serde::{Deserialize, Serialize};

/// A survey holds this many times as long as it took. So surveys take a hundredth of one processor at most.
const HOLDS_TIMES: u32 = 100;

/// The longest survey that is kept, in bytes.
const KEPT_BYTES_MAX: usize = 256 * 1_024;

/// A survey of the state of a running crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSurvey {
    /// When it was made.
    pub at: Timestamp,
    /// What it found, as JSON.
    pub found: String,
}

/// The last survey, as long as it holds.
#[derive(Clone, Debug)]
pub(crate) struct Surveys {
    clock: Clock,
    last: Arc<Mutex<Option<(Timestamp, KeptSurvey)>>>,
}

impl Default for Surveys {
    fn default() -> Self {
        Surveys { clock: Clock::start(), last: Arc::default() }
    }
}

impl Surveys {
    /// The last one, if it still holds.
    pub(crate) fn last(&self) -> Option<KeptSurvey> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        last.as_ref().filter(|(until, _)| now < *until).map(|(_, survey)| survey.clone())
    }

    /// Keeps what a survey found that took so long. One that is too long is not kept.
    pub(crate) fn keep(&self, found: String, took: Duration) {
        if found.len() <= KEPT_BYTES_MAX {
            let until = self.clock.now() + took.saturating_mul(HOLDS_TIMES);
            let survey = KeptSurvey { at: self.clock.date(), found };
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((until, survey));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_holds_a_hundred_times_as_long_as_it_took() {
        let surveys = Surveys::default();
        assert_eq!(surveys.last(), None);
        surveys.keep("[1]".to_owned(), Duration::from_secs(60));
        assert_eq!(surveys.last().map(|survey| survey.found), Some("[1]".to_owned()));
        surveys.keep("[2]".to_owned(), Duration::ZERO);
        assert_eq!(surveys.last(), None, "one that costs nothing is made each time");
        surveys.keep("x".repeat(KEPT_BYTES_MAX + 1), Duration::from_secs(60));
        assert_eq!(surveys.last(), None);
    }
}
