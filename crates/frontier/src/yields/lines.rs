//! Which URLs of a low group keep their places in the queue: some lines of links, to see how deep they lead.

use model::Candidate;

use super::Tally;
use crate::TrapRules;

/// Lines that are followed, to a page of a window, and at least.
const PAGES_A_LINE: u32 = 32;
const LINES_MIN: u32 = 8;

/// How many pages lead a line on, for each one. Some lines end by chance, and others divide.
const GOES_ON: f64 = 1.1;

/// The share that keeps its place where nothing is known of the group, as after a restart.
const SHARE_KEPT: f64 = 1.0 / 16.0;

/// The deciding bits of a key differ from those of the sample.
const KEPT_SHIFT: u32 = 24;
/// How many bits decide.
const KEPT_BITS: u32 = 32;

/// Windows of URLs taken in the lines, after which fewer and fewer keep their places.
const WINDOWS_MAX: u32 = 2;

/// The lines of a low group that are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// The lines begin up to this depth.
    begin_to: u32,
    /// The share of the URLs there that keeps its place.
    begin: f64,
    /// The share of those below.
    go_on: f64,
}

impl Default for Lines {
    fn default() -> Self {
        Lines { begin_to: 0, begin: SHARE_KEPT, go_on: SHARE_KEPT }
    }
}

impl Lines {
    /// Lines from what a window found. A page keeps about one of its URLs in its line.
    pub(super) fn from(window: &Tally, rules: &TrapRules) -> Self {
        let lines = (rules.low_yield_window / PAGES_A_LINE).max(LINES_MIN);
        let begin = f64::from(lines) / f64::from(window.within.max(1));
        Lines { begin_to: window.depth_max + 1, begin, go_on: GOES_ON / window.growth().max(1.0) }
    }

    /// True if a URL keeps its place in the queue of its site, after `taken` URLs of the group.
    #[must_use]
    pub fn keep(&self, candidate: &Candidate, taken: u32, rules: &TrapRules) -> bool {
        let window = rules.low_yield_window.max(1);
        let halvings = (taken / window).saturating_sub(WINDOWS_MAX - 1).min(KEPT_BITS);
        let share = if candidate.depth <= self.begin_to { self.begin } else { self.go_on };
        let drawn = (candidate.url.key().url >> KEPT_SHIFT) as u32;
        f64::from(drawn) < share * 2f64.powi((KEPT_BITS - halvings).cast_signed())
    }
}
