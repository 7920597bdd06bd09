//! The record of a site: its politeness state, which outlives the process.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use weburl::Site;

use crate::{Failure, Limit, LimitSet, Timestamp};

/// What is kept of a site. It is written with every visit, so that delays, back-off, robots rules, budgets and trap
/// counters survive a restart and could move with the site to another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRecord {
    /// The site.
    pub site: Site,
    /// The address it is pinned to.
    pub address: Option<IpAddr>,
    /// No visit before this time.
    pub due_at: Timestamp,
    /// Failures in a row, which make the back-off longer.
    pub failures_in_a_row: u32,
    /// How long the last answer took.
    pub response_time: Duration,
    /// What is known of its robots.txt. Left out of a batch where it has not changed.
    pub robots: Option<RobotsRecord>,
    /// URLs fetched, which the budget is about. Sitemaps and robots.txt do not count.
    pub pages_fetched: u64,
    /// Sitemaps read.
    pub sitemaps_read: u32,
    /// How often each shape of URL was fetched, for the trap rules: (hash of the shape, count). Counters are kept apart from the rest of the
    /// record: a batch has those that are to be written, and the others stay.
    pub shapes: Vec<(u64, u32)>,
    /// Set while the site is in trouble and is left alone for a while: until [`SiteRecord::due_at`].
    pub aside: Option<Aside>,
    /// Set where the site is given up, with the reason.
    pub given_up: Option<Failure>,
    /// It said that a page had not changed which had: it is not asked for changes any more, but for pages.
    pub misleads: bool,
}

/// The trouble of a site that is tried again after ever longer waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// When its wait is over, which is then its `due_at`; the epoch where the site asked to be left alone, for as long as only it knows.
    pub until: Timestamp,
    /// Which of its waits this is (1 = the first).
    pub round: u32,
    /// What failed last.
    pub reason: Failure,
}

impl SiteRecord {
    /// The record of a site nothing is known of.
    #[must_use]
    pub fn new(site: Site) -> Self {
        SiteRecord {
            site,
            address: None,
            due_at: Timestamp::default(),
            failures_in_a_row: 0,
            response_time: Duration::ZERO,
            robots: None,
            pages_fetched: 0,
            sitemaps_read: 0,
            shapes: Vec::new(),
            aside: None,
            given_up: None,
            misleads: false,
        }
    }
}

/// What came of asking for robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRecord {
    /// When the answer came.
    pub fetched_at: Timestamp,
    /// How many times in a row it could not be had, up to the last.
    pub failed_tries: u32,
    /// The answer.
    pub answer: RobotsAnswer,
    /// Its body is not all there was: it is longer than [`crate::Limits::robots_bytes_max`].
    pub is_cut: bool,
}

impl RobotsRecord {
    /// The limits that it reached.
    #[must_use]
    pub fn limits(&self) -> LimitSet {
        if self.is_cut { Limit::RobotsTxt.into() } else { LimitSet::EMPTY }
    }
}

impl fmt::Display for RobotsAnswer {
    /// For people: `status 503`, or what failed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RobotsAnswer::Status { code, .. } => write!(f, "status {code}"),
            RobotsAnswer::Failed(failure) => f.write_str(&failure.detail),
        }
    }
}

/// The answer to a request for robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsAnswer {
    /// A status and, where it matters, the body.
    Status {
        /// The status code of the last answer.
        code: u16,
        /// Its body, at most [`crate::Limits::robots_bytes_max`]; empty unless the status is 2xx.
        body: Bytes,
    },
    /// No answer.
    Failed(Failure),
}
