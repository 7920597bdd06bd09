//! Where the crawl stands, once a second for all who look at a running crawl.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ask::status::{Status, Survey};
use crawl::live;
use crawl::standing::Standing;
use engine::clock::Clock;
use model::Timestamp;

use crate::kept::Kept;

/// How long a status of a running crawl is shown. One that rests is read for each request, since a change leaves no commit.
const HOLDS: Duration = Duration::from_secs(1);

/// The last status of a running crawl.
pub(crate) struct StandingStatus {
    last: Mutex<Option<(Timestamp, Arc<Status>)>>,
    clock: Clock,
}

impl Default for StandingStatus {
    fn default() -> Self {
        StandingStatus { last: Mutex::default(), clock: Clock::start() }
    }
}

impl StandingStatus {
    /// The status of the crawl. Others who ask meanwhile wait, and get the same.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub(crate) fn of(&self, crawl: &Standing, survey: &Kept<Survey>) -> anyhow::Result<Arc<Status>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, status)) = &*last
            && self.clock.now().since(*read) < HOLDS
            && live::runs(crawl.root())
        {
            return Ok(status.clone());
        }
        let opened = crawl.now()?;
        let survey = survey.answer(&opened, Survey::of)?;
        let status = Arc::new(Status::with(&opened, Survey::clone(&survey))?);
        *last = opened.is_running().then(|| (self.clock.now(), status.clone()));
        Ok(status)
    }

    /// A change was made, which the next status has.
    pub(crate) fn forget(&self) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
