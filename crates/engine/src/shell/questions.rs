//! Questions about a run, answered between two steps.

use model::Timestamp;
use tokio::sync::oneshot;
use weburl::SiteKey;

use crate::{Pace, Prospect, SiteWaits, State};

/// A question about a run. The answer has dates; it is dropped where the run ends before.
#[derive(Debug)]
pub enum Question {
    /// What is next for a site.
    Site(SiteKey, oneshot::Sender<Prospect>),
    /// What holds the sites of the crawl up.
    Waits(oneshot::Sender<SiteWaits>),
    /// How fast these sites can be visited ([`State::paces`]).
    Paces(Vec<SiteKey>, oneshot::Sender<Vec<Option<Pace>>>),
}

impl Question {
    /// Answers it, by the time of the run and the date now.
    pub(super) fn answer(self, state: &State, now: Timestamp, date: Timestamp) {
        // A client that has gone needs no answer.
        match self {
            Question::Site(site, answer) => drop(answer.send(state.prospect(now, site).dated(now, date))),
            Question::Waits(answer) => drop(answer.send(state.waits(now).dated(now, date))),
            Question::Paces(sites, answer) => drop(answer.send(state.paces(now, &sites))),
        }
    }
}
