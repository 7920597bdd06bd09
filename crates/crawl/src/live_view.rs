//! The state of a crawl that runs in another process, and its scheduler, over one connection.

use std::os::unix::net::UnixStream;

use anyhow::Context;
use engine::{Prospect, SiteWaits};
use serde::de::DeserializeOwned;
use store::{CrawlView, Layer, Mark, Outlines, Slice, StoreError};
use view_wire::RemoteView;
use weburl::SiteKey;

use crate::scheduler::{Asked, RunningProcess};
use crate::survey::{Effort, KeptSurvey};

/// The state of a running crawl after one commit. Its scheduler answers as of the moment when it is asked.
pub struct LiveView(RemoteView<UnixStream>);

impl LiveView {
    pub(crate) fn new(view: RemoteView<UnixStream>) -> Self {
        LiveView(view)
    }

    /// What is next for a site. `None` if the scheduler cannot be asked.
    ///
    /// # Errors
    /// The crawl has ended.
    pub fn prospect(&self, site: SiteKey) -> anyhow::Result<Option<Prospect>> {
        self.ask(&Asked::Site(site))
    }

    /// What holds the sites of the crawl up. `None` if the scheduler cannot be asked.
    ///
    /// # Errors
    /// The crawl has ended.
    pub fn waits(&self) -> anyhow::Result<Option<SiteWaits>> {
        self.ask(&Asked::Waits)
    }

    /// The process that crawls, and what it did last. `None` if it cannot be asked.
    ///
    /// # Errors
    /// The crawl has ended.
    pub fn process(&self) -> anyhow::Result<Option<RunningProcess>> {
        self.ask(&Asked::Process)
    }

    /// The last survey of the state that a process left with the crawl, if it still holds.
    ///
    /// # Errors
    /// The crawl has ended.
    pub fn survey(&self) -> anyhow::Result<Option<KeptSurvey>> {
        Ok(self.ask::<Option<KeptSurvey>>(&Asked::Survey)?.flatten())
    }

    /// Leaves a survey with the crawl that ends now; `found` is JSON.
    ///
    /// # Errors
    /// The crawl has ended.
    pub fn keep_survey(&self, found: String, effort: &Effort) -> anyhow::Result<()> {
        let for_ms = u64::try_from(effort.holds().as_millis()).unwrap_or(u64::MAX);
        self.ask::<()>(&Asked::KeepSurvey { found, for_ms }).map(|_| ())
    }

    fn ask<T: DeserializeOwned>(&self, asked: &Asked) -> anyhow::Result<Option<T>> {
        let said = self.0.ask_scheduler(serde_json::to_string(asked)?)?;
        let answer = said.map(|said| serde_json::from_str(&said)).transpose();
        answer.context("the answer of the running crawl")
    }
}

impl Layer for LiveView {
    fn below(&self) -> &dyn CrawlView {
        &self.0
    }

    fn shown_outlines(
        &self,
        slice: Option<Slice>,
        from: Option<&Mark>,
        max: usize,
    ) -> Result<Option<Outlines>, StoreError> {
        self.0.outlines(slice, from, max)
    }
}

#[cfg(test)]
mod tests {
    use store::{MemoryStore, Store as _};

    use super::*;
    use crate::Scheduler;
    use crate::live::{self, Answers, Live};
    use crate::steer::{Change, OrderId};
    use crate::stream::Gauge;

    #[test]
    fn a_change_drops_the_survey_of_the_time_before() {
        let root = tempfile::tempdir().expect("a directory");
        let (scheduler, _questions) = Scheduler::new(Gauge::default());
        let answers = Answers {
            view: Box::new(|| MemoryStore::new().view()),
            publish: None,
            steer: Some(Box::new(|_| Ok(None))),
            scheduler: Some(scheduler),
        };
        let _live = Live::listen(root.path(), answers).expect("a listener");
        let view = || live::view(root.path()).expect("an answer").expect("a view");
        let keep = |of: &LiveView, found: &str| {
            of.ask::<()>(&Asked::KeepSurvey { found: found.to_owned(), for_ms: 60_000 }).expect("an answer")
        };
        let kept = || view().survey().expect("an answer").map(|survey| survey.found);
        let before = view();
        keep(&before, "[1]");
        assert_eq!(kept(), Some("[1]".to_owned()));
        live::steer(root.path(), &OrderId::new(), &Change::Pause).expect("made");
        assert_eq!(kept(), None);
        keep(&before, "[1]");
        assert_eq!(kept(), None, "of a view that lacks the change");
        keep(&view(), "[2]");
        assert_eq!(kept(), Some("[2]".to_owned()));
    }
}
