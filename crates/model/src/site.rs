//! The record of a site: its politeness state, which outlives the process.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use weburl::{CanonicalUrl, Site};

use crate::{Failure, Limit, LimitSet, Timestamp, Validators};

/// The record of a site. It is written with every visit, so delays, back-off, robots rules, budgets and trap
/// counters survive a restart, and move with the site to another worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRecord {
    /// The site.
    pub site: Site,
    /// The address it is pinned to.
    pub address: Option<IpAddr>,
    /// No visit before this time.
    pub due_at: Timestamp,
    /// Until when the site itself asked to be left alone by `Retry-After`; the epoch if it never did. A new run
    /// does not ask a site aside before.
    pub asked_until: Timestamp,
    /// Failures in a row, which lengthen the back-off.
    pub failures_in_a_row: u32,
    /// How long the last answer took.
    pub response_time: Duration,
    /// The state of its robots.txt. A batch omits it if it has not changed.
    pub robots: Option<RobotsRecord>,
    /// URLs fetched, which count towards the budget. Sitemaps and robots.txt do not count.
    pub pages_fetched: u64,
    /// Sitemaps read.
    pub sitemaps_read: u32,
    /// How often each shape of URL was fetched, for the trap rules: (hash of the shape, count). Counters are stored apart from the rest of the
    /// record: a batch has only the changed ones, and the others stay.
    pub shapes: Vec<(u64, u32)>,
    /// Set while the site is in trouble and put aside, until [`SiteRecord::due_at`].
    pub aside: Option<Aside>,
    /// Set if the site is given up, with the reason.
    pub given_up: Option<Failure>,
    /// It answered 304 for a changed page: its pages are requested without validators from now on.
    pub misleads: bool,
}

/// The trouble of a site that is tried again after longer and longer waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// When the crawl's own wait ends, whatever the site asked for ([`SiteRecord::asked_until`]); the epoch in records of earlier versions, if
    /// the site asked for the wait by `Retry-After`.
    pub until: Timestamp,
    /// Which of its waits this is (1 = the first).
    pub round: u32,
    /// What failed last.
    pub reason: Failure,
}

impl SiteRecord {
    /// The record of an unknown site.
    #[must_use]
    pub fn new(site: Site) -> Self {
        SiteRecord {
            site,
            address: None,
            due_at: Timestamp::default(),
            asked_until: Timestamp::default(),
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

/// The result of requesting robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRecord {
    /// When the answer came.
    pub fetched_at: Timestamp,
    /// How many requests in a row failed, up to the last.
    pub failed_tries: u32,
    /// The answer.
    pub answer: RobotsAnswer,
    /// Its body is truncated at [`crate::Limits::robots_bytes_max`].
    pub is_cut: bool,
    /// What asks whether it has changed; `None` where only a request without validators tells.
    pub renewal: Option<Box<Renewal>>,
}

/// What asks whether a robots.txt has changed, and whether the answer can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewal {
    /// The validators of the file.
    pub validators: Validators,
    /// The date of the record of the file in the archive.
    pub recorded_at: Timestamp,
    /// How many times in a row the server has said that nothing has changed.
    pub not_modified: u32,
    /// Where the file lies, if redirects of the site's robots.txt led there: the validators are for this URL alone.
    #[serde(default)]
    pub url: Option<CanonicalUrl>,
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
    /// A status and, if relevant, the body.
    Status {
        /// The status code of the last answer.
        code: u16,
        /// Its body, at most [`crate::Limits::robots_bytes_max`]; empty unless the status is 2xx.
        body: Bytes,
    },
    /// No answer.
    Failed(Failure),
}
