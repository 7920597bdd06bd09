//! Where the crawl stands, once a second for all who look at a running crawl.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ask::latest;
use ask::status::{Status, Survey};
use ask::urls::Listed;
use crawl::opened::Opened;
use crawl::standing::Standing;
use crawl::{LiveView, live};
use engine::clock::Clock;
use model::Timestamp;
use store::Totals;
use tokio::runtime::Handle;

use crate::kept::Kept;

/// How long a status of a running crawl is shown. One that rests is read for each request, since a change leaves no commit.
const HOLDS: Duration = Duration::from_secs(1);

/// Where a crawl stands, and what only one that runs tells.
pub(crate) struct Stand {
    pub(crate) status: Status,
    pub(crate) totals: Totals,
    /// The state is in the directory, and so is all that the crawl needs of its disk.
    pub(crate) has_own_state: bool,
    /// Bytes of memory of the process that crawls.
    pub(crate) memory_bytes: Option<u64>,
    /// The pages that a running crawl visited last.
    pub(crate) latest: Option<Vec<Listed>>,
}

impl Stand {
    fn of(opened: &Opened, survey: Survey) -> anyhow::Result<Self> {
        let process = opened.live().map(LiveView::process).transpose()?.flatten();
        let latest = if opened.is_running() { latest::pages(opened, process.as_ref())? } else { None };
        Ok(Stand {
            status: Status::with(opened, survey)?,
            totals: opened.view().totals()?,
            has_own_state: opened.options()?.store.is_none(),
            memory_bytes: process.and_then(|process| process.memory_bytes),
            latest,
        })
    }
}

/// The last status of a running crawl.
pub(crate) struct StandingStatus {
    last: Mutex<Option<(Timestamp, Arc<Stand>)>>,
    survey: Kept<Survey>,
    /// What a site may have of pages, as the survey counted. A change of that leaves no commit in a crawl that rests.
    pages_per_site_max: Mutex<Option<u64>>,
    /// A change was made, which these do not have.
    is_outdated: AtomicBool,
    clock: Clock,
}

impl Default for StandingStatus {
    fn default() -> Self {
        StandingStatus {
            last: Mutex::default(),
            survey: Kept::default(),
            pages_per_site_max: Mutex::default(),
            is_outdated: AtomicBool::new(false),
            clock: Clock::start(),
        }
    }
}

impl StandingStatus {
    /// Opens the state of a crawl that rests, and counts what its status has: in a large crawl, the first reader would wait for that. The
    /// first request shows what could not be read. Outside a runtime there are no requests yet: a crawl begins there.
    pub(crate) fn read_beforehand(self: &Arc<Self>, crawl: &Arc<Standing>) {
        let Ok(runtime) = Handle::try_current() else { return };
        if !live::runs(crawl.root()) {
            let (status, crawl) = (self.clone(), crawl.clone());
            runtime.spawn_blocking(move || drop(status.of(&crawl)));
        }
    }

    /// The status of the crawl. Others who ask meanwhile wait, and get the same.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub(crate) fn of(&self, crawl: &Standing) -> anyhow::Result<Arc<Stand>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_outdated.swap(false, Ordering::AcqRel) {
            last.take();
            self.survey.forget();
        }
        if let Some((read, status)) = &*last
            && self.clock.now().since(*read) < HOLDS
            && live::runs(crawl.root())
        {
            return Ok(status.clone());
        }
        let opened = crawl.now()?;
        let max = opened.options()?.max_pages_per_site;
        let before = self.pages_per_site_max.lock().map(|mut before| std::mem::replace(&mut *before, max));
        if before.is_ok_and(|before| before != max) {
            self.survey.forget();
        }
        let survey = self.survey.answer(crawl, &opened, Survey::of)?;
        let status = Arc::new(Stand::of(&opened, Survey::clone(&survey))?);
        *last = opened.is_running().then(|| (self.clock.now(), status.clone()));
        Ok(status)
    }

    /// A change was made, which the next status has. This waits for no status that is being read, which may take long.
    pub(crate) fn forget(&self) {
        self.is_outdated.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use crawl::CrawlDir;
    use settings::options::Options;

    use super::*;

    /// Longer than that takes.
    const TIME_MAX: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_crawl_that_rests_is_read_before_anybody_asks() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        dir.create().expect("made");
        dir.write_options(&Options::default()).expect("written");
        drop(dir.open_store(&Options::default()).expect("a state"));
        let (status, crawl) = (Arc::new(StandingStatus::default()), Arc::new(Standing::new(root.path().to_owned())));
        status.read_beforehand(&crawl);
        while Arc::strong_count(&crawl) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(status.survey.is_there());
    }

    #[test]
    fn a_change_waits_for_no_status_that_is_being_read() {
        let status = Arc::new(StandingStatus::default());
        let reading = status.last.lock().expect("nobody else");
        let (changed, (sender, told)) = (status.clone(), sync_channel(1));
        std::thread::spawn(move || {
            changed.forget();
            sender.send(())
        });
        told.recv_timeout(TIME_MAX).expect("it waits");
        drop(reading);
    }
}
