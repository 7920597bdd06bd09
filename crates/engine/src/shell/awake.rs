//! Notices that this process stood still: it was suspended, or its machine slept.

use std::time::Duration;

use model::Timestamp;

/// The loop looks at the time each second. Where it comes so much later, nothing could be done meanwhile.
const STOOD_STILL_MIN: Duration = Duration::from_secs(10);

/// When the loop looked at the time last.
pub(super) struct Awake {
    at: Timestamp,
}

impl Awake {
    pub(super) fn new(now: Timestamp) -> Self {
        Awake { at: now }
    }

    /// True if the process stood still since the time was looked at last.
    pub(super) fn stood_still(&mut self, now: Timestamp) -> bool {
        let before = std::mem::replace(&mut self.at, now);
        now.since(before) >= STOOD_STILL_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_stood_still_where_seconds_are_missing() {
        let mut awake = Awake::new(Timestamp(0));
        let seconds = [1, 2, 3, 12, 22, 23, 900, 901];
        let stood_still = seconds.map(|second| awake.stood_still(Timestamp(second * 1_000_000)));
        assert_eq!(stood_still, [false, false, false, false, true, false, true, false]);
    }
}
