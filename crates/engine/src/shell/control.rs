//! What reaches a run from outside: changes, and what one of several workers learns.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use weburl::{CanonicalUrl, SiteKey};

use crate::{Event, Pin, RecordError, Recorder, Settings};

/// A change from outside.
pub struct Steered {
    /// What changes.
    pub change: Change,
    /// Completes as soon as the change is in force and committed; dropped if the crawl ends before.
    pub done: oneshot::Sender<()>,
}

/// What may change while a crawl runs.
#[derive(Debug)]
pub enum Change {
    /// As [`Event::SettingsChanged`].
    Settings(Box<Settings>),
    /// As [`Event::NewSeeds`].
    Seeds(Vec<CanonicalUrl>),
    /// Work on the state.
    Work(Work),
}

/// Work on the state, done between two commits by the thread that commits. It returns what the run has to learn of it.
pub struct Work(pub Box<dyn FnOnce(&mut Recorder) -> Worked + Send>);

/// What the run has to learn of a work.
pub type Worked = Result<Vec<Control>, RecordError>;

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

/// The connection through which one of several workers learns which sites it owns.
pub struct Ownership {
    /// The messages to it, in order.
    pub orders: mpsc::Receiver<Control>,
    /// Receives each released site and, as [`Command::Released`], where it is to be asked from now on.
    pub released: Box<dyn Fn(SiteKey, Option<IpAddr>) + Send>,
    /// The addresses at which a site may be requested.
    pub pin: Box<dyn Fn(SiteKey) -> Pin + Send>,
    /// Whether something may be asked at an address, for whatever site.
    pub asks_at: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

/// A message to a worker from outside.
#[derive(Debug)]
pub enum Control {
    /// As [`Event::SitesChanged`].
    SitesChanged {
        /// The sites.
        sites: Vec<SiteKey>,
        /// Other workers may have sent requests to them just before.
        taken_over: bool,
    },
    /// As [`Event::SitesWaiting`].
    SitesWaiting(Vec<SiteKey>),
    /// As [`Event::SeedsAdded`].
    SeedsAdded(Vec<model::Candidate>),
    /// As [`Event::RoundBegan`].
    RoundBegan(u32),
    /// As [`Event::SpentElsewhere`].
    SpentElsewhere(crate::Spent),
    /// As [`Event::Release`].
    Release(Vec<SiteKey>),
}

impl From<Control> for Event {
    fn from(control: Control) -> Self {
        match control {
            Control::SitesChanged { sites, taken_over } => Event::SitesChanged { sites, taken_over },
            Control::SitesWaiting(sites) => Event::SitesWaiting(sites),
            Control::SeedsAdded(seeds) => Event::SeedsAdded(seeds),
            Control::RoundBegan(round) => Event::RoundBegan(round),
            Control::SpentElsewhere(spent) => Event::SpentElsewhere(spent),
            Control::Release(sites) => Event::Release(sites),
        }
    }
}
